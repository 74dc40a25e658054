"""The page over every recorded machine: each step has a reason, what failed has one thing to do, nothing is empty."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from app.models.setup import STEPS
from app.pages.setup import SetupPage
from app.presenters.engine import EnginePresenter
from app.presenters.setup import SetupPresenter
from app.widgets.setup.card_drawing import bar_of_gpu, bar_of_plan
from engine.domain.plan import Refusal
from engine.hardware.record import load_machine, recorded_machines


@pytest.mark.parametrize("name", sorted(recorded_machines()))
async def test_every_step_of_every_machine_can_be_shown(name: str, qtbot: QtBot) -> None:
    machine = load_machine(recorded_machines()[name])
    presenter = SetupPresenter(EnginePresenter(), lambda: machine)
    page = SetupPage(presenter)
    qtbot.addWidget(page)
    await presenter.detect_now()
    seen, steps = presenter.seen, presenter.steps
    assert seen.result is not None
    for step in STEPS:
        presenter.show_step(step)
        assert steps[step].phase != "failed" or (steps[step].text and steps[step].remedy)
        label = page.findChild(QLabel, f"setup.{step}.text")
        assert label is not None
        assert label.text()
        if step == "launch" and steps[step].phase == "open":
            ready = seen.embedded  # nothing is installed in this home
            assert ("Ready to start" in label.text()) == ready
            assert page.launch.start.isHidden() == isinstance(seen.result, Refusal)
            assert page.launch.start.isEnabled() == ready
    if isinstance(seen.result, Refusal):
        assert steps["plan"].phase == "failed"
        assert presenter.command_line() == ""
    elif seen.embedded:
        assert all(steps[step].done for step in ("engine", "checkpoint", "preflight"))
        assert presenter.command_line() == ""
    else:
        assert "vllm.entrypoints.cli.main serve" in presenter.command_line()
        for budget in seen.result.cards:
            drawn = bar_of_plan(budget, budget.name)
            assert drawn.free == budget.reserve > 0
            assert dict(drawn.parts)["cuda"] == budget.cuda_context
        assert "CUDA context 0.7 GiB" in page.plan.drawing.accessibleDescription()
    page.detect.drawing.grab()
    page.plan.drawing.grab()
    bars = [bar for gpu in machine.gpus if (bar := bar_of_gpu(gpu, gpu.name))]
    assert all(0 <= bar.free <= bar.total for bar in bars)
    assert all(str(bar.title) in page.detect.drawing.accessibleDescription() for bar in bars)
    await presenter.close_down()
