"""What only a real X server shows: keys from another program, focus, and a clipboard that others can read."""

from __future__ import annotations

import asyncio
import shutil

import pytest
from desk_driver import WAIT_S, answered, expect, within
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QAbstractButton, QApplication

from app.widgets.code_block import CodeBlock
from app.windows.desk import Desk
from app.windows.main_window import PAGES

pytestmark = pytest.mark.xvfb


async def run(*command: str) -> str:
    """What another program on the same display says."""
    if shutil.which(command[0]) is None:
        pytest.skip(f"{command[0]} is not installed")
    process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    out, _ = await asyncio.wait_for(process.communicate(), WAIT_S)
    assert process.returncode == 0
    return out.decode()


async def press(*keys: str) -> None:
    """Real key presses, through the X server, to the window that has the focus."""
    await run("xdotool", "key", "--clearmodifiers", *keys)


async def test_the_platform_is_x(desk: Desk) -> None:
    assert QGuiApplication.platformName() == "xcb"
    assert desk.window.isActiveWindow()


async def test_typed_keys_reach_the_composer_and_enter_sends(desk: Desk) -> None:
    assert desk.chat is not None
    ended = expect(desk.chat.answering_changed.connect, lambda answering: not answering)
    await press("h", "e", "l", "l", "o")
    await press("Return")
    await within(ended)
    assert desk.chat_page.transcript.messages[0].text == "hello"
    assert desk.chat.store.page(desk.chat.tip)[1].state == "done"
    focused = QApplication.focusWidget()
    assert focused is not None
    assert focused.objectName() == "composer.text"


async def test_the_keyboard_changes_the_page(desk: Desk) -> None:
    changed = expect(desk.window.page_changed.connect)
    await press("ctrl+3")
    await within(changed)
    assert desk.window.current_page == PAGES[2]


async def test_another_program_pastes_exactly_the_code(desk: Desk) -> None:
    source = 'def f(x):\n\treturn "a  b" + x  # ü\n'
    assert desk.chat is not None
    await answered(desk.chat, "Hello!")
    block = CodeBlock(source, "python", desk.chat_page)
    block.show()
    button = block.findChild(QAbstractButton, "code.copy")
    assert button is not None
    button.click()
    assert await run("xclip", "-selection", "clipboard", "-o") == source


async def test_a_new_placeholder_is_painted(desk: Desk) -> None:
    """What stands on the screen, not what a fresh rendering would give."""
    text = desk.chat_page.composer.text
    screen = desk.window.screen()
    assert screen is not None
    painted: list[bytes] = []
    for words in ("The engine is starting", "Ask"):
        desk.chat_page.composer.set_ready(True, words)
        for _ in range(3):
            QApplication.processEvents()
        seen = screen.grabWindow(desk.window.winId()).copy(text.rect().translated(text.mapTo(desk.window, text.pos())))
        painted.append(bytes(seen.toImage().constBits()))
    assert painted[0] != painted[1]
