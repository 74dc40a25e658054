"""Each draw of an answer: in the drawer of a run, and of a row that is tried."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from pathlib import Path

import pytest
from decisions_driver import Place, beginning, leaving
from desk_driver import expect, within
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QAbstractButton, QTableWidget, QWidget

from app.pages.decisions import RUNS, TRY

DRAWS = 4


async def ready(place: Place) -> None:
    """Two tickets, four draws an answer."""
    await place.start_engine()
    await place.open_example("tickets")
    document, table = place.page.presenter.document, place.page.presenter.table
    document.set_method(replace(document.form.method, draws=DRAWS, seed=11))
    await table.load(beginning(Path(table.facts.path), 2))


def cells(table: QTableWidget) -> list[list[str]]:
    return [
        [table.item(row, column).text() for column in range(table.columnCount())] for row in range(table.rowCount())
    ]


@leaving
async def test_an_answer_of_a_run_is_read_again_draw_by_draw_with_the_same_noise(place: Place) -> None:
    await ready(place)
    page = place.page
    page.tabs.setCurrentIndex(RUNS)
    ended = expect(page.runs.freed.connect)
    place.find(QAbstractButton, "run_start").click()
    assert (await within(ended))[0] == "finished"
    page.runs_part._open(page.runs.runs[0].id)
    await place.until(page.results.opened.connect, lambda: page.results.run_id == page.runs.runs[0].id)
    await place.until(page.results.counted.connect, lambda: len(page.results._keys) == 6)
    for line in (0, 5):
        shown = expect(page.results.detail_ready.connect)
        page.results.choose(line)
        (detail,) = await within(shown)
        table = place.find(QTableWidget, "results_draws.table")
        assert table.isHidden()  # another answer's draws are not left standing
        read = expect(page.runs_part.draws.ready.connect)
        place.find(QAbstractButton, "results_draws.read").click()
        (found,) = await within(read)
        assert found.reading.shares == pytest.approx(detail.reading.shares, abs=1e-6)
        assert found.reading.stderr == pytest.approx(detail.reading.stderr, abs=1e-6)
        assert len(found.draws) == DRAWS == table.rowCount()
        lines = cells(table)
        assert [line[0] for line in lines] == ["0", "1", "2", "3"]
        assert [line[-1] for line in lines] == ["of the prompt", *(f"11 / {detail.row} / {n}" for n in (1, 2, 3))]
        assert [float(line[1]) for line in lines] == pytest.approx([each.shares[0] for each in found.draws], abs=1e-4)
        assert place.find(QWidget, "results_draws.strip").accessibleName().startswith("4 draws; ")
        place.find(QAbstractButton, "results_draws.copy").click()
        copied = list(csv.reader(io.StringIO(QGuiApplication.clipboard().text())))
        assert copied[1:] == lines
        assert copied[0][1:-4] == list(detail.question.answers)


@leaving
async def test_a_tried_row_shows_each_draw_and_without_an_engine_there_is_a_reason_instead(place: Place) -> None:
    await ready(place)
    page = place.page
    page.tabs.setCurrentIndex(TRY)
    tried = expect(page.presenter.preview_ready.connect)
    place.find(QAbstractButton, "preview_read").click()
    (facts,) = await within(tried)
    table = place.find(QTableWidget, "preview_draws.table")
    assert table.rowCount() == len(facts.draws) == DRAWS
    assert cells(table)[2][-1] == "11 / preview / 2"
    assert place.find(QAbstractButton, "preview_draws.read").isHidden()  # they are there already
    await place.engine.close_down()
    failed = expect(page.runs_part.draws.failed.connect)
    page.runs_part.draws.read("", None)
    assert "no engine is running" in (await within(failed))[0]
