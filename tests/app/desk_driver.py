"""Drives the window in tests: waits for signals, asks questions, looks for processes."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import psutil
from PySide6.QtCore import QSettings
from PySide6.QtWidgets import QApplication

from app.notify import NotificationSink
from app.presenters.chat import ChatPresenter
from app.presenters.engine import EnginePresenter
from app.widgets.desktop.close_dialog import CloseDialog
from app.windows.desk import Desk
from app.windows.ui_state import UiState

WAIT_S = 240.0  # costs something only where a test fails


def expect(
    connect: Callable[[Callable[..., None]], object], when: Callable[..., bool] | None = None
) -> asyncio.Future[tuple[Any, ...]]:
    """A future of the signal's next emission that ``when`` agrees to."""
    future: asyncio.Future[tuple[Any, ...]] = asyncio.get_running_loop().create_future()

    def arrived(*values: Any) -> None:
        if not future.done() and (when is None or when(*values)):
            future.set_result(values)

    connect(arrived)
    return future


async def within[T](future: asyncio.Future[T]) -> T:
    return await asyncio.wait_for(future, WAIT_S)


async def until[T](look: Callable[[], T | None]) -> T:
    """What another process has done, once it can be seen: it sends no signal to wait for."""
    async with asyncio.timeout(WAIT_S):
        while not (found := look()):  # noqa: ASYNC110
            await asyncio.sleep(0.05)
    return found


async def until_phase(engine: EnginePresenter, *phases: str) -> None:
    """Waits until the engine is in one of the phases."""
    if engine.state.phase not in phases:
        await within(expect(engine.state_changed.connect, lambda state: state.phase in phases))


async def answered(chat: ChatPresenter, question: str) -> None:
    """Asks and waits for the end of the answer, whatever it is."""
    ended = expect(chat.answering_changed.connect, lambda answering: not answering)
    assert chat.send(question)
    await within(ended)


def make_desk(app: QApplication, home: Path) -> Desk:
    state = UiState(QSettings(str(home / "window.ini"), QSettings.Format.IniFormat))
    return Desk(app, state, NotificationSink())


async def load(desk: Desk) -> None:
    """Shows the window and waits until the engine answers."""
    loaded = expect(desk.loaded.connect)
    desk.window.show()
    await within(loaded)
    assert desk.engine is not None
    await until_phase(desk.engine, "ready", "failed")
    assert desk.engine.state.ready, desk.engine.state.message
    active = expect(QApplication.instance().focusWindowChanged.connect, lambda window: window is not None)
    desk.window.activateWindow()  # shortcuts go to the active window only
    if not desk.window.isActiveWindow():
        await within(active)


async def close(desk: Desk) -> None:
    """Closes the window as its user would, who wants to quit, and waits for the end of everything."""
    desk.window.close()
    asked = desk.window.findChild(CloseDialog)
    if asked is not None:
        asked.chosen.emit("quit", False)
    await asyncio.wait_for(desk.run_until_closed(), WAIT_S)


@asynccontextmanager
async def open_desk(app: QApplication, home: Path) -> AsyncIterator[Desk]:
    """A loaded window, closed and gone at the end."""
    desk = make_desk(app, home)
    await load(desk)
    yield desk
    await close(desk)
    desk.window.deleteLater()
    app.processEvents()


def kill_engine(desk: Desk) -> None:
    """What the out-of-memory killer would do."""
    assert desk.engine is not None
    assert desk.engine.state.pid is not None
    os.kill(desk.engine.state.pid, signal.SIGKILL)


def living_children() -> list[psutil.Process]:
    """Processes that this one started and that still run."""
    children = psutil.Process().children(recursive=True)
    return [child for child in children if child.is_running() and child.status() != psutil.STATUS_ZOMBIE]
