"""The head of a page: its name, one line about it, its actions at the right."""

from __future__ import annotations

from PySide6.QtWidgets import QHBoxLayout, QLabel, QVBoxLayout, QWidget

from app.theme import set_role


class PageHeader(QWidget):
    """Title, optional subtitle, actions from left to right."""

    def __init__(self, title: str, subtitle: str, *actions: QWidget) -> None:
        super().__init__()
        self.title = QLabel(title)
        set_role(self.title, "title")
        self.subtitle = QLabel(subtitle)
        self.subtitle.setWordWrap(True)
        set_role(self.subtitle, "muted")
        self.subtitle.setVisible(bool(subtitle))
        words = QVBoxLayout()
        words.setSpacing(2)
        words.addWidget(self.title)
        words.addWidget(self.subtitle)
        row = QHBoxLayout(self)
        row.setContentsMargins(24, 16, 24, 10)
        row.setSpacing(8)
        row.addLayout(words, 1)
        for action in actions:
            row.addWidget(action)
