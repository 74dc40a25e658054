"""The Decisions page over an engine presenter, with and without a running engine."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from decisions_driver import Place
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.theme import apply_theme


@pytest.fixture
async def place(qapp: QApplication, qtbot: QtBot) -> AsyncIterator[Place]:
    """A page without an engine; ``start_engine`` brings one."""
    apply_theme(qapp, "light")
    made = Place()
    made.page.show()
    yield made
    await made.leave()
    made.page.close()
    made.page.deleteLater()
    made.engine.deleteLater()
    qapp.processEvents()
    assert not [notice.details for notice in made.notices if notice.details]
