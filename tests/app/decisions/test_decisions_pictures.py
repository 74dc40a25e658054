"""Pictures as a column: chosen in the window, looked at before a run, shown, and read by an engine that sees."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from decisions_driver import Place, leaving
from desk_driver import expect, until, within
from fakes.seeing_engine import SeeingEngine, png, seeing_engine
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QAbstractButton, QComboBox, QLabel, QPlainTextEdit, QScrollArea, QTableWidget, QWidget
from pytestqt.qtbot import QtBot

from app.models.decisions_pictures import SeenPicture
from app.pages.decisions import RUNS, TABLE, TRY
from app.pages.decisions_runs import ANSWERS
from app.presenters.engine import EngineChoice
from app.widgets.decisions.parts import vbox
from app.widgets.decisions.picture_strip import PictureStrip
from engine import paths
from engine.batch.picture_check import PictureCheck
from engine.batch.selection import Selection
from engine.client.sight import BLIND_TOY
from engine.domain.picture import PictureColumn
from engine.domain.question import Noul
from engine.store.runs import RunView, run_path

COLOURS = ("red", "green", "blue", "red")


def table_of_pictures() -> Path:
    """Four rows: three pictures, and one that is not there."""
    folder = paths.data_dir() / "photos"
    folder.mkdir(parents=True)
    for number, colour in enumerate(COLOURS[:3], start=1):
        (folder / f"{number}.png").write_bytes(png(colour, side=20 * number))
    lines = ["photo,colour", *(f"{number}.png,{colour}" for number, colour in enumerate(COLOURS, start=1))]
    table = folder / "photos.csv"
    table.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return table


async def form_over_pictures(place: Place) -> None:
    """A question about a photo; the column of pictures is not chosen yet."""
    document = place.page.presenter.document
    form = replace(document.form, name="photos", state="A photo.", questions=(Noul("red", "Is it red?", "yes", "no"),))
    document.load(replace(form, method=replace(form.method, draws=1, min_mass=0.0)), None)
    await place.page.presenter.table.load(table_of_pictures())
    place.page.tabs.setCurrentIndex(TABLE)


def choose_column(place: Place, column: str) -> None:
    box = place.find(QComboBox, "form_pictures")
    box.setCurrentIndex(box.findText(column))
    box.textActivated.emit(column)


def words(place: Place, name: str) -> str:
    found = place.find(QLabel, name)
    return "" if found.isHidden() else found.text()


def strip(place: Place, name: str) -> list[str]:
    """What a strip of pictures says to somebody who does not see it."""
    shown = place.find(QScrollArea, name)
    cards = [] if shown.isHidden() else shown.findChildren(QWidget, "picture")
    return [card.accessibleName() for card in cards if not card.isHidden()]


@asynccontextmanager
async def sighted(place: Place) -> AsyncIterator[SeeingEngine]:
    """The page's engine is a server that sees."""
    async with seeing_engine() as seeing:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("app.models.engine_state.TOY_OWNER", "nobody")  # behind it answers the toy, which says so
            place.engine.configure(EngineChoice("url", seeing.url))
            await place.start_engine()
            pictures = place.page.pictures
            await place.until(pictures.sight_changed.connect, lambda: pictures.sight.sees == "yes")
            yield seeing
            await place.leave()


async def looked(place: Place, act: Callable[[], object]) -> tuple[PictureCheck, tuple[SeenPicture, ...]]:
    """What is found about the first rows and the row that is shown, after something was chosen."""
    pictures = place.page.pictures
    checked, shown = expect(pictures.checked.connect), expect(pictures.row_ready.connect)
    act()
    return (await within(checked))[0], (await within(shown))[0]


@leaving
async def test_a_chosen_column_shows_its_pictures_and_counts_what_is_missing(place: Place) -> None:
    await form_over_pictures(place)
    found, seen = await looked(place, lambda: choose_column(place, "photo"))
    assert place.page.presenter.document.form.pictures == PictureColumn("photo")
    assert (found.rows, found.faults) == (4, 1)
    said = words(place, "form_pictures.found")
    assert "1 of the first 4 rows would get no answer" in said
    assert "row 4" in said
    assert "4.png" in said
    assert [(each.width, each.height) for each in seen] == [(20, 20)]
    assert seen[0].image.pixelColor(5, 5).name() == "#ff0000"
    assert strip(place, "state_pictures") == ["Picture 1.png, 20 × 20 pixels"]
    shown = expect(place.page.pictures.row_ready.connect)
    place.page.presenter.show_row(3)
    await within(shown)
    assert "4.png" in strip(place, "state_pictures")[0]
    shown = expect(place.page.pictures.row_ready.connect)
    choose_column(place, "")
    await within(shown)
    assert place.page.presenter.document.form.pictures is None
    assert strip(place, "state_pictures") == []
    assert words(place, "form_pictures.found") == ""


@leaving
async def test_nothing_but_files_of_this_computer_is_shown_and_a_column_that_is_gone_is_a_problem(place: Place) -> None:
    await form_over_pictures(place)
    table = paths.data_dir() / "remote.csv"
    table.write_text("photo\nhttp://127.0.0.1:9/a.png\n", encoding="utf-8")
    await place.page.presenter.table.load(table)
    found, seen = await looked(place, lambda: choose_column(place, "photo"))
    assert found.faults == 1
    assert [each.image for each in seen] == [None]
    assert "127.0.0.1" in seen[0].fault
    place.page.presenter.document.set_pictures("portrait", "")
    assert [each.field for each in place.page.presenter.problems] == ["pictures"]
    assert not place.find(QAbstractButton, "run_start").isEnabled()


@leaving
async def test_an_engine_that_does_not_see_is_said_before_anything_is_read(place: Place) -> None:
    await place.start_engine()
    await form_over_pictures(place)
    assert place.find(QAbstractButton, "run_start").isEnabled()
    choose_column(place, "photo")
    assert BLIND_TOY in words(place, "form_pictures.message")
    for name in ("run_start", "preview_read"):
        assert not place.find(QAbstractButton, name).isEnabled()
    assert BLIND_TOY in words(place, "run_message")
    choose_column(place, "")
    assert words(place, "form_pictures.message") == ""
    assert place.find(QAbstractButton, "run_start").isEnabled()


@leaving
async def test_the_look_at_pictures_takes_the_rows_that_the_filter_leaves(place: Place) -> None:
    await form_over_pictures(place)
    pictures, table = place.page.pictures, place.page.presenter.table
    checked = expect(pictures.checked.connect)
    choose_column(place, "photo")
    (found,) = await within(checked)
    assert (found.rows, found.faults, found.chosen) == (4, 1, False)
    for where, first, rows, faults in (
        ('colour == "green"', None, 1, 0),
        ('colour == "red"', None, 2, 1),
        ("", 3, 3, 0),
        ("", None, 4, 1),
    ):
        checked = expect(pictures.checked.connect)
        table.select(Selection(where, first=first))
        (found,) = await within(checked)
        assert (found.rows, found.faults, found.chosen) == (rows, faults, bool(where or first))
        assert ("chosen" in words(place, "form_pictures.found")) == (found.chosen and rows > 1)
    for where in ('colour == "pink"', "colour =="):  # none is left, or nobody knows
        checked = expect(pictures.checked.connect)
        table.select(Selection(where))
        assert await within(checked) == (None,)
        assert words(place, "form_pictures.found") == ""


@leaving
async def test_what_is_said_about_pictures_stands_beside_their_column(place: Place) -> None:
    await form_over_pictures(place)
    checked = expect(place.page.pictures.checked.connect)
    choose_column(place, "photo")
    await within(checked)
    said, column = place.find(QLabel, "form_pictures.found"), place.find(QComboBox, "form_pictures")
    place.page.resize(1300, 760)
    await until(lambda: edges(place, said)[0] > edges(place, column)[1])
    assert abs(edges(place, said)[2] - edges(place, column)[2]) < column.height()
    place.page.resize(700, 760)
    await until(lambda: edges(place, said)[0] < edges(place, column)[1])
    await until(lambda: 0 < edges(place, said)[2] - edges(place, column)[2] < 2 * column.height())


def edges(place: Place, widget: QWidget) -> tuple[int, int, int]:
    """Left, right and top of a widget on the page."""
    corner = widget.mapTo(place.page, widget.rect().topLeft())
    return corner.x(), corner.x() + widget.width(), corner.y()


@leaving
async def test_a_row_is_tried_and_a_table_is_run_with_its_pictures(place: Place) -> None:
    async with sighted(place) as seeing:
        await form_over_pictures(place)
        choose_column(place, "photo")
        assert words(place, "form_pictures.message") == ""
        page = place.page
        page.tabs.setCurrentIndex(TRY)
        tried = expect(page.presenter.preview_ready.connect)
        place.find(QAbstractButton, "preview_read").click()
        (facts,) = await within(tried)
        assert [Path(path).name for path in facts.pictures] == ["1.png"]
        assert seeing.asked
        both = expect(page.trial.row_tried.connect)
        place.find(QAbstractButton, "preview_both").click()
        await within(both)
        assert place.find(QTableWidget, "both_ways_table").rowCount() == 1
        await place.until(page.pictures.row_ready.connect, lambda: bool(strip(place, "state_pictures")))

        page.tabs.setCurrentIndex(RUNS)
        ended = expect(page.runs.freed.connect)
        place.find(QAbstractButton, "run_start").click()
        assert (await within(ended))[0] == "finished"
        run = page.runs.runs[0].id
        with RunView(run_path(paths.runs_dir(), run)) as view:
            totals = view.info().totals["red"]
        assert (totals.ok + totals.unreadable, totals.error) == (3, 1)
        part = page.runs_part
        part.tabs.setCurrentIndex(ANSWERS)
        await place.until(page.results.opened.connect, lambda: page.results.run_id == run)
        counted = expect(page.results.counted.connect, lambda count: count == 1)
        page.results.browse({"status": "error"})
        await within(counted)
        for line, said in ((0, "4.png"),):
            shown = expect(part.answers.pictures.wanted.connect)
            page.results.choose(line)
            (asked,) = await within(shown)
            assert [Path(path).name for path in asked] == [said]
        await place.until(page.results.counted.connect, lambda: bool(part.answers.answer._error.text()))
        assert "4.png" in part.answers.answer._error.text()
        assert place.find(QPlainTextEdit, "results_prompt").toPlainText()


@pytest.mark.parametrize("first", [0, 1])
def test_pictures_are_as_high_as_they_are_in_a_window_that_is_already_shown(first: int, qtbot: QtBot) -> None:
    window, strip_ = QWidget(), PictureStrip("strip")
    qtbot.addWidget(window)
    window.setLayout(vbox(QLabel("above"), strip_, 1))
    window.show()
    image = QImage(160, 120, QImage.Format.Format_RGB32)
    for seen in [(), (SeenPicture("/a.png", "a.png", 160, 120, image),), (SeenPicture("", "", fault="gone"),)][first:]:
        strip_.show_pictures(seen)
        least = 120 if seen and seen[0].image is not None else 2 * strip_.fontMetrics().height() if seen else 0
        assert strip_.height() >= least
        assert strip_.isHidden() == (not seen)
