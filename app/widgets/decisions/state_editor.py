"""The row text: a template over the table's columns, and what it makes of one row."""

from __future__ import annotations

import re
from collections.abc import Sequence

from PySide6.QtCore import QSize, Signal
from PySide6.QtGui import QColor, QPalette, QSyntaxHighlighter, QTextCharFormat, QTextDocument
from PySide6.QtWidgets import QMenu, QPlainTextEdit, QPushButton, QSpinBox, QToolButton, QWidget

from app.theme import set_role, tokens_of
from app.widgets.decisions.flow import FlowLayout
from app.widgets.decisions.parts import (
    ElidedLabel,
    FieldMessage,
    FixedText,
    bare_splitter,
    button,
    clear_layout,
    form_field,
    hbox,
    label,
    named,
    number_box,
    vbox,
)

LEAST_LINES = 13  # of text, as high as the editor is at least
CHIPS = 12  # more columns are in the menu only
PLACE = re.compile(r"\{\{.*?\}\}|\{%.*?%\}")


class TemplateHighlighter(QSyntaxHighlighter):
    """Marks what the template fills in."""

    def __init__(self, document: QTextDocument, palette: QPalette) -> None:
        super().__init__(document)
        self.set_palette(palette)

    def set_palette(self, palette: QPalette) -> None:
        """Take the colours of the theme that is on now."""
        tokens = tokens_of(palette)
        self._format = QTextCharFormat()
        self._format.setForeground(QColor(tokens.accent))
        self._format.setBackground(QColor(tokens.accent_soft))
        self.rehighlight()

    def highlightBlock(self, text: str) -> None:
        for match in PLACE.finditer(text):
            self.setFormat(match.start(), match.end() - match.start(), self._format)


class StateEditor(QWidget):
    """Signals:
    edited(str): the template.
    row_wanted(int): show this row (0-based) instead.
    """

    edited = Signal(str)
    row_wanted = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("state_editor")
        self.template = form_field(FixedText("state_template", self.tr("Row text: a template over the columns")))
        self.template.setPlaceholderText(self.tr("Insert columns, and words around them: Subject: {{ subject }}"))
        self.template.textChanged.connect(lambda: self.edited.emit(self.template.toPlainText()))
        self.highlighter = TemplateHighlighter(self.template.document(), self.palette())
        self.message = FieldMessage("state_message")
        self.rendered = named(QPlainTextEdit(), "state_rendered", self.tr("What the model reads about this row"))
        self.rendered.setReadOnly(True)
        self.rendered.setTabChangesFocus(True)
        set_role(self.rendered, "sunken")
        self.row = self._make_row_box()
        self._of = label("", "muted")
        self._chips = FlowLayout()
        self._menu_button = QPushButton(self.tr("Insert column"))
        self._build()

    def minimumSizeHint(self) -> QSize:
        """Some lines of the text below two rows of columns, whatever the size of the text."""
        hint = super().minimumSizeHint()
        return QSize(hint.width(), max(hint.height(), LEAST_LINES * self.fontMetrics().lineSpacing()))

    def show_template(self, source: str) -> None:
        """Show the form's template without moving the cursor of somebody who types it."""
        if self.template.toPlainText() != source:
            self.template.blockSignals(True)
            self.template.setPlainText(source)
            self.template.blockSignals(False)

    def set_columns(self, columns: Sequence[tuple[str, str]]) -> None:
        """Offer (column, text to insert for it)."""
        clear_layout(self._chips)
        menu = QMenu(self._menu_button)
        for place, (name, text) in enumerate(columns):
            action = menu.addAction(name)
            action.triggered.connect(lambda _checked=False, text=text: self._insert(text))
            if place < CHIPS:
                self._chips.addWidget(self._chip(name, text))
        self._menu_button.setMenu(menu)
        self._menu_button.setVisible(len(columns) > CHIPS)
        self._hint.setVisible(bool(columns))

    def set_row(self, index: int, count: int, *, whole: bool = True) -> None:
        """Which row is shown, 0-based, of how many; ``whole``: whether these are all rows of the table."""
        self.row.blockSignals(True)
        self.row.setRange(1 if count else 0, count)
        self.row.setValue(index + 1 if count else 0)
        self.row.blockSignals(False)
        text = self.tr("of {n}") if whole else self.tr("of the first {n}")
        self._of.setText(text.format(n=f"{count:,}"))

    def show_rendered(self, text: str, error: str) -> None:
        """The row's text, or why there is none."""
        self.message.say(error)
        self.rendered.setPlainText("" if error else text)
        empty = not error and self.row.value() > 0
        self.rendered.setPlaceholderText(
            self.tr("Nothing: an empty text is skipped, not asked about.") if empty else ""
        )

    def _chip(self, name: str, text: str) -> QToolButton:
        chip = named(QToolButton(), f"insert.{name}", self.tr("Insert column {name}").format(name=name))
        chip.setText(name if len(name) <= 28 else f"{name[:27]}…")
        set_role(chip, "chip")
        chip.clicked.connect(lambda _checked=False: self._insert(text))
        return chip

    def _insert(self, text: str) -> None:
        self.template.insertPlainText(text)
        self.template.setFocus()

    def _make_row_box(self) -> QSpinBox:
        box = number_box("state_row", self.tr("Row to preview"), 0, 0)
        box.valueChanged.connect(lambda value: self.row_wanted.emit(value - 1))
        return box

    def _build(self) -> None:
        named(self._menu_button, "state_insert", tip=self.tr("Insert a column at the cursor"))
        self._hint = label(self.tr("Click a column to insert it at the cursor"), "muted", wrap=True)
        left = QWidget()
        left.setLayout(
            vbox(
                hbox(label(self.tr("Row text"), "heading"), 1, self._menu_button),
                self._hint,
                self._chips,
                self.template,
                self.message,
                margin=0,
            )
        )
        before = button(self.tr("Previous"), "row_previous", lambda: self.row.stepBy(-1), role="quiet")
        after = button(self.tr("Next"), "row_next", lambda: self.row.stepBy(1), role="quiet")
        title = ElidedLabel("heading")
        title.setText(self.tr("What the model reads"))
        right = QWidget()
        right.setLayout(
            vbox(hbox(title, 1, before, after, label(self.tr("row"), "muted"), self.row, self._of), self.rendered)
        )
        splitter = bare_splitter("state_splitter", left, right, sizes=(430, 570))
        self.setLayout(vbox(splitter))
