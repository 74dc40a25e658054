"""``engine-env`` as a program."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from index_helpers import served
from runtime_helpers import StandIn

from engine.runtime.places import read_mark, set_state
from engine.runtime.status import find_environment
from engine.supervise.protocol import (
    EnvironmentCancelled,
    EnvironmentProgress,
    EnvironmentReady,
    RunFailed,
    RunPaused,
    RunResumed,
    WorkerEvent,
)
from engine.supervise.worker import Worker


def engine_env(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "engine.cli", "engine-env", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
    )


def events(done: subprocess.CompletedProcess[str]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_a_life_at_a_terminal(stand_in: StandIn) -> None:
    lock, wheels = ("--lock", stand_in.lock), ("--wheels", stand_in.wheels)
    assert "none" in engine_env("status", *lock).stdout
    missing = engine_env("verify", *lock)
    assert (missing.returncode, "engine-env install" in missing.stderr) == (2, True)

    made = engine_env("install", *lock, *wheels)
    assert made.returncode == 0, made.stderr
    assert "ready: torch 2.14.0, transformers 5.20.2, vllm 0.33.0; 4 packages" in made.stderr
    python = Path(made.stdout.strip())
    assert python == stand_in.places.complete(stand_in.spec.id) / "bin/python"

    status = json.loads(engine_env("status", *lock, "--json").stdout)
    assert (status["python"], status["wanted"]) == (str(python), stand_in.spec.id)
    assert [one["state"] for one in status["environments"]] == ["complete"]

    (python.parent.parent / "lib").rename(python.parent.parent / "gone")
    broken = engine_env("verify", *lock, "--json")
    assert broken.returncode == 2
    assert not json.loads(broken.stdout)["good"]
    repaired = engine_env("repair", *lock, *wheels)
    assert repaired.returncode == 0, repaired.stderr
    assert "it works" in engine_env("verify", *lock, "--contents").stdout

    assert engine_env("remove", *lock).returncode == 0
    assert not python.parent.exists()
    assert engine_env("remove", *lock).returncode == 2
    assert engine_env("remove", "--all", *lock).returncode == 0


def test_a_program_reads_events(stand_in: StandIn) -> None:
    made = engine_env("install", "--lock", stand_in.lock, "--wheels", stand_in.wheels, "--json")
    told = events(made)
    assert {"environment_progress", "environment_ready"} <= {event["event"] for event in told}
    assert told[-1]["event"] == "environment_ready"
    assert told[-1]["versions"]["vllm"] == "0.33.0"


def test_install_finishes_a_repair_that_was_killed(stand_in: StandIn) -> None:
    given = ("install", "--lock", stand_in.lock, "--wheels", stand_in.wheels)
    assert engine_env(*given).returncode == 0
    folder = stand_in.places.complete(stand_in.spec.id)
    mark = read_mark(folder)
    assert mark is not None
    set_state(folder, mark, "repairing")
    again = engine_env(*given)
    assert again.returncode == 0, again.stderr
    assert "going on with a repair" in again.stderr
    assert find_environment(stand_in.spec, stand_in.places) is not None


def test_an_error_is_an_event_too(stand_in: StandIn) -> None:
    (stand_in.wheels / "torch-2.14.0-py3-none-any.whl").unlink()
    failed = engine_env("install", "--lock", stand_in.lock, "--wheels", stand_in.wheels, "--json")
    assert failed.returncode == 2
    assert events(failed)[-1]["code"] == "env.package_missing"


async def test_a_worker_pauses_goes_on_and_fetches_nothing_twice(stand_in: StandIn, tmp_path: Path) -> None:
    async with served(stand_in.wheels) as index:
        held = "torch-2.14.0-py3-none-any.whl"
        index.held.add(held)
        worker = await installing(stand_in, index.url, tmp_path)
        events = worker.events()
        await asyncio.wait_for(index.reached.wait(), 240)
        while (await until(events, EnvironmentProgress)).packages_done < 3:  # all others are unpacked
            pass
        worker.send("pause")
        await until(events, RunPaused)
        uvs = [child for child in psutil.Process(worker.pid).children(recursive=True) if child.name() == "uv"]
        assert not uvs, "a pause leaves no download"
        fetched = index.fetched.copy()
        assert not fetched[held]
        index.let_go()
        worker.send("resume")
        await until(events, RunResumed)
        await until(events, EnvironmentReady)
        assert await worker.wait() == 0
        assert index.fetched[held] == 1
        assert all(index.fetched[name] == count for name, count in fetched.items()), "what was there stays"
    assert find_environment(stand_in.spec, stand_in.places) is not None


@pytest.mark.parametrize("how", ["command", "end of stdin", "while paused"])
async def test_a_worker_is_cancelled_and_leaves_what_is_there(stand_in: StandIn, tmp_path: Path, how: str) -> None:
    async with served(stand_in.wheels) as index:
        index.held.add("torch-2.14.0-py3-none-any.whl")
        worker = await installing(stand_in, index.url, tmp_path)
        events = worker.events()
        await asyncio.wait_for(index.reached.wait(), 240)
        if how == "while paused":
            worker.send("pause")
            await until(events, RunPaused)
        if how == "end of stdin":
            await worker.stop(grace_s=60.0)
        else:
            worker.send("cancel")
        await until(events, EnvironmentCancelled)
        assert await worker.wait() == 130
    assert read_mark(stand_in.places.partial(stand_in.spec.id)) is not None


async def installing(stand_in: StandIn, index: str, folder: Path) -> Worker:
    argv = [sys.executable, "-m", "engine.cli", "engine-env", "install", "--worker"]
    return await Worker.spawn_program(
        [*argv, "--lock", str(stand_in.lock), "--index", index], log_path=folder / "worker.log"
    )


async def until[T](events: AsyncIterator[WorkerEvent], kind: type[T]) -> T:
    """The next event of a kind; an error before it is no such event."""
    async with asyncio.timeout(240):
        async for event in events:
            if isinstance(event, kind):
                return event
            assert not isinstance(event, RunFailed), event
    raise AssertionError(f"no {kind.__name__} came")
