"""A log that is followed: stays at the end unless the reader has scrolled up."""

from __future__ import annotations

from PySide6.QtWidgets import QPlainTextEdit, QWidget

from app.theme import set_role


class LogView(QPlainTextEdit):
    """Read-only, fixed pitch."""

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        set_role(self, "log")
        self.setObjectName(name)
        self.setAccessibleName(self.tr("Log"))
        self.setReadOnly(True)
        self.setTabChangesFocus(True)
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.setPlaceholderText(self.tr("Nothing has been logged yet."))

    def show_text(self, text: str) -> None:
        """Replaces the text, keeping the place of a reader who has scrolled up."""
        if text == self.toPlainText():
            return
        bar = self.verticalScrollBar()
        follow, place = bar.value() >= bar.maximum() - 2, bar.value()
        self.setPlainText(text)
        bar.setValue(bar.maximum() if follow else place)
