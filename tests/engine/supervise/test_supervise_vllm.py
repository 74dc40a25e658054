"""vLLM as a supervised process, with a stand-in that has its command line, its log and its wire."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from engine.client.http import EngineClient
from engine.domain.plan import LaunchPlan
from engine.errors import EngineRefused, InputError, UserError
from engine.hardware.record import load_machine, recorded_machines
from engine.launch.command import MODEL_NAME, argv, environment
from engine.launch.planner import plan
from engine.paths import demo_model_dir
from engine.supervise import processes
from engine.supervise.ports import bind_port
from engine.supervise.vllm import StartProgress, VllmEngine

sys.path.insert(0, str(Path(__file__).parents[2] / "fakes"))
from stand_in_engine import make_environment  # the folder is no package


def planned(name: str = "2x3090-pcie") -> LaunchPlan:
    found = plan(load_machine(recorded_machines()[name]))
    assert isinstance(found, LaunchPlan)
    return found


@pytest.fixture
def engine(tmp_path: Path) -> Callable[..., VllmEngine]:
    def make(mode: str = "", port: int = 0, seen: list[StartProgress] | None = None) -> VllmEngine:
        folder, found = tmp_path / "env", planned()
        if not folder.exists():
            make_environment(folder, {})
        python = folder / "bin" / "python"
        base = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
        base |= {"LD_LIBRARY_PATH": "/nowhere", "STAND_IN_VLLM": mode}
        return VllmEngine(
            lambda chosen: argv(found, python, demo_model_dir(), chosen),
            environment(found, base=base, cache_dir=tmp_path / "cache", bin_dir=python.parent),
            model=MODEL_NAME,
            phases=found.phases,
            port=port,
            on_progress=(seen if seen is not None else []).append,
        )

    return make


async def test_a_plan_becomes_an_engine_that_answers(engine: Callable[..., VllmEngine]) -> None:
    seen: list[StartProgress] = []
    vllm = engine(seen=seen)
    handle = await vllm.start(timeout_s=240)
    assert vllm.group is not None
    leader = vllm.group.members()[0]
    assert handle.api_key not in " ".join(leader.cmdline())
    env = leader.environ()
    assert env["VLLM_API_KEY"] == handle.api_key
    assert "LD_LIBRARY_PATH" not in env, "the plan removes it"
    assert env["CUDA_VISIBLE_DEVICES"].startswith("GPU-")
    assert "PYTHONPATH" not in env, "our own packages stay off the engine's path"
    assert [progress.number for progress in seen] == sorted(progress.number for progress in seen)
    assert "Loading the weights" in {progress.phase for progress in seen}
    async with EngineClient(handle.base_url, api_key=handle.api_key) as client:
        assert [card.id for card in await client.models()] == [MODEL_NAME]
    assert (await vllm.stop()).clean
    with pytest.raises(psutil.NoSuchProcess):
        psutil.Process(handle.pid)
    again = await vllm.start(timeout_s=240)
    assert (again.base_url, again.api_key) == (handle.base_url, handle.api_key)
    await vllm.stop()


async def test_a_start_that_runs_out_of_memory_says_so(engine: Callable[..., VllmEngine]) -> None:
    vllm = engine("die")
    with pytest.raises(UserError) as caught:
        await vllm.start(timeout_s=240)
    assert caught.value.code == "engine.died_at_start"
    assert "CUDA out of memory" in str(caught.value)
    assert vllm.group is None


async def test_a_server_of_another_model_is_not_ready(engine: Callable[..., VllmEngine]) -> None:
    vllm = engine("other")
    with pytest.raises(EngineRefused) as caught:
        await vllm.start(timeout_s=240)
    assert caught.value.code == "engine.other_model"
    assert vllm.group is None


async def test_a_start_is_given_up_and_leaves_nothing(engine: Callable[..., VllmEngine], tmp_path: Path) -> None:
    held = asyncio.Event()
    vllm = engine(f"hold={tmp_path / 'go'}")
    vllm.on_progress = lambda progress: held.set() if progress.fraction == 0.42 else None
    async with asyncio.TaskGroup() as tasks:
        starting = tasks.create_task(vllm.start(timeout_s=240))
        await asyncio.wait_for(held.wait(), 240)
        group = vllm.group
        assert group is not None
        starting.cancel()
    assert group.members() == []


async def test_the_group_is_stopped_with_processes_of_a_session_of_their_own(engine: Callable[..., VllmEngine]) -> None:
    vllm = engine("child")
    await vllm.start(timeout_s=240)
    assert vllm.group is not None
    members = vllm.group.members()
    assert len(members) == 2
    assert len({os.getsid(member.pid) for member in members}) == 2
    outcome = await vllm.stop()
    assert outcome.clean
    assert await processes.wait_gone([member.pid for member in members], 120)


async def test_a_killed_engine_is_noticed_and_comes_back(engine: Callable[..., VllmEngine]) -> None:
    vllm = engine()
    handle = await vllm.start(timeout_s=240)
    async with asyncio.TaskGroup() as tasks:
        watching = tasks.create_task(vllm.watch())
        os.kill(handle.pid, signal.SIGKILL)
    assert watching.result().phase == "crashed"
    assert (await vllm.start(timeout_s=240)).base_url == handle.base_url
    await vllm.stop()


async def test_a_taken_port_is_named(engine: Callable[..., VllmEngine]) -> None:
    with bind_port() as taken, pytest.raises(InputError) as caught:
        await engine(port=taken.getsockname()[1]).start(timeout_s=240)
    assert caught.value.code == "port.in_use"
