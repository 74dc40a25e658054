"""The two templates of a form: columns put in by key and by mouse, and the document that the row text comes from."""

from __future__ import annotations

from pathlib import Path

from decisions_driver import Place, leaving
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QLineEdit, QPlainTextEdit, QTabBar

from app.pages.decisions import TABLE
from app.widgets.decisions.state_editor import ColumnChip
from engine.batch.form import load_form


def drag(chip: ColumnChip, to: QPoint) -> None:
    """Real mouse events on a column, let go at a place of the screen."""
    start, there = chip.rect().center(), chip.mapFromGlobal(to)
    QTest.mousePress(chip, Qt.MouseButton.LeftButton, pos=start)
    for place in (start + QPoint(1, 0), start + QPoint(40, 40), there):
        move = QMouseEvent(
            QEvent.Type.MouseMove,
            QPointF(place),
            QPointF(chip.mapToGlobal(place)),
            Qt.MouseButton.NoButton,
            Qt.MouseButton.LeftButton,
            Qt.KeyboardModifier.NoModifier,
        )
        QApplication.sendEvent(chip, move)
    QTest.mouseRelease(chip, Qt.MouseButton.LeftButton, pos=there)


@leaving
async def test_a_column_is_dragged_to_its_place_or_pressed_with_the_keyboard(place: Place) -> None:
    await place.open_example("tickets")
    place.page.tabs.setCurrentIndex(TABLE)
    template, document = place.find(QPlainTextEdit, "state_template"), place.page.presenter.document
    document.set_state("first\nsecond")
    cursor = template.textCursor()
    cursor.setPosition(len("first"))
    chip = place.find(ColumnChip, "insert.ticket_id")
    drag(chip, template.viewport().mapToGlobal(template.cursorRect(cursor).center()))
    assert document.form.state == "first{{ ticket_id }}\nsecond"
    document.set_state("first\nsecond")
    for elsewhere in (chip.mapToGlobal(chip.rect().center()), place.page.mapToGlobal(QPoint(2, 2))):
        drag(chip, elsewhere)
        assert document.form.state == "first\nsecond"

    template.moveCursor(template.textCursor().MoveOperation.End)
    chip.setFocus(Qt.FocusReason.TabFocusReason)
    QTest.keyClick(chip, Qt.Key.Key_Space)
    assert document.form.state == "first\nsecond{{ ticket_id }}"
    assert template.hasFocus()
    assert chip.accessibleName() == "Insert column ticket_id"


@leaving
async def test_a_forms_document_is_written_seen_renamed_undone_and_saved(place: Place, tmp_path: Path) -> None:
    await place.open_example("tickets")
    place.page.tabs.setCurrentIndex(TABLE)
    presenter = place.page.presenter
    state = presenter.document.form.state
    which, shown = place.find(QTabBar, "state_which"), place.find(QPlainTextEdit, "state_rendered")
    which.setFocus()
    QTest.keyClick(which, Qt.Key.Key_Right)
    assert place.find(QPlainTextEdit, "state_template").toPlainText() == ""
    assert shown.toPlainText() == ""
    place.type_into("state_template", "Ticket ")
    QTest.keyClick(place.find(ColumnChip, "insert.ticket_id"), Qt.Key.Key_Space)
    assert presenter.document.form.document == "Ticket {{ ticket_id }}"
    assert presenter.document.form.state == state
    assert shown.toPlainText() == "Ticket T001"
    presenter.show_row(1)
    assert shown.toPlainText() == "Ticket T002"

    place.type_into("state_template", "{{ number }}")
    assert "number" in place.find(QLabel, "state_message").text()
    presenter.apply_mapping({"number": "ticket_id"})
    assert presenter.document.form.document == "{{ ticket_id }}"
    assert not place.find(QLabel, "state_message").text()
    path = tmp_path / "form.json"
    assert presenter.save_form(path)
    assert load_form(path).document == "{{ ticket_id }}"

    which.setCurrentIndex(0)
    assert place.find(QPlainTextEdit, "state_template").toPlainText() == state
    assert shown.toPlainText() == presenter.rendered[0]
    which.setCurrentIndex(1)
    place.type_into("state_template", " ")
    assert presenter.document.form.document is None
    presenter.document.stack.undo()
    assert presenter.document.form.document == "{{ ticket_id }}"
    assert place.find(QPlainTextEdit, "state_template").toPlainText() == "{{ ticket_id }}"


@leaving
async def test_a_long_description_shows_its_beginning(place: Place) -> None:
    await place.open_example("tickets")
    place.page.form_part.list.select(1)
    fields = [edit for edit in place.page.findChildren(QLineEdit) if edit.text() == "invoices, charges and payments"]
    assert [edit.cursorPosition() for edit in fields] == [0]
