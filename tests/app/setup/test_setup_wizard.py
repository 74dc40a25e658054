"""The whole way in a window, from two recorded 3090s to a running engine and a first chat, by clicks."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from conftest import World
from desk_driver import answered, close, expect, living_children, load, make_desk, within
from PySide6.QtWidgets import QApplication, QLabel, QLineEdit, QPlainTextEdit, QPushButton
from pytestqt.qtbot import QtBot
from setup_world import free_port

from app.models.setup import STEPS, StepName
from app.presenters.setup import SetupPresenter
from app.windows.desk import Desk
from engine.launch.command import MODEL_NAME
from engine.supervise.ports import bind_port


@pytest.fixture
async def desk(world: World, qapp: QApplication, qtbot: QtBot, desk_home: Path) -> AsyncIterator[Desk]:
    found = make_desk(qapp, desk_home)
    await load(found)
    yield found
    await close(found)
    found.window.deleteLater()
    qapp.processEvents()


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
    click(desk, "setup.launch.start")
    await until_step(setup, "probe", "done", "failed")
    assert setup.steps["probe"].done, setup.steps["probe"]
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


async def test_a_wish_has_its_consequence_at_once_and_a_refusal_its_ways_out(desk: Desk) -> None:
    setup = await opened(desk)
    assert setup.seen.plan is not None
    before = setup.seen.plan.concurrency
    setup.wish(context=65_536)
    assert setup.seen.plan is not None
    assert setup.seen.plan.context == 65_536
    assert setup.seen.plan.concurrency > before
    setup.wish(sequences=4)
    assert setup.steps["plan"].phase == "failed"
    assert setup.steps["plan"].remedy
    setup.show_step("plan")
    assert text(desk, "setup.plan.remedy")
    setup.forget_wishes()
    assert setup.steps["plan"].done


async def test_a_download_pauses_goes_on_and_stops(desk: Desk, world: World) -> None:
    setup = await opened(desk)
    world.hub.settings(rate=200_000)
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
    world.hub.settings(rate=None)
    click(desk, "setup.checkpoint.fetch")
    await until_step(setup, "checkpoint", "done", "failed")
    assert setup.steps["checkpoint"].done


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
    told = expect(setup.url_tested.connect)
    setup.test_url(desk.engine.url, desk.engine.api_key or "")
    words, good = await within(told)
    assert good
    assert desk.engine.state.model in words
    told = expect(setup.url_tested.connect)
    setup.test_url("http://127.0.0.1:9", "")
    words, good = await within(told)
    assert not good
    assert "127.0.0.1:9" in words


async def test_the_page_leaves_no_process(desk: Desk, world: World) -> None:
    setup = await opened(desk)
    world.hub.settings(rate=100_000)
    setup.fetch()
    await within(expect(setup.changed.connect, lambda: setup.workers.pid is not None))
    await asyncio.wait_for(setup.close_down(), 30)
    assert setup.memory.active == "checkpoint", "it goes on at the next start"
    assert not [child for child in living_children() if "download" in child.cmdline()]
