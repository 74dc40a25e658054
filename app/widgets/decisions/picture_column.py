"""Which column of the table names pictures, and what is known about them before anything is read."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QLineEdit, QWidget

from app.widgets.decisions.flow import FlowLayout
from app.widgets.decisions.parts import FieldMessage, form_field, hbox, label, named, vbox
from app.widgets.decisions.question_editor import ColumnBox

SEPARATOR_WIDTH, COLUMN_WIDTH = 60, 200  # pixels
BESIDE = 130  # average characters of the font that the fields and a sentence beside them need


class PictureColumnBar(QWidget):
    """Signals:
    edited(str, str): the column, empty for none, and what stands between several pictures of a cell.
    """

    edited = Signal(str, str)

    def __init__(self, before: QWidget) -> None:
        """``before``: stands before it in the same line."""
        super().__init__()
        self.setObjectName("picture_column")
        self.column = ColumnBox("form_pictures", self.tr("Column of pictures"))
        self.column.setFixedWidth(COLUMN_WIDTH)
        self.column.setToolTip(
            self.tr("Optional: paths of files on this computer; relative ones start in the table's folder")
        )
        self.separator = form_field(
            named(
                QLineEdit(),
                "form_pictures_separator",
                self.tr("Separator of several pictures"),
                self.tr("What stands between several pictures of one cell, such as ; Empty: a cell names one"),
            )
        )
        self.separator.setPlaceholderText(self.tr("none"))
        self.separator.setMaximumWidth(SEPARATOR_WIDTH)
        self.message = FieldMessage("form_pictures.message")
        self._found = FieldMessage("form_pictures.found")
        title = label(self.tr("Pictures"), "muted")
        title.setBuddy(self.column)
        self._between = label(self.tr("separated by"), "muted")
        self._between.setBuddy(self.separator)
        line = FlowLayout(spacing=16)
        several, fields = QWidget(), QWidget()
        several.setLayout(hbox(title, self.column, self._between, self.separator))
        for part in (before, several):
            line.addWidget(part)
        fields.setLayout(line)
        said = vbox(self.message, self._found, spacing=4)
        said.addStretch(1)
        self._line = hbox(fields, spacing=16)
        self._line.addLayout(said, 1)
        self.setLayout(self._line)
        self.column.column_edited.connect(lambda _column: self._emit())
        self.separator.textEdited.connect(lambda _text: self._emit())
        self.show_column("", "")

    def resizeEvent(self, event: QResizeEvent) -> None:
        """What is said about the pictures stands beside their fields, or right below them where that is too narrow."""
        super().resizeEvent(event)
        room = BESIDE * self.fontMetrics().averageCharWidth()
        ways, beside = QBoxLayout.Direction, self.width() >= room
        self._line.setDirection(ways.LeftToRight if beside else ways.TopToBottom)
        self._line.setSpacing(16 if beside else 4)

    def show_column(self, column: str, separator: str) -> None:
        """What the form says."""
        self.column.show_column(column)
        if self.separator.text() != separator:
            self.separator.setText(separator)
        for part in (self._between, self.separator):
            part.setVisible(bool(column))

    def set_columns(self, columns: Sequence[str]) -> None:
        """Offer these."""
        self.column.set_columns(columns)

    def show_sight(self, text: str, *, blind: bool) -> None:
        """Why the engine may not take pictures, before a run; empty when it sees.

        Args:
            blind: it certainly does not see.
        """
        self.message.say(text, "danger" if blind else "warning")

    def show_check(self, text: str, *, bad: bool) -> None:
        """What was found in the first rows; empty for nothing."""
        self._found.say(text, "danger" if bad else "success")

    def _emit(self) -> None:
        self.edited.emit(self.column.currentText(), self.separator.text())
