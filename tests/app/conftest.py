"""The running window over the real embedded engine."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from desk_driver import close, load, make_desk
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.windows.desk import Desk


@pytest.fixture
async def desk(qapp: QApplication, qtbot: QtBot, desk_home: Path) -> AsyncIterator[Desk]:
    """A loaded window with an engine that answers; closed at the end, whatever the test did."""
    found = make_desk(qapp, desk_home)
    await load(found)
    yield found
    await close(found)
    found.window.deleteLater()
    qapp.processEvents()
