"""A layout that puts its items in lines and wraps them, for chips; and a pane that gives such lines their height."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPoint, QRect, QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QLayout, QLayoutItem, QWidget


class WrappingPane(QWidget):
    """Content of a splitter that is never lower than its lines need at its width.

    A splitter asks for no height for width: in a narrow pane it would squeeze the lines, so that they lie on what
    stands below them.
    """

    def __init__(self, layout: QLayout) -> None:
        super().__init__()
        self.setLayout(layout)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self._fit()

    def event(self, event: QEvent) -> bool:
        done = super().event(event)
        if event.type() == QEvent.Type.LayoutRequest:  # what it holds has changed
            self._fit()
        return done

    def _fit(self) -> None:
        layout = self.layout()
        if layout is not None:
            self.setMinimumHeight(layout.totalMinimumHeightForWidth(self.width()))


class FlowLayout(QLayout):
    """Items from left to right, then on the next line."""

    def __init__(self, parent: QWidget | None = None, spacing: int = 6, *, centred: bool = False) -> None:
        """``centred``: each line stands in the middle."""
        super().__init__(parent)
        self._centred = centred
        self.setContentsMargins(0, 0, 0, 0)
        self.setSpacing(spacing)
        self._items: list[QLayoutItem] = []

    def addItem(self, item: QLayoutItem) -> None:
        self._items.append(item)

    def count(self) -> int:
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem | None:
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def expandingDirections(self) -> Qt.Orientation:
        return Qt.Orientation(0)

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        return self._place(QRect(0, 0, width, 0), move=False)

    def setGeometry(self, rect: QRect) -> None:
        super().setGeometry(rect)
        self._place(rect, move=True)

    def sizeHint(self) -> QSize:
        return self.minimumSize()

    def minimumSize(self) -> QSize:
        size = QSize()
        for item in self._items:
            size = size.expandedTo(item.minimumSize())
        return size

    def _place(self, rect: QRect, *, move: bool) -> int:
        y = rect.y()
        for line in self._lines(rect.width()):
            sizes = [item.sizeHint() for item in line]
            wide = sum(size.width() for size in sizes) + self.spacing() * (len(line) - 1)
            x = rect.x() + (max(0, rect.width() - wide) // 2 if self._centred else 0)
            for item, size in zip(line, sizes, strict=True):
                if move:
                    item.setGeometry(QRect(QPoint(x, y), size))
                x += size.width() + self.spacing()
            y += max(size.height() for size in sizes) + self.spacing()
        return max(0, y - self.spacing() - rect.y())

    def _lines(self, width: int) -> list[list[QLayoutItem]]:
        """The items that are shown, by line."""
        lines: list[list[QLayoutItem]] = []
        x = 0
        for item in self._items:
            if item.isEmpty():  # hidden
                continue
            wide = item.sizeHint().width()
            if not lines or x + wide > width:
                lines.append([])
                x = 0
            lines[-1].append(item)
            x += wide + self.spacing()
        return lines
