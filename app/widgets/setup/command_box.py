"""A command line to look at and to copy."""

from __future__ import annotations

from PySide6.QtGui import QFontMetrics, QGuiApplication
from PySide6.QtWidgets import QPlainTextEdit, QWidget

from app.theme import set_role
from app.widgets.decisions.parts import fixed_font, hbox, vbox
from app.widgets.icons import ThemedButton

LINES = 9


class CommandBox(QWidget):
    """One flag a line, as a shell takes it."""

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.text = QPlainTextEdit()
        self.text.setObjectName(name)
        self.text.setAccessibleName(self.tr("Command line"))
        self.text.setReadOnly(True)
        self.text.setTabChangesFocus(True)
        set_role(self.text, "log")
        self.text.setFixedHeight(QFontMetrics(fixed_font()).lineSpacing() * LINES + 16)
        copy = ThemedButton(self.tr("Copy"), f"{name}.copy", icon_name="copy")
        copy.clicked.connect(lambda: QGuiApplication.clipboard().setText(self.text.toPlainText()))
        self.setLayout(vbox(self.text, hbox(copy, 1)))

    def show_command(self, command: str) -> None:
        """The line, broken before each flag with a backslash: it can be pasted as it is."""
        text = command.replace(" --", " \\\n    --")
        if text != self.text.toPlainText():
            self.text.setPlainText(text)
