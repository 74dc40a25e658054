"""In the whole window: a launch that fails in the setup, its remedy, the changed plan, and vLLM as the app's engine."""

from __future__ import annotations

from pathlib import Path

import psutil
import pytest
from desk_driver import close, expect, until_phase, within
from engine_page import set_up
from PySide6.QtWidgets import QPushButton

from app.windows.desk import Desk
from engine.hardware.record import recorded_machines
from engine.local.disk import MACHINE_VARIABLE
from engine.supervise.ports import next_free_port


@pytest.fixture
def two_cards(desk_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A computer on which the setup has been done; asked for before the window."""
    monkeypatch.setenv(MACHINE_VARIABLE, str(recorded_machines()["2x3090-pcie"]))
    set_up(next_free_port(21_000))


async def test_a_failed_launch_becomes_a_changed_plan_that_the_setup_knows(
    two_cards: None, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    setup, engine, settings = desk.setup, desk.engine, desk.settings
    assert setup is not None
    assert engine is not None
    assert settings is not None
    assert desk.remedies is not None
    desk.window.show_page("setup")
    await setup.detect_now()
    setup.show_step("launch")
    monkeypatch.setenv("STAND_IN_VLLM", "die")
    failed = expect(setup.changed.connect, lambda: setup.steps["launch"].phase == "failed")
    setup.launch()
    await within(failed)
    assert engine.state.diagnosis is not None
    assert engine.state.diagnosis.rule == "oom"
    button(desk, "notice.action").click()
    assert desk.window.current_page == "engine", "the notice leads to what can be done"
    assert button(desk, "engine.diagnosis.remedy.text_only").isEnabled()
    desk.window.show_page("setup")
    card = "setup.launch.diagnosis"
    proposed = expect(desk.remedies.proposed.connect)
    button(desk, f"{card}.remedy.text_only").click()
    await within(proposed)
    monkeypatch.setenv("STAND_IN_VLLM", "")
    begun = expect(engine.state_changed.connect, lambda state: state.phase == "starting")
    button(desk, f"{card}.next.accept").click()
    await within(begun)
    await until_phase(engine, "ready", "failed")
    assert (engine.state.phase, engine.state.kind) == ("ready", "vllm")
    assert engine.state.pid is not None
    assert "--limit-mm-per-prompt" in psutil.Process(engine.state.pid).cmdline()
    assert setup.memory.wished.text_only is True
    assert setup.seen.plan is not None
    assert setup.seen.plan.text_only
    assert setup.steps["launch"].done
    assert settings.value.engine == "vllm"
    setup.forget_wishes()
    assert setup.memory.wished.text_only is None
    await close(desk)  # here, where the loop runs


async def test_a_remedy_of_another_page_leads_there(two_cards: None, desk: Desk) -> None:
    assert desk.setup is not None
    assert desk.remedies is not None
    desk.window.show_page("engine")
    desk.remedies.page_wanted.emit("setup", "checkpoint")
    assert desk.window.current_page == "setup"
    assert desk.setup.memory.step == "checkpoint"


def button(desk: Desk, name: str) -> QPushButton:
    found = desk.window.findChild(QPushButton, name)
    assert found is not None, name
    assert found.isVisibleTo(desk.window), name
    return found
