"""The real tree of processes of vLLM (API server, EngineCore, two workers) under our supervisor: any of them is killed,
the start is given up, the owner dies; the supervisor notices in time and nothing stays."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import threading
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

import aiohttp
import psutil
import pytest

from engine.client.http import EngineClient
from engine.domain.plan import Flag
from engine.domain.question import Noul
from engine.domain.reading import Method
from engine.reads.reader import Reader
from engine.supervise import processes
from engine.supervise.leftovers import find_leftovers
from engine.supervise.vllm import LAST_PHASE, StartProgress, VllmEngine

sys.path.insert(0, str(Path(__file__).parent))
from cpu_server import cpu_engine, python  # the folder is no package

pytestmark = [pytest.mark.vllm_cpu, pytest.mark.timeout(900)]

START_S = 600.0
NOTICED_S = 60.0  # a guard; on a quiet machine it takes the 5 that docs/lifecycle.md names
GONE_S = 30.0  # the plan gives running requests 20 s
LOADING = "Loading the weights"


def nothing_stays(folder: Path, pids: Sequence[int]) -> None:
    """No process, no zombie of ours, no pid file. (What has no parent any more is init's to reap.)"""
    assert [pid for pid in pids if processes.create_time(pid) is not None] == []
    assert [child for child in psutil.Process().children() if child.status() == psutil.STATUS_ZOMBIE] == []
    assert list(folder.glob("group-*.json")) == []


def tree(engine: VllmEngine) -> list[psutil.Process]:
    """Every process of the engine, and the guardian above it."""
    assert engine.group is not None
    return [psutil.Process(engine.group.pid).parent(), *engine.group.members()]


def named(engine: VllmEngine, role: str) -> psutil.Process:
    guardian, *members = tree(engine)
    if role == "guardian":
        return guardian
    if role == "API server":
        return next(member for member in members if member.pid == engine.group.pid)
    return next(member for member in members if member.name() == f"VLLM::{role}")


async def killed(
    engine: VllmEngine, role: str, over: asyncio.Event, folder: Path, ask: Callable[[], Awaitable[None]]
) -> None:
    """The engine is watched and asked something, then one of its processes is killed: noticed, and nothing stays."""
    members = tree(engine)
    async with asyncio.TaskGroup() as tasks:
        watching = tasks.create_task(engine.watch())
        await ask()
        named(engine, role).kill()
        async with asyncio.timeout(NOTICED_S):
            await over.wait()
    assert watching.result().phase == "crashed"
    nothing_stays(folder, [member.pid for member in members])


@pytest.mark.parametrize("role", ["API server", "EngineCore", "Worker_TP0", "Worker_TP1", "guardian"])
async def test_a_killed_process_is_noticed_and_nothing_stays(role: str, tmp_path: Path) -> None:
    threads = threading.active_count()
    over = asyncio.Event()
    engine = cpu_engine(2, tmp_path, lambda state: over.set() if state.phase == "crashed" else None)
    handle = await engine.start(timeout_s=START_S)
    try:
        assert len(tree(engine)) >= 5

        async def ask() -> None:
            async with EngineClient(handle.base_url, api_key=handle.api_key) as client:
                assert await client.health()

        await killed(engine, role, over, tmp_path, ask)
    finally:
        assert (await engine.stop()).clean
    assert threading.active_count() <= threads


async def test_a_stop_lets_running_requests_end(tmp_path: Path) -> None:
    """TERM is for the API server alone: a worker that hears it leaves in the middle of a step, and the other one waits
    for it in an all-reduce until it is killed."""
    engine = cpu_engine(2, tmp_path)
    handle = await engine.start(timeout_s=START_S)
    members = tree(engine)
    begun = asyncio.Event()
    body = {"max_tokens": 192, "ignore_eos": True, "stream": True, "return_token_ids": True}  # three canvases

    async def chat(session: aiohttp.ClientSession, number: int) -> tuple[int, str]:
        tokens, reason = 0, ""
        asked = {**body, "messages": [{"role": "user", "content": f"Story {number}."}]}
        async with session.post(f"{handle.base_url}/v1/chat/completions", json=asked) as answer:
            async for line in answer.content:
                for choice in json.loads(line[6:])["choices"] if line.startswith(b"data: {") else ():
                    tokens, reason = tokens + len(choice.get("token_ids") or ()), choice.get("finish_reason") or reason
                    begun.set()
        return tokens, reason

    key = {"Authorization": f"Bearer {handle.api_key}"}
    try:
        async with aiohttp.ClientSession(headers=key) as session, asyncio.TaskGroup() as tasks:
            chats = [tasks.create_task(chat(session, number)) for number in range(3)]
            await asyncio.wait_for(begun.wait(), START_S)
            outcome = await engine.stop()
    finally:
        await engine.stop()
    assert (outcome.step, outcome.exit_code, outcome.survivors) == ("term", 0, ())
    assert [one.result() for one in chats] == [(192, "length")] * 3
    assert "sending SIGKILL" not in (tmp_path / "engine.log").read_text()
    nothing_stays(tmp_path, [member.pid for member in members])


async def test_one_of_several_api_servers_is_killed(tmp_path: Path) -> None:
    """The decisions profile of a large card has several: any of them answers, and none of them is missed silently."""
    over = asyncio.Event()
    several = [Flag("--api-server-count", "2", "")]
    engine = cpu_engine(1, tmp_path, lambda state: over.set() if state.phase == "crashed" else None, more=several)
    handle = await engine.start(timeout_s=START_S)
    try:

        async def ask() -> None:
            async with EngineClient(handle.base_url, api_key=handle.api_key) as client:
                reader = await Reader.open(client, (Noul(id="q", instructions="Is it day?"),), Method(draws=1))
                answers = await asyncio.gather(*(reader.read(f"It is noon. {n}", row_key=str(n)) for n in range(8)))
            assert {reading.status for (reading,) in answers} == {"ok"}

        await killed(engine, "APIServer_1", over, tmp_path, ask)
    finally:
        assert (await engine.stop()).clean


@pytest.mark.parametrize("phase", ["Reading the checkpoint's configuration", LOADING, LAST_PHASE])
async def test_a_start_that_is_given_up_leaves_nothing(phase: str, tmp_path: Path) -> None:
    engine = cpu_engine(2, tmp_path)
    reached = asyncio.Event()

    def progress(seen: StartProgress) -> None:
        if seen.phase == phase:
            reached.set()

    engine.on_progress = progress
    async with asyncio.TaskGroup() as tasks:
        starting = tasks.create_task(engine.start(timeout_s=START_S))
        await asyncio.wait_for(reached.wait(), START_S)
        members = tree(engine)
        assert members
        starting.cancel()
    assert engine.group is None
    nothing_stays(tmp_path, [member.pid for member in members])


@pytest.mark.parametrize("phase", [LOADING, "ready"])
async def test_the_engine_ends_with_its_owner(phase: str, tmp_path: Path) -> None:
    """The owner is killed with SIGKILL: the death signal ends the tree, or the next start finds and ends the rest."""
    python()
    owner = await asyncio.create_subprocess_exec(
        sys.executable,
        str(Path(__file__).with_name("cpu_owner.py")),
        str(tmp_path),
        phase,
        stdout=asyncio.subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (Path(__file__).parents[2], Path(__file__).parent)))},
    )
    assert owner.stdout is not None
    pids: list[int] = json.loads(await asyncio.wait_for(owner.stdout.readline(), START_S))
    assert pids
    owner.kill()
    await owner.wait()
    assert await processes.wait_gone(pids, GONE_S)
    left = find_leftovers(tmp_path)
    assert [member for leftover in left for member in leftover.processes] == []
