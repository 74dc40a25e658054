"""A vLLM that fails: its diagnosis, the buttons of its remedies, the changed plan, and the next start by it."""

from __future__ import annotations

import asyncio
import os
import signal
import zipfile
from collections.abc import AsyncIterator
from pathlib import Path

import psutil
import pytest
from desk_driver import WAIT_S, expect, living_children, until, until_phase, within
from engine_page import VLLM, Place, set_up
from PySide6.QtCore import QPoint, QRect
from PySide6.QtWidgets import QApplication, QGridLayout, QLabel, QScrollArea, QWidget
from pytestqt.qtbot import QtBot

from app.theme import apply_theme
from engine.domain.diagnosis import Remedy
from engine.hardware.record import recorded_machines
from engine.local.disk import MACHINE_VARIABLE
from engine.local.stored import load_memory, memory_file
from engine.supervise.keep import RestartPolicy
from engine.supervise.ports import bind_port, next_free_port

CARD = "engine.diagnosis"


@pytest.fixture
async def place(qtbot: QtBot, desk_home: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Place]:
    """The page, shown, before a start that will run out of memory."""
    monkeypatch.setenv(MACHINE_VARIABLE, str(recorded_machines()["2x3090-nvlink"]))
    monkeypatch.setenv("STAND_IN_VLLM", "die")
    set_up(next_free_port(20_000))
    made = Place.make(VLLM)
    made.page.show()  # not given to qtbot, which would delete it before the engine has ended
    yield made
    await ended(made)
    made.page.deleteLater()


async def ended(place: Place) -> None:
    """Tests whose engine runs end with this, where the loop still runs: pytest-qt steps what is under way after it."""
    await place.engine.close_down()
    assert living_children() == []


async def failed(place: Place) -> None:
    place.engine.start()
    await until_phase(place.engine, "failed", "ready")
    assert place.engine.state.phase == "failed"


async def test_out_of_memory_becomes_a_plan_that_wants_less_and_starts(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    await failed(place)
    diagnosis = place.engine.state.diagnosis
    assert diagnosis is not None
    assert diagnosis.rule == "oom"
    assert place.page.diagnosis.isVisible()
    assert "ran out of memory" in place.text(f"{CARD}.cause")
    assert "torch.OutOfMemoryError" in place.text(f"{CARD}.line")
    assert "while the weights were loaded" in place.text(f"{CARD}.where").lower()
    assert not place.has(f"{CARD}.remedy.one_sequence"), "it is so already"
    proposed = expect(place.remedies.proposed.connect)
    place.click(f"{CARD}.remedy.text_only")
    (proposal,) = await within(proposed)
    assert ("pictures", "yes", "no") in {(change.what, change.before, change.after) for change in proposal.changes}
    grid = place.page.diagnosis.proposal.findChild(QGridLayout)
    assert grid is not None
    shown = {label.text() for label in place.page.diagnosis.proposal.findChildren(QLabel)}
    assert {"pictures", "yes", "no", "--limit-mm-per-prompt"} <= shown, "what will be otherwise is there to be read"
    assert not any("model-class" in text or "PYTHONPATH" in text for text in shown), "what stays is not there"
    monkeypatch.setenv("STAND_IN_VLLM", "")
    place.click(f"{CARD}.next.accept")
    await until_phase(place.engine, "ready")
    assert place.engine.state.pid is not None
    assert "--limit-mm-per-prompt" in psutil.Process(place.engine.state.pid).cmdline()
    assert load_memory(memory_file()).wished.text_only is True, "the next window starts by it too"
    assert place.engine.state.diagnosis is None
    assert not place.page.diagnosis.isVisible()
    assert place.engine.vllm.failed == []
    await ended(place)


async def test_the_same_plan_is_not_started_into_the_same_want_of_memory(place: Place) -> None:
    await failed(place)
    refused = expect(place.remedies.refused.connect)
    place.page.restart.click()
    assert "run out of memory again" in (await within(refused))[0]
    assert "run out of memory again" in place.text(f"{CARD}.message")
    assert place.engine.state.phase == "failed"
    assert living_children() == []


async def test_a_proposal_can_be_left_alone(place: Place) -> None:
    await failed(place)
    proposed = expect(place.remedies.proposed.connect)
    place.click(f"{CARD}.remedy.text_only")
    await within(proposed)
    place.click(f"{CARD}.next.dismiss")
    assert not place.page.diagnosis.proposal.isVisible()
    assert load_memory(memory_file()).wished.text_only is None
    assert place.engine.state.phase == "failed"


def seen_in(scroll: QScrollArea, widget: QWidget) -> bool:
    """Whether the whole of a widget is in the part of the page that is seen."""
    place = widget.mapTo(scroll.viewport(), QPoint(0, 0))
    return scroll.viewport().rect().contains(QRect(place, widget.size()))


async def test_a_failure_fits_into_a_small_window_with_large_text(place: Place, qapp: QApplication) -> None:
    apply_theme(qapp, "light", 1.5)
    try:
        place.page.resize(650, 480)  # what the smallest window leaves to a page
        await failed(place)
        proposed = expect(place.remedies.proposed.connect)
        place.click(f"{CARD}.remedy.text_only")
        await within(proposed)
        scroll = place.page.findChild(QScrollArea, "engine.scroll")
        assert scroll is not None
        accept = place.page.diagnosis.proposal.accept
        await until(lambda: seen_in(scroll, accept))
        assert scroll.focusWidget() is accept, "Return begins what was looked at"
        place.page.diagnosis.where.setText("What comes late takes room above it. " * 100)
        await until(lambda: place.page.diagnosis.where.height() > scroll.viewport().height())
        await until(lambda: seen_in(scroll, accept))
        place.page.resize(650, 400)
        await until(lambda: seen_in(scroll, accept))
        place.page.start.setFocus()
        scroll.verticalScrollBar().setValue(0)
        place.page.diagnosis.where.setText("Who goes on is not held there. " * 300)
        await until(lambda: place.page.diagnosis.where.height() > 2 * scroll.viewport().height())
        assert scroll.verticalScrollBar().value() == 0
        for tab in range(place.page.tabs.count()):
            place.page.tabs.setCurrentIndex(tab)
        assert scroll.widget().minimumSizeHint().width() <= scroll.viewport().width()
    finally:
        apply_theme(qapp, "light")


async def test_every_remedy_has_a_way_or_a_word(place: Place) -> None:
    """Whatever a rule may say: it is proposed, refused with a reason, done, or another page."""
    await failed(place)
    remedies = place.remedies
    heard: list[str] = []
    remedies.proposed.connect(lambda proposal: heard.append("proposed") if proposal else None)
    remedies.refused.connect(lambda why: heard.append(f"refused {why}"))
    remedies.told.connect(lambda text: heard.append(f"told {text}"))
    remedies.page_wanted.connect(lambda page, step: heard.append(f"page {page} {step}"))
    expected = {
        "smaller_canvas": "refused",  # the weights themselves did not fit
        "other_checkpoint": "refused",
        "lower_utilisation": "refused",
        "p2p_off": "refused",  # it would want as much memory
        "other_port": "refused",
        "free_memory": "page setup preflight",
        "reinstall": "page setup engine",
        "check_checkpoint": "page setup checkpoint",
        "look_again": "page setup detect",
        "wait": "told",
        "clear_caches": "told",
        "restart": "refused",
    }
    diagnosis = place.engine.state.diagnosis
    assert diagnosis is not None
    for action, start in expected.items():
        heard.clear()
        remedies.apply(Remedy(action, "x"))  # type: ignore[arg-type]
        said = await until(lambda: list(heard))
        assert said[0].startswith(start), (action, said)


async def test_a_crashed_engine_comes_back_by_itself_a_few_times(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STAND_IN_VLLM", "")
    place.engine.policy = RestartPolicy(limit=1, delays_s=(0.0,))
    place.engine.start()
    await until_phase(place.engine, "ready")
    first, url = place.engine.state.pid, place.engine.url
    words: list[str] = []
    place.engine.state_changed.connect(lambda state: words.append(state.message) if state.phase == "lost" else None)
    assert first is not None
    os.kill(first, signal.SIGKILL)
    await until_phase(place.engine, "lost")
    await until_phase(place.engine, "ready")
    assert any("restart 1 of 1" in text for text in words)
    assert not any("\n" in text for text in words), "the log has a place of its own"
    assert (place.engine.url, place.engine.state.pid == first) == (url, False)
    assert place.engine.client is not None
    assert await place.engine.client.models()
    assert place.engine.state.pid is not None
    os.kill(place.engine.state.pid, signal.SIGKILL)
    await until(lambda: "not started again after 1 restarts" in place.engine.state.message)
    diagnosis = place.engine.state.diagnosis
    assert diagnosis is not None
    assert not diagnosis.known, "its log says nothing of a signal from outside"
    assert place.page.diagnosis.tail.toPlainText(), "the end of the log is there instead"
    assert "not started again" in place.text("engine.why")
    place.page.restart.click()
    await until_phase(place.engine, "ready")
    await ended(place)


async def test_a_want_of_memory_while_it_serves_is_not_started_into_again(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STAND_IN_VLLM", "")
    place.engine.policy = RestartPolicy(delays_s=(0.0,))
    place.engine.start()
    await until_phase(place.engine, "ready")
    state = place.engine.state
    assert state.log is not None
    assert state.pid is not None
    with state.log.open("a") as file:
        file.write("(Worker_TP0 pid=9) ERROR 11-29 18:03:40 [x.py:8] torch.OutOfMemoryError: CUDA out of memory.\n")
    os.kill(state.pid, signal.SIGKILL)
    await until(lambda: place.engine.state.diagnosis)
    assert "the same plan would fail again" in place.engine.state.message
    assert place.engine.state.diagnosis is not None
    assert place.engine.state.diagnosis.rule == "oom"
    proposed = expect(place.remedies.proposed.connect)
    place.click(f"{CARD}.remedy.lower_utilisation")
    (proposal,) = await within(proposed)
    assert "utilisation" in {change.what for change in proposal.changes}
    place.click(f"{CARD}.next.accept")
    await until_phase(place.engine, "ready")
    assert place.engine.state.plan is not None
    assert place.engine.state.plan.utilisation < 0.82
    await ended(place)


async def crashed_in_a_part(place: Place) -> None:
    """It serves, then dies of an error in Diffusion Desk's own code inside it."""
    await until_phase(place.engine, "ready")
    state = place.engine.state
    assert state.log is not None
    assert state.pid is not None
    said = (
        "Traceback (most recent call last):",
        '  File "/env/lib/python3.12/site-packages/vllm/v1/worker/gpu/model_runner.py", line 9, in sample',
        '  File "/opt/engine/vllm_plugin/live.py", line 40, in step',
        "KeyError: 'entropies'",
    )
    with state.log.open("a") as file:
        file.writelines(f"(EngineCore pid=9) ERROR 11-29 18:03:40 [core.py:8] {line}\n" for line in said)
    os.kill(state.pid, signal.SIGKILL)


async def test_an_error_in_our_own_parts_has_a_way_without_them(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STAND_IN_VLLM", "")
    place.engine.policy = RestartPolicy(limit=0)
    place.engine.start()
    await crashed_in_a_part(place)
    await until(lambda: place.engine.state.diagnosis)
    assert "KeyError: 'entropies'" in place.text(f"{CARD}.cause")
    proposed = expect(place.remedies.proposed.connect)
    place.click(f"{CARD}.remedy.without_parts")
    (proposal,) = await within(proposed)
    changed = {change.what: change.after for change in proposal.changes}
    assert changed == {"--model-class-overrides": "", "DESK_VLLM_PARTS": "removed", "PYTHONPATH": ""}
    place.click(f"{CARD}.next.accept")
    await until_phase(place.engine, "ready")
    assert "--model-class-overrides" not in psutil.Process(place.engine.state.pid).cmdline()
    assert [override.name for override in load_memory(memory_file()).overrides] == ["DESK_VLLM_PARTS"]
    await ended(place)


async def test_an_error_in_our_own_parts_is_restarted_without_them(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STAND_IN_VLLM", "")
    place.engine.policy = RestartPolicy(delays_s=(0.0,))
    place.engine.start()
    words: list[str] = []
    place.engine.state_changed.connect(lambda state: words.append(state.message) if state.phase == "lost" else None)
    await crashed_in_a_part(place)
    await until_phase(place.engine, "lost")
    await until_phase(place.engine, "ready")
    assert any("restart 1 of 2 in 0 s, without Diffusion Desk's parts" in text for text in words)
    assert "--model-class-overrides" not in psutil.Process(place.engine.state.pid).cmdline()
    plan = place.engine.state.plan
    assert plan is not None
    assert plan == place.engine.vllm.plan
    assert ("DESK_VLLM_PARTS", None) in {(variable.name, variable.value) for variable in plan.env}
    assert load_memory(memory_file()).overrides == (), "the next window tries them again"
    await ended(place)


async def test_stopped_while_it_waits_for_its_restart(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STAND_IN_VLLM", "")
    place.engine.policy = RestartPolicy(delays_s=(3600.0,))
    place.engine.start()
    await until_phase(place.engine, "ready")
    assert place.engine.state.pid is not None
    os.kill(place.engine.state.pid, signal.SIGKILL)
    await until(lambda: "restart 1 of 2" in place.engine.state.message)
    place.engine.start()  # the user does not want to wait
    await until_phase(place.engine, "ready")
    os.kill(place.engine.state.pid or 0, signal.SIGKILL)
    await until(lambda: "restart 1 of 2" in place.engine.state.message)
    await asyncio.wait_for(place.engine.stop_now(), WAIT_S)
    assert place.engine.state.phase == "stopped"
    await ended(place)


async def test_a_taken_port_becomes_the_next_free_one(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STAND_IN_VLLM", "")
    port = load_memory(memory_file()).port
    with bind_port(port=port):
        await failed(place)
        assert str(port) in place.engine.state.message
        proposed = expect(place.remedies.proposed.connect)
        place.click(f"{CARD}.remedy.other_port")
        await within(proposed)
        place.click(f"{CARD}.next.accept")
        await until_phase(place.engine, "ready")
        assert not place.engine.url.endswith(f":{port}")
    await ended(place)


async def test_the_report_is_saved_without_the_key(place: Place, tmp_path: Path) -> None:
    await failed(place)
    target = tmp_path / "report.zip"
    told = expect(place.remedies.told.connect)
    place.page.diagnosis.report_wanted.emit(target)
    assert str(target) in (await within(told))[0]
    with zipfile.ZipFile(target) as archive:
        assert {"report.json", "plan.json", "machine.json", "log.txt"} == set(archive.namelist())
        text = b"".join(archive.read(name) for name in archive.namelist()).decode()
    assert '"vllm": "0.33.0"' in text
    assert str(Path.home()) not in text
    failure = expect(place.remedies.failed.connect)
    place.page.diagnosis.report_wanted.emit(target)  # the file is there: it is kept
    assert (await within(failure))[0].code == "report.exists"


async def test_another_profile_tells_what_it_changes_first(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STAND_IN_VLLM", "")
    place.engine.start()
    await until_phase(place.engine, "ready")
    proposed = expect(place.remedies.proposed.connect)
    place.click("engine.plan.other")
    (proposal,) = await within(proposed)
    assert "context" in {change.what for change in proposal.changes}
    assert "stops first" in place.text("engine.plan.next.warning")
    assert not place.page.diagnosis.proposal.isVisible()
    place.click("engine.plan.next.accept")
    await within(expect(place.engine.state_changed.connect, lambda state: state.phase == "starting"))
    await until_phase(place.engine, "ready", "failed")
    assert place.engine.state.plan is not None
    assert place.engine.state.plan.profile == "decisions"
    assert "decisions" in place.text("engine.plan.profile")
    await ended(place)


async def test_a_start_shows_its_phases_with_times(
    place: Place, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    gate = tmp_path / "gate"
    monkeypatch.setenv("STAND_IN_VLLM", f"hold={gate}")
    place.engine.start()
    await until(lambda: place.engine.vllm.view().fraction == 0.42)
    view = place.engine.vllm.view()
    states = {phase.name: phase.state for phase in view.phases}
    assert states["Connecting the cards"] == "done"
    assert states["Loading the weights"] == "running"
    assert states["Warming up"] == "open"
    assert place.page.phases.isVisible()
    assert "Not ready yet: Loading the weights" in place.text("engine.why")
    gate.touch()
    await until_phase(place.engine, "ready")
    after = place.engine.vllm.view()
    assert all(phase.state == "done" for phase in after.phases[:-1])
    assert after.elapsed_s >= view.elapsed_s
    assert not place.page.phases.isVisible()
    await ended(place)


async def test_stopped_in_its_start_it_leaves_no_diagnosis(
    place: Place, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("STAND_IN_VLLM", f"hold={tmp_path / 'gate'}")
    place.engine.start()
    await until(lambda: place.engine.vllm.view().fraction == 0.42)
    await asyncio.wait_for(place.engine.stop_now(), WAIT_S)
    assert place.engine.state.phase == "stopped"
    assert place.engine.state.diagnosis is None
    assert living_children() == []
