"""The running window over the real embedded engine."""

from __future__ import annotations

import gc
import os
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from desk_driver import open_desk
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.windows.desk import Desk

os.environ["DBUS_SESSION_BUS_ADDRESS"] = "disabled:"  # no test sends messages to the developer's own desktop


@pytest.fixture(autouse=True)
def collected_on_this_thread() -> Iterator[None]:
    """As in the program (app/collector.py): no worker thread may destroy Qt objects that a test has left."""
    gc.disable()
    yield
    gc.collect()
    gc.enable()


@pytest.fixture(autouse=True, scope="session")
def no_events_outside_the_loop() -> Iterator[None]:
    """pytest-qt turns Qt's events over between a test and its teardown. No asyncio loop runs there: a task of the
    window that is due then would be stepped without one, and fail the test."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("pytestqt.plugin._process_events", lambda: None)
        yield


@pytest.fixture
async def desk(qapp: QApplication, qtbot: QtBot, desk_home: Path) -> AsyncIterator[Desk]:
    """A loaded window with an engine that answers; closed at the end, whatever the test did."""
    async with open_desk(qapp, desk_home) as found:
        yield found
