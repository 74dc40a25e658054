"""Forms from the library, requests carried in and out, thresholds and advice beside each question."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from decisions_driver import Place, leaving
from desk_driver import expect, within
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QFileDialog, QLabel, QLineEdit

from engine.batch.form import load_form
from engine.batch.form_exchange import export_request, import_request
from engine.batch.form_library import TEMPLATES, template
from engine.domain.question import Choice, Noul, Option

REQUEST = {
    "model": "m",
    "temperature": 0.3,
    "input": 'He said "no", twice.',
    "questions": [
        {"type": "predicate", "name": "late", "instructions": "Is it late?"},
        {
            "type": "choice",
            "name": "which",
            "instructions": "Which?",
            "choices": [{"value": "a", "description": "first"}, {"value": "b"}],
        },
    ],
}


def choose_file(place: Place, name: str, path: Path) -> None:
    dialog = place.find(QFileDialog, name)
    dialog.fileSelected.emit(str(path))
    dialog.close()


@pytest.mark.parametrize("name", TEMPLATES)
@leaving
async def test_every_form_of_the_library_opens_with_its_table_and_can_run(place: Place, name: str) -> None:
    table = place.page.presenter.table
    counted = expect(table.changed.connect, lambda: table.facts is not None and table.facts.count is not None)
    place.find(QAction, f"form_template.{name}").trigger()
    await within(counted)
    assert place.page.presenter.document.form == template(name).form
    assert place.page.presenter.document.path is None
    assert not place.page.presenter.problems
    assert place.page.presenter.rendered[0]
    assert not place.page.presenter.rendered[1]


@leaving
async def test_a_request_becomes_a_form_with_its_text_as_table_and_says_what_it_left(
    place: Place, tmp_path: Path
) -> None:
    path = tmp_path / "ask.json"
    path.write_text(json.dumps(REQUEST))
    table = place.page.presenter.table
    counted = expect(table.changed.connect, lambda: table.facts is not None and table.facts.count is not None)
    place.find(QAction, "form_import").trigger()
    choose_file(place, "open_dialog", path)
    await within(counted)
    wanted = import_request(REQUEST, str(path), name="ask")
    assert place.page.presenter.document.form == wanted.form
    assert place.page.presenter.document.dirty
    assert place.page.presenter.rendered == (REQUEST["input"], "")
    said = place.find(QLabel, "form_message").text()
    assert wanted.left_out
    for part in wanted.left_out:
        assert part in said


@leaving
async def test_what_is_no_request_leaves_the_open_form_as_it_is(place: Place, tmp_path: Path) -> None:
    await place.open_example("tickets")
    before = place.page.presenter.document.form
    path = tmp_path / "bad.json"
    for text in ("[1]", "{", '{"questions": []}', '{"state": "x", "questions": {"q": {"type": "essay"}}}'):
        path.write_text(text)
        place.page.files.exchange.import_body(path)
        assert "bad.json" in place.find(QLabel, "form_message").text()
        assert place.page.presenter.document.form == before


@pytest.mark.parametrize("shape", ["system-one", "decisions"])
@leaving
async def test_the_request_about_the_row_that_is_shown_is_written(place: Place, tmp_path: Path, shape: str) -> None:
    await place.open_example("tickets")
    place.page.presenter.show_row(4)
    path = tmp_path / "out.json"
    place.find(QAction, f"form_export.{shape}").trigger()
    choose_file(place, "export_request_dialog", path)
    form = place.page.presenter.document.form
    made = export_request(form, shape, place.page.presenter.rendered[0])  # type: ignore[arg-type]
    assert json.loads(path.read_text()) == made.body
    said = place.find(QLabel, "form_message").text()
    assert made.left_out
    for part in made.left_out:
        assert part in said
    place.page.files.exchange.export_body(tmp_path / "none" / "out.json", shape)  # type: ignore[arg-type]
    assert "Cannot write" in place.find(QLabel, "form_message").text()


@leaving
async def test_a_threshold_is_typed_refused_and_saved(place: Place, tmp_path: Path) -> None:
    await place.open_example("tickets")
    document = place.page.presenter.document
    for typed, value in (("0,8", 0.8), ("0.25", 0.25), ("", None), ("0.5", 0.5)):
        place.type_into("question_threshold", typed) if typed else place.find(QLineEdit, "question_threshold").clear()
        field = place.find(QLineEdit, "question_threshold")
        QTest.keyClick(field, Qt.Key.Key_Return)
        assert document.form.questions[0].threshold == value
    place.type_into("question_threshold", "often")
    QTest.keyClick(field, Qt.Key.Key_Return)
    assert "no number" in place.find(QLabel, "question_threshold.message").text()
    assert document.form.questions[0].threshold == 0.5
    place.type_into("question_threshold", "1.5")
    QTest.keyClick(field, Qt.Key.Key_Return)
    assert "from 0 to 1" in place.find(QLabel, "question_threshold.message").text()
    document.stack.undo()
    assert field.text() == "0.5"
    assert place.page.presenter.save_form(tmp_path / "form.json")
    assert load_form(tmp_path / "form.json").questions[0].threshold == 0.5


@leaving
async def test_advice_stands_beside_its_question_and_goes_when_it_is_followed(place: Place) -> None:
    document = place.page.presenter.document
    options = (Option("billing"), Option("delivery"))
    place.find(QAction, "question_add.choice").trigger()
    advice = place.find(QLabel, "question_advice")
    assert advice.isHidden()  # first what is wrong
    document.set_question(0, Choice("team", "Which team?", options), "")
    assert "unknown" in advice.text()
    assert not advice.isHidden()
    document.set_question(0, Choice("team", "Which team?", (*options, Option("unknown"))), "")
    assert advice.isHidden()
    document.set_question(0, Noul("late", "Is it late?"), "")
    assert "yes and no mean" in advice.text()
    place.find(QAbstractButton, "form_undo").click()
    assert advice.isHidden()
