"""A supervised engine from stopped to ready, failed and stopped, against engines that misbehave."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
from pathlib import Path

import pytest

from engine.errors import InputError, UserError
from engine.supervise.lifecycle import KEY_VARIABLE, EngineCommand, SupervisedEngine
from engine.supervise.ports import bind_port, port_holder
from engine.supervise.state import EngineState

FAKE = Path(__file__).parents[2] / "fakes" / "engine_misbehaving.py"


def engine(*modes: str, seen: list[str] | None = None, port: int = 0) -> SupervisedEngine:
    return SupervisedEngine(
        EngineCommand("fake", lambda descriptor: [sys.executable, str(FAKE), str(descriptor), *modes], {}),
        port=port,
        on_state=None if seen is None else lambda state: seen.append(state.phase),
    )


async def test_a_slow_engine_becomes_ready_and_stops() -> None:
    seen: list[str] = []
    slow = engine("slow", seen=seen)
    handle = await slow.start()
    assert handle.base_url.startswith("http://127.0.0.1:")
    assert slow.group is not None
    assert handle.api_key not in " ".join(slow.group.members()[0].cmdline())
    assert slow.group.members()[0].environ()[KEY_VARIABLE] == handle.api_key
    outcome = await slow.stop()
    assert outcome.step == "term"
    assert seen == ["starting", "ready", "stopping", "stopped"]
    assert (await slow.stop()).step == "none"


async def test_an_engine_that_dies_at_its_start_shows_its_log() -> None:
    dying = engine("die")
    with pytest.raises(UserError) as caught:
        await dying.start()
    assert caught.value.code == "engine.died_at_start"
    assert "exit code 3" in str(caught.value)
    assert "no such weights" in str(caught.value)
    assert dying.state.phase == "failed"
    assert dying.group is None


async def test_a_mute_engine_is_given_up_and_ended() -> None:
    mute = engine("mute", "deaf", "grandchild")
    with pytest.raises(UserError) as caught:
        await mute.start(timeout_s=1.0)
    assert caught.value.code == "engine.start_timeout"
    assert mute.group is None


async def test_a_cancelled_start_leaves_nothing() -> None:
    mute = engine("mute")
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.5):
            await mute.start()
    assert mute.group is None
    assert mute.state == EngineState("stopped"), "a start that is no more wanted has not failed"


async def test_a_stop_in_the_middle_of_a_start_ends_it() -> None:
    seen: list[str] = []
    mute = engine("mute", seen=seen)
    with pytest.RaisesGroup(UserError):
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(mute.start())
            await asyncio.sleep(0)  # it runs up to its first wait
            assert mute.group is not None
            assert (await mute.stop()).clean
    assert mute.state.phase == "stopped"
    assert seen == ["starting", "stopping", "stopped"]


async def test_the_watch_tells_of_a_death_and_a_new_start_works() -> None:
    seen: list[str] = []
    fake = engine("grandchild", seen=seen)
    handle = await fake.start()
    async with asyncio.TaskGroup() as tasks:
        watch = tasks.create_task(fake.watch())
        os.kill(handle.pid, signal.SIGKILL)
    state = watch.result()
    assert state.phase == "crashed"
    assert "SIGKILL" in state.reason
    assert fake.handle is None
    assert fake.group is not None
    assert fake.group.members() == [], "the dead engine's grandchildren are ended"
    again = await fake.start()
    assert again.pid != handle.pid
    assert (again.base_url, again.api_key) == (handle.base_url, handle.api_key), "its clients find it again"
    await fake.stop(grace_s=0.2)
    assert seen == ["starting", "ready", "crashed", "starting", "ready", "stopping", "stopped"]


async def test_the_watch_ends_with_a_stop() -> None:
    fake = engine()
    await fake.start()
    async with asyncio.TaskGroup() as tasks:
        watch = tasks.create_task(fake.watch())
        await fake.stop()
    assert watch.result().phase in {"stopping", "stopped"}


async def test_a_taken_port_names_its_holder() -> None:
    with bind_port() as taken:
        port = taken.getsockname()[1]
        with pytest.raises(InputError) as caught:
            await engine(port=port).start()
    assert caught.value.code == "port.in_use"
    assert str(port) in str(caught.value)
    assert f"pid {os.getpid()}" in str(caught.value)


def test_unusable_hosts_and_ports_are_refused() -> None:
    with pytest.raises(InputError, match=r"203\.0\.113\.1"):
        bind_port("203.0.113.1")
    with pytest.raises(InputError):
        bind_port("127.0.0.1", 70000)
    assert port_holder(1) == ""


def test_a_port_is_free_again_at_once() -> None:
    with bind_port() as first:
        port = first.getsockname()[1]
        with socket.create_connection(("127.0.0.1", port)):
            pass
    bind_port("127.0.0.1", port).close()
