"""Pictures of every step of the setup on recorded machines, both themes: ``python tools/screenshots_setup.py [OUT]``.

The window is the real one; only the machine is a recorded one, and work that takes long is shown as it would stand.
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ["QT_API"] = "pyside6"

from PySide6.QtCore import QSettings  # the platform is chosen by the environment above
from PySide6.QtWidgets import QApplication, QWidget

from app.models.setup import STEPS, ProbeAnswer, Step, StepName, Work
from app.notify import NotificationSink
from app.pages.setup import SetupPage
from app.presenters.setup import SetupPresenter
from app.theme import apply_theme
from app.windows.desk import Desk
from app.windows.ui_state import UiState
from engine.hardware.record import load_machine, recorded_machines

SIZE = (1180, 780)
TALL = 2400
SETTLE_S = 0.25
MACHINES = (
    "2x3090-pcie",
    "2x3090-nvlink",
    "3x3090-display-quadro",
    "3090-pair-browser",
    "4xa4000",
    "8xh100",
    "1x4090",
    "driver-550",
    "mismatch",
    "no-gpu",
    "wsl2-2x3090",
    "exclusive-mode",
    "2x4060ti-16",
)
WORK_SHOWN: dict[StepName, Step] = {
    "engine": Step(
        "running",
        work=Work(
            "Fetching and unpacking packages",
            3_900_000_000,
            9_272_788_953,
            42_000_000,
            128.0,
            0.42,
            "81 of 199 packages",
        ),
    ),
    "checkpoint": Step(
        "running",
        work=Work("Fetching", 11_200_000_000, 27_200_000_000, 61_000_000, 262.0, 0.41, "3 of 9 files"),
    ),
    "launch": Step(
        "running",
        work=Work("Loading the weights", fraction=0.37, detail="Loading safetensors checkpoint shards:  42% Completed"),
    ),
    "probe": Step("done", "Chat and decisions work."),
}
ANSWER = ProbeAnswer(
    "Hello! How can I help you today?", 1.4, 1, "The kettle is on the stove. Is the water hot?", "yes, 97%", 0.99, 0.21
)


async def shoot(desk: Desk, folder: Path) -> None:
    loaded = asyncio.Event()
    desk.loaded.connect(loaded.set)
    desk.window.resize(*SIZE)
    desk.window.show()
    await loaded.wait()
    setup, page = desk.setup, desk.window.page("setup")
    assert setup is not None
    assert isinstance(page, SetupPage)
    desk.window.show_page("setup")
    for name in MACHINES:
        os.environ["DIFFUSION_DESK_MACHINE"] = str(recorded_machines()[name])
        assert load_machine(recorded_machines()[name])
        await setup.detect_now()
        await setup.check_now()
        for step in STEPS:
            setup.show_step(step)
            await both(desk, folder, f"setup-{name}-{step}")
            if name == MACHINES[0] and step in WORK_SHOWN:
                with shown(setup, step):
                    await both(desk, folder, f"setup-{name}-{step}-working")
    await large(desk, setup, page, folder)


@contextmanager
def shown(setup: SetupPresenter, step: StepName) -> Iterator[None]:
    """A step as it would stand in the middle of its work."""
    before, answer = setup.steps[step], setup.seen.answer
    setup.steps[step] = WORK_SHOWN[step]
    setup.seen.answer = ANSWER
    setup.changed.emit()
    yield
    setup.steps[step], setup.seen.answer = before, answer
    setup.changed.emit()


async def large(desk: Desk, setup: SetupPresenter, page: QWidget, folder: Path) -> None:
    """The smallest window with large text, and the whole plan in a tall one."""
    os.environ["DIFFUSION_DESK_MACHINE"] = str(recorded_machines()[MACHINES[0]])
    await setup.detect_now()
    setup.show_step("plan")
    desk.window.resize(SIZE[0], TALL)
    await both(desk, folder, "setup-plan-whole")
    apply_theme(desk.app, "light", 1.5)
    desk.window.resize(desk.window.minimumSize())
    for step in STEPS:
        setup.show_step(step)
        await asyncio.sleep(SETTLE_S)
        desk.window.grab().save(str(folder / f"setup-{step}-large.png"))


async def both(desk: Desk, folder: Path, name: str) -> None:
    for theme in ("light", "dark"):
        apply_theme(desk.app, theme)
        await asyncio.sleep(SETTLE_S)
        desk.window.grab().save(str(folder / f"{name}-{theme}.png"))


async def session(app: QApplication, folder: Path) -> None:
    with tempfile.TemporaryDirectory(prefix="desk") as home:
        os.environ["DIFFUSION_DESK_HOME"] = home
        os.environ["DIFFUSION_DESK_MACHINE"] = str(recorded_machines()[MACHINES[0]])
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
