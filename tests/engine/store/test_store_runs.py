"""Run files: made complete or not at all, one worker at a time, paged by key, counted exactly."""

from __future__ import annotations

import os
import re
import signal
import sqlite3
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from engine.domain.reading import Method, Reading
from engine.domain.run import Totals
from engine.errors import BugError, EngineError, InputError, UserError
from engine.store.runs import RunSpec, RunStore, RunView, find_unfinished, list_runs, run_path

SPEC = RunSpec(
    name="letters",
    form={"version": 1, "name": "letters"},
    form_path="/f.json",
    form_sha256="f1",
    questions=("q", "r"),
    method=Method(draws=3, seed=5),
    wording=1,
    table_path="/t.csv",
    table_sha256="t1",
    table_format={"encoding": "utf-8"},
    columns=("a", "b"),
    engine="a fake",
)
OK = Reading("q", "ok", 0.25, (0.25, 0.75), 0.9, True, 0.5, 0.88, 4, 0.01, 0.75, "alone/canvas")
LOST = Reading("r", "unreadable", None, (), 0.1, False, 0.6, 0.1, 4, None, None, "alone/canvas")


def answers(status: str = "ok") -> tuple[Reading, Reading]:
    return (OK, LOST) if status == "ok" else (Reading("q", status), Reading("r", status))  # type: ignore[arg-type]


def rows(count: int) -> Iterator[tuple[str, str]]:
    return ((str(number), f'text {number}, "ü"\n') for number in range(1, count + 1))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[RunStore]:
    with RunStore.create(tmp_path, SPEC, rows(10)) as store:
        yield store


def test_what_goes_in_comes_out(store: RunStore) -> None:
    store.add_answers(3, answers())
    with RunView(store.path) as view:
        assert view.spec == SPEC
        assert view.row(3) == view.page(2, 1)[0]
        stored = view.row(3)
        assert stored is not None
        assert stored.cells == ("3", 'text 3, "ü"\n')
        assert stored.readings == (OK, LOST)
        assert view.row(4) is not None
        assert view.row(4).readings == ()  # type: ignore[union-attr]
        assert view.row(11) is None


def test_the_id_is_short_sortable_and_the_name_of_the_file(tmp_path: Path) -> None:
    ids = []
    for _ in range(3):
        with RunStore.create(tmp_path, SPEC, rows(1)) as store:
            ids.append(store.id)
            assert store.path == run_path(tmp_path, store.id)
    assert all(re.fullmatch(r"\d{8}-\d{6}-[0-9a-f]{4}", run_id) for run_id in ids)
    assert [info.id for info in list_runs(tmp_path)] == sorted(ids, reverse=True)
    assert len(set(ids)) == 3


def test_totals_add_up_and_are_counted_per_question(store: RunStore) -> None:
    for row, status in enumerate(("ok", "skipped", "error", "ok"), start=1):
        store.add_answers(row, answers(status))
    assert store.totals() == {"q": Totals(ok=2, error=1, skipped=1), "r": Totals(unreadable=2, error=1, skipped=1)}
    assert store.info().done == 8
    assert store.done_rows() == 4
    assert [row for row, _, _ in store.pending(0, 100)] == [5, 6, 7, 8, 9, 10]
    assert store.pending(8, 1) == [(9, ("9", 'text 9, "ü"\n'), (0, 1))]


def test_pages_follow_the_key_and_may_be_filtered_by_status(store: RunStore) -> None:
    for row in (2, 4, 6, 8):
        store.add_answers(row, answers("error" if row % 4 == 0 else "ok"))
    assert [each.row for each in store.page(3, 4)] == [4, 5, 6, 7]
    assert [each.row for each in store.page(status="error")] == [4, 8]
    assert [each.row for each in store.page(4, 1, status="error")] == [8]
    assert [each.row for each in store.page(status="unreadable")] == [2, 6]
    assert store.page(status="skipped") == []
    assert [each.row for each in store.iter_rows(page=3)] == list(range(1, 11))


def test_an_answer_is_never_stored_twice_and_a_batch_is_all_or_nothing(store: RunStore) -> None:
    store.add_answers(1, answers())
    with pytest.raises(BugError, match="twice"):
        store.submit_answers([(2, answers()), (1, answers())]).result()
    assert store.done_rows() == 1
    with pytest.raises(BugError, match="do not match"):
        store.add_answers(2, (LOST, OK))
    assert store.totals()["q"] == Totals(ok=1)


def test_only_one_worker_has_a_run(store: RunStore) -> None:
    with pytest.raises(UserError, match=f"by process {os.getpid()}") as caught:
        RunStore.open(store.path)
    assert caught.value.code == "run.busy"
    store.add_answers(1, answers())  # the attempt took nothing away


def test_a_lease_that_was_taken_over_stops_the_writes(store: RunStore) -> None:
    with closing(sqlite3.connect(store.path, isolation_level=None)) as other:
        other.execute("UPDATE run SET lease_token = 'other'")
    with pytest.raises(UserError, match="taken over"):
        store.add_answers(1, answers())
    with pytest.raises(UserError, match="taken over"):
        store.set_state("finished")


def test_states_are_seen_by_watchers_and_closing_leaves_unfinished(tmp_path: Path) -> None:
    store = RunStore.create(tmp_path, SPEC, rows(2))
    with RunView(store.path) as view:
        store.set_state("running")
        assert view.info().state == "running"
        store.set_state("paused", "the engine is gone")
        assert (view.info().state, view.reason()) == ("paused", "the engine is gone")
        store.close()
        store.close()
        assert view.info().state == "unfinished"
    with RunStore.open(store.path) as again:
        again.set_state("finished")
    with RunView(store.path) as view:
        assert view.info().state == "finished"


def test_a_run_of_a_killed_worker_is_unfinished_and_can_be_opened(tmp_path: Path) -> None:
    worker = textwrap.dedent(f"""
        import sys
        from pathlib import Path
        sys.path.insert(0, {str(Path(__file__).parent)!r})
        from test_store_runs import SPEC, RunStore, answers, rows
        store = RunStore.create(Path({str(tmp_path)!r}), SPEC, rows(10))
        store.set_state("running")
        store.add_answers(1, answers())
        print(store.id, flush=True)
        sys.stdin.read()
    """)
    with subprocess.Popen(
        [sys.executable, "-c", worker], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout is not None
        run_id = child.stdout.readline().strip()
        path = run_path(tmp_path, run_id)
        assert list_runs(tmp_path)[0].state == "running"
        assert find_unfinished(tmp_path, "f1", "t1") is None
        with pytest.raises(UserError, match=f"by process {child.pid}"):
            RunStore.open(path)
        child.send_signal(signal.SIGKILL)
        child.wait()
    assert list_runs(tmp_path)[0].state == "unfinished"
    with RunStore.open(path) as store:
        assert store.done_rows() == 1
        store.add_answers(2, answers())


def test_the_run_to_resume_is_the_newest_unfinished_of_this_form_and_table(tmp_path: Path) -> None:
    found = {}
    for name, spec in (("other", replace(SPEC, table_sha256="t2")), ("first", SPEC), ("second", SPEC), ("done", SPEC)):
        with RunStore.create(tmp_path, spec, rows(1)) as store:
            found[name] = store.id
            if name == "done":
                store.set_state("finished")
    resumed = find_unfinished(tmp_path, "f1", "t1")
    assert resumed is not None
    assert resumed.id == max(found["first"], found["second"])
    assert find_unfinished(tmp_path, "f1", "t3") is None


def test_a_table_without_rows_makes_no_run(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no rows"):
        RunStore.create(tmp_path, SPEC, ())
    assert list(tmp_path.iterdir()) == []


def test_a_faulty_row_makes_no_run(tmp_path: Path) -> None:
    def faulty() -> Iterator[tuple[str, str]]:
        yield from rows(5000)
        raise InputError("table.ragged", "row 5001 is short")

    with pytest.raises(InputError, match="row 5001"):
        RunStore.create(tmp_path, SPEC, faulty())
    assert list(tmp_path.iterdir()) == []


def test_an_import_that_was_killed_leaves_a_part_that_the_next_one_removes(tmp_path: Path) -> None:
    worker = textwrap.dedent(f"""
        import os, signal, sys
        from pathlib import Path
        sys.path.insert(0, {str(Path(__file__).parent)!r})
        from test_store_runs import SPEC, RunStore, rows
        def dying():
            yield from rows(50_000)
            os.kill(os.getpid(), signal.SIGKILL)
        RunStore.create(Path({str(tmp_path)!r}), SPEC, dying())
    """)
    assert subprocess.run([sys.executable, "-c", worker], check=False).returncode == -signal.SIGKILL
    assert [path.suffix for path in tmp_path.iterdir()] == [".part"]
    assert list_runs(tmp_path) == []
    with RunStore.create(tmp_path, SPEC, rows(1)):
        pass
    assert list(tmp_path.glob("*.part*")) == []


def test_no_space_for_the_import_is_a_user_error_and_leaves_nothing(tmp_path: Path) -> None:
    worker = textwrap.dedent(f"""
        import resource, sys
        from pathlib import Path
        sys.path.insert(0, {str(Path(__file__).parent)!r})
        from test_store_runs import SPEC, RunStore, UserError, rows
        resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
        try:
            RunStore.create(Path({str(tmp_path)!r}), SPEC, rows(50_000))
        except UserError as error:
            print(error.code)
    """)
    done = subprocess.run([sys.executable, "-c", worker], capture_output=True, text=True, check=True)
    assert done.stdout.strip() in {"disk.full", "disk.io"}
    assert list(tmp_path.iterdir()) == []


def test_a_damaged_run_is_reported_and_the_others_are_listed(tmp_path: Path) -> None:
    with RunStore.create(tmp_path, SPEC, rows(1)) as store:
        pass
    (tmp_path / "20260101-000000-dead.sqlite").write_bytes(store.path.read_bytes()[:3000])
    (tmp_path / "20260101-000001-dead.sqlite").write_bytes(b"")
    damaged: list[tuple[Path, EngineError]] = []
    assert [info.id for info in list_runs(tmp_path, lambda path, error: damaged.append((path, error)))] == [store.id]
    assert {path.name for path, _ in damaged} == {"20260101-000000-dead.sqlite", "20260101-000001-dead.sqlite"}


@pytest.mark.parametrize("run_id", ["nope", "../etc/passwd", "", "20260101-000000-dead"])
def test_an_unknown_run_is_named(tmp_path: Path, run_id: str) -> None:
    with pytest.raises(InputError, match="there is no run"):
        run_path(tmp_path, run_id)
