"""Whom the sweep ends and whom it spares, with notes about real processes that are wrong in one point each."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from engine.supervise import processes, proctable
from engine.supervise.group import EngineGroup
from engine.supervise.leftovers import find_leftovers, sweep
from engine.supervise.pidfile import PidRecord, boot_id, pid_file, read_record, write_record

SLEEP = "import signal; signal.pause()"
DEAD = 4_194_304  # above the largest number that Linux gives (man 5 proc, pid_max)


@pytest.fixture
def process() -> Iterator[Callable[..., psutil.Process]]:
    """Starts a sleeping process in a session of its own, under any title and without an environment."""
    started: list[subprocess.Popen[bytes]] = []

    def start(title: str = "sleeper", env: dict[str, str] | None = None) -> psutil.Process:
        argv = [title, "-I", "-S", "-c", f"print('up', flush=True); {SLEEP}"]
        child = subprocess.Popen(
            argv, executable=sys.executable, env=env or {}, start_new_session=True, stdout=subprocess.PIPE
        )
        assert child.stdout is not None
        child.stdout.readline()
        started.append(child)
        return psutil.Process(child.pid)

    yield start
    for child in started:
        child.kill()
        child.communicate()


def noted(folder: Path, **fields: object) -> PidRecord:
    """A note whose owner is dead and which names nobody but what the fields say."""
    empty = PidRecord(DEAD, 1.0, DEAD, 1.0, "mark-of-this-test", (), None, "", DEAD, 1.0, (), boot_id())
    record = replace(empty, **fields)  # type: ignore[arg-type]
    write_record(pid_file(folder, record.pid), record)
    return record


def found(folder: Path) -> set[int]:
    return {member.pid for leftover in find_leftovers(folder) for member in leftover.processes}


def notes(folder: Path) -> list[Path]:
    return list(folder.iterdir())


async def test_a_process_is_ours_by_its_mark(tmp_path: Path, process: Callable[..., psutil.Process]) -> None:
    ours, other = process(env={processes.GROUP_MARK: "mark-of-this-test"}), process()
    noted(tmp_path)
    assert found(tmp_path) == {ours.pid}
    await sweep(tmp_path)
    assert notes(tmp_path) == []
    assert other.is_running()


def test_a_process_is_ours_by_the_note_of_number_and_start(
    tmp_path: Path, process: Callable[..., psutil.Process]
) -> None:
    ours, other = process(), process()
    noted(tmp_path, members=((ours.pid, ours.create_time()), (other.pid, other.create_time() - 60.0)))
    assert found(tmp_path) == {ours.pid}, "the other got the number of one that had been ours"


def test_a_session_is_ours_while_its_leader_is_the_noted_one(
    tmp_path: Path, process: Callable[..., psutil.Process]
) -> None:
    leader = process()
    noted(tmp_path, pid=leader.pid, create_time=leader.create_time())
    assert found(tmp_path) == {leader.pid}


async def test_a_process_that_got_a_dead_leaders_number_is_spared(
    tmp_path: Path, process: Callable[..., psutil.Process]
) -> None:
    other = process("VLLM::EngineCore")
    noted(tmp_path, pid=other.pid, create_time=1.0, guardian_pid=other.pid, guardian_create_time=1.0)
    assert await sweep(tmp_path) == []
    assert other.is_running()
    assert notes(tmp_path) == []


ORPHANS = """
import os, subprocess, sys
for title in ("VLLM::Worker_TP0", "another"):
    child = subprocess.Popen([title, "-I", "-S", "-c", sys.argv[1]], executable=sys.executable, env={})
    print(child.pid, flush=True)
"""


def test_of_an_orphaned_session_those_are_ours_that_call_themselves_vllms(tmp_path: Path) -> None:
    """As after the death of window, guardian and API server: titles have overwritten the marks."""
    leader = subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", ORPHANS, SLEEP], stdout=subprocess.PIPE, start_new_session=True
    )
    assert leader.stdout is not None
    worker, other = (psutil.Process(int(line)) for line in (leader.stdout.readline(), leader.stdout.readline()))
    try:
        leader.wait()
        noted(tmp_path, pid=leader.pid, create_time=1.0)
        assert proctable.read_stat(worker.pid) is not None
        assert found(tmp_path) == {worker.pid}
    finally:
        worker.kill()
        other.kill()
        leader.communicate()


def test_after_a_new_start_of_the_machine_no_number_is_ours(
    tmp_path: Path, process: Callable[..., psutil.Process]
) -> None:
    other = process()
    noted(tmp_path, members=((other.pid, other.create_time()),), boot="the start before")
    assert found(tmp_path) == set()


async def test_the_members_are_noted_and_an_older_note_is_read(tmp_path: Path) -> None:
    group = EngineGroup.launch(["/bin/sleep", "60"], log_path=tmp_path / "e.log", pid_dir=tmp_path)
    assert group.note_members() == [], "the leader alone"
    record = read_record(pid_file(tmp_path, group.pid))
    assert record is not None
    assert dict(record.members) == {group.pid: psutil.Process(group.pid).create_time()}
    assert record.guardian_pid == psutil.Process(group.pid).ppid()
    await group.stop()
    group.note_members()
    assert not pid_file(tmp_path, group.pid).exists(), "a note of what is gone does not come back"
    older = tmp_path / "group-1.json"
    older.write_text(
        '{"pid": 1, "create_time": 1, "owner_pid": 2, "owner_create_time": 1, "mark": "m", "argv": ["x"], '
        '"port": null, "started": ""}'
    )
    before = read_record(older)
    assert before is not None
    assert (before.guardian_pid, before.members, before.boot) == (0, (), "")
