"""The review queue in the window: least certain first, by keyboard, undone, left for later, and what is kept."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

from decisions_driver import Place, leaving
from decisions_runs_maker import ROWS, make_run
from desk_driver import expect, within
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QComboBox, QLabel, QLineEdit, QPlainTextEdit, QProgressBar, QPushButton, QWidget

from app.pages.decisions import RUNS
from app.pages.decisions_runs import ANSWERS, REVIEW
from engine import paths
from engine.batch.export import export_run
from engine.batch.review import ReviewItem
from engine.domain.run import Label
from engine.store.runs import RunView, run_path


async def opened(place: Place) -> str:
    """A made run in review."""
    run_id = make_run()
    place.page.tabs.setCurrentIndex(RUNS)
    await place.page.results.load(run_id)
    await shown(place, lambda: place.page.runs_part.tabs.setCurrentIndex(REVIEW))
    return run_id


async def shown(place: Place, act: Callable[[], object]) -> ReviewItem | None:
    """The answer on the screen after the presenter has done what ``act`` asks for."""
    seen = expect(place.page.runs_part.reviews.shown.connect)
    act()
    (item,) = await within(seen)
    return item


async def press(place: Place, key: str) -> ReviewItem | None:
    return await shown(place, lambda: QTest.keyClicks(place.find(QWidget, "review"), key))


def labels(run_id: str) -> dict[tuple[int, int], Label]:
    with RunView(run_path(paths.runs_dir(), run_id)) as view:
        return view.labels()


@leaving
async def test_unreadable_answers_come_first_then_the_least_certain(place: Place) -> None:
    run_id = await opened(place)
    reviews = place.page.runs_part.reviews
    with RunView(run_path(paths.runs_dir(), run_id)) as view:
        unreadable = view.totals()["urgent"].unreadable
    assert unreadable > 2
    certainty = []
    for _ in range(unreadable + 3):
        assert reviews.item is not None
        reading = reviews.item.answer.reading
        certainty.append(max(reading.shares) if reading.status == "ok" else -1.0)
        await press(place, "1")
    assert certainty[:unreadable] == [-1.0] * unreadable
    assert 0.0 < certainty[unreadable] <= certainty[unreadable + 1] <= certainty[unreadable + 2]
    assert len(labels(run_id)) == unreadable + 3
    assert place.find(QProgressBar, "review_bar").value() == unreadable + 3
    assert place.find(QLabel, "review_progress").text() == f"{unreadable + 3} of {ROWS * 3} reviewed"


@leaving
async def test_a_label_is_kept_beside_the_answer_and_undone_by_the_keyboard(place: Place, tmp_path: Path) -> None:
    run_id = await opened(place)
    reviews = place.page.runs_part.reviews
    place.page.presenter.document.set_name("kept")  # an edit of the form that Ctrl+Z must not take back here
    first = reviews.item
    assert first is not None
    second = await press(place, "2")
    assert second is not None
    assert second.answer.row != first.answer.row
    assert labels(run_id)[first.answer.row, 0].value == "no"
    review = place.find(QWidget, "review")
    again = await shown(place, lambda: QTest.keyClick(review, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier))
    assert again is not None
    assert again.answer.row == first.answer.row
    assert labels(run_id) == {}
    assert place.page.presenter.document.form.name == "kept"
    await press(place, "3")
    assert labels(run_id)[first.answer.row, 0].value is None

    counted = expect(place.page.results.counted.connect)
    place.page.runs_part.tabs.setCurrentIndex(ANSWERS)
    await within(counted)
    out = tmp_path / "out.csv"
    export_run(run_path(paths.runs_dir(), run_id), out)
    with out.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    told = [row for row in rows if row["urgent.label_by"]]
    assert [row["row_id"] for row in told] == [str(first.answer.row)]


@leaving
async def test_what_is_left_for_later_comes_back_when_asked_for(place: Place) -> None:
    await opened(place)
    reviews = place.page.runs_part.reviews
    first = reviews.item
    second = await press(place, "s")
    assert first is not None
    assert second is not None
    assert second.answer.row != first.answer.row
    assert "1 left for later" in place.find(QLabel, "review_progress").text()
    again = await shown(place, reviews.take_up)
    assert again is not None
    assert again.answer.row == first.answer.row


@leaving
async def test_one_question_has_its_own_keys_and_ends(place: Place) -> None:
    run_id = await opened(place)
    box = place.find(QComboBox, "review_question")
    item = await shown(place, lambda: box.setCurrentText("team"))
    assert item is not None
    assert item.question.id == "team"
    assert place.find(QPushButton, "review_key.2").text() == "2  network"
    assert "text:\nticket" in place.find(QPlainTextEdit, "review_input").toPlainText()
    author = place.find(QLineEdit, "review_author")
    author.setText("Ann")
    await shown(place, author.editingFinished.emit)
    await shown(place, place.find(QPushButton, "review_key.2").click)
    (said,) = labels(run_id).values()
    assert (said.value, said.author, said.question) == ("network", "Ann", 1)
    for _ in range(ROWS - 2):
        await press(place, "s")
    assert await press(place, "s") is None
    assert place.find(QWidget, "review_empty").isVisible()
    assert await shown(place, place.find(QPushButton, "review_empty.again").click) is not None
