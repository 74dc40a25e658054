"""Pictures of every page in both themes, with the embedded engine answering: ``python -m tools.screenshots [folder]``.

Runs the real window on Qt's offscreen platform with a data folder of its own.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ["QT_API"] = "pyside6"

from PySide6.QtCore import QSettings  # the platform is chosen by the environment above
from PySide6.QtWidgets import QApplication

from app.notify import NotificationSink
from app.pages.decisions import DecisionsPage
from app.theme import apply_theme
from app.windows.desk import Desk
from app.windows.main_window import PAGES
from app.windows.ui_state import UiState
from engine.paths import resources_dir

SIZE = (1180, 780)
WAIT_S = 60.0
LARGE = 1.5
MIDWAY_STEP = 8
RUN_WIDTH = 8
PAGE_S = 1.2  # memory and log are looked at once a second
SETTLE_S = 0.4  # layouts and coalesced updates
QUESTIONS = ("What is a diffusion model?", "Tell me a story about a fox.")


async def shoot(desk: Desk, folder: Path) -> None:
    """All pictures of one theme after the other."""
    loaded = once(desk.loaded.connect)
    desk.window.resize(*SIZE)
    desk.window.show()
    await loaded
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
    apply_theme(desk.app, "light", LARGE)
    desk.window.resize(desk.window.minimumSize())
    for page in PAGES:
        desk.window.show_page(page)
        await asyncio.sleep(SETTLE_S)
        desk.window.grab().save(str(folder / f"{page}-large.png"))


async def both(desk: Desk, folder: Path, name: str) -> None:
    for theme in ("light", "dark"):
        apply_theme(desk.app, theme)
        await asyncio.sleep(SETTLE_S)
        desk.window.grab().save(str(folder / f"{name}-{theme}.png"))


def once(
    connect: Callable[[Callable[..., None]], object], when: Callable[..., bool] | None = None
) -> asyncio.Future[Any]:
    """A future of the signal's next emission that ``when`` agrees to."""
    future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()

    def arrived(*values: Any) -> None:
        if not future.done() and (when is None or when(*values)):
            future.set_result(values)

    connect(arrived)
    return future


async def session(app: QApplication, folder: Path) -> None:
    with tempfile.TemporaryDirectory(prefix="desk") as home:
        os.environ["DIFFUSION_DESK_HOME"] = home
        state = UiState(QSettings(f"{home}/window.ini", QSettings.Format.IniFormat))
        desk = Desk(app, state, NotificationSink())
        try:
            await shoot(desk, folder)
        finally:
            desk.request_close()
            await desk.run()


def main() -> None:
    import qasync

    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "screenshots")
    folder.mkdir(exist_ok=True)
    app = QApplication(["screenshots"])
    app.setStyle("Fusion")
    app.setQuitOnLastWindowClosed(False)
    asyncio.run(session(app, folder), loop_factory=lambda: qasync.QEventLoop(app))


if __name__ == "__main__":
    main()
