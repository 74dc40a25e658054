"""The page as its user meets it: buttons, fields, keys; no engine is needed here."""

from __future__ import annotations

import json
from pathlib import Path

from decisions_driver import Place, leaving
from desk_driver import expect, within
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QComboBox,
    QFileDialog,
    QLabel,
    QLineEdit,
    QListView,
    QMessageBox,
    QPlainTextEdit,
    QPushButton,
    QSpinBox,
    QTableView,
)

from app.pages.decisions import RUNS, TABLE
from engine.domain.question import Choice, Noul, Option, Score


def click(place: Place, name: str) -> None:
    place.find(QAbstractButton, name).click()


def ids(place: Place) -> list[str]:
    return [question.id for question in place.page.presenter.document.form.questions]


@leaving
async def test_a_form_is_built_from_nothing_by_its_user(place: Place) -> None:
    click(place, "form_empty.noul")
    place.type_into("question_instructions", "Is it late?")
    place.type_into("question_id", "late")
    place.type_into("criteria_yes", "after nine")
    place.find(QAction, "question_add.choice").trigger()
    place.type_into("question_instructions", "Which?")
    place.type_into("option_0_name", "a")
    place.type_into("option_1_name", "b")
    click(place, "option_add")
    place.type_into("option_2_name", "c")
    place.type_into("option_2_note", "the third")
    click(place, "option_2_up")
    place.find(QAction, "question_add.score").trigger()
    place.type_into("question_instructions", "How?")
    place.type_into("level_0_name", "low")
    place.type_into("level_1_name", "high")
    assert place.page.presenter.document.form.questions == (
        Noul("late", "Is it late?", "after nine"),
        Choice("choice", "Which?", (Option("a"), Option("c", "the third"), Option("b"))),
        Score("score", "How?", ("low", "high")),
    )
    assert [problem.field for problem in place.page.presenter.problems] == ["state"]
    while place.page.presenter.document.stack.canUndo():
        click(place, "form_undo")
    assert ids(place) == []
    while place.page.presenter.document.stack.canRedo():
        click(place, "form_redo")
    assert ids(place) == ["late", "choice", "score"]


@leaving
async def test_questions_are_ordered_copied_and_deleted_from_the_keyboard(place: Place) -> None:
    await place.open_example("tickets")
    view = place.find(QListView, "questions")
    view.setFocus()
    place.page.form_part.list.select(0)
    QTest.keyClick(view, Qt.Key.Key_Down, Qt.KeyboardModifier.AltModifier)
    assert ids(place) == ["team", "refund", "urgency"]
    assert place.page.form_part.list.current() == 1
    QTest.keyClick(view, Qt.Key.Key_D, Qt.KeyboardModifier.ControlModifier)
    assert ids(place) == ["team", "refund", "refund_copy", "urgency"]
    QTest.keyClick(view, Qt.Key.Key_Delete)
    QTest.keyClick(view, Qt.Key.Key_Up, Qt.KeyboardModifier.AltModifier)
    QTest.keyClick(view, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    QTest.keyClick(view, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert ids(place) == ["team", "refund", "refund_copy", "urgency"]


@leaving
async def test_undo_in_a_field_takes_back_the_forms_last_edit(place: Place) -> None:
    await place.open_example("tickets")
    before = place.page.presenter.document.form
    place.type_into("question_instructions", "Something else?")
    place.type_into("question_id", "other")
    field = place.find(QLineEdit, "question_id")
    field.setFocus()
    QTest.keyClick(field, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert ids(place)[0] == "refund"
    assert field.text() == "refund"
    QTest.keyClick(field, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert place.page.presenter.document.form == before
    QTest.keyClick(field, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier)
    assert place.page.presenter.document.form.questions[0].instructions == "Something else?"


@leaving
async def test_limits_are_said_beside_the_field(place: Place) -> None:
    place.find(QAction, "question_add.choice").trigger()
    for _ in range(24):
        click(place, "option_add")
    assert not place.find(QPushButton, "option_add").isEnabled()
    assert len(place.page.presenter.document.form.questions[0].labels) == 26
    place.type_into("option_0_name", "same")
    place.type_into("option_1_name", "same")
    assert "“same” is there twice" in place.find(QLabel, "option_1_message").text()
    place.find(QAction, "question_add.score").trigger()
    for _ in range(8):
        click(place, "level_add")
    assert not place.find(QPushButton, "level_add").isEnabled()
    place.type_into("question_id", "choice")
    assert "too" in place.find(QLabel, "question_id.message").text()


@leaving
async def test_another_type_can_be_chosen_and_taken_back(place: Place) -> None:
    await place.open_example("tickets")
    before = place.page.presenter.document.form
    click(place, "question_kind.score")
    assert isinstance(place.page.presenter.document.form.questions[0], Score)
    click(place, "form_undo")
    assert place.page.presenter.document.form == before
    assert place.find(QPushButton, "question_kind.noul").isChecked()


@leaving
async def test_columns_are_inserted_and_the_row_is_rendered_as_one_types(place: Place) -> None:
    await place.open_example("tickets")
    place.page.tabs.setCurrentIndex(TABLE)
    template = place.find(QPlainTextEdit, "state_template")
    template.selectAll()
    click(place, "insert.ticket_id")
    QTest.keyClicks(template, " says ")
    click(place, "insert.message")
    assert place.page.presenter.document.form.state == "{{ ticket_id }} says {{ message }}"
    rendered = place.find(QPlainTextEdit, "state_rendered")
    assert rendered.toPlainText().startswith("T001 says ")
    click(place, "row_next")
    assert rendered.toPlainText().startswith("T002 says ")
    place.find(QSpinBox, "state_row").setValue(120)
    assert rendered.toPlainText().startswith("T120 says ")
    QTest.keyClicks(template, " {{ nothing }}")
    assert "nothing" in place.find(QLabel, "state_message").text()
    assert place.find(QComboBox, "mapping_0").isVisible()
    assert not place.find(QPushButton, "run_start").isEnabled()


@leaving
async def test_a_guess_about_the_table_is_overruled_in_the_page(place: Place, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a;b\n1,5;2\n")
    table = place.page.presenter.table
    await table.load(path)
    assert place.find(QComboBox, "table_delimiter").currentData() == ";"
    failed = expect(table.failed.connect)
    box = place.find(QComboBox, "table_delimiter")
    box.setCurrentIndex(box.findData(","))
    box.activated.emit(box.currentIndex())
    await within(failed)
    assert "row 1" in place.find(QLabel, "table_message").text()
    assert box.currentData() == ";"
    changed = expect(table.changed.connect, lambda: table.facts.count is not None)
    box = place.find(QComboBox, "table_header")
    box.setCurrentIndex(box.findData(False))
    box.activated.emit(box.currentIndex())
    await within(changed)
    assert table.columns == ("column_1", "column_2")
    assert table.facts.count == 2
    assert table.overruled["header"] is False


@leaving
async def test_a_bad_table_is_told_in_the_page_and_the_good_one_stays(place: Place, tmp_path: Path) -> None:
    await place.open_example("tickets")
    bad = tmp_path / "bad.csv"
    bad.write_bytes(b"\x89PNG\r\n\x1a\n\x00\x00")
    await place.page.presenter.table.load(bad)
    assert "PNG" in place.find(QLabel, "table_message").text()
    assert place.find(QTableView, "table_preview").model().rowCount() == 100


@leaving
async def test_unsaved_edits_are_not_lost_without_a_question(place: Place, tmp_path: Path) -> None:
    await place.open_example("tickets")
    place.type_into("form_name", "Mine")
    place.find(QAction, "form_new").trigger()
    box = place.find(QMessageBox, "unsaved_dialog")
    assert ids(place) == ["refund", "team", "urgency"]
    box.reject()
    assert place.page.presenter.document.form.name == "Mine"
    assert place.page.presenter.save_form(tmp_path / "mine.json")
    place.find(QAction, "form_new").trigger()
    assert ids(place) == []


@leaving
async def test_saving_first_goes_on_with_what_was_asked_for(place: Place, tmp_path: Path) -> None:
    await place.open_example("tickets")
    path = tmp_path / "mine.json"
    assert place.page.presenter.save_form(path)
    place.type_into("form_name", "Mine")
    place.find(QAction, "form_new").trigger()
    click(place, "save_confirm")
    assert json.loads(path.read_text())["name"] == "Mine"
    assert ids(place) == []


@leaving
async def test_what_cannot_be_saved_stays_open(place: Place, tmp_path: Path) -> None:
    await place.open_example("tickets")
    path = tmp_path / "mine.json"
    assert place.page.presenter.save_form(path)
    place.type_into("form_name", "Mine")
    path.unlink()
    path.mkdir()
    place.find(QAction, "form_new").trigger()
    click(place, "save_confirm")
    assert ids(place) == ["refund", "team", "urgency"]
    assert place.page.presenter.document.dirty


@leaving
async def test_dialogs_begin_beside_what_is_open(place: Place, tmp_path: Path) -> None:
    await place.open_example("tickets")
    (tmp_path / "forms").mkdir()
    assert place.page.presenter.save_form(tmp_path / "forms" / "mine.json")
    place.find(QAction, "form_open").trigger()
    dialog = place.find(QFileDialog, "open_dialog")
    assert Path(dialog.directory().absolutePath()) == tmp_path / "forms"
    dialog.reject()


@leaving
async def test_saving_again_goes_to_the_same_file(place: Place, tmp_path: Path) -> None:
    await place.open_example("tickets")
    path = tmp_path / "mine.json"
    assert place.page.presenter.save_form(path)
    place.type_into("form_name", "Other")
    click(place, "form_save")
    assert json.loads(path.read_text())["name"] == "Other"
    assert not place.page.presenter.document.dirty


@leaving
async def test_the_run_step_says_what_is_missing(place: Place) -> None:
    message = place.find(QLabel, "run_message")
    place.page.tabs.setCurrentIndex(RUNS)
    assert "step 1" in message.text()
    await place.open_example("tickets")
    assert "engine" in message.text()
    assert not place.find(QPushButton, "run_start").isEnabled()
    assert not place.find(QPushButton, "preview_read").isEnabled()


@leaving
async def test_the_method_is_part_of_the_form_and_can_be_undone(place: Place) -> None:
    await place.open_example("tickets")
    place.page.tabs.setCurrentIndex(RUNS)
    click(place, "run_joint")
    box = place.find(QComboBox, "run_draws")
    box.setCurrentText("4")
    box.activated.emit(box.currentIndex())
    method = place.page.presenter.document.form.method
    assert (method.joint, method.draws) == (True, 4)
    click(place, "form_undo")
    click(place, "form_undo")
    assert place.page.presenter.document.form.method.draws == "auto"
    assert not place.page.presenter.document.dirty


@leaving
async def test_unsaved_edits_are_there_again_after_the_window_was_closed(place: Place) -> None:
    await place.open_example("tickets")
    place.type_into("form_name", "Half done")
    place.find(QAction, "question_add.choice").trigger()
    form = place.page.presenter.document.form
    await place.leave()
    again = Place()
    try:
        presenter = again.page.presenter
        assert presenter.document.form == form
        assert presenter.document.dirty
        await again.until(presenter.table.changed.connect, lambda: presenter.table.facts is not None)
        assert presenter.table.columns[0] == "ticket_id"
    finally:
        await again.leave()
        again.page.deleteLater()


@leaving
async def test_rows_beyond_the_sample_are_not_denied(place: Place, tmp_path: Path) -> None:
    path = tmp_path / "long.csv"
    path.write_text("a\n" + "x\n" * 600, encoding="utf-8")
    await place.page.presenter.table.load(path)
    shown = [label.text() for label in place.page.table_part.state.findChildren(QLabel)]
    assert "of the first 500" in shown
