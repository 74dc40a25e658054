"""Pictures of every page in both themes, with the embedded engine answering: ``python -m tools.screenshots [folder]``.

Runs the real window on Qt's offscreen platform with a data folder of its own.
"""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path

from app.pages.decisions import DecisionsPage
from app.windows.desk import Desk
from app.windows.main_window import PAGES
from engine.paths import resources_dir
from tools.pictures import SIZE, both, enlarge, once, opened, run, take

WAIT_S = 60.0
MIDWAY_STEP = 8
RUN_WIDTH = 8
PAGE_S = 1.2  # memory and log are looked at once a second
QUESTIONS = ("What is a diffusion model?", "Tell me a story about a fox.")


async def shoot(desk: Desk, folder: Path) -> None:
    """All pictures of one theme after the other."""
    await opened(desk)
    assert desk.engine is not None
    assert desk.chat is not None
    assert desk.settings is not None
    if not desk.engine.state.ready:
        await asyncio.wait_for(once(desk.engine.ready.connect), WAIT_S)
    await both(desk, folder, "chat-empty")
    for question in QUESTIONS:
        ended = once(desk.chat.answering_changed.connect, lambda answering: not answering)
        desk.chat.send(question)
        await asyncio.wait_for(ended, WAIT_S)
    await both(desk, folder, "chat")
    for page in PAGES[1:]:
        desk.window.show_page(page)
        await asyncio.sleep(PAGE_S)
        await both(desk, folder, page)
    await tickets(desk, folder)
    desk.window.show_page("chat")
    await large(desk, folder)
    desk.window.resize(*SIZE)
    await midway(desk, folder)


async def tickets(desk: Desk, folder: Path) -> None:
    """The tickets example, step by step, to its results."""
    desk.window.show_page("decisions")
    page = desk.window.page("decisions")
    assert isinstance(page, DecisionsPage)
    page.files.open_example("tickets")
    await asyncio.sleep(PAGE_S)
    for step in range(3):
        page.tabs.setCurrentIndex(step)
        await asyncio.sleep(PAGE_S)
        await both(desk, folder, f"decisions-{step + 1}")
    page.tabs.setCurrentIndex(3)
    ended = once(page.runs.ended.connect)
    table = resources_dir() / "examples" / "tickets" / "table.csv"
    page.runs.start(page.presenter.document.form, table, {}, RUN_WIDTH)
    await asyncio.sleep(PAGE_S * 2)
    await both(desk, folder, "decisions-running")
    await asyncio.wait_for(ended, 3 * WAIT_S)
    await asyncio.sleep(PAGE_S)
    await both(desk, folder, "decisions-results")


async def midway(desk: Desk, folder: Path) -> None:
    """An answer while it arrives, and the same when its engine is killed."""
    assert desk.engine is not None
    assert desk.chat is not None
    desk.window.show_page("chat")
    seen = once(desk.chat.canvas_changed.connect, lambda picture: picture.step >= MIDWAY_STEP)
    desk.chat.send(QUESTIONS[-1])
    await asyncio.wait_for(seen, WAIT_S)
    desk.window.grab().save(str(folder / "chat-midway.png"))
    assert desk.engine.state.pid is not None
    lost = once(desk.engine.state_changed.connect, lambda state: state.phase == "lost")
    os.kill(desk.engine.state.pid, signal.SIGKILL)
    await asyncio.wait_for(lost, WAIT_S)
    for page in ("chat", "engine"):
        desk.window.show_page(page)
        await both(desk, folder, f"{page}-lost")


async def large(desk: Desk, folder: Path) -> None:
    """Every page in the smallest window with large text: nothing may be cut off."""
    enlarge(desk)
    for page in PAGES:
        desk.window.show_page(page)
        await take(desk, folder, f"{page}-large")


if __name__ == "__main__":
    run(shoot)
