"""The whole way in a window, from two recorded 3090s to a running engine and a first chat, by clicks."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import urllib.request
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest
from desk_driver import WAIT_S, answered, expect, living_children, open_desk, within
from PySide6.QtWidgets import QApplication, QLabel, QLineEdit, QPlainTextEdit, QPushButton
from pytestqt.qtbot import QtBot
from setup_world import World, free_port

from app.models.setup import STEPS, StepName, Work
from app.presenters.setup import SetupPresenter
from app.windows.desk import Desk
from engine import paths
from engine.launch.command import MODEL_NAME
from engine.supervise.ports import bind_port
from engine.supervise.processes import child_environment, create_time

OWNER = Path(__file__).parents[2] / "fakes" / "engine_owner.py"
HOLD = 5_000_000  # bytes of some 16 million: a download that is to be stopped must not end before


@pytest.fixture
async def desk(world: World, qapp: QApplication, qtbot: QtBot, desk_home: Path) -> AsyncIterator[Desk]:
    async with open_desk(qapp, desk_home) as found:
        yield found


def setup_of(desk: Desk) -> SetupPresenter:
    assert desk.setup is not None
    return desk.setup


def click(desk: Desk, name: str) -> None:
    button = desk.window.findChild(QPushButton, name)
    assert button is not None, name
    assert button.isEnabled(), name
    button.click()


def text(desk: Desk, name: str) -> str:
    found = desk.window.findChild(QLabel, name)
    assert found is not None, name
    return found.text()


async def until_step(setup: SetupPresenter, step: StepName, *phases: str) -> None:
    if setup.steps[step].phase not in phases:
        await within(expect(setup.changed.connect, lambda: setup.steps[step].phase in phases))


def phase_of(setup: SetupPresenter, step: StepName) -> str:
    work = setup.steps[step].work
    return work.phase if work is not None else ""


async def opened(desk: Desk) -> SetupPresenter:
    """The page, with the first look done."""
    setup = setup_of(desk)
    desk.window.show_page("setup")
    await until_step(setup, "checkpoint", "open", "done", "failed")
    await until_step(setup, "plan", "done", "failed")
    if setup.seen.checkpoint is None and not setup.seen.embedded and setup.seen.plan is not None:
        await within(expect(setup.changed.connect, lambda: setup.seen.checkpoint is not None))
    return setup


async def test_from_two_cards_to_the_first_chat(desk: Desk, world: World) -> None:
    setup = await opened(desk)
    assert "2× RTX 3090" in text(desk, "setup.detect.text")
    setup.set_port(free_port())
    click(desk, "setup.next")
    command = desk.window.findChild(QPlainTextEdit, "setup.plan.command")
    assert command is not None
    for part in (
        "--tensor-parallel-size 2",
        "--linear-backend marlin",
        "NCCL_P2P_DISABLE=1",
        f"--port {setup.memory.port}",
    ):
        assert part in command.toPlainText()
    click(desk, "setup.next")
    folder = desk.window.findChild(QLineEdit, "setup.engine.wheels.folder")
    assert folder is not None
    folder.setText(str(world.wheels))
    click(desk, "setup.engine.wheels.use")
    await until_step(setup, "engine", "running")
    await until_step(setup, "engine", "done", "failed")
    assert setup.steps["engine"].done, setup.steps["engine"]
    assert setup.seen.disk is not None
    assert {fix.status for fix in setup.seen.disk.fixes} == {"proven", "not needed"}
    click(desk, "setup.next")
    click(desk, "setup.checkpoint.fetch")
    await until_step(setup, "checkpoint", "done", "failed")
    assert setup.steps["checkpoint"].done, setup.steps["checkpoint"]
    click(desk, "setup.next")
    click(desk, "setup.preflight.again")
    await until_step(setup, "preflight", "done", "failed")
    assert setup.steps["preflight"].done, setup.steps["preflight"]
    click(desk, "setup.next")
    assert "Before the first start" in setup.start.kernels.state.step.text
    tested = expect(setup.changed.connect, lambda: phase_of(setup, "launch") == setup.start.kernels.phase)
    click(desk, "setup.launch.start")
    await within(tested)
    await until_step(setup, "launch", "done", "failed")
    await until_step(setup, "probe", "done", "failed")
    assert setup.steps["probe"].done, setup.steps["probe"]
    assert setup.start.kernels.state.tested
    assert all(setup.steps[step].done for step in STEPS)
    assert setup.seen.answer is not None
    assert setup.seen.answer.chat
    assert setup.seen.answer.label_mass > 0
    engine = desk.engine
    assert engine is not None
    assert (engine.state.kind, engine.state.model) == ("vllm", MODEL_NAME)
    assert desk.settings is not None
    assert desk.settings.value.engine == "vllm", "the next start of the program starts it again"
    desk.window.show_page("setup")
    click(desk, "setup.probe.chat")
    assert desk.window.current_page == "chat"
    assert desk.chat is not None
    await answered(desk.chat, "Hello")
    await setup.check_now()
    assert setup.steps["preflight"].done, "its own engine is not in its way"
    await engine.restart_now()
    assert engine.state.ready
    assert engine.state.url.endswith(f":{setup.memory.port}")


async def installed(desk: Desk, world: World) -> SetupPresenter:
    """The page at the step Launch, with engine and checkpoint there."""
    setup = await opened(desk)
    setup.set_port(free_port())
    setup.set_wheels(str(world.wheels))
    setup.install()
    await until_step(setup, "engine", "done", "failed")
    setup.fetch()
    await until_step(setup, "checkpoint", "running")
    await until_step(setup, "checkpoint", "done", "failed")
    setup.show_step("launch")
    return setup


async def test_a_self_test_gates_the_start(
    desk: Desk, world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    setup = await installed(desk, world)
    kernels = setup.start.kernels
    monkeypatch.setenv("STAND_IN_SELFTEST_LOG", str(tmp_path / "runs"))
    monkeypatch.setenv("STAND_IN_SELFTEST", "wrong")
    await start(desk, setup)
    assert setup.steps["launch"].phase == "failed"
    assert "2816 x 1056" in text(desk, "setup.launch.text")
    assert "install" in text(desk, "setup.launch.remedy").lower()
    assert not shown(desk, "setup.kernels.untested"), "wrong numbers are no matter of choice"
    monkeypatch.setenv("STAND_IN_SELFTEST", "none")
    await start(desk, setup)
    assert "no CUDA card" in text(desk, "setup.launch.text")
    assert shown(desk, "setup.kernels.untested")
    click(desk, "setup.kernels.untested")
    await until_step(setup, "launch", "running")
    await until_step(setup, "launch", "done", "failed")
    assert setup.steps["launch"].done, setup.steps["launch"]
    assert "without" in kernels.state.step.text
    await until_step(setup, "probe", "done", "failed")
    assert desk.engine is not None
    await desk.engine.stop_now()
    ran = (tmp_path / "runs").read_text().split()
    monkeypatch.setenv("STAND_IN_SELFTEST", f"hold={tmp_path / 'gate'}")
    halfway = expect(kernels.changed.connect, lambda: "card 2 of 2: " in (kernels.state.step.work or Work("")).detail)
    click(desk, "setup.kernels.again")
    await within(halfway)
    setup.launch()  # waits for nobody: there is a test on the cards
    stopped = expect(kernels.changed.connect, lambda: not kernels.state.step.busy)
    click(desk, "setup.kernels.stop")
    await within(stopped)
    assert setup.steps["launch"].phase == "open"
    (tmp_path / "gate").touch()
    passed = expect(kernels.changed.connect, lambda: kernels.state.tested)
    click(desk, "setup.kernels.again")
    await within(passed)
    assert (tmp_path / "runs").read_text().split() == [*ran, "0", "1", "0", "1"]
    assert kernels.state.step.done


async def start(desk: Desk, setup: SetupPresenter) -> None:
    """Press Start and wait for how it ends."""
    running = expect(setup.changed.connect, lambda: setup.steps["launch"].phase == "running")
    click(desk, "setup.launch.start")
    await within(running)
    await until_step(setup, "launch", "done", "failed")


def shown(desk: Desk, name: str) -> bool:
    button = desk.window.findChild(QPushButton, name)
    assert button is not None, name
    return not button.isHidden()


async def test_a_start_that_fails_or_is_stopped_says_so_and_can_be_done_again(
    desk: Desk, world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    setup = await installed(desk, world)
    monkeypatch.setenv("STAND_IN_VLLM", "die")
    click(desk, "setup.launch.start")
    await until_step(setup, "launch", "running")
    await until_step(setup, "launch", "done", "failed")
    assert "CUDA out of memory" in text(desk, "setup.launch.text")
    assert text(desk, "setup.launch.remedy")
    monkeypatch.setenv("STAND_IN_VLLM", f"hold={tmp_path / 'gate'}")
    click(desk, "setup.launch.start")
    await within(expect(setup.changed.connect, lambda: phase_of(setup, "launch") == "Loading the weights"))
    assert text(desk, "setup.launch.work.phase") == "Loading the weights"
    assert setup.memory.active == "launch"
    click(desk, "setup.launch.stop")
    await until_step(setup, "launch", "failed")
    assert "stopped" in text(desk, "setup.launch.text")
    assert setup.memory.active is None, "the user stopped it: it does not go on by itself"
    assert not [child for child in living_children() if "vllm.entrypoints.cli.main" in child.cmdline()]
    (tmp_path / "gate").touch()
    click(desk, "setup.launch.start")
    await until_step(setup, "launch", "running")
    await until_step(setup, "launch", "done", "failed")
    await until_step(setup, "probe", "done", "failed")
    assert setup.steps["probe"].done


async def test_what_a_crash_left_behind_is_ended_by_a_click(desk: Desk) -> None:
    setup = await opened(desk)
    setup.set_port(free_port())
    owner = subprocess.Popen(  # noqa: ASYNC220  # it lives through the whole test
        [sys.executable, str(OWNER), str(paths.runtime_dir()), "hold-nothing"],
        stdout=subprocess.PIPE,
        env=child_environment({}),
    )
    with owner:
        assert owner.stdout is not None
        told = json.loads(owner.stdout.readline())
        pid = told["pid"]
        with urllib.request.urlopen(f"http://127.0.0.1:{told['port']}/health") as answer:  # noqa: ASYNC210
            answer.read()
        owner.kill()
    setup.show_step("preflight")
    await setup.check_now()
    assert str(pid) in " ".join(finding.text for finding in setup.seen.in_the_way)
    looked = expect(setup.changed.connect, lambda: "preflight.leftovers" not in [f.code for f in setup.seen.in_the_way])
    click(desk, "setup.preflight.findings.preflight.leftovers")
    await within(looked)
    assert create_time(pid) is None  # gone, or a zombie that nobody in this container reaps


async def test_a_wish_has_its_consequence_at_once_and_a_refusal_its_ways_out(desk: Desk) -> None:
    setup = await opened(desk)
    assert setup.seen.plan is not None
    before = setup.seen.plan.concurrency
    setup.wish(context=65_536)
    assert setup.seen.plan is not None
    assert setup.seen.plan.context == 65_536
    assert setup.seen.plan.concurrency > before
    setup.wish(sequences=100)
    assert setup.steps["plan"].phase == "failed"
    assert setup.steps["plan"].remedy
    setup.show_step("plan")
    assert text(desk, "setup.plan.remedy")
    setup.forget_wishes()
    assert setup.steps["plan"].done


async def test_a_download_pauses_goes_on_and_stops(desk: Desk, world: World) -> None:
    setup = await opened(desk)
    world.hub.settings(hold=HOLD)
    setup.show_step("checkpoint")
    click(desk, "setup.checkpoint.fetch")
    await within(
        expect(
            setup.changed.connect,
            lambda: (setup.steps["checkpoint"].work or 0) and setup.steps["checkpoint"].work.done > 0,
        )
    )
    click(desk, "setup.checkpoint.pause")
    await until_step(setup, "checkpoint", "paused")
    assert setup.memory.active is None, "a pause holds over a restart"
    click(desk, "setup.checkpoint.resume")
    await until_step(setup, "checkpoint", "running")
    click(desk, "setup.checkpoint.cancel")
    await until_step(setup, "checkpoint", "open")
    world.hub.settings(hold=None)
    click(desk, "setup.checkpoint.fetch")
    await until_step(setup, "checkpoint", "done", "failed")
    assert setup.steps["checkpoint"].done


async def test_a_mirror_and_a_folder_are_checked_and_taken(
    desk: Desk, world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    setup = await opened(desk)
    setup.show_step("checkpoint")
    give(desk, "setup.source.endpoint", "ftp://mirror.example")
    assert "not the address of a hub" in text(desk, "setup.source.endpoint.message")
    assert setup.memory.endpoint == ""
    give(desk, "setup.source.endpoint", world.hub.url)
    (tmp_path / "file").touch()
    give(desk, "setup.source.folder", str(tmp_path / "file" / "model"))
    assert "is a file" in text(desk, "setup.source.folder.message")
    assert not text(desk, "setup.source.endpoint.message")
    looked = expect(setup.changed.connect, lambda: setup.seen.checkpoint == tmp_path / "models" / "gemma")
    give(desk, "setup.source.folder", str(tmp_path / "models" / "gemma"))
    await within(looked)
    assert setup.memory.endpoint == world.hub.url
    assert str(tmp_path / "models" / "gemma") in setup.command_line()
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")  # the mirror is asked, not this one
    click(desk, "setup.checkpoint.fetch")
    await until_step(setup, "checkpoint", "running")
    await until_step(setup, "checkpoint", "done", "failed")
    assert setup.steps["checkpoint"].done, setup.steps["checkpoint"]
    assert (tmp_path / "models" / "gemma" / "config.json").is_file()
    usual = expect(setup.changed.connect, lambda: not setup.seen.checkpoint_there)
    give(desk, "setup.source.folder", "")
    await within(usual)
    assert setup.steps["checkpoint"].phase == "open"
    assert (tmp_path / "models" / "gemma" / "config.json").is_file(), "nothing is removed"


def give(desk: Desk, name: str, value: str) -> None:
    """Type into a field and leave it."""
    field = desk.window.findChild(QLineEdit, name)
    assert field is not None, name
    field.setText(value)
    field.editingFinished.emit()


async def test_a_checkpoint_on_this_machine_is_used(desk: Desk, world: World, tmp_path: Path) -> None:
    setup = await opened(desk)
    setup.adopt(str(tmp_path))
    await until_step(setup, "checkpoint", "running")
    await until_step(setup, "checkpoint", "failed")
    assert "no checkpoint" in setup.steps["checkpoint"].text
    assert setup.steps["checkpoint"].remedy


async def test_a_taken_port_is_in_the_way_and_an_engine_there_can_be_used(desk: Desk) -> None:
    setup = await opened(desk)
    with bind_port() as listener:
        setup.set_port(listener.getsockname()[1])
        assert not await setup.check_now()
        assert {finding.code for finding in setup.seen.in_the_way} >= {"preflight.port", "preflight.environment"}
    engine = desk.engine
    assert engine is not None
    setup.set_port(int(engine.url.rsplit(":", 1)[1]))
    await setup.check_now()
    assert "preflight.server" in {finding.code for finding in setup.seen.in_the_way}
    setup.show_step("preflight")
    chosen = expect(setup.choice_made.connect)
    settled = expect(engine.state_changed.connect, lambda state: state.phase == "failed")
    click(desk, "setup.preflight.findings.preflight.server")
    (choice,) = await within(chosen)
    assert choice.kind == "url"
    await within(settled)  # it was our own, which ends for the other: nobody answers there


async def test_a_server_elsewhere_is_tested(desk: Desk) -> None:
    setup = await opened(desk)
    assert desk.engine is not None
    told = expect(setup.elsewhere.tested.connect)
    setup.elsewhere.test(desk.engine.url, desk.engine.api_key or "")
    words, good = await within(told)
    assert good
    assert desk.engine.state.model in words
    told = expect(setup.elsewhere.tested.connect)
    setup.elsewhere.test("http://127.0.0.1:9", "")
    words, good = await within(told)
    assert not good
    assert "127.0.0.1:9" in words


@pytest.mark.parametrize("when", ["while it is being started", "when its process is there", "in the middle"])
async def test_the_page_leaves_no_process(desk: Desk, world: World, when: str) -> None:
    setup = await opened(desk)
    world.hub.settings(hold=HOLD)
    reached = {
        "while it is being started": lambda: True,
        "when its process is there": lambda: setup.workers.pid is not None,
        "in the middle": lambda: (setup.steps["checkpoint"].work or Work("")).done > 0,
    }[when]
    there = expect(setup.changed.connect, reached)
    setup.fetch()
    await within(there)
    assert setup.steps["checkpoint"].busy, setup.steps["checkpoint"]
    await asyncio.wait_for(setup.close_down(), WAIT_S)
    assert setup.memory.active == "checkpoint", "it goes on at the next start"
    assert setup.workers.pid is None
    assert not downloads()


def downloads() -> list[int]:
    """Processes of ours that fetch; one that ends while we look is none."""
    found = []
    for child in living_children():
        with suppress(psutil.NoSuchProcess):
            found += [child.pid] if "download" in child.cmdline() else []
    return found
