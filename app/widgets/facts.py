"""A card of facts: names at the left, values at the right, values can be selected."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QGridLayout, QLabel, QWidget

from app.theme import set_role


class Facts(QFrame):
    """Rows of (name, value); a row with an empty value is hidden."""

    def __init__(self, rows: tuple[tuple[str, str], ...], parent: QWidget | None = None) -> None:
        """``rows``: (key, shown name) in order."""
        super().__init__(parent)
        set_role(self, "card")
        self._values: dict[str, tuple[QLabel, QLabel]] = {}
        grid = QGridLayout(self)
        grid.setContentsMargins(16, 12, 16, 12)
        grid.setHorizontalSpacing(24)
        grid.setVerticalSpacing(6)
        grid.setColumnStretch(1, 1)
        for row, (key, name) in enumerate(rows):
            label, value = QLabel(name), QLabel()
            set_role(label, "muted")
            value.setTextFormat(Qt.TextFormat.PlainText)
            value.setWordWrap(True)
            value.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            value.setObjectName(f"fact.{key}")
            value.setAccessibleName(name)
            grid.addWidget(label, row, 0, Qt.AlignmentFlag.AlignTop)
            grid.addWidget(value, row, 1)
            self._values[key] = (label, value)
            self.set_value(key, "")

    def set_value(self, key: str, text: str) -> None:
        label, value = self._values[key]
        value.setText(text)
        label.setVisible(bool(text))
        value.setVisible(bool(text))

    def value(self, key: str) -> str:
        return self._values[key][1].text()
