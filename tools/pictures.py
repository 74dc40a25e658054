"""What takes the pictures of the window: the real one, on Qt's offscreen platform, with a data folder of its own."""

from __future__ import annotations

import argparse
import asyncio
import os
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ["QT_API"] = "pyside6"

from PySide6.QtCore import QSettings  # the platform is chosen by the environment above
from PySide6.QtWidgets import QApplication

from app.notify import NotificationSink
from app.theme import apply_theme
from app.windows.desk import Desk
from app.windows.ui_state import UiState

SIZE = (1180, 780)
LARGE = 1.5  # of the text
SETTLE_S = 0.4  # layouts and coalesced updates
Shoot = Callable[[Desk, Path], Awaitable[None]]


async def opened(desk: Desk) -> None:
    """Show the window and wait until its pages are there."""
    loaded = once(desk.loaded.connect)
    desk.window.resize(*SIZE)
    desk.window.show()
    await loaded


async def both(desk: Desk, folder: Path, name: str) -> None:
    """The window as it stands, in both themes."""
    for theme in ("light", "dark"):
        apply_theme(desk.app, theme)
        await take(desk, folder, f"{name}-{theme}")


async def take(desk: Desk, folder: Path, name: str) -> None:
    """The window as it stands."""
    await asyncio.sleep(SETTLE_S)
    desk.window.grab().save(str(folder / f"{name}.png"))


def enlarge(desk: Desk) -> None:
    """The smallest window with large text: nothing may be cut off."""
    apply_theme(desk.app, "light", LARGE)
    desk.window.resize(desk.window.minimumSize())


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


def run(shoot: Shoot) -> None:
    """Take pictures into the folder that the command line names, or ``screenshots``."""
    import qasync

    parser = argparse.ArgumentParser(description="Take pictures of the window into a folder.")
    parser.add_argument("folder", nargs="?", type=Path, default=Path("screenshots"))
    folder = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    app = QApplication(["screenshots"])
    app.setStyle("Fusion")
    app.setQuitOnLastWindowClosed(False)
    asyncio.run(_session(app, folder, shoot), loop_factory=lambda: qasync.QEventLoop(app))


async def _session(app: QApplication, folder: Path, shoot: Shoot) -> None:
    with tempfile.TemporaryDirectory(prefix="desk") as home:
        os.environ["DIFFUSION_DESK_HOME"] = home
        state = UiState(QSettings(f"{home}/window.ini", QSettings.Format.IniFormat))
        desk = Desk(app, state, NotificationSink())
        try:
            await shoot(desk, folder)
        finally:
            desk.request_close()
            await desk.run()
