"""Rounds: what failed or was unreadable is read again, questions are added; nothing that was there is lost."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from engine.domain.reading import Method, Reading
from engine.domain.run import LeftOut, Totals
from engine.errors import BugError, InputError
from engine.store.runs import RunSpec, RunStore

SPEC = RunSpec("t", {"v": 1}, "f", "f" * 64, ("a", "b"), Method(), 1, "t.csv", "t" * 64, {}, ("text",), "toy")
OK = Reading("a", "ok", 0.5, (0.5, 0.5), 0.9, True, 0.3, 0.9, 1, None, None, "alone/canvas")
LOST = replace(OK, status="unreadable", value=None, shares=())
FAILED = Reading("a", "error", method="alone/canvas", error="refused")
MORE = Method(draws=8)


def b(reading: Reading) -> Reading:
    return replace(reading, question_id="b")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[RunStore]:
    rows = [("one",), ("two",), LeftOut(("three",), "left out by the filter"), ("four",)]
    with RunStore.create(tmp_path, replace(SPEC, selection={"where": "x"}, facts={"model": "toy"}), rows) as store:
        yield store


def finish(store: RunStore) -> None:
    store.add_answers(1, (OK, b(FAILED)))
    store.add_answers(2, (LOST, b(OK)))
    store.add_answers(4, (FAILED, b(LOST)))
    store.set_state("finished")


def statuses(store: RunStore) -> list[list[str]]:
    return [[reading.status for reading in row.readings] for row in store.iter_rows()]


def test_rows_that_are_left_out_are_skipped_from_the_start(store: RunStore) -> None:
    assert (store.rows, store.answered()) == (4, 2)
    assert store.totals() == {"a": Totals(skipped=1), "b": Totals(skipped=1)}
    assert [row for row, _, _ in store.pending(0, 10)] == [1, 2, 4]
    third = store.row(3)
    assert third is not None
    assert third.cells == ("three",)
    assert {reading.error for reading in third.readings} == {"left out by the filter"}
    assert (store.spec.selection, store.spec.facts) == ({"where": "x"}, {"model": "toy"})
    assert store.round.answers == 6


def test_a_round_begins_only_on_a_finished_run_and_only_with_something_to_do(store: RunStore) -> None:
    with pytest.raises(InputError, match="not finished"):
        store.begin_round("retry", MORE, "toy")
    for row in (1, 2, 4):
        store.add_answers(row, (OK, b(OK)))
    store.set_state("finished")
    for kind in ("retry", "reread"):
        with pytest.raises(InputError, match="no answer of this run has the status"):
            store.begin_round(kind, MORE, "toy")  # type: ignore[arg-type]
    with pytest.raises(BugError):
        store.begin_round("run", MORE, "toy")
    assert store.info().state == "finished"


def test_a_retry_reads_what_failed_and_keeps_the_failure(store: RunStore) -> None:
    finish(store)
    current = store.begin_round("retry", MORE, "other")
    assert (current.number, current.kind, current.answers, current.method.draws) == (2, "retry", 2, 8)
    info = store.info()
    assert (info.state, info.done, info.round, info.round_kind) == ("unfinished", 6, 2, "retry")
    assert statuses(store)[0] == ["ok", "error"]  # until it is read
    assert store.pending(0, 10) == [(1, ("one",), (1,)), (4, ("four",), (0,))]
    store.add_answers(1, (b(OK),))
    assert [row for row, _, _ in store.pending(0, 10)] == [4]
    store.add_answers(4, (replace(FAILED, error="refused again"),))
    store.set_state("finished")
    assert store.totals() == {"a": Totals(ok=1, unreadable=1, error=1, skipped=1), "b": Totals(2, 1, 0, 1)}
    assert store.answered() == 8
    first, *_, fourth = store.iter_rows()
    assert [reading.round for reading in first.readings] == [1, 2]
    assert fourth.readings[0].error == "refused again"
    assert store.earlier(1, 4) == {(1, 1): [b(FAILED)], (4, 0): [FAILED]}
    assert [each.ended != "" for each in store.rounds()] == [True, True]
    with pytest.raises(BugError, match="stored twice"):
        store.add_answers(1, (b(OK),))


def test_an_unreadable_answer_is_not_replaced_by_a_failure(store: RunStore) -> None:
    finish(store)
    store.begin_round("reread", MORE, "toy")
    assert store.pending(0, 10) == [(2, ("two",), (0,)), (4, ("four",), (1,))]
    store.add_answers(2, (FAILED,))
    store.add_answers(4, (b(replace(LOST, draws=8)),))
    store.set_state("finished")
    assert store.totals()["a"] == Totals(ok=1, unreadable=1, error=1, skipped=1)
    two, four = store.row(2), store.row(4)
    assert two is not None
    assert four is not None
    assert (two.readings[0], two.readings[0].round) == (LOST, 1)
    assert (four.readings[1].draws, four.readings[1].round) == (8, 2)
    assert store.earlier(1, 4) == {(2, 0): [replace(FAILED, round=2)], (4, 1): [b(LOST)]}
    assert store.pending(0, 10) == []


def test_questions_are_added_behind_the_old_ones(store: RunStore) -> None:
    finish(store)
    with pytest.raises(InputError, match="in the run already"):
        store.add_questions({"v": 1}, "g", ["a", "b"], MORE, "toy")
    with pytest.raises(BugError, match="must come first"):
        store.add_questions({"v": 1}, "g", ["c", "a", "b"], MORE, "toy")
    store.add_questions({"v": 2}, "g" * 64, ["a", "b", "c"], MORE, "toy")
    assert store.spec.questions == ("a", "b", "c")
    assert (store.spec.form, store.spec.form_sha256) == ({"v": 2}, "g" * 64)
    assert store.totals()["c"] == Totals(skipped=1)
    assert store.pending(1, 10) == [(2, ("two",), (2,)), (4, ("four",), (2,))]
    new = replace(OK, question_id="c")
    with pytest.raises(BugError, match="do not match"):
        store.add_answers(1, (OK, b(OK), new))
    for row in (1, 2, 4):
        store.add_answers(row, (new,))
    store.set_state("finished")
    assert store.answered() == 12
    assert statuses(store)[0] == ["ok", "error", "ok"]
    assert [reading.round for reading in list(store.iter_rows())[2].readings] == [1, 1, 2]


def test_a_round_outlives_its_worker(store: RunStore) -> None:
    finish(store)
    store.begin_round("retry", MORE, "toy")
    store.add_answers(1, (b(OK),))
    path = store.path
    store.close()
    with RunStore.open(path) as again:
        assert again.round.number == 2
        assert again.pending(0, 10) == [(4, ("four",), (0,))]
        assert again.info().done == 7
