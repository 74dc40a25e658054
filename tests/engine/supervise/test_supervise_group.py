"""Engine groups as real processes: launched, stopped, proved gone, and never left behind by a killed owner."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from engine.errors import UserError
from engine.supervise import processes
from engine.supervise.group import EngineGroup
from engine.supervise.leftovers import find_leftovers, sweep
from engine.supervise.pidfile import read_record
from engine.supervise.ports import bind_port

FAKES = Path(__file__).parents[2] / "fakes"


def launch(home: Path, *modes: str, env: dict[str, str] | None = None) -> EngineGroup:
    with bind_port() as listener:
        return EngineGroup.launch(
            [sys.executable, str(FAKES / "engine_misbehaving.py"), str(listener.fileno()), *modes],
            log_path=home / "engine.log",
            pid_dir=home,
            env=env,
            port=listener.getsockname()[1],
            pass_fds=[listener.fileno()],
        )


def names(folder: Path, pattern: str) -> list[str]:
    return sorted(path.name for path in folder.glob(pattern))


def answer(port: int | None) -> bytes:
    """Blocks until the engine answers: then its family is up too."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=240) as response:
        body: bytes = response.read()
        return body


@pytest.fixture
def owner(tmp_path: Path) -> Iterator[Any]:
    """Starts a process that owns an engine group; everything is ended afterwards."""
    started: list[tuple[subprocess.Popen[bytes], int]] = []

    def start(*modes: str) -> tuple[subprocess.Popen[bytes], int, int]:
        process = subprocess.Popen(
            [sys.executable, str(FAKES / "engine_owner.py"), str(tmp_path), *modes],
            stdout=subprocess.PIPE,
            env=processes.child_environment({}),
        )
        assert process.stdout is not None
        told = json.loads(process.stdout.readline())
        answer(told["port"])
        started.append((process, told["pid"]))
        return process, told["pid"], told["guardian"]

    yield start
    for process, pid in started:
        process.kill()
        process.communicate()
        for member in processes.find_members(pid, ""):
            member.kill()


async def test_term_is_enough_for_a_polite_engine(tmp_path: Path) -> None:
    group = launch(tmp_path)
    assert answer(group.record.port)
    record = read_record(tmp_path / f"group-{group.pid}.json")
    assert record == group.record
    assert record.port == group.record.port
    outcome = await group.stop()
    assert (outcome.step, outcome.exit_code, outcome.clean) == ("term", -signal.SIGTERM, True)
    assert names(tmp_path, "group-*.json") == []
    assert (await group.stop()).step == "none"


async def test_a_deaf_engine_with_deaf_grandchildren_is_killed_to_the_last(tmp_path: Path) -> None:
    group = launch(tmp_path, "deaf", "grandchild")
    answer(group.record.port)
    members = group.members()
    assert len(members) == 3
    assert len({os.getsid(member.pid) for member in members}) == 2, "one of them left the session"
    outcome = await group.stop(grace_s=0.2)
    assert (outcome.step, outcome.survivors) == ("kill", ())
    assert not any(member.is_running() and member.status() != psutil.STATUS_ZOMBIE for member in members)


async def test_grandchildren_that_outlive_the_leader_are_ended_too(tmp_path: Path) -> None:
    group = launch(tmp_path, "grandchild")
    answer(group.record.port)
    os.kill(group.pid, signal.SIGKILL)
    assert await group.wait() == -signal.SIGKILL
    assert len(group.members()) == 2
    assert (await group.stop(grace_s=0.2)).clean
    assert group.members() == []


async def test_a_leader_that_is_asked_first_ends_its_own_processes(tmp_path: Path) -> None:
    group = launch(tmp_path, "orderly")
    answer(group.record.port)
    assert len(group.members()) == 2
    outcome = await group.stop(grace_s=120.0, leader_first=True)
    assert (outcome.step, outcome.exit_code, outcome.clean) == ("term", 0, True)
    log = (tmp_path / "engine.log").read_text()
    assert "the worker has ended its step" in log
    assert "the worker was told to end" not in log


async def test_a_leader_that_does_not_listen_has_its_time_and_then_all_is_killed(tmp_path: Path) -> None:
    group = launch(tmp_path, "deaf", "grandchild")
    answer(group.record.port)
    members = group.members()
    outcome = await group.stop(grace_s=0.2, leader_first=True)
    assert (outcome.step, outcome.survivors) == ("kill", ())
    assert not any(member.is_running() and member.status() != psutil.STATUS_ZOMBIE for member in members)


async def test_what_a_leader_leaves_behind_that_was_asked_first_is_ended_too(tmp_path: Path) -> None:
    group = launch(tmp_path, "grandchild")
    answer(group.record.port)
    assert len(group.members()) == 3
    outcome = await group.stop(grace_s=120.0, leader_first=True)  # its guardian ends them, 3 s after it
    assert (outcome.exit_code, outcome.clean) == (-signal.SIGTERM, True)
    assert group.members() == []


async def test_kill_now_needs_no_loop(tmp_path: Path) -> None:
    group = launch(tmp_path, "deaf", "grandchild")
    answer(group.record.port)
    assert group.kill_now().clean
    assert group.exit_code() == -signal.SIGKILL


async def test_output_goes_to_a_rotated_log(tmp_path: Path) -> None:
    for _ in range(6):
        group = launch(tmp_path, "die")
        assert await group.wait() == 3
        await group.stop()
    assert group.log_tail(1) == "no such weights"
    assert names(tmp_path, "engine.log*") == [
        "engine.log",
        "engine.log.1",
        "engine.log.2",
        "engine.log.3",
    ]


async def test_a_group_knows_its_log_after_another_start(tmp_path: Path) -> None:
    first = launch(tmp_path)
    answer(first.record.port)
    second = launch(tmp_path, "die")
    assert await second.wait() == 3
    assert second.log_tail(1) == "no such weights"
    assert "modes: []" in first.log_tail(5)
    await first.stop()
    await second.stop()


async def test_a_program_that_does_not_exist_says_so_in_the_log(tmp_path: Path) -> None:
    group = EngineGroup.launch(["/nowhere/engine"], log_path=tmp_path / "e.log", pid_dir=tmp_path)
    assert await group.wait() == 127
    assert "cannot start /nowhere/engine" in group.log_tail()
    await group.stop()


def test_an_unwritable_pid_folder_leaves_no_process(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot write"):
        EngineGroup.launch(["/bin/sleep", "60"], log_path=tmp_path / "e.log", pid_dir=tmp_path / "missing")
    assert not [child for child in psutil.Process().children() if child.name() == "sleep"]


async def test_an_engine_outlives_the_thread_that_launched_it(tmp_path: Path) -> None:
    """A death signal comes with the end of a thread; the guardian waits for the process."""
    groups: list[EngineGroup] = []
    thread = threading.Thread(target=lambda: groups.append(launch(tmp_path)))
    thread.start()
    thread.join()
    (group,) = groups
    assert answer(group.record.port)
    assert group.exit_code() is None
    assert (await group.stop()).clean


async def test_members_may_be_asked_for_on_many_threads(tmp_path: Path) -> None:
    group = launch(tmp_path, "grandchild")
    answer(group.record.port)
    async with asyncio.TaskGroup() as tasks:
        looks = [tasks.create_task(asyncio.to_thread(group.members)) for _ in range(8)]
        tasks.create_task(group.stop(grace_s=0.2))
    assert all(len(look.result()) <= 3 for look in looks)
    assert group.members() == []


async def test_the_engine_dies_with_a_killed_owner(owner: Any) -> None:
    process, pid, guardian = owner()
    process.kill()
    assert await processes.wait_gone([pid, guardian], 120)


async def test_all_that_a_killed_owner_had_is_gone_without_a_sweep(owner: Any, tmp_path: Path) -> None:
    process, pid, guardian = owner("deaf", "grandchild")
    members = processes.find_members(pid, "", below=guardian)
    assert len(members) == 3
    process.kill()
    assert await processes.wait_gone([member.pid for member in members], 120)
    assert await processes.wait_gone([guardian], 120)
    assert names(tmp_path, "group-*.json") == [], "the guardian takes the note with it"


async def test_a_terminated_guardian_ends_everything(tmp_path: Path) -> None:
    group = launch(tmp_path, "deaf", "grandchild")
    answer(group.record.port)
    members = group.members()
    os.kill(group.guardian_pid, signal.SIGTERM)
    assert await group.wait() == -signal.SIGKILL
    assert await processes.wait_gone([member.pid for member in members], 120)
    assert (await group.stop()).step == "none"


async def test_a_killed_guardian_takes_the_leader_along_and_the_owner_ends_the_rest(tmp_path: Path) -> None:
    group = launch(tmp_path, "grandchild")
    answer(group.record.port)
    assert len(group.members()) == 3
    os.kill(group.guardian_pid, signal.SIGKILL)
    assert await group.wait() == -signal.SIGKILL
    assert (await group.stop(grace_s=0.2)).clean
    assert group.members() == []
    assert names(tmp_path, "group-*.json") == []


async def test_the_sweep_ends_what_a_killed_owner_and_a_killed_guardian_left(owner: Any, tmp_path: Path) -> None:
    process, pid, guardian = owner("deaf", "grandchild", "hold-nothing")
    mine = launch(tmp_path)
    answer(mine.record.port)
    assert find_leftovers(tmp_path) == [], "both owners live"
    os.kill(guardian, signal.SIGKILL)
    process.kill()
    process.wait()
    assert await processes.wait_gone([guardian], 120)
    (leftover,) = find_leftovers(tmp_path)
    assert {leftover.record.pid} < {member.pid for member in leftover.processes}
    assert len(leftover.processes) == 3
    swept = await sweep(tmp_path, grace_s=0.2)
    assert [found.record.pid for found in swept] == [pid]
    assert processes.find_members(pid, leftover.record.mark) == []
    assert mine.exit_code() is None, "a living owner's group is left alone"
    assert names(tmp_path, "group-*.json") == [f"group-{mine.pid}.json"]
    await mine.stop()


async def test_the_sweep_finds_grandchildren_when_the_leader_is_gone(owner: Any, tmp_path: Path) -> None:
    process, pid, guardian = owner("grandchild")
    os.kill(guardian, signal.SIGKILL)
    process.kill()
    process.wait()
    assert await processes.wait_gone([pid, guardian], 120), "the death signal reaches the leader only"
    (leftover,) = find_leftovers(tmp_path)
    assert len(leftover.processes) == 2
    await sweep(tmp_path, grace_s=0.2)
    assert find_leftovers(tmp_path) == []
    assert processes.find_members(None, leftover.record.mark) == []


async def test_a_sweep_beside_a_guardian_at_work_leaves_neither(owner: Any, tmp_path: Path) -> None:
    process, pid, guardian = owner("grandchild", "hold-nothing")  # it waits some seconds before it kills
    process.kill()
    process.wait()
    assert [found.record.pid for found in await sweep(tmp_path, grace_s=0.2)] == [pid]
    assert processes.create_time(guardian) is None
    assert names(tmp_path, "group-*.json") == []


async def test_a_broken_pid_file_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "group-1.json").write_text("{")
    (tmp_path / "group-2.json").write_text("[]")
    assert await sweep(tmp_path) == []


async def test_pids_are_watched_on_the_qt_loop_too(qapp: Any, tmp_path: Path) -> None:
    group = launch(tmp_path)
    answer(group.record.port)
    assert (await group.stop()).clean
