"""The real window as a process, for tests that kill it: asks one question and says what it sees, a JSON line each."""

from __future__ import annotations

import asyncio
import json
import sys

import PySide6.QtWidgets  # noqa: F401  # qasync takes the Qt binding that is already imported
import qasync
from PySide6.QtCore import QSettings
from PySide6.QtWidgets import QApplication

from app.notify import NotificationSink
from app.windows.desk import Desk
from app.windows.ui_state import UiState
from engine import paths


def say(**line: object) -> None:
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


async def live(app: QApplication, question: str) -> None:
    file = QSettings(str(paths.data_dir() / "window.ini"), QSettings.Format.IniFormat)
    desk = Desk(app, UiState(file), NotificationSink())
    loaded, ready = asyncio.Event(), asyncio.Event()
    desk.loaded.connect(loaded.set)
    desk.window.show()
    await loaded.wait()
    assert desk.engine is not None
    assert desk.chat is not None
    desk.engine.ready.connect(lambda _client: ready.set())
    if not desk.engine.state.ready:
        await ready.wait()
    desk.chat.appended.connect(lambda _messages: say(event="stored"))
    desk.chat.canvas_changed.connect(lambda picture: say(event="step", step=picture.step))
    desk.chat.text_changed.connect(lambda _number, text, _thought: say(event="text", text=text))
    desk.chat_page.composer.put("a draft")
    desk.chat.send(question)
    await desk.run_until_closed()


if __name__ == "__main__":
    application = QApplication(sys.argv[:1])
    application.setQuitOnLastWindowClosed(False)
    asyncio.run(live(application, sys.argv[1]), loop_factory=lambda: qasync.QEventLoop(application))
