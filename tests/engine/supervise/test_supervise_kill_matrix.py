"""Each process of a vLLM, its guardian and the window killed in turn, in every phase; and a stop in every phase.

Real trees of processes: some ignore TERM, leave the session, lose their marks, leave processes without a parent, or do
not mind the death of another. After each case nothing of it may be left. ``DESK_KILL_ROUNDS`` says how many rounds;
each has a seed of its own, which decides what the trees are like. ``DESK_KILL_SEED`` gives other trees.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import psutil
import pytest

from engine.errors import UserError
from engine.supervise import processes, proctable
from engine.supervise.leftovers import sweep

FAKES = Path(__file__).parents[2] / "fakes"
sys.path.insert(0, str(FAKES))
import stand_in_window as window  # noqa: E402  # the folder is no package

ROUNDS = int(os.environ.get("DESK_KILL_ROUNDS") or ("20" if os.environ.get("CI") else "2"))
SEED = os.environ.get("DESK_KILL_SEED") or "the same"
PHASES = (*window.HELD, "ready", "request")
MODES = ("deaf", "leave", "unmarked", "grandchild", "oblivious")
GONE_S = 120.0  # a guard against hanging, no requirement


def victims(phase: str) -> list[str]:
    core, workers = ["EngineCore"], ["Worker_TP0", "Worker_TP1"]
    return ["api", "guardian", *({"boot": [], "core": core}.get(phase, core + workers))]


def some_modes(dice: random.Random, victim: str) -> list[str]:
    modes = [mode for mode in MODES if dice.random() < 0.4]
    if victim == "both" and {"leave", "unmarked"} <= set(modes):
        modes.remove(dice.choice(["leave", "unmarked"]))  # nobody can know such a one; vLLM leaves no session
    return modes


@pytest.fixture(scope="module")
def windows() -> Iterator[subprocess.Popen[str]]:
    """Starts windows on demand."""
    process = subprocess.Popen(
        [sys.executable, str(FAKES / "stand_in_window.py")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=processes.child_environment({}),
    )
    yield process
    process.communicate()


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    window.hurry(lambda module, name, seconds: monkeypatch.setattr(module, name, seconds))


def open_files() -> int:
    return len(os.listdir("/proc/self/fd"))


def others_than_logs(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir() if not path.name.startswith("engine.log")]


async def nothing_is_left(folder: Path, where: window.Reached, starts: dict[int, int]) -> None:
    assert await processes.wait_gone(where.pids, GONE_S)
    for pid, start in starts.items():
        stat = proctable.read_stat(pid)
        assert stat is None or stat[3] != start or stat[0] in "ZX", f"{pid} lives"
    assert others_than_logs(folder) == []
    assert not [child for child in psutil.Process().children() if child.pid in where.pids], "zombies"


def started(where: window.Reached) -> dict[int, int]:
    return {pid: stat[3] for pid in where.pids if (stat := proctable.read_stat(pid)) is not None}


async def killed(spec: window.Spec, victim: str) -> None:
    """Kill one process; the engine must be given up by itself and nothing be left."""
    engine = window.make_engine(spec)
    seen: list[str] = []
    where: list[window.Reached] = []
    starts: dict[int, int] = {}

    async def kill(there: window.Reached) -> None:
        where.append(there)
        starts.update(started(there))
        os.kill(there.pid(victim), signal.SIGKILL)
        if spec.until not in window.HELD:
            ended = await engine.watch()
            assert ended.phase == "crashed", ended
            seen.append(ended.reason)

    try:
        await window.reached(engine, spec, kill)
    except* UserError as errors:
        (error,) = errors.exceptions
        assert isinstance(error, UserError)
        assert error.code == "engine.died_at_start", error
        assert engine.state.phase == "failed"
        seen.append(str(error))
    (why,) = seen
    assert "SIGKILL" in why or victim in why, why
    await nothing_is_left(Path(spec.folder), where[0], starts)
    await engine.stop()
    assert engine.state.phase == "stopped"


async def stopped(spec: window.Spec) -> None:
    """Stop as the window does: the start is cancelled, a running engine is stopped."""
    engine = window.make_engine(spec)
    where: list[window.Reached] = []
    starts: dict[int, int] = {}

    async def stop(there: window.Reached) -> None:
        where.append(there)
        starts.update(started(there))
        if spec.until in window.HELD:
            raise asyncio.CancelledError
        assert (await engine.stop(grace_s=0.2)).clean

    with contextlib.suppress(asyncio.CancelledError):
        await window.reached(engine, spec, stop)
    assert engine.state.phase == "stopped"
    await nothing_is_left(Path(spec.folder), where[0], starts)


async def orphaned(windows: subprocess.Popen[str], spec: window.Spec, victim: str) -> None:
    """Kill the window, alone or with the guardian, and do nothing; after the latter, start another window."""
    assert windows.stdin is not None
    assert windows.stdout is not None
    windows.stdin.write(json.dumps(asdict(spec)) + "\n")
    windows.stdin.flush()
    where = window.Reached(**json.loads(windows.stdout.readline()))
    starts = started(where)
    if victim == "both":
        os.kill(where.guardian, signal.SIGKILL)
    os.kill(where.window, signal.SIGKILL)
    assert await processes.wait_gone([where.window, where.guardian], GONE_S)
    if victim == "both":
        await sweep(Path(spec.folder), grace_s=0.2)
    await nothing_is_left(Path(spec.folder), where, starts)


@pytest.mark.parametrize("phase", PHASES)
@pytest.mark.parametrize("number", range(ROUNDS))
async def test_nothing_is_left_of_an_engine(
    tmp_path: Path, windows: subprocess.Popen[str], number: int, phase: str
) -> None:
    dice = random.Random(f"{SEED} {number} {phase}")
    print(f"DESK_KILL_SEED={SEED}")  # noqa: T201  # shown when it fails
    threads = threading.active_count()
    await killed(window.Spec(str(made(tmp_path / "first")), phase, []), "api")  # what is opened once is open now
    files = open_files()
    for victim in (*victims(phase), "stop", "window", "both"):
        spec = window.Spec(str(made(tmp_path / victim)), phase, some_modes(dice, victim))
        print(number, victim, spec)  # noqa: T201
        if victim == "stop":
            await stopped(spec)
        elif victim in ("window", "both"):
            await orphaned(windows, spec, victim)
        else:
            await killed(spec, victim)
        assert threading.active_count() == threads
        assert open_files() == files


def made(folder: Path) -> Path:
    folder.mkdir()
    return folder
