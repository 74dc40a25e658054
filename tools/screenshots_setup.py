"""Pictures of every step of the setup on recorded machines: ``python -m tools.screenshots_setup [folder]``.

The window is the real one; only the machine is a recorded one, and work that takes long is shown as it would stand.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from app.models.setup import STEPS, KernelState, ProbeAnswer, Step, StepName, Work
from app.presenters.setup import SetupPresenter
from app.theme import apply_theme
from app.windows.desk import Desk
from engine.hardware.record import recorded_machines
from tools.pictures import SIZE, both, enlarge, opened, run, take

TALL = 2400
DARK = 3  # so many of the machines in both themes
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
TESTED = KernelState(
    wanted=True, tested=True, step=Step("done", "Every shape is computed right (cards: 2, driver 580.95.05).")
)
ANSWER = ProbeAnswer(
    "Hello! How can I help you today?", 1.4, 1, "The kettle is on the stove. Is the water hot?", "yes, 97%", 0.99, 0.21
)


async def shoot(desk: Desk, folder: Path) -> None:
    await opened(desk)
    setup = desk.setup
    assert setup is not None
    desk.window.show_page("setup")
    for place, name in enumerate(MACHINES):
        os.environ["DIFFUSION_DESK_MACHINE"] = str(recorded_machines()[name])
        await setup.detect_now()
        await setup.check_now()
        for step in STEPS:
            setup.show_step(step)
            if place < DARK:
                await both(desk, folder, f"setup-{name}-{step}")
            else:
                apply_theme(desk.app, "light")
                await take(desk, folder, f"setup-{name}-{step}-light")
            if place == 0 and step in WORK_SHOWN:
                with shown(setup, step):
                    await both(desk, folder, f"setup-{name}-{step}-working")
    await large(desk, setup, folder)


@contextmanager
def shown(setup: SetupPresenter, step: StepName) -> Iterator[None]:
    """A step as it would stand in the middle of its work."""
    kernels = setup.start.kernels
    before, answer, tested = setup.steps[step], setup.seen.answer, kernels.state
    setup.steps[step] = WORK_SHOWN[step]
    setup.seen.answer = ANSWER
    kernels.state = TESTED
    setup.changed.emit()
    yield
    setup.steps[step], setup.seen.answer, kernels.state = before, answer, tested
    setup.changed.emit()


async def large(desk: Desk, setup: SetupPresenter, folder: Path) -> None:
    """The smallest window with large text, and the whole plan in a tall one."""
    os.environ["DIFFUSION_DESK_MACHINE"] = str(recorded_machines()[MACHINES[0]])
    await setup.detect_now()
    setup.show_step("plan")
    desk.window.resize(SIZE[0], TALL)
    await both(desk, folder, "setup-plan-whole")
    enlarge(desk)
    for step in STEPS:
        setup.show_step(step)
        await take(desk, folder, f"setup-{step}-large")


if __name__ == "__main__":
    run(shoot)
