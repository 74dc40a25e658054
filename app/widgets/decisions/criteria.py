"""Editors of what the answers mean: yes and no, the options of a choice, the levels of a score."""

from __future__ import annotations

import string
from dataclasses import dataclass

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QLineEdit, QVBoxLayout, QWidget

from app.widgets.decisions.parts import FieldMessage, button, form_field, hbox, icon_button, label, named, vbox
from engine.domain.question import MAX_LEVELS, MAX_OPTIONS, MIN_LEVELS, MIN_OPTIONS, Option


def set_text(edit: QLineEdit, text: str) -> None:
    """Show a text, from its beginning, without disturbing somebody who is typing that very text."""
    if edit.text() != text:
        edit.setText(text)
        if not edit.hasFocus():
            edit.setCursorPosition(0)


class NoulCriteria(QWidget):
    """What counts as yes and what as no; both may stay empty.

    Signals:
        edited(str, str, str): true_means, false_means, which field.
    """

    edited = Signal(str, str, str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.yes = form_field(named(QLineEdit(), "criteria_yes", self.tr("Yes means")))
        self.no = form_field(named(QLineEdit(), "criteria_no", self.tr("No means")))
        self.yes.setPlaceholderText(self.tr("Optional: when the answer is yes"))
        self.no.setPlaceholderText(self.tr("Optional: when the answer is no"))
        rows = []
        for field, tag, edit in (("yes", self.tr("yes"), self.yes), ("no", self.tr("no"), self.no)):
            mark = label(tag, "mono")
            mark.setFixedWidth(36)
            mark.setBuddy(edit)
            rows.append(hbox(mark, edit))
            edit.textEdited.connect(lambda _text, field=field: self._emit(field))
        self.setLayout(vbox(*rows))

    def show_texts(self, true_means: str, false_means: str) -> None:
        set_text(self.yes, true_means)
        set_text(self.no, false_means)

    def _emit(self, field: str) -> None:
        self.edited.emit(self.yes.text(), self.no.text(), field)


@dataclass(frozen=True, slots=True)
class RowTexts:
    """The words of an options or levels editor, which differ between the two."""

    name: str
    add: str
    full: str
    name_hint: str
    note_hint: str
    remove: str
    up: str
    down: str


class RowsEditor(QWidget):
    """Ordered rows of a text and, for options, a description; between a least and a most number of rows.

    Signals:
        edited(list, str): all rows as ``Option``; the field ("3.name") or "" for a change of the rows themselves.
    """

    edited = Signal(list, str)

    def __init__(self, labels: str, least: int, *, described: bool, texts: RowTexts) -> None:
        """Args:
        labels: one letter or digit for each row; its length is the limit.
        described: whether each row has a description.
        """
        super().__init__()
        self._labels, self._least, self._described, self._words = labels, least, described, texts
        self._rows: list[_Row] = []
        self._box = QVBoxLayout()
        self._box.setContentsMargins(0, 0, 0, 0)
        self._box.setSpacing(6)
        self.message = FieldMessage(f"{texts.name}_message")
        self.add_button = button(texts.add, f"{texts.name}_add", self._add, role="quiet")
        self._limit = label("", "muted")
        self.setLayout(vbox(self._box, self.message, hbox(self.add_button, self._limit, 1)))

    def show_rows(self, options: list[Option]) -> None:
        """Show these rows; widgets are kept so that the cursor stays where it is."""
        while len(self._rows) < len(options):
            self._append_row()
        for place, row in enumerate(self._rows):
            row.setVisible(place < len(options))
            if place < len(options):
                row.show_option(options[place])
                row.allow(up=place > 0, down=place < len(options) - 1, remove=len(options) > self._least)
        full = len(options) >= len(self._labels)
        self.add_button.setEnabled(not full)
        self._limit.setText(self._words.full if full else "")
        self._limit.setVisible(full)

    def show_problems(self, whole: str, by_row: dict[int, str]) -> None:
        """Messages: one for the list, one for each row that has a problem."""
        self.message.say(whole)
        for place, row in enumerate(self._rows):
            row.message.say(by_row.get(place, ""))

    def values(self) -> list[Option]:
        return [row.option() for row in self._rows if not row.isHidden()]

    def row(self, place: int) -> _Row:
        return self._rows[place]

    def _append_row(self) -> None:
        place = len(self._rows)
        # More rows than labels happen in broken files only; they are shown so that they can be removed.
        mark = self._labels[place] if place < len(self._labels) else "–"
        row = _Row(place, mark, described=self._described, texts=self._words)
        row.edited.connect(lambda field, place=place: self.edited.emit(self.values(), f"{place}.{field}"))
        row.removed.connect(lambda place=place: self._remove(place))
        row.moved.connect(lambda step, place=place: self._move(place, step))
        self._rows.append(row)
        self._box.addWidget(row)

    def _add(self) -> None:
        values = self.values()
        self.edited.emit([*values, Option("")], "")
        if len(values) < len(self._rows):
            self._rows[len(values)].name.setFocus(Qt.FocusReason.OtherFocusReason)

    def _remove(self, place: int) -> None:
        values = self.values()
        del values[place]
        self.edited.emit(values, "")

    def _move(self, place: int, step: int) -> None:
        values = self.values()
        values[place], values[place + step] = values[place + step], values[place]
        self.edited.emit(values, "")
        self._rows[place + step].name.setFocus(Qt.FocusReason.OtherFocusReason)


class _Row(QWidget):
    edited = Signal(str)
    removed = Signal()
    moved = Signal(int)

    def __init__(self, place: int, mark: str, *, described: bool, texts: RowTexts) -> None:
        super().__init__()
        base = f"{texts.name}_{place}"
        tag = label(mark, "mono")
        tag.setFixedWidth(18)
        self.name = form_field(named(QLineEdit(), f"{base}_name", f"{texts.name_hint} {mark}"))
        self.name.setPlaceholderText(texts.name_hint)
        self.name.textEdited.connect(lambda _text: self.edited.emit("name"))
        tag.setBuddy(self.name)
        self.note = form_field(named(QLineEdit(), f"{base}_note", f"{texts.note_hint} {mark}"))
        self.note.setPlaceholderText(texts.note_hint)
        self.note.textEdited.connect(lambda _text: self.edited.emit("note"))
        self.note.setVisible(described)
        self._up = icon_button("up", f"{base}_up", f"{texts.up} {mark}", lambda: self.moved.emit(-1))
        self._down = icon_button("down", f"{base}_down", f"{texts.down} {mark}", lambda: self.moved.emit(1))
        self._drop = icon_button("close", f"{base}_remove", f"{texts.remove} {mark}", self.removed.emit)
        self.message = FieldMessage(f"{base}_message")
        line = hbox(tag, self.name, self.note, self._up, self._down, self._drop, spacing=4)
        line.setStretchFactor(self.name, 2)
        line.setStretchFactor(self.note, 3)
        self.setLayout(vbox(line, self.message, spacing=2))

    def option(self) -> Option:
        return Option(self.name.text(), self.note.text())

    def show_option(self, option: Option) -> None:
        set_text(self.name, option.name)
        set_text(self.note, option.description)

    def allow(self, *, up: bool, down: bool, remove: bool) -> None:
        self._up.setEnabled(up)
        self._down.setEnabled(down)
        self._drop.setEnabled(remove)


def options_editor(parent: QWidget) -> RowsEditor:
    """The editor of 2 to 26 options."""
    texts = RowTexts(
        name="option",
        add=parent.tr("Add option"),
        full=parent.tr("26 options are the limit: a letter each"),
        name_hint=parent.tr("Option"),
        note_hint=parent.tr("Description (optional, the model sees it)"),
        remove=parent.tr("Remove option"),
        up=parent.tr("Move up option"),
        down=parent.tr("Move down option"),
    )
    return RowsEditor(string.ascii_uppercase[:MAX_OPTIONS], MIN_OPTIONS, described=True, texts=texts)


def levels_editor(parent: QWidget) -> RowsEditor:
    """The editor of 2 to 10 ordered levels."""
    texts = RowTexts(
        name="level",
        add=parent.tr("Add level"),
        full=parent.tr("10 levels are the limit: a digit each"),
        name_hint=parent.tr("Level"),
        note_hint="",
        remove=parent.tr("Remove level"),
        up=parent.tr("Move up level"),
        down=parent.tr("Move down level"),
    )
    return RowsEditor(string.digits[:MAX_LEVELS], MIN_LEVELS, described=False, texts=texts)
