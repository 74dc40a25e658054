"""Before a run: one row both ways, some rows for the time, the order of the options, and the price of a method."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from decisions_driver import Place, leaving
from desk_driver import expect, within
from PySide6.QtWidgets import QAbstractButton, QLabel, QPlainTextEdit, QSpinBox, QTableWidget

from app.models.decisions_preview import reads_per_row
from engine.batch.row_sample import sample_rows
from engine.batch.selection import Selection
from engine.batch.tables import open_table
from engine.domain.question import Choice, Noul, Option, Score
from engine.domain.reading import Method

YES, LEVEL = Noul("y", "?"), Score("s", "?", ("low", "high"))
TEAM = Choice("t", "?", tuple(map(Option, "abcde")))


@pytest.mark.parametrize(
    ("method", "least", "most"),
    [
        (Method(draws=1), 3, 3),
        (Method(draws=8), 24, 24),
        (Method(), 3, 12),
        (Method(rotate=True), 7, 13),
        (Method(draws=2, rotate=True), 14, 14),
        (Method(draws=4, joint=True), 4, 4),
        (Method(joint=True), 1, 4),
        (Method(joint=True, rotate=True), 5, 5),
    ],
)
def test_a_method_has_its_price_in_reads(method: Method, least: int, most: int) -> None:
    assert reads_per_row((YES, LEVEL, TEAM), method) == (least, most)


@leaving
async def test_a_row_is_read_with_all_questions_both_ways_side_by_side(place: Place) -> None:
    await place.open_example("tickets")
    await place.start_engine()
    place.page.presenter.show_row(2)
    tried = expect(place.page.trial.row_tried.connect)
    place.find(QAbstractButton, "preview_both").click()
    assert not place.find(QAbstractButton, "preview_rows").isEnabled()
    (facts,) = await within(tried)
    assert place.find(QAbstractButton, "preview_rows").isEnabled()
    assert facts.row == 2
    table = place.find(QTableWidget, "both_ways_table")
    ids = [question.id for question in place.page.presenter.document.form.questions]
    assert [table.verticalHeaderItem(row).text() for row in range(table.rowCount())] == ids
    assert [each.reading.method for each in facts.alone] == ["alone/canvas"] * len(ids)
    assert [each.reading.method for each in facts.joint] == ["joint/canvas"] * len(ids)
    for column, way in enumerate((facts.alone, facts.joint)):
        for row, each in enumerate(way):
            assert f"mass {each.reading.label_mass:.2f}" in table.item(row, column).text()
            table.setCurrentCell(row, column)
            assert place.find(QPlainTextEdit, "preview_prompt").toPlainText() == each.prompt
            assert place.find(QLabel, "preview_answer.method").text() == each.reading.method
    assert "Row 3" in place.find(QLabel, "both_ways_title").text()


@leaving
async def test_twenty_rows_tell_how_long_the_run_takes(place: Place) -> None:
    await place.open_example("tickets")
    await place.start_engine()
    tried = expect(place.page.trial.rows_tried.connect)
    place.find(QAbstractButton, "preview_rows").click()
    await within(tried)
    text = place.find(QLabel, "preview_estimate").text()
    assert text.startswith("20 rows in ")
    assert f"{place.page.presenter.table.remaining} rows would take about" in text


@leaving
async def test_the_order_of_the_options_is_checked_from_the_run(place: Place) -> None:
    await place.open_example("tickets")
    await place.start_engine()
    found = expect(place.page.trial.order_found.connect)
    place.find(QAbstractButton, "run_check_order").click()
    assert not place.find(QAbstractButton, "run_check_order").isEnabled()
    (text,) = await within(found)
    assert text.startswith("team: ")
    assert place.find(QLabel, "run_order_found").text() == text
    assert place.find(QAbstractButton, "run_check_order").isEnabled()


@leaving
async def test_steps_and_rotation_are_settings_with_their_price(place: Place) -> None:
    await place.open_example("tickets")
    document, cost = place.page.presenter.document, place.find(QLabel, "run_cost")
    document.set_method(Method(draws=1))
    assert "3 requests a row, 360 at least in all" in cost.text()
    place.find(QAbstractButton, "run_rotate").click()
    assert document.form.method.rotate
    assert "7 requests a row, 840 at least in all" in cost.text()
    place.find(QSpinBox, "run_steps").setValue(4)
    assert document.form.method.steps == 4
    assert "each of 4 steps" in cost.text()
    document.set_method(Method(wire="native"))
    assert not place.find(QSpinBox, "run_steps").isEnabled()
    form = document.form
    document.edit(replace(form, questions=form.questions[:1]), "one question")
    assert place.find(QAbstractButton, "run_rotate").isHidden()
    assert place.find(QAbstractButton, "run_check_order").isHidden()


@leaving
async def test_a_row_without_text_is_not_read(place: Place) -> None:
    await place.open_example("tickets")
    await place.start_engine()
    place.page.presenter.document.set_state("{% if false %}{{ message }}{% endif %}")
    failed = expect(place.page.trial.failed.connect)
    place.page.trial.try_row(0)
    (text,) = await within(failed)
    assert "empty" in text
    assert place.find(QLabel, "preview_message").text().endswith(text)


@leaving
async def test_checks_read_only_rows_that_the_run_would_read(place: Place) -> None:
    """Those that the command line draws for the same form, table and filter."""
    await place.open_example("tickets")
    await place.start_engine()
    document, table = place.page.presenter.document, place.page.presenter.table
    document.set_method(replace(document.form.method, draws=1))
    narrow = Selection(where='row["gold_team"] == "billing"')
    counted = expect(table.selection_changed.connect, lambda: table.remaining is not None)
    table.select(narrow)
    await within(counted)
    form, opened = document.form, open_table(Path(table.facts.path))
    drawn = sample_rows(form, opened, 24, seed=form.method.seed, selection=narrow)
    expected = [(row.key, row.state) for row in drawn]
    assert 0 < len(expected) < opened.count()
    assert await table.sampled(document.form, 24) == expected

    price = expect(place.page.presenter.price_ready.connect)
    place.page.presenter.measure_joint()
    assert (await within(price))[0].rows == len(expected)
    tried = expect(place.page.trial.rows_tried.connect)
    place.find(QAbstractButton, "preview_rows").click()
    await within(tried)
    text = place.find(QLabel, "preview_estimate").text()
    assert text.startswith(f"{min(len(expected), 20)} rows in ")
    assert f"{table.remaining} rows would take about" in text

    nothing = expect(table.selection_changed.connect, lambda: bool(table.selection_fault))
    table.select(Selection(where='row["gold_team"] == "nobody"'))
    await within(nothing)
    for ask, said in (
        (place.page.presenter.measure_joint, place.page.presenter.price_failed),
        (place.page.trial.check_order, place.page.trial.order_found),
    ):
        told = expect(said.connect)
        ask()
        assert "no row" in (await within(told))[0]
