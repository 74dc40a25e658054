"""The real window as a process, driven by lines on stdin; for tests that kill it.

Each line is a call of the setup's presenter: ``{"call": "wish", "with": {"context": 65536}}``. It says how its steps
stand, one JSON line on stdout with every change. Without a line it does what it would do for a user who only looks.
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

from PySide6.QtCore import QSettings
from PySide6.QtWidgets import QApplication

from app.notify import NotificationSink
from app.windows.desk import Desk
from app.windows.ui_state import UiState
from engine import paths


def say(desk: Desk) -> None:
    setup, engine = desk.setup, desk.engine
    assert setup is not None
    assert engine is not None
    answer = setup.seen.answer
    work = {name: step.work for name, step in setup.steps.items()}
    line = {
        "steps": {name: step.phase for name, step in setup.steps.items()},
        "why": {name: step.text for name, step in setup.steps.items() if step.phase == "failed"},
        "work": {name: [found.phase, found.done, found.detail] for name, found in work.items() if found is not None},
        "active": setup.memory.active,
        "context": setup.seen.plan.context if setup.seen.plan else None,
        "engine": [engine.state.kind, engine.state.phase, engine.state.pid],
        "chat": answer.chat if answer else "",
    }
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


async def obey(desk: Desk) -> None:
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    while line := await reader.readline():
        wanted = json.loads(line)
        getattr(desk.setup, wanted["call"])(*wanted.get("args", ()), **wanted.get("with", {}))
    desk.request_close()


async def live(app: QApplication) -> None:
    desk = Desk(
        app, UiState(QSettings(str(paths.data_dir() / "window.ini"), QSettings.Format.IniFormat)), NotificationSink()
    )
    loaded = asyncio.Event()

    def on_loaded() -> None:
        assert desk.setup is not None
        assert desk.engine is not None
        desk.setup.changed.connect(lambda: say(desk))
        desk.engine.state_changed.connect(lambda _state: say(desk))
        loaded.set()

    desk.loaded.connect(on_loaded)
    desk.window.show()
    await loaded.wait()
    desk.window.show_page("setup")
    async with asyncio.TaskGroup() as tasks:
        obeying = tasks.create_task(obey(desk))
        await desk.run_until_closed()
        obeying.cancel()


def main() -> None:
    import qasync

    app = QApplication(["setup-window"])
    app.setQuitOnLastWindowClosed(False)
    asyncio.run(live(app), loop_factory=lambda: qasync.QEventLoop(app))


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[3]))
    main()
