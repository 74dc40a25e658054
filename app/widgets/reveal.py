"""Bringing a widget into view."""

from __future__ import annotations

from PySide6.QtWidgets import QScrollArea, QWidget


def reveal(widget: QWidget) -> None:
    """Scrolls whatever ``widget`` lies in until it can be seen."""
    above = widget.parentWidget()
    while above is not None:
        if isinstance(above, QScrollArea):
            above.ensureWidgetVisible(widget)
        above = above.parentWidget()
