"""Another round of a finished run from the page, over the real embedded engine and a real worker."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from decisions_driver import Place, leaving
from desk_driver import expect, until, within
from PySide6.QtWidgets import QComboBox, QDialog, QLabel, QPushButton, QRadioButton

from app.models.run_rounds import RoundOffer
from app.pages.decisions import RUNS
from app.presenters.run import RunPresenter
from engine import paths
from engine.domain.question import Noul
from engine.domain.reading import Method, Reading, ReadStatus
from engine.store.runs import RunSpec, RunStore, RunView, run_path

ROWS, FAILED, UNREADABLE = 12, 3, 4
QUESTION: dict[str, Any] = {"id": "urgent", "type": "noul", "instructions": "Is it urgent?"}
MADE = {"version": 1, "name": "made", "state": "{{ text }}", "questions": [QUESTION]}
ADDED = {"id": "polite", "type": "noul", "instructions": "Is it polite?"}


def status_of(row: int) -> ReadStatus:
    """The first rows failed, the next were unreadable."""
    return "error" if row <= FAILED else "unreadable" if row <= FAILED + UNREADABLE else "ok"


def make_run(method: Method | None = None) -> str:
    """A finished run of one question, some of whose answers are bad; its id."""
    spec = RunSpec(
        "made", MADE, "form.json", "f" * 64, ("urgent",), method or Method(draws=1), 1, "t.csv", "t" * 64, {},
        ("text",), "toy",
    )  # fmt: skip
    with RunStore.create(paths.runs_dir(), spec, [(f"ticket {row}",) for row in range(1, ROWS + 1)]) as store:
        for row in range(1, ROWS + 1):
            status = status_of(row)
            value, shares = (0.9, (0.9, 0.1)) if status == "ok" else (None, ())
            reading = Reading("urgent", status, value, shares, 0.9, True, 0.1, 0.9, 1, None, None, "alone/canvas")
            store.submit_answers([(row, (reading,))])
        store.set_state("finished")
        return store.path.stem


def rounds(run_id: str) -> list[tuple[str, int | str, int]]:
    """(kind, draws, answers) of every round behind the first."""
    with RunView(run_path(paths.runs_dir(), run_id)) as view:
        return [(each.kind, each.method.draws, each.answers) for each in view.rounds()[1:]]


async def opened(place: Place, run_id: str) -> RunPresenter:
    """The page with this run open, and an engine."""
    await place.start_engine()
    await place.page.runs.load_runs()
    place.page.tabs.setCurrentIndex(RUNS)
    await place.page.results.load(run_id)
    return place.page.runs


async def asked(place: Place) -> None:
    """The dialog, by its button."""
    await until(lambda: not place.page.findChildren(QDialog, "again_dialog"))  # an earlier one is gone
    place.find(QPushButton, "run_again").click()
    await until(lambda: bool(place.page.findChildren(QDialog, "again_dialog")))


def open_form(place: Place, folder: Path, *questions: dict[str, Any], state: str = "{{ text }}") -> None:
    path = folder / "form.json"
    path.write_text(json.dumps({**MADE, "state": state, "questions": questions}), encoding="utf-8")
    assert place.page.presenter.open_form(path)


async def begun(place: Place, what: str, draws: str) -> tuple[str, str]:
    """Begins the round that is chosen; (run, how it ended)."""
    place.find(QRadioButton, f"again_what.{what}").click()
    place.find(QComboBox, "again_draws").setCurrentText(draws)
    ended = expect(place.page.runs.ended.connect)
    listed = expect(place.page.runs.runs_changed.connect, lambda: not place.page.runs.busy)
    place.find(QPushButton, "again_accept").click()
    found = await within(ended)
    await within(listed)
    return found


@leaving
async def test_what_failed_and_what_was_unreadable_is_read_again(place: Place) -> None:
    run_id = make_run()
    runs = await opened(place, run_id)
    await asked(place)
    assert place.find(QRadioButton, "again_what.failed").isChecked()
    assert place.find(QComboBox, "again_draws").currentText() == "1"
    assert place.find(QLabel, "again_price").text() == f"{FAILED} answers, {FAILED} requests."
    assert await begun(place, "failed", "1") == (run_id, "finished")
    assert rounds(run_id) == [("retry", 1, FAILED)]
    info = runs.info(run_id)
    assert info is not None
    assert (info.state, info.totals["urgent"].error) == ("finished", 0)

    unreadable = info.totals["urgent"].unreadable
    await place.until(place.page.results.opened.connect, lambda: place.page.results.run_id == run_id)
    await asked(place)
    assert not place.find(QRadioButton, "again_what.failed").isEnabled()
    assert place.find(QRadioButton, "again_what.unreadable").isChecked()
    assert place.find(QComboBox, "again_draws").currentText() == "8"
    assert place.find(QLabel, "again_price").text() == f"{unreadable} answers, {unreadable * 8} requests."
    assert await begun(place, "unreadable", "2") == (run_id, "finished")
    assert rounds(run_id)[1:] == [("reread", 2, unreadable)]


@leaving
async def test_new_questions_are_asked_and_shown(place: Place, tmp_path: Path) -> None:
    run_id = make_run()
    open_form(place, tmp_path, QUESTION, ADDED)
    runs = await opened(place, run_id)
    await asked(place)
    assert place.find(QLabel, "again_note.questions").text() == f"polite about {ROWS} rows"
    seen = expect(place.page.results.opened.connect, lambda info: info is not None and len(info.question_ids) == 2)
    assert await begun(place, "questions", "1") == (run_id, "finished")
    await within(seen)
    assert rounds(run_id) == [("questions", 1, ROWS)]
    info = runs.info(run_id)
    assert info is not None
    assert info.totals["polite"].answers == ROWS
    assert info.totals["urgent"].error == FAILED
    results = place.page.results
    await place.until(results.counted.connect, lambda: results.model.rowCount() == 2 * ROWS)
    assert place.find(QComboBox, "results_question").findText("polite") >= 0


@leaving
async def test_questions_about_another_text_are_refused_with_a_reason(place: Place, tmp_path: Path) -> None:
    run_id = make_run()
    open_form(place, tmp_path, QUESTION, ADDED, state="Ticket: {{ text }}")
    await opened(place, run_id)
    await asked(place)
    assert not place.find(QRadioButton, "again_what.questions").isEnabled()
    assert "state" in place.find(QLabel, "again_note.questions").text()


@leaving
async def test_an_interrupted_round_goes_on_as_the_round_that_it_is(place: Place, tmp_path: Path) -> None:
    """Neither the form's nor the table's file is needed: what the round reads is in the run's own."""
    run_id = make_run()
    with RunStore.open(run_path(paths.runs_dir(), run_id)) as store:
        form = {**MADE, "questions": [QUESTION, ADDED]}
        store.add_questions(form, "a" * 64, ["urgent", "polite"], Method(draws=1), "toy")
    runs = await opened(place, run_id)
    assert place.find(QPushButton, "run_again").isHidden()
    ended = expect(runs.ended.connect)
    listed = expect(runs.runs_changed.connect, lambda: not runs.busy)
    place.find(QPushButton, "run_resume").click()
    assert await within(ended) == (run_id, "finished")
    await within(listed)
    assert rounds(run_id) == [("questions", 1, ROWS)]
    info = runs.info(run_id)
    assert info is not None
    assert info.totals["polite"].answers == ROWS


@leaving
async def test_a_round_needs_an_engine(place: Place) -> None:
    run_id = make_run()
    await place.page.runs.load_runs()
    await place.page.results.load(run_id)
    assert place.find(QPushButton, "run_again").isHidden()
    await place.start_engine()
    assert not place.find(QPushButton, "run_again").isHidden()


@leaving
async def test_the_native_wire_is_not_read_again_with_more_draws(place: Place) -> None:
    run_id = make_run(Method(wire="native"))
    await opened(place, run_id)
    await asked(place)
    assert not place.find(QRadioButton, "again_what.unreadable").isEnabled()
    assert "native" in place.find(QLabel, "again_note.unreadable").text()
    assert not place.find(QComboBox, "again_draws").isEnabled()
    assert place.find(QLabel, "again_price").text() == f"{FAILED} answers."


@pytest.mark.parametrize(
    ("draws", "joint", "reads"), [(4, False, (28, 28)), ("auto", False, (7, 28)), (4, True, (20, 28))]
)
def test_the_price_of_a_round(draws: Any, joint: bool, reads: tuple[int, int]) -> None:
    method = Method(draws=draws, joint=joint)
    questions = (Noul("a", "A?"), Noul("b", "B?"))
    offer = RoundOffer("r", method, questions, (5, 2), (0, 0), (), method, "", 9, 8)
    assert offer.answers("failed") == 7
    assert offer.reads("failed", method) == reads
    assert offer.reads("unreadable", method) == (0, 0)
    more = replace(offer, added=questions)
    assert more.answers("questions") == 18
    each = 1 if draws == "auto" else 4
    assert more.reads("questions", method)[0] == 9 * each * (1 if joint else 2)
