"""A run from form and table to CSV through the command line: whole, killed, interrupted, without its engine."""

from __future__ import annotations

import csv
import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest
from e2e_events import engine_pid, read_until

from engine import paths
from engine.store.runs import RunView, run_path
from engine.supervise import processes
from engine.supervise.protocol import Note, RunCancelled, RunFinished, RunPaused, RunProgress, WorkerEvent
from engine.supervise.worker import Worker


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def some_done(event: dict[str, Any]) -> bool:
    """The first answers are stored; seconds of reading are left."""
    return event["event"] == "progress" and event["done"] > 0


def assert_once(run: str, rows: int) -> None:
    """Every row of the run is answered, and nothing but its rows is stored."""
    with RunView(run_path(paths.runs_dir(), run)) as view:
        assert view.rows == rows
        assert view.done_rows() == rows
        assert sum(each.answers for each in view.totals().values()) == rows
        assert [row.row for row in view.iter_rows()] == list(range(1, rows + 1))
        assert all(len(row.readings) == 1 for row in view.iter_rows())


def test_a_form_over_a_table_becomes_a_csv(desk: Any, small: tuple[Path, Path], tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    ended = desk("decide", *small, "--out", out, "--draws", 1)
    assert ended.code == 0, ended.err
    assert "contradiction: 60 rows: " in ended.out
    assert f"wrote {out}" in ended.out
    found = rows_of(out)
    assert [row["row_id"] for row in found] == [str(number) for number in range(1, 61)]
    assert {row["contradiction.method"] for row in found} == {"alone/canvas"}
    assert {row["contradiction.draws"] for row in found} == {"1"}
    again = desk("decide", *small, "--out", out)
    assert again.code == 2
    assert "exists" in again.err
    listed = json.loads(desk("runs", "--json").out)
    assert [run["state"] for run in listed] == ["finished"]
    assert listed[0]["engine"].startswith("embedded: ")


def test_the_same_run_over_three_wires_and_widths(desk: Any, small: tuple[Path, Path], tmp_path: Path) -> None:
    alone, wide = tmp_path / "alone.csv", tmp_path / "wide.csv"
    assert desk("decide", *small, "--out", alone, "--draws", 1, "--concurrency", 1).code == 0
    assert desk("decide", *small, "--out", wide, "--draws", 1, "--concurrency", 16).code == 0
    for one, other in zip(rows_of(alone), rows_of(wide), strict=True):
        assert float(one["contradiction.label_mass"]) == pytest.approx(
            float(other["contradiction.label_mass"]), rel=1e-3
        )
    native = tmp_path / "native.csv"
    ended = desk("decide", *small, "--out", native, "--wire", "native", "--draws", 1)
    assert ended.code == 0, ended.err
    assert {row["contradiction.method"] for row in rows_of(native)} == {"alone/native"}


def test_kill_9_in_mid_run_and_resume(desk: Any, desk_process: Any, small: tuple[Path, Path], tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    process = desk_process("decide", *small, "--out", out, "--json", "--concurrency", 2, "--draws", 4)
    events = read_until(process, some_done)
    process.kill()
    process.wait()
    run = next(event["run"] for event in events if event["event"] == "started")
    with RunView(run_path(paths.runs_dir(), run)) as view:
        before = view.done_rows()
        assert 0 < events[-1]["done"] <= before < 60  # what was told was stored
        assert view.info().state == "unfinished"
    ended = desk("decide", *small, "--out", out, "--json", "--resume")
    assert ended.code == 0, ended.out
    started = next(event for event in ended.events if event["event"] == "started")
    assert (started["run"], started["done"], started["resumed"]) == (run, before, True)
    assert ended.events[-1]["event"] == "finished"
    assert_once(run, 60)
    assert len(rows_of(out)) == 60
    whole = tmp_path / "whole.csv"
    assert desk("decide", *small, "--out", whole, "--draws", 4).code == 0
    for one, other in zip(rows_of(out), rows_of(whole), strict=True):
        assert one["contradiction.status"] == other["contradiction.status"]
        assert float(one["contradiction.label_mass"]) == pytest.approx(
            float(other["contradiction.label_mass"]), rel=1e-3
        )


async def test_the_engine_dies_with_a_killed_run(desk_process: Any, small: tuple[Path, Path], tmp_path: Path) -> None:
    process = desk_process("decide", *small, "--out", tmp_path / "out.csv", "--json")
    pid = engine_pid(read_until(process, lambda event: event["event"] == "started"))
    process.kill()
    assert await processes.wait_gone([pid], 120)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_says_how_to_go_on(
    desk: Any, desk_process: Any, small: tuple[Path, Path], tmp_path: Path, number: signal.Signals
) -> None:
    process = desk_process("decide", *small, "--out", tmp_path / "out.csv", "--json", "--concurrency", 2, "--draws", 4)
    events = read_until(process, some_done)
    process.send_signal(number)
    out, _ = process.communicate(timeout=300)
    last = json.loads(out.splitlines()[-1])
    assert process.returncode == 130
    assert last["event"] == "cancelled"
    assert 0 < events[-1]["done"] <= last["done"] < 60
    assert not (tmp_path / "out.csv").exists()
    assert list(paths.runtime_dir().glob("group-*.json")) == []
    resumed = desk("decide", *small, "--out", tmp_path / "out.csv", "--resume", last["run"])
    assert resumed.code == 0, resumed.err
    assert f"resuming run {last['run']}" in resumed.err
    assert_once(last["run"], 60)


def test_an_engine_that_dies_in_mid_run_is_started_again(
    desk_process: Any, small: tuple[Path, Path], tmp_path: Path
) -> None:
    process = desk_process("decide", *small, "--out", tmp_path / "out.csv", "--json", "--concurrency", 2, "--draws", 4)
    events = read_until(process, some_done)
    os.kill(engine_pid(events), signal.SIGKILL)
    out, _ = process.communicate(timeout=300)
    events += [json.loads(line) for line in out.splitlines()]
    kinds = [event["event"] for event in events]
    assert process.returncode == 0, events
    assert kinds.index("paused") < kinds.index("resumed") < kinds.index("finished")
    assert_once(events[-1]["run"], 60)


async def test_a_window_pauses_resumes_and_cancels_its_worker(small: tuple[Path, Path], tmp_path: Path) -> None:
    arguments = ["decide", *map(str, small), "--out", str(tmp_path / "out.csv"), "--concurrency", "2", "--draws", "4"]
    worker = await Worker.spawn(arguments, log_path=tmp_path / "worker.log")
    seen: list[WorkerEvent] = []
    async for event in worker.events():
        seen.append(event)
        match event:
            case RunProgress(done=done) if done > 0 and not any(isinstance(each, RunPaused) for each in seen):
                worker.send("pause")
            case RunPaused():
                worker.send("resume")
            case RunProgress() if any(isinstance(each, RunPaused) for each in seen):
                worker.send("cancel")
            case _:
                pass
    assert isinstance(seen[-1], RunCancelled), seen
    assert await worker.wait() == 130


async def test_a_paused_worker_revives_its_engine_when_told(small: tuple[Path, Path], tmp_path: Path) -> None:
    arguments = ["decide", *map(str, small), "--out", str(tmp_path / "out.csv"), "--concurrency", "2", "--draws", "4"]
    worker = await Worker.spawn(arguments, log_path=tmp_path / "worker.log")
    pid, killed = 0, False
    last: WorkerEvent | None = None
    async for event in worker.events():
        last = event
        match event:
            case Note(text=text) if "pid" in text:
                pid = int(text.split("(pid ")[1].split(")")[0])
            case RunProgress(done=done) if done > 0 and not killed:
                killed = True
                os.kill(pid, signal.SIGKILL)
            case RunPaused(reason=reason):
                assert "no engine answers" in reason
                worker.send("resume")
            case _:
                pass
    assert isinstance(last, RunFinished), last
    assert_once(last.run, 60)
    assert await worker.wait() == 0
