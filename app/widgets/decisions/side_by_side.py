"""Two panes beside one another; where there is no room for both, one at a time."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QWidget

from app.widgets.decisions.parts import bare_splitter, vbox

NARROW = 100  # average characters of the font


class SideBySide(QWidget):
    """Signals:
    narrow_changed(bool): from now on there is room for one of them only, or for both.
    """

    narrow_changed = Signal(bool)

    def __init__(self, name: str, first: QWidget, second: QWidget, sizes: Sequence[int]) -> None:
        """``name``: of the splitter between them; ``sizes``: of the panes in pixels."""
        super().__init__()
        self._first, self._second = first, second
        self._narrow = self._at_second = False
        self.splitter = bare_splitter(name, first, second, sizes=sizes)
        self.splitter.setStretchFactor(1, 1)
        self.setLayout(vbox(self.splitter))

    def turn_to(self, pane: QWidget) -> None:
        """Where there is room for one of them only, show this one."""
        self._at_second = pane is self._second
        self._arrange()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange and hasattr(self, "splitter"):
            self._arrange()

    def _arrange(self) -> None:
        narrow = self.width() < NARROW * self.fontMetrics().averageCharWidth()
        self._first.setVisible(not (narrow and self._at_second))
        self._second.setVisible(self._at_second or not narrow)
        if narrow != self._narrow:
            self._narrow = narrow
            self.narrow_changed.emit(narrow)
