"""Small pictures, painted by hand: label shares as bars, a canvas as cells, values as a histogram."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from app.theme import Tokens, tokens_of
from app.widgets.decisions.parts import fixed_font


def percent(share: float) -> str:
    """A share as a percentage; what is not nothing never reads as 0 %."""
    return f"{share:.1%}" if share >= 0.001 or share == 0 else "<0.1%"


class ShareBars(QWidget):
    """One bar for each answer, the largest emphasised, with its number beside it."""

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName(name)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._items: tuple[tuple[str, float], ...] = ()

    def show_shares(self, answers: Sequence[str], shares: Sequence[float]) -> None:
        """Answers and their shares, 0 to 1, in the same order."""
        self._items = tuple(zip(answers, shares, strict=False))
        self.setAccessibleName(self.tr("Label shares"))
        self.setAccessibleDescription(", ".join(f"{answer} {percent(share)}" for answer, share in self._items))
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(240, max(1, len(self._items)) * self._line())

    def minimumSizeHint(self) -> QSize:
        return QSize(160, self.sizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        tokens, metrics, line = tokens_of(self.palette()), self.fontMetrics(), self._line()
        best = max((share for _, share in self._items), default=0.0)
        longest = max((metrics.horizontalAdvance(answer) for answer, _ in self._items), default=0)
        names = min(longest + 4, int(self.width() * 0.4))
        numbers = metrics.horizontalAdvance("100.0%") + 4
        room = self.width() - names - numbers - 20
        for place, (answer, share) in enumerate(self._items):
            top = place * line
            strong = share == best and share > 0.0
            painter.setPen(QColor(tokens.text if strong else tokens.muted))
            text = metrics.elidedText(answer, Qt.TextElideMode.ElideRight, names)
            middle = int(Qt.AlignmentFlag.AlignVCenter)
            painter.drawText(QRect(0, top, names + 2, line), middle, text)
            right = middle | int(Qt.AlignmentFlag.AlignRight)
            painter.drawText(QRect(self.width() - numbers, top, numbers, line), right, percent(share))
            painter.setPen(Qt.PenStyle.NoPen)
            bar = QRectF(names + 10, top + line * 0.28, room, line * 0.44)
            painter.setBrush(QColor(tokens.border))
            painter.drawRoundedRect(bar, 3, 3)
            if share <= 0.0:
                continue
            bar.setWidth(max(bar.width() * share, 2.0))
            painter.setBrush(QColor(tokens.accent if strong else tokens.border_strong))
            painter.drawRoundedRect(bar, 3, 3)
        painter.end()

    def _line(self) -> int:
        return self.fontMetrics().height() + 8


class CanvasStrip(QWidget):
    """The tokens of a canvas as cells, the slot that is read in the accent colour."""

    GAP = 4

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName(name)
        self._tokens: tuple[str, ...] = ()
        self._slot = -1
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def show_canvas(self, tokens: Sequence[str], slot: int) -> None:
        """Show these tokens; ``slot`` is the place that is read."""
        self._tokens, self._slot = tuple(tokens), slot
        self.setAccessibleName(self.tr("Canvas"))
        self.setAccessibleDescription(
            self.tr("{n} tokens, the label is read in place {slot}").format(n=len(tokens), slot=slot + 1)
        )
        self.updateGeometry()
        self.update()

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        cells = self._cells(width)
        return cells[-1].bottom() + 2 if cells else self._height()

    def sizeHint(self) -> QSize:
        return QSize(320, self.heightForWidth(max(self.width(), 320)))

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(self._cell_font())
        tokens = tokens_of(self.palette())
        for place, cell in enumerate(self._cells(self.width())):
            read = place == self._slot
            painter.setPen(QPen(QColor(tokens.accent if read else tokens.border), 1.5 if read else 1))
            painter.setBrush(QColor(tokens.accent_soft if read else tokens.sunken))
            painter.drawRoundedRect(QRectF(cell).adjusted(0.5, 0.5, -0.5, -0.5), 4, 4)
            painter.setPen(QColor(tokens.text if read else tokens.muted))
            painter.drawText(cell, int(Qt.AlignmentFlag.AlignCenter), self._shown(self._tokens[place]))
        painter.end()

    def _cells(self, width: int) -> list[QRect]:
        metrics = QFontMetrics(self._cell_font())
        cells, x, y = [], 0, 0
        for token in self._tokens:
            wide = metrics.horizontalAdvance(self._shown(token)) + 12
            if x and x + wide > width:
                x, y = 0, y + self._height() + self.GAP
            cells.append(QRect(x, y, wide, self._height()))
            x += wide + self.GAP
        return cells

    def _cell_font(self) -> QFont:
        font = fixed_font()
        font.setPointSizeF(self.font().pointSizeF() * 0.9)
        return font

    def _height(self) -> int:
        return QFontMetrics(self._cell_font()).height() + 8

    @staticmethod
    def _shown(token: str) -> str:
        return token.replace("\n", "⏎").replace(" ", "·") or "∅"


class Histogram(QWidget):
    """How many answers lie in each of equal parts of a range."""

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName(name)
        self.setMouseTracking(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._counts: tuple[int, ...] = ()
        self._low, self._high = 0.0, 1.0

    def show_counts(self, counts: Sequence[int], low: float, high: float, what: str) -> None:
        """Counts of equal parts of ``low`` to ``high``; ``what`` is measured."""
        self._counts, self._low, self._high = tuple(counts), low, high
        self.setAccessibleName(self.tr("Histogram of {what}").format(what=what))
        self.setAccessibleDescription(", ".join(map(str, counts)))
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(200, 64 + self.fontMetrics().height())

    def minimumSizeHint(self) -> QSize:
        return QSize(120, self.sizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        tokens = tokens_of(self.palette())
        base = self.height() - self.fontMetrics().height() - 4
        self._bars(painter, tokens, base)
        painter.setPen(QPen(QColor(tokens.border_strong), 1))
        painter.drawLine(0, base, self.width(), base)
        painter.setPen(QColor(tokens.muted))
        line = QRect(0, base + 2, self.width(), self.fontMetrics().height() + 2)
        painter.drawText(line, int(Qt.AlignmentFlag.AlignLeft), f"{self._low:g}")
        painter.drawText(line, int(Qt.AlignmentFlag.AlignRight), f"{self._high:g}")
        painter.end()

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and self._counts:
            place = int(event.pos().x() / max(1, self.width()) * len(self._counts))  # type: ignore[attr-defined]
            place = min(max(place, 0), len(self._counts) - 1)
            step = (self._high - self._low) / len(self._counts)
            text = f"{self._low + place * step:.2f} – {self._low + (place + 1) * step:.2f}: {self._counts[place]:,}"
            QToolTip.showText(event.globalPos(), text, self)  # type: ignore[attr-defined]
            return True
        return super().event(event)

    def _bars(self, painter: QPainter, tokens: Tokens, base: int) -> None:
        top = max(self._counts, default=0)
        if not top:
            return
        wide = self.width() / len(self._counts)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(tokens.accent))
        for place, count in enumerate(self._counts):
            if count:
                high = max(2.0, (base - 4) * count / top)
                painter.drawRoundedRect(QRectF(place * wide + 1, base - high, max(1.0, wide - 2), high), 2, 2)
