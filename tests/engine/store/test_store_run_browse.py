"""Answers of a run in any order: the keys are right, pages hold what the keys say, nothing needs the writer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from engine.domain.reading import Method, Reading
from engine.errors import InputError, UserError
from engine.store.reviews import ReviewStore
from engine.store.run_browse import KEY_BASE, Browse, RunBrowser, delete_run
from engine.store.runs import RunSpec, RunStore

SPEC = RunSpec("t", {}, "f", "f" * 64, ("urgent", "team"), Method(), 1, "t.csv", "t" * 64, {}, ("text",), "toy")
OK = Reading("urgent", "ok", 0.5, (0.5, 0.5), 0.9, True, 0.3, 0.9, 1, None, None, "alone/canvas")


@pytest.fixture
def run(tmp_path: Path) -> Iterator[RunStore]:
    store = RunStore.create(tmp_path, SPEC, [(f"text {number}",) for number in range(1, 6)])
    values = [0.9, 0.1, None, 0.5]
    for row, value in enumerate(values, start=1):
        status = "ok" if value is not None else "unreadable"
        urgent = replace(OK, status=status, value=value, entropy=abs(0.6 - (value or 0)))
        store.add_answers(row, [urgent, replace(OK, question_id="team", value="billing", entropy=None)])
    yield store
    store.close()


def rows(browser: RunBrowser, wanted: Browse) -> list[int]:
    return [answer.row for answer in browser.answers(browser.keys(wanted))]


def test_answers_come_in_the_order_wanted(run: RunStore) -> None:
    with RunBrowser(run.path) as browser:
        assert list(browser.keys(Browse())) == [row * KEY_BASE + q for row in range(1, 5) for q in (0, 1)]
        assert rows(browser, Browse(0, sort="value")) == [2, 4, 1, 3]
        assert rows(browser, Browse(0, sort="value", descending=True)) == [1, 4, 2, 3]
        assert rows(browser, Browse(0, sort="uncertainty", descending=True)) == [3, 2, 1, 4]
        assert rows(browser, Browse(0, sort="row", descending=True)) == [4, 3, 2, 1]
        assert rows(browser, Browse(status="unreadable")) == [3]
        assert rows(browser, Browse(1, status="unreadable")) == []


def test_a_page_holds_cells_and_evidence(run: RunStore) -> None:
    with RunBrowser(run.path) as browser:
        (answer,) = browser.answers([4 * KEY_BASE + 1])
        assert (answer.row, answer.question, answer.cells) == (4, 1, ("text 4",))
        assert answer.reading == replace(OK, question_id="team", value="billing", entropy=None)
        assert browser.answers([99 * KEY_BASE]) == []
        assert len(browser.answers(list(browser.keys(Browse())) * 300)) == 8 * 300


def test_histogram_counts_numbers_and_value_counts_names(run: RunStore) -> None:
    with RunBrowser(run.path) as browser:
        assert browser.histogram(0, 0.0, 1.0, 4) == (1, 0, 1, 1)
        assert browser.histogram(1, 0.0, 1.0, 4) == (0, 0, 0, 0)
        assert browser.value_counts(1) == {"billing": 4}


def test_a_run_is_deleted_only_when_nobody_works_on_it(run: RunStore, tmp_path: Path) -> None:
    run.set_state("running")
    with pytest.raises(UserError, match="being worked on"):
        delete_run(tmp_path, run.id)
    run.close()
    delete_run(tmp_path, run.id)
    assert not list(tmp_path.glob("*.sqlite*"))
    with pytest.raises(InputError):
        delete_run(tmp_path, run.id)


def test_the_first_page_is_the_beginning_of_all(run: RunStore) -> None:
    with RunBrowser(run.path) as browser:
        for wanted in (
            Browse(),
            Browse(0, sort="value"),
            Browse(sort="uncertainty", descending=True),
            Browse(sort="top"),
        ):
            every = browser.keys(wanted)
            for limit in (1, 3, 8, 99):
                assert list(browser.keys(wanted, limit)) == list(every[:limit])
            assert browser.first_page(wanted, 3) == browser.answers(every[:3])


def test_rows_are_searched_and_numbers_bounded(tmp_path: Path) -> None:
    cells = ['50% "off"', "a_b\\c", "50x", "ÄRGER", "plain"]
    with RunStore.create(tmp_path, SPEC, [(cell,) for cell in cells]) as store:
        for row, value in enumerate([0.1, 0.2, 0.3, 0.4, 0.5], start=1):
            store.add_answers(row, [replace(OK, value=value), replace(OK, question_id="team", value="0.3")])
        with RunBrowser(store.path) as browser:
            for search, found in (
                ("50%", [1]),
                ('"OFF"', [1]),
                ("_b\\", [2]),
                ("50", [1, 3]),
                ("GER", [4]),
                ("none", []),
            ):
                assert rows(browser, Browse(0, search=search)) == found, search
            assert rows(browser, Browse(low=0.2, high=0.4)) == [2, 3, 4]
            assert rows(browser, Browse(1, low=0.0)) == []


def test_the_queue_of_reviews_begins_with_what_is_least_certain(tmp_path: Path) -> None:
    tops = [0.9, 0.55, None, 0.7]
    with RunStore.create(tmp_path, SPEC, [(str(number),) for number in range(4)]) as store:
        for row, top in enumerate(tops, start=1):
            urgent = (
                replace(OK, value=top, shares=(top, 1 - top)) if top else replace(OK, status="unreadable", value=None)
            )
            urgent = replace(urgent, shares=urgent.shares if top else ())
            team = Reading("team", "error", error="x")
            store.add_answers(row, [urgent, team])
        with RunBrowser(store.path) as browser, ReviewStore(store.path) as reviews:
            assert [key // KEY_BASE for key in browser.to_review()] == [3, 2, 4, 1]
            assert [key // KEY_BASE for key in browser.to_review(limit=2)] == [3, 2]
            assert list(browser.to_review(1)) == []
            reviews.add(2, 0, "yes", "Ann")
            reviews.add(3, 0, None, "Ann")
            assert [key // KEY_BASE for key in browser.to_review(0)] == [4, 1]
            assert rows(browser, Browse(0, reviewed=True)) == [2, 3]
            assert rows(browser, Browse(0, reviewed=False)) == [1, 4]
            reviews.undo("Ann")
            assert [key // KEY_BASE for key in browser.to_review(0)] == [3, 4, 1]


def test_sorting_a_finished_run_goes_by_an_index(run: RunStore) -> None:
    run.add_answers(5, [OK, replace(OK, question_id="team", value="x")])
    run.set_state("finished")
    with RunBrowser(run.path) as browser:
        for column, way in (("value", "ASC"), ("value", "DESC"), ("top", "ASC")):
            query = f"SELECT row FROM answer WHERE question = 0 AND {column} IS NOT NULL ORDER BY {column} {way}, row"
            plan = browser.query(lambda c, query=query: c.execute(f"EXPLAIN QUERY PLAN {query}").fetchall())
            assert any(f"answer_{column}" in row["detail"] for row in plan)
