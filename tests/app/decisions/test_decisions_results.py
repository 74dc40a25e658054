"""The answers of a stored run in the window: filtered, searched, ordered and laid open, all in SQL."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from decisions_driver import Place, leaving
from decisions_runs_maker import BAD_SITE, FORM, ROWS, make_run
from desk_driver import expect, within
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QComboBox, QDoubleSpinBox, QLabel, QLineEdit, QPlainTextEdit, QPushButton, QTableView

from app.models.results import QUESTION, REVIEW, STATUS, VALUE
from app.pages.decisions import RUNS
from engine import paths
from engine.domain.run import Progress, Totals
from engine.store.reviews import ReviewStore
from engine.store.run_browse import Browse, RunBrowser
from engine.store.runs import run_path

QUESTIONS = len(FORM["questions"])


async def opened(place: Place, **kinds: bool) -> str:
    """A made run, open and on the screen."""
    run_id = make_run(**kinds)
    place.page.tabs.setCurrentIndex(RUNS)
    results = place.page.results
    await results.load(run_id)
    assert results.model.rowCount() == ROWS * QUESTIONS
    return run_id


async def after(place: Place, act: Callable[[], object]) -> int:
    """How many answers are shown after the filter was set by ``act``."""
    counted = expect(place.page.results.counted.connect)
    act()
    (count,) = await within(counted)
    return int(count)


async def column(place: Place, number: int) -> list[str]:
    """What the first lines of the table show."""
    model = place.page.results.model
    model.index(0, number).data()
    await place.until(model.dataChanged.connect, lambda: model.answer(0) is not None)
    return [model.index(line, number).data() or "" for line in range(min(100, model.rowCount()))]


def choose(place: Place, name: str, text: str) -> None:
    box = place.find(QComboBox, name)
    assert box.findText(text) >= 0, [box.itemText(each) for each in range(box.count())]
    box.setCurrentIndex(box.findText(text))


def stored(run_id: str, wanted: Browse) -> int:
    with RunBrowser(run_path(paths.runs_dir(), run_id)) as browser:
        return len(browser.keys(wanted))


@leaving
async def test_a_search_shows_the_rows_that_hold_the_text(place: Place) -> None:
    await opened(place)
    search = place.find(QLineEdit, "results_search")
    count = await after(place, lambda: QTest.keyClicks(search, "NEEDLE3"))
    assert count == QUESTIONS * sum(row % 7 == 3 for row in range(1, ROWS + 1))
    assert await after(place, lambda: (search.setText("nowhere"), QTest.keyClick(search, Qt.Key.Key_Return))) == 0
    assert not place.find(QLabel, "results_nothing").isHidden()
    assert await after(place, place.find(QPushButton, "results_clear").click) == ROWS * QUESTIONS
    assert search.text() == ""


@pytest.mark.parametrize(
    ("kinds", "words"),
    [
        ({"answered": 0}, "This run has no answers."),
        ({"answered": 0, "state": "unfinished"}, "No answers yet. They come when the run goes on."),
    ],
    ids=["finished", "unfinished"],
)
@leaving
async def test_a_run_without_answers_says_so_and_blames_no_filter(place: Place, kinds: Any, words: str) -> None:
    place.page.tabs.setCurrentIndex(RUNS)
    run_id = make_run(**kinds)
    await place.page.runs.load_runs()
    await place.page.results.load(run_id)
    nothing, show_all = place.find(QLabel, "results_nothing"), place.find(QPushButton, "results_show_all")
    assert (nothing.text(), nothing.isVisible(), show_all.isVisible()) == (words, True, False)
    assert not place.find(QTableView, "results_table").isVisible()


@leaving
async def test_a_filter_that_leaves_nothing_is_taken_off_by_the_button_beside_the_words(place: Place) -> None:
    await opened(place)
    search, nothing = place.find(QLineEdit, "results_search"), place.find(QLabel, "results_nothing")
    show_all = place.find(QPushButton, "results_show_all")
    assert await after(place, lambda: (search.setText("nowhere"), QTest.keyClick(search, Qt.Key.Key_Return))) == 0
    assert (nothing.text(), show_all.isVisible()) == ("No answer passes the filter.", True)
    show_all.setFocus()
    assert await after(place, lambda: QTest.keyClick(show_all, Qt.Key.Key_Space)) == ROWS * QUESTIONS
    assert not nothing.isVisible()
    assert search.hasFocus()
    assert not place.page.runs_part.answers.filter.narrows
    choose(place, "results_order", "Highest value first")
    assert not place.page.runs_part.answers.filter.narrows, "an order keeps nothing back"


@leaving
async def test_a_paused_run_shows_what_is_stored_and_not_what_was_told_last(place: Place) -> None:
    part = place.page.runs_part
    run_id = await opened(place)
    part.header.show_progress(Progress(0, ROWS * QUESTIONS, 0.0, None, Totals()))
    assert await settled(place, run_id) == f"{ROWS * QUESTIONS:,} of {ROWS * QUESTIONS:,}"


async def settled(place: Place, run_id: str) -> str:
    """What the head of a run says when it stops being followed."""
    await place.page.runs.load_runs()
    place.page.results.follow(True)
    counted = expect(place.page.results.outcome_changed.connect)
    place.page.results.follow(False)
    await within(counted)
    return place.find(QLabel, "run_progress").text()


@leaving
async def test_an_option_is_filtered_by_its_name(place: Place) -> None:
    run_id = await opened(place)
    assert await after(place, lambda: choose(place, "results_question", "team")) == ROWS
    count = await after(place, lambda: choose(place, "results_value", "network"))
    assert 0 < count == stored(run_id, Browse(question=1, answer="network")) < ROWS
    assert set(await column(place, VALUE)) == {"network"}


@pytest.mark.parametrize(("answer", "inside"), [("yes", lambda p: p >= 0.5), ("no", lambda p: p < 0.5)])
@leaving
async def test_yes_and_no_part_the_readable_answers(place: Place, answer: str, inside: Callable[[float], bool]) -> None:
    run_id = await opened(place)
    await after(place, lambda: choose(place, "results_question", "urgent"))
    count = await after(place, lambda: choose(place, "results_value", answer))
    shown = [float(value) for value in await column(place, VALUE)]
    assert shown
    assert all(inside(value) for value in shown)
    yes = stored(run_id, Browse(question=0, low=0.5))
    ok = stored(run_id, Browse(question=0, status="ok"))
    assert count == (yes if answer == "yes" else ok - yes)


@leaving
async def test_a_level_takes_what_rounds_to_it(place: Place) -> None:
    await opened(place)
    await after(place, lambda: choose(place, "results_question", "anger"))
    assert await after(place, lambda: choose(place, "results_value", "1 · cross")) == ROWS  # all are 1.1
    assert await after(place, lambda: choose(place, "results_value", "0 · calm")) == 0


@leaving
async def test_a_range_of_probabilities_and_the_order_by_a_click(place: Place) -> None:
    run_id = await opened(place)
    await after(place, lambda: choose(place, "results_question", "urgent"))
    await after(place, lambda: place.find(QDoubleSpinBox, "results_low").setValue(0.4))
    count = await after(place, lambda: place.find(QDoubleSpinBox, "results_high").setValue(0.6))
    assert count == stored(run_id, Browse(question=0, low=0.4, high=0.6)) > 0
    header = place.find(QTableView, "results_table").horizontalHeader()
    await after(place, lambda: header.sectionClicked.emit(VALUE))
    falling = [float(value) for value in await column(place, VALUE)]
    assert falling == sorted(falling, reverse=True)
    await after(place, lambda: header.sectionClicked.emit(VALUE))
    rising = [float(value) for value in await column(place, VALUE)]
    assert rising == sorted(rising)
    assert 0.4 <= rising[0] <= rising[-1] <= 0.6


@leaving
async def test_an_answer_is_laid_open_with_its_prompt_and_its_draws(place: Place) -> None:
    run_id = await opened(place)
    with ReviewStore(run_path(paths.runs_dir(), run_id)) as reviews:
        reviews.add(1, 0, None, "Ann")
        reviews.add(1, 1, "other", "Ann")
    await after(place, place.page.results.reread)
    assert (await column(place, REVIEW))[:3] == ["?", "other", ""]
    assert (await column(place, QUESTION))[:3] == ["urgent", "team", "anger"]
    detail = expect(place.page.results.detail_ready.connect)
    place.find(QTableView, "results_table").selectRow(1)
    await within(detail)
    prompt = place.find(QPlainTextEdit, "results_prompt").toPlainText()
    assert prompt.startswith("ticket 1 needle1\n\nQuestion: Which team?")
    assert "B. network" in prompt
    assert "other (Ann" in place.find(QLabel, "results_label").text()
    assert place.find(QLabel, "results_answer.draws").text() == "4"
    assert "site:\nEssen" in place.find(QPlainTextEdit, "results_input").toPlainText()


@leaving
async def test_groups_with_unreadable_answers_are_named(place: Place) -> None:
    run_id = await opened(place)
    place.page.runs_part.tabs.setCurrentIndex(1)
    text = place.find(QLabel, "summary.urgent.groups").text()
    unreadable = stored(run_id, Browse(question=0, status="unreadable"))
    assert f"{BAD_SITE} ({unreadable} of {ROWS // 4}" in text
    assert place.find(QLabel, "summary.team.groups").text() == "No answer was unreadable."


@leaving
async def test_status_is_told_by_a_sign_too(place: Place) -> None:
    await opened(place)
    count = await after(place, lambda: choose(place, "results_status", "◐ unreadable"))
    assert count > 0
    assert set(await column(place, STATUS)) == {"unreadable"}
