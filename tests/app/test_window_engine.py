"""The engine's life as the window shows it, with the real embedded engine."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import pytest
from aiohttp import web
from desk_driver import expect, kill_engine, living_children, until_phase, within
from PySide6.QtWidgets import QLabel, QPushButton

from app.models.engine_state import EngineState
from app.pages.engine import EnginePage
from app.pages.engine_words import headline
from app.presenters.engine import EngineChoice, EnginePresenter
from app.windows.desk import Desk
from engine.paths import runtime_dir
from engine.supervise import adopted

sys.path.insert(0, str(Path(__file__).parents[1] / "fakes"))
from wire_server import WireServer  # the folder is no package


def page_of(desk: Desk) -> EnginePage:
    page = desk.window.page("engine")
    assert isinstance(page, EnginePage)
    return page


def text_of(desk: Desk, name: str) -> str:
    label = desk.window.findChild(QLabel, name)
    assert label is not None
    return label.text()


async def test_the_page_says_what_runs_where_and_since_when(desk: Desk) -> None:
    page, engine = page_of(desk), desk.engine
    assert engine is not None
    desk.window.show_page("engine")
    assert page.facts.value("url") == engine.url
    assert page.facts.value("pid") == str(engine.state.pid)
    assert page.facts.value("model") == engine.state.model
    assert page.facts.value("since")
    assert not page.start.isEnabled()
    assert page.stop.isEnabled()
    memory = await engine.memory()
    assert memory is not None
    assert memory > 10 * 2**20
    assert engine.state.url in await engine.log_tail()


async def test_the_channel_of_a_killed_window_is_removed(desk: Desk) -> None:
    assert desk.engine is not None
    gone = await asyncio.create_subprocess_exec(sys.executable, "-c", "")
    await gone.wait()
    stale, own = runtime_dir() / f"live-{gone.pid}.sock", runtime_dir() / f"live-{os.getpid()}.sock"
    stale.touch()
    assert own.exists()
    await desk.engine.sweep_leftovers()
    assert not stale.exists()
    assert own.exists()


async def test_a_killed_engine_is_noticed_and_restarted(desk: Desk) -> None:
    page, engine = page_of(desk), desk.engine
    assert engine is not None
    url = engine.url
    kill_engine(desk)
    await until_phase(engine, "lost")
    assert engine.client is None
    assert "does not answer" in text_of(desk, "status.engine")
    notices = [notice for notice in desk.window.notices.notices() if notice.topic == "engine"]
    assert [notice.level for notice in notices] == ["error"]
    assert notices[0].remedy
    assert not desk.chat_page.composer.send.isEnabled()
    assert page.restart.isEnabled()
    restart = desk.window.notices.findChild(QPushButton, "notice.action")
    assert restart is not None
    restart.click()
    await until_phase(engine, "ready")
    assert desk.window.notices.notices() == []
    assert engine.url == url
    assert "ready" in text_of(desk, "status.engine")
    assert engine.client is not None
    assert await engine.client.health()


async def test_stop_and_start(desk: Desk) -> None:
    page, engine = page_of(desk), desk.engine
    assert engine is not None
    page.stop.click()
    await until_phase(engine, "stopped")
    assert living_children() == []
    assert not desk.window.banner.isVisible()
    page.start.click()
    await until_phase(engine, "ready")


async def test_an_address_where_nobody_answers_is_an_error_with_a_remedy(desk: Desk) -> None:
    engine = desk.engine
    assert engine is not None
    page_of(desk).choice_made.emit(EngineChoice("url", "http://127.0.0.1:9"))
    await until_phase(engine, "failed")
    assert "127.0.0.1:9" in engine.state.message
    assert text_of(desk, "engine.why")
    assert living_children() == []
    assert page_of(desk).memory.isHidden(), "cards of another computer are not seen from here"
    assert not page_of(desk).facts.value("since")
    page_of(desk).choice_made.emit(EngineChoice())
    await until_phase(engine, "ready")
    assert not page_of(desk).memory.isHidden()


async def test_a_server_at_an_address_answers_and_is_never_stopped(desk: Desk) -> None:
    assert desk.engine is not None
    other = EnginePresenter(EngineChoice("url", desk.engine.url, desk.engine.api_key))
    await other.start_now()
    assert other.state.ready
    assert other.state.pid is None
    assert other.live is None
    await other.close_down()
    assert other.state.phase == "stopped"
    assert desk.engine.client is not None
    assert await desk.engine.client.health()


async def test_a_server_elsewhere_that_is_lost_comes_back_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(adopted, "LOOK_S", 0.01)

    async def refuse(request: web.Request) -> web.StreamResponse:
        return web.Response(status=503)

    async with WireServer() as server:
        engine = EnginePresenter(EngineChoice("url", server.url))
        await engine.start_now()
        assert engine.state.model == "toy"
        server.handlers["/health"] = refuse
        await until_phase(engine, "lost")
        assert f"nobody answers at {server.url}" in engine.state.message
        assert engine.state.remedy
        server.models = [{"id": "another"}]
        back = expect(engine.ready.connect)
        del server.handlers["/health"]
        await within(back)
        assert engine.state.ready
        assert engine.state.model == "another"
        await engine.close_down()


async def test_a_server_that_was_left_while_it_was_lost_does_not_come_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(adopted, "LOOK_S", 0.01)
    looks = asyncio.Queue[None]()

    async def refuse(request: web.Request) -> web.StreamResponse:
        return web.Response(status=503)

    async def answer(request: web.Request) -> web.StreamResponse:
        looks.put_nowait(None)
        return web.Response()

    async with WireServer() as server:
        engine = EnginePresenter(EngineChoice("url", server.url))
        await engine.start_now()
        server.handlers["/health"] = refuse
        await until_phase(engine, "lost")
        server.handlers["/health"] = answer
        engine.configure(EngineChoice())
        assert (engine.state.phase, engine.state.kind) == ("stopped", "embedded")
        await asyncio.sleep(0.1)
        assert (engine.state.phase, engine.state.kind) == ("stopped", "embedded")
        assert looks.qsize() <= 1, "nobody asks it any more"
        await engine.close_down()


async def test_a_late_finding_about_the_engine_before_does_not_end_the_new_one(desk: Desk) -> None:
    engine = desk.engine
    assert engine is not None
    kill_engine(desk)
    checking = asyncio.get_running_loop().create_task(engine.check_now())  # repeats its question before it gives up
    await until_phase(engine, "lost")
    await engine.restart_now()
    await checking
    assert engine.state.ready
    assert engine.client is not None
    assert await engine.client.health()


async def test_starting_twice_makes_one_engine(desk: Desk) -> None:
    assert desk.engine is not None
    await desk.engine.stop_now()
    ready = expect(desk.engine.ready.connect)
    desk.engine.start()
    desk.engine.start()
    await within(ready)
    await desk.engine.start_now()
    servers = [child for child in living_children() if "serve" in child.cmdline()]
    assert len(servers) == 1


async def test_a_server_elsewhere_is_connected_to_and_never_started(desk: Desk) -> None:
    assert desk.engine is not None
    page = page_of(desk)
    toy = desk.window.findChild(QPushButton, "engine.elsewhere.embedded")
    assert toy is not None

    def shown() -> list[str]:
        return [made.text() for made in (page.start, page.restart, page.stop, toy)]

    ours, theirs = ["Start", "Restart", "Stop"], ["Connect", "Connect again", "Disconnect"]
    assert (shown(), toy.isEnabled()) == ([*ours, "The embedded toy is in use"], False)
    in_setup = desk.window.findChild(QPushButton, "setup.elsewhere.embedded")
    assert in_setup is not None
    assert (in_setup.text(), in_setup.isEnabled()) == ("The embedded toy is in use", False)
    for phase, head in (
        ("starting", "Asking the server …"),
        ("ready", "The server is ready"),
        ("failed", "The server does not answer"),
        ("lost", "The server was lost"),
        ("stopped", "The server is not used"),
    ):
        page.set_state(EngineState(phase=phase, kind="url", url="http://127.0.0.1:9"))
        assert headline(EngineState(phase=phase, kind="url")) == head
        assert (shown(), toy.isEnabled()) == ([*theirs, "Use the embedded toy"], True)
        assert [made.accessibleName() for made in (page.start, page.restart, page.stop, toy)] == shown()
    lost = EngineState(phase="lost", kind="url", url="http://127.0.0.1:9", message="nobody answers")
    desk.engine.state_changed.emit(lost)
    again = desk.window.notices.findChild(QPushButton, "notice.action")
    assert again is not None
    assert again.text() == "Connect again"
    assert in_setup.isEnabled()
    desk.engine.state_changed.emit(desk.engine.state)
    assert shown()[:3] == ours
