"""Palette and map of the keys with real key presses on a real X server."""

from __future__ import annotations

import pytest
from desk_driver import until
from PySide6.QtWidgets import QApplication
from test_window_on_x import press, run

from app.windows.desk import Desk

pytestmark = pytest.mark.xvfb


async def test_palette_and_keys_by_a_keyboard(desk: Desk) -> None:
    tools = desk.desktop
    assert tools is not None
    await press("ctrl+shift+p")
    await until(lambda: QApplication.focusWidget() is tools.palette.field)
    await run("xdotool", "type", "goto eng")
    await until(lambda: tools.palette.field.text() == "goto eng")
    await press("Return")
    await until(lambda: desk.window.current_page == "engine")
    desk.window.activateWindow()  # no window manager here gives the focus back
    await until(desk.window.isActiveWindow)
    await press("F1")
    await until(lambda: QApplication.focusWidget() is tools.keys.field)
    await press("Escape")
    await until(lambda: not tools.keys.isVisible())
