"""Fields that behave in a scrolling page and line up with their neighbours."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QComboBox, QLineEdit, QSpinBox, QToolButton, QWidget

TEXT_MARGIN = 6  # pixels; a style sheet's padding does not reach the text of a spin box


class NumberField(QSpinBox):
    """A spin box that only the keyboard's focus lets the wheel change."""

    def __init__(self, low: int, high: int, suffix: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setRange(low, high)
        self.setSuffix(suffix)
        self.setKeyboardTracking(False)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.lineEdit().setTextMargins(TEXT_MARGIN, 0, 0, 0)

    def wheelEvent(self, event: QWheelEvent) -> None:
        if self.hasFocus():
            super().wheelEvent(event)
        else:
            event.ignore()


class ChoiceField(QComboBox):
    """A combo box of (value, text) that only the keyboard's focus lets the wheel change."""

    def __init__(self, choices: tuple[tuple[object, str], ...] = (), parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        for value, text in choices:
            self.addItem(text, value)

    def wheelEvent(self, event: QWheelEvent) -> None:
        if self.hasFocus():
            super().wheelEvent(event)
        else:
            event.ignore()


def clearable(field: QLineEdit, spoken: str) -> None:
    """Give a field a button that empties it; Qt makes that button, and without a name."""
    field.setClearButtonEnabled(True)
    made = field.findChild(QToolButton)
    if made is not None:
        made.setObjectName(f"{field.objectName()}.clear")
        made.setAccessibleName(spoken)
