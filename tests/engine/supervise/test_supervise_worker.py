"""Workers as real processes: events, commands, a death without a last word, an end with the parent."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.supervise import processes
from engine.supervise.protocol import (
    Note,
    RunCancelled,
    RunFailed,
    RunFinished,
    RunPaused,
    RunProgress,
    RunResumed,
    StatusCounts,
    WorkerEvent,
    command_line,
    parse_command,
    parse_event,
)
from engine.supervise.worker import Worker

FAKE = Path(__file__).parents[2] / "fakes" / "engine_worker.py"


async def spawn(tmp_path: Path, mode: str = "talk") -> Worker:
    return await Worker.spawn_program([sys.executable, str(FAKE), mode], log_path=tmp_path / "worker.log")


async def test_events_and_commands(tmp_path: Path) -> None:
    worker = await spawn(tmp_path)
    seen: list[WorkerEvent] = []
    async for event in worker.events():
        seen.append(event)
        match event:
            case Note():
                worker.send("pause")
            case RunPaused():
                worker.send("resume")
            case RunResumed():
                worker.send("cancel")
            case _:
                pass
    assert [type(event) for event in seen] == [Note, RunPaused, RunResumed, RunCancelled]
    assert await worker.wait() == 0
    worker.send("pause")  # nobody hears it, nobody minds


async def test_a_worker_that_vanishes_gets_a_last_word(tmp_path: Path) -> None:
    worker = await spawn(tmp_path, "vanish")
    events = [event async for event in worker.events()]
    last = events[-1]
    assert isinstance(last, RunFailed)
    assert last.code == "worker.died"
    assert "SIGKILL" in last.message
    assert "out of cheese" in last.message
    assert "resume" in last.remedy


async def test_stop_cancels_or_kills(tmp_path: Path) -> None:
    polite = await spawn(tmp_path)
    assert await polite.stop() == 0
    hanging = await spawn(tmp_path, "hang")
    await anext(hanging.events())
    assert await hanging.stop(grace_s=0.2) == -signal.SIGKILL


PARENT = """
import asyncio, pathlib, signal, sys
from engine.supervise.worker import Worker

async def main():
    worker = await Worker.spawn_program([sys.executable, *sys.argv[2:]], log_path=pathlib.Path(sys.argv[1]))
    print((await anext(worker.events())).text.split()[1], flush=True)
    signal.pause()

asyncio.run(main())
"""


def orphan(tmp_path: Path, mode: str) -> int:
    """The pid of a worker whose parent was just killed."""
    process = subprocess.Popen(
        [sys.executable, "-c", PARENT, str(tmp_path / "worker.log"), str(FAKE), mode],
        stdout=subprocess.PIPE,
        env=processes.child_environment({}),
    )
    assert process.stdout is not None
    pid = int(process.stdout.readline())
    process.kill()
    process.communicate()
    return pid


@pytest.mark.parametrize("mode", ["talk", "busy"])
async def test_a_worker_ends_with_its_parent(tmp_path: Path, mode: str) -> None:
    assert await processes.wait_gone([orphan(tmp_path, mode)], 120)


counts = st.integers(0, 10**6)


@given(
    st.builds(
        RunProgress,
        done=counts,
        total=counts,
        rate=st.floats(0, 1e6),
        eta_s=st.none() | st.floats(0, 1e9),
        ok=counts,
        unreadable=counts,
        error=counts,
        skipped=counts,
    )
    | st.builds(Note, text=st.text())
    | st.builds(RunFinished, run=st.text(), out=st.text(), totals=st.dictionaries(st.text(), st.builds(StatusCounts)))
)
def test_every_event_survives_its_line(event: WorkerEvent) -> None:
    line = event.line()
    assert "\n" not in line
    assert json.loads(line)["event"] == event.event
    assert parse_event(line) == event


def test_commands_survive_their_line_and_noise_is_nothing() -> None:
    assert parse_command(command_line("pause")) == "pause"
    assert parse_command('{"command": "dance"}') is None
    assert parse_event("not json") is None
