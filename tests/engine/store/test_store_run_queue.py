"""The queue: in order, one worker, nothing lost when a worker dies."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from engine.errors import InputError, UserError
from engine.store.run_queue import QUEUE_SCHEMA, RunQueue, create_tables

DEAD = """
import os, signal, sys
from pathlib import Path
from engine.store.run_queue import RunQueue
queue = RunQueue(Path(sys.argv[1]))
queue.take_worker()
print(queue.next().run)
sys.stdout.flush()
os.kill(os.getpid(), signal.SIGKILL)
"""


def states(queue: RunQueue) -> list[tuple[str, str]]:
    return [(entry.run, entry.state) for entry in queue.entries()]


def test_runs_are_taken_in_order_and_each_once(tmp_path: Path) -> None:
    with RunQueue(tmp_path / "q.sqlite") as queue:
        queue.add("a", {"out": "ä.csv"})
        queue.add("b", {})
        with pytest.raises(InputError, match="run a is in the queue already"):
            queue.add("a", {})
        queue.take_worker()
        first, second = queue.next(), queue.next()
        assert first is not None
        assert second is not None
        assert (first.run, first.options, second.run) == ("a", {"out": "ä.csv"}, "b")
        assert queue.next() is None
        queue.note(first, "done")
        queue.note(second, "failed", "no engine")
        assert states(queue) == [("a", "done"), ("b", "failed")]
        assert queue.entries()[1].note == "no engine"
        queue.add("b", {})  # once more, at the end
        assert states(queue) == [("a", "done"), ("b", "waiting")]
        queue.remove("a")
        with pytest.raises(InputError, match="run a is not in the queue"):
            queue.remove("a")


def test_one_worker_at_a_time_and_what_it_had_taken_is_not_removed(tmp_path: Path) -> None:
    path = tmp_path / "q.sqlite"
    with RunQueue(path) as queue, RunQueue(path) as other:
        queue.add("a", {})
        queue.take_worker()
        with pytest.raises(UserError, match="works on the queue already"):
            other.take_worker()
        assert queue.next() is not None
        with pytest.raises(UserError, match="is being worked on"):
            other.remove("a")
        queue.close()
        other.take_worker()
        assert states(other) == [("a", "waiting")]


def test_what_a_dead_worker_had_taken_waits_again_in_its_place(tmp_path: Path) -> None:
    path = tmp_path / "q.sqlite"
    with RunQueue(path) as queue:
        queue.add("a", {})
        queue.add("b", {})
        root = Path(__file__).parents[3]
        done = subprocess.run(
            [sys.executable, "-c", DEAD, str(path)], cwd=root, capture_output=True, text=True, check=False
        )
        assert done.stdout == "a\n", done.stderr
        assert states(queue) == [("a", "running"), ("b", "waiting")]
        queue.take_worker()
        entry = queue.next()
        assert entry is not None
        assert entry.run == "a"


def test_those_that_wait_are_put_in_another_order_and_the_others_keep_their_places(tmp_path: Path) -> None:
    with RunQueue(tmp_path / "q.sqlite") as queue:
        for run in "abcd":
            queue.add(run, {"engine": "old", "out": "x.csv", "concurrency": None})
        queue.take_worker()
        assert queue.worked_on()
        assert queue.next() is not None
        queue.arrange(["d", "a", "gone", "b", "b"])  # a is being worked on, c is not named
        assert states(queue) == [("a", "running"), ("d", "waiting"), ("c", "waiting"), ("b", "waiting")]
        queue.amend("d", {"engine": "new"})
        queue.amend("gone", {"engine": "new"})
        entry = queue.next()
        assert entry is not None
        assert (entry.run, entry.options) == ("d", {"engine": "new", "out": "x.csv", "concurrency": None})
        queue.add("e", {})
        queue.note(entry, "failed", "no engine")
        queue.add("d", entry.options)
        assert [run for run, _ in states(queue)] == ["a", "c", "b", "e", "d"]


def test_a_queue_of_the_first_version_keeps_its_order(tmp_path: Path) -> None:
    path = tmp_path / "q.sqlite"
    with closing(sqlite3.connect(path)) as old:
        create_tables(old)
        old.execute("INSERT INTO entry (run, options, state, added) VALUES ('a', '{}', 'waiting', '')")
        old.execute("INSERT INTO entry (run, options, state, added) VALUES ('b', '{}', 'waiting', '')")
        old.execute("PRAGMA user_version = 1")
        old.execute(f"PRAGMA application_id = {QUEUE_SCHEMA.application_id:d}")
        old.commit()
    with RunQueue(path) as queue:
        assert states(queue) == [("a", "waiting"), ("b", "waiting")]
        queue.arrange(["b", "a"])
        assert not queue.worked_on()
        assert states(queue) == [("b", "waiting"), ("a", "waiting")]
