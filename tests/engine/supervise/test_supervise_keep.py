"""An engine that crashes is started again, within limits; a computer that slept; a server that is not ours."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from aiohttp import web

from engine.cli.engines import OpenEngine
from engine.client.http import EngineClient
from engine.errors import EngineRefused, EngineUnreachable
from engine.supervise.adopted import AdoptedEngine
from engine.supervise.keep import Keeper, RestartPolicy
from engine.supervise.lifecycle import SupervisedEngine
from engine.supervise.sleep import SleepWatch, slept_s
from engine.supervise.state import EngineState

sys.path.insert(0, str(Path(__file__).parents[2] / "fakes"))
import stand_in_window as window  # the folder is no package
from wire_server import WireServer


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    window.hurry(lambda module, name, seconds: monkeypatch.setattr(module, name, seconds))


class Life:
    """An engine, what it has been, and hands that do something at a state."""

    def __init__(self, folder: Path, until: str = "ready", **more: object) -> None:
        self.states: list[EngineState] = []
        self.at: dict[str, Callable[[], None]] = {}
        self.engine: SupervisedEngine = window.make_engine(
            window.Spec(str(folder), until, []), on_state=self._hear, **more
        )

    def _hear(self, state: EngineState) -> None:
        self.states.append(state)
        if state.phase in self.at:
            asyncio.get_running_loop().call_soon(self.at[state.phase])

    @property
    def phases(self) -> list[str]:
        return [state.phase for state in self.states]

    def kill(self) -> None:
        assert self.engine.handle is not None
        os.kill(self.engine.handle.pid, signal.SIGKILL)


async def no_time(seconds: float) -> None:
    pass


async def test_an_engine_that_crashes_comes_back_twice_and_no_more(tmp_path: Path) -> None:
    life = Life(tmp_path)
    waits: list[float] = []

    async def wait(seconds: float) -> None:
        waits.append(seconds)

    handle = await life.engine.start(timeout_s=240)
    life.at["ready"] = life.kill
    keeper = Keeper(life.engine, sleep=wait, clock=lambda: 0.0)
    life.kill()
    ended = await keeper.keep()
    assert ended.phase == "failed"
    assert "not started again after 2 restarts within 10 minutes" in ended.reason
    assert "SIGKILL" in ended.reason
    round_trip = ["crashed", "waiting", "starting", "ready"]
    assert life.phases == ["starting", "ready", *round_trip, *round_trip, "crashed", "failed"]
    assert [state.reason.split(":")[0] for state in life.states if state.phase == "waiting"] == [
        "restart 1 of 2 in 2 s",
        "restart 2 of 2 in 15 s",
    ]
    assert waits == [2.0, 15.0]
    await life.engine.stop()
    life.at.clear()
    assert (await life.engine.start(timeout_s=240)).base_url == handle.base_url, "clients find it at the same place"
    await life.engine.stop(grace_s=0.2)


async def test_what_a_restart_has_otherwise_is_asked_for_and_told(tmp_path: Path) -> None:
    life = Life(tmp_path)
    asked: list[Path] = []

    async def change(log: Path) -> str:
        asked.append(log)
        return "without the parts" if len(asked) == 1 else ""

    await life.engine.start(timeout_s=240)
    life.at["ready"] = life.kill
    life.kill()
    await Keeper(life.engine, change=change, sleep=no_time).keep()
    assert asked == [life.engine.log_path] * 2, "not where there is no restart"
    assert [state.reason.split(":")[0] for state in life.states if state.phase == "waiting"] == [
        "restart 1 of 2 in 2 s, without the parts",
        "restart 2 of 2 in 15 s",
    ]
    await life.engine.stop(grace_s=0.2)


async def test_old_crashes_are_forgotten(tmp_path: Path) -> None:
    life = Life(tmp_path)
    await life.engine.start(timeout_s=240)
    now = 0.0
    restarts = iter(range(3))

    def kill_again() -> None:
        nonlocal now
        now += 601.0
        if next(restarts, None) is None:
            keeping.cancel()
        else:
            life.kill()

    life.at["ready"] = kill_again
    keeper = Keeper(life.engine, RestartPolicy(limit=1), sleep=no_time, clock=lambda: now)
    life.kill()
    async with asyncio.TaskGroup() as tasks:
        keeping = tasks.create_task(keeper.keep())
    assert life.phases.count("ready") == 5, "four restarts, each in ten minutes of its own"
    await life.engine.stop(grace_s=0.2)


async def test_the_same_plan_is_not_started_again_where_it_would_fail_again(tmp_path: Path) -> None:
    life = Life(tmp_path)
    asked: list[Path] = []

    async def verdict(log: Path) -> str | None:
        asked.append(log)
        return "out of memory on the first card"

    await life.engine.start(timeout_s=240)
    life.kill()
    ended = await Keeper(life.engine, verdict=verdict, sleep=no_time).keep()
    assert ended.phase == "failed"
    assert "same plan would fail again: out of memory on the first card" in ended.reason
    assert life.phases == ["starting", "ready", "crashed", "failed"]
    assert asked == [life.engine.log_path]
    await life.engine.stop()


async def test_a_restart_that_fails_is_a_restart(tmp_path: Path) -> None:
    life = Life(tmp_path)
    await life.engine.start(timeout_s=240)
    (tmp_path / "broken").touch()
    life.kill()
    ended = await Keeper(life.engine, sleep=no_time, clock=lambda: 0.0).keep()
    assert ended.phase == "failed"
    assert "exit code 1" in ended.reason
    assert life.phases[2:] == ["crashed", *["waiting", "starting", "failed"] * 2]
    await life.engine.stop()


async def test_a_stop_while_it_waits_is_a_stop(tmp_path: Path) -> None:
    life = Life(tmp_path)
    await life.engine.start(timeout_s=240)

    async def stopped_meanwhile(seconds: float) -> None:
        await life.engine.stop()

    life.kill()
    ended = await Keeper(life.engine, sleep=stopped_meanwhile).keep()
    assert ended.phase == "stopped"
    assert life.phases[-3:] == ["waiting", "stopping", "stopped"]


async def test_a_stop_ends_the_keeping(tmp_path: Path) -> None:
    life = Life(tmp_path)
    await life.engine.start(timeout_s=240)
    async with asyncio.TaskGroup() as tasks:
        keeping = tasks.create_task(Keeper(life.engine).keep())
        await life.engine.stop(grace_s=0.2)
    assert keeping.result().phase in ("stopping", "stopped")


class Suspend:
    """A computer that sleeps when told to; the pause between two looks ends at once then."""

    def __init__(self) -> None:
        self.slept, self._woken = 0.0, asyncio.Event()

    def sleep(self, seconds: float) -> None:
        self.slept += seconds
        self._woken.set()

    async def pause(self) -> None:
        await self._woken.wait()
        self._woken.clear()

    @property
    def watch(self) -> SleepWatch:
        return SleepWatch(lambda: self.slept, self.pause)


async def test_a_computer_that_slept_is_told_once_and_jitter_is_no_sleep() -> None:
    suspend = Suspend()
    watch = suspend.watch
    suspend.sleep(0.5)
    suspend.sleep(3599.5)
    assert await watch.resumed() == 3600.0
    suspend.sleep(0.3)
    async with asyncio.TaskGroup() as tasks:
        again = tasks.create_task(watch.resumed())
        await asyncio.sleep(0)
        suspend.sleep(7.0)
    assert again.result() == pytest.approx(7.3)
    assert slept_s() >= -0.001


async def test_an_engine_that_works_after_the_sleep_is_ready_again(tmp_path: Path) -> None:
    suspend = Suspend()
    life = Life(tmp_path, sleep=suspend.watch)
    await life.engine.start(timeout_s=240)
    awake = asyncio.Event()
    life.at["ready"] = awake.set
    async with asyncio.TaskGroup() as tasks:
        watching = tasks.create_task(life.engine.watch())
        await asyncio.sleep(0)
        suspend.sleep(3600.0)
        await awake.wait()
        await life.engine.stop(grace_s=0.2)
    assert life.phases[:4] == ["starting", "ready", "resuming", "ready"]
    assert life.states[2].reason == "the computer slept for 3600 s"
    assert watching.result().phase in ("stopping", "stopped")


async def test_an_engine_that_does_not_answer_after_the_sleep_has_crashed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its processes live; the cards have lost their memory, and it says so at the first request only."""
    suspend = Suspend()
    life = Life(tmp_path, sleep=suspend.watch)
    await life.engine.start(timeout_s=240)
    monkeypatch.setattr(life.engine, "_model", "what it does not serve")
    async with asyncio.TaskGroup() as tasks:
        watching = tasks.create_task(life.engine.watch())
        await asyncio.sleep(0)
        suspend.sleep(60.0)
    assert watching.result().phase == "crashed"
    assert "does not work any more after the computer slept" in watching.result().reason
    assert life.phases == ["starting", "ready", "resuming", "crashed"]
    assert life.engine.group is not None
    assert life.engine.group.members() == []
    await life.engine.stop()


async def test_an_adopted_server_is_watched_and_never_touched() -> None:
    async with WireServer() as server, EngineClient(server.url) as client:
        phases: list[str] = []
        lost, back = asyncio.Event(), asyncio.Event()

        def hear(state: EngineState) -> None:
            phases.append(state.phase)
            (lost if state.phase == "lost" else back).set()

        adopted = AdoptedEngine(client, on_state=hear, pause=lambda: asyncio.sleep(0))
        assert (await adopted.adopt()).id == "toy"

        async def refuse(request: web.Request) -> web.StreamResponse:
            return web.Response(status=503)

        async with asyncio.TaskGroup() as tasks:
            watching = tasks.create_task(adopted.watch())
            server.handlers["/health"] = refuse
            await lost.wait()
            back.clear()
            server.models = [{"id": "another"}]
            del server.handlers["/health"]
            await back.wait()
            assert adopted.card is not None
            assert adopted.card.id == "another", "it came back with another model"
            adopted.release()
        assert phases == ["adopted", "lost", "adopted", "stopped"]
        assert watching.result().phase == "stopped"
        adopted.release()
        assert await client.health(), "it goes on without us"


async def test_a_server_that_answers_but_serves_nothing_yet_is_not_back() -> None:
    async with WireServer() as server, EngineClient(server.url) as client:
        served, looks = server.models, 0

        async def look_again() -> None:
            nonlocal looks
            looks += 1
            if looks == 3:
                server.models = served

        back = asyncio.Event()
        adopted = AdoptedEngine(client, pause=look_again, on_state=lambda _state: back.set())
        await adopted.adopt()
        server.models = []
        adopted._lose()
        back.clear()
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(adopted.watch())
            await back.wait()
            assert looks >= 3
            adopted.release()


async def test_a_look_after_a_failed_request_needs_one_miss(tmp_path: Path) -> None:
    async with WireServer() as server, EngineClient(server.url) as client:
        adopted = AdoptedEngine(client)
        await adopted.adopt()
        await adopted.look()
        assert adopted.state.phase == "adopted"

        async def refuse(request: web.Request) -> web.StreamResponse:
            return web.Response(status=503)

        server.handlers["/health"] = refuse
        await adopted.look()
        assert adopted.state.phase == "lost"


async def test_what_cannot_be_adopted_is_named(tmp_path: Path) -> None:
    async with EngineClient(f"unix:{tmp_path}/nobody") as nobody:
        adopted = AdoptedEngine(nobody)
        with pytest.raises(EngineUnreachable, match="no engine answers") as caught:
            await adopted.adopt()
        assert caught.value.code == "engine.unreachable"
        assert adopted.state.phase == "stopped"
    async with WireServer() as server, EngineClient(server.url) as client:

        async def dead(request: web.Request) -> web.StreamResponse:
            return web.Response(status=503)

        server.handlers["/health"] = dead
        with pytest.raises(EngineUnreachable, match="answers, but its engine does not") as caught:
            await AdoptedEngine(client).adopt()  # vLLM's server lists its models when its engine is dead
        assert caught.value.code == "engine.silent"
        opened = OpenEngine(client, "a server", "m", None)
        with pytest.raises(EngineUnreachable, match="answers, but its engine does not"):
            await opened.revive()
        del server.handlers["/health"]
        server.models = []
        with pytest.raises(EngineRefused, match="serves no model; start it with a model"):
            await AdoptedEngine(client).adopt()
        await opened.revive()  # it is well again
    async with EngineClient(f"unix:{tmp_path}/nobody") as nobody:
        with pytest.raises(EngineUnreachable) as caught:
            await OpenEngine(nobody, "a server", "m", None).revive()
        assert caught.value.code == "engine.unreachable"
