"""Bringing a widget into view, and keeping it there while its page is still laid out anew."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QScrollArea, QWidget


def reveal(widget: QWidget) -> None:
    """Scrolls whatever ``widget`` lies in until it can be seen."""
    above = widget.parentWidget()
    while above is not None:
        if isinstance(above, QScrollArea):
            above.ensureWidgetVisible(widget)
        above = above.parentWidget()


class KeepInView(QObject):
    """Reveals a widget whenever the page around it changes its size, as long as the widget has the focus.

    A page is laid out in several turns of the event loop, one for each layout around the widget, and then again for
    whatever comes late (a log, memory). Who moves the focus on, or turns the wheel, is not held.

    Args:
        widget: has the focus, and ends this with it.
        whole: revealed before it, such as the box around it.
    """

    def __init__(self, widget: QWidget, whole: QWidget) -> None:
        super().__init__(widget)
        self._widget, self._whole, self._held = widget, whole, False

    def begin(self) -> None:
        """From now on."""
        if not self._held:
            self._held = True
            for watched in self._watched():
                watched.installEventFilter(self)
        self._reveal()

    def end(self) -> None:
        """No more."""
        if self._held:
            self._held = False
            for watched in self._watched():
                watched.removeEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        kind = event.type()
        if kind == QEvent.Type.Wheel or (kind == QEvent.Type.FocusOut and watched is self._widget):
            self.end()
        elif kind in (QEvent.Type.Resize, QEvent.Type.LayoutRequest, QEvent.Type.Show):
            self._reveal()
        return super().eventFilter(watched, event)

    def _reveal(self) -> None:
        reveal(self._whole)
        reveal(self._widget)

    def _watched(self) -> list[QWidget]:
        """The widget and everything around it."""
        found, above = [self._widget], self._widget.parentWidget()
        while above is not None:
            found.append(above)
            above = above.parentWidget()
        return found
