"""The cards, filled to scale: what will live in them, what others hold, what stays free."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QBrush, QColor, QPainter, QPainterPath, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.theme import Tokens, current_tokens
from engine.domain.hardware import GIB, Gpu
from engine.domain.plan import CardBudget

PartName = Literal["weights", "cache", "activations", "cuda", "canvases", "others", "free"]
PARTS: tuple[PartName, ...] = get_args(PartName)

# Fills; the words stand beside them, so colour only repeats. White or the surface's text is never drawn on them small.
_LIGHT = {"weights": "#2b5fb3", "cache": "#2f8f83", "activations": "#c2892b", "cuda": "#b04a5e", "canvases": "#8a4fa8"}
_DARK = {"weights": "#6f9be6", "cache": "#5cc0b2", "activations": "#dca94f", "cuda": "#e88fa0", "canvases": "#b98ad6"}
BAR = 30  # pixels
GAP = 14
SWATCH = 11
LEAST = GIB // 20  # less is not worth a word


@dataclass(frozen=True, slots=True)
class CardBar:
    """One card. ``parts``: bytes by name; what they leave of ``total`` is free."""

    title: str
    note: str
    total: int
    parts: tuple[tuple[PartName, int], ...]

    @property
    def free(self) -> int:
        return max(0, self.total - sum(size for _, size in self.parts))


def bar_of_plan(budget: CardBudget, title: str) -> CardBar:
    """A card as the plan fills it."""
    parts: tuple[tuple[PartName, int], ...] = (
        ("others", budget.others),
        ("weights", budget.weights),
        ("cache", budget.kv_cache),
        ("activations", budget.activations),
        ("cuda", budget.cuda_context),
        ("canvases", budget.canvas_buffers),
    )
    return CardBar(title, f"{budget.needed / GIB:.1f} of {budget.total / GIB:.1f} GiB", budget.total, parts)


def bar_of_gpu(gpu: Gpu, title: str) -> CardBar | None:
    """A card as it is now; None where the driver does not tell its memory."""
    if gpu.memory_total is None:
        return None
    used = (gpu.memory_used or 0) + (gpu.memory_reserved or 0)
    note = f"{(gpu.memory_total - used) / GIB:.1f} of {gpu.memory_total / GIB:.1f} GiB free"
    return CardBar(title, note, gpu.memory_total, (("others", used),))


class CardDrawing(QWidget):
    """Bars below each other, all to one scale, and a legend."""

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName(name)
        self.setAccessibleName(self.tr("Memory of the cards"))
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self._bars: tuple[CardBar, ...] = ()

    def show_bars(self, bars: Sequence[CardBar]) -> None:
        self._bars = tuple(bars)
        self.setAccessibleDescription("; ".join(self._spoken(bar) for bar in bars))
        self.setVisible(bool(bars))
        self.setMinimumHeight(self.heightForWidth(self.width()))
        self.updateGeometry()
        self.update()

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        rows = len(self._legend(width))
        return len(self._bars) * self._row() + rows * self._line() + 2 if self._bars else 0

    def sizeHint(self) -> QSize:
        width = max(self.width(), 480)
        return QSize(480, self.heightForWidth(width))

    def minimumSizeHint(self) -> QSize:
        return QSize(280, self.heightForWidth(max(self.width(), 280)))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.setMinimumHeight(self.heightForWidth(event.size().width()))  # the legend may need another line

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        tokens = current_tokens()
        largest = max((bar.total for bar in self._bars), default=1)
        for place, bar in enumerate(self._bars):
            self._draw_bar(painter, tokens, bar, place * self._row(), largest)
        top = len(self._bars) * self._row()
        for row, entries in enumerate(self._legend(self.width())):
            x = 0
            for name, text, width in entries:
                y = top + row * self._line()
                swatch = QRectF(x + 0.5, y + (self._line() - SWATCH) / 2, SWATCH, SWATCH)
                painter.setPen(QPen(QColor(tokens.border_strong), 1))
                painter.setBrush(_fill(name, tokens))
                painter.drawRoundedRect(swatch, 3, 3)
                painter.setPen(QColor(tokens.text))
                box = QRectF(x + SWATCH + 7, y, width, self._line())
                painter.drawText(box, int(Qt.AlignmentFlag.AlignVCenter), text)
                x += width
        painter.end()

    def _draw_bar(self, painter: QPainter, tokens: Tokens, bar: CardBar, top: int, largest: int) -> None:
        metrics, line = self.fontMetrics(), self._line()
        painter.setPen(QColor(tokens.text))
        notes = metrics.horizontalAdvance(bar.note)
        title = metrics.elidedText(bar.title, Qt.TextElideMode.ElideMiddle, max(60, self.width() - notes - 16))
        middle = int(Qt.AlignmentFlag.AlignVCenter)
        painter.drawText(QRectF(0, top, self.width(), line), middle, title)
        painter.setPen(QColor(tokens.muted))
        right = middle | int(Qt.AlignmentFlag.AlignRight)
        painter.drawText(QRectF(0, top, self.width(), line), right, bar.note)
        width = (self.width() - 1) * bar.total / largest
        frame = QRectF(0.5, top + line + 2.5, width - 1, BAR)
        outline = QPainterPath()
        outline.addRoundedRect(frame, 6, 6)
        painter.save()
        painter.setClipPath(outline)
        painter.fillPath(outline, QColor(tokens.sunken))
        x = frame.left()
        for name, size in bar.parts:
            share = frame.width() * size / bar.total
            part = QRectF(x, frame.top(), share, frame.height())
            painter.fillRect(part, QColor(tokens.sunken))
            painter.fillRect(part, _fill(name, tokens))
            if x > frame.left() and share > 1:
                painter.setPen(QPen(QColor(tokens.surface), 1.5))
                painter.drawLine(part.topLeft(), part.bottomLeft())
            x += share
        painter.restore()
        painter.setPen(QPen(QColor(tokens.border_strong), 1))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawPath(outline)

    def _legend(self, width: int) -> list[list[tuple[PartName, str, int]]]:
        """Rows of (part, words, width in pixels); sizes are those of the first card, where all cards agree."""
        rows: list[list[tuple[PartName, str, int]]] = [[]]
        used = 0
        for name in PARTS:
            sizes = [dict(bar.parts).get(name, 0) if name != "free" else bar.free for bar in self._bars]
            if max(sizes, default=0) < LEAST:
                continue
            low, high = f"{min(sizes) / GIB:.1f}", f"{max(sizes) / GIB:.1f}"
            span = low if low == high else f"{low} to {high}"
            text = f"{self._word(name)} {span} GiB"
            room = self.fontMetrics().horizontalAdvance(text) + SWATCH + 28
            if used + room > width and rows[-1]:
                rows.append([])
                used = 0
            rows[-1].append((name, text, room))
            used += room
        return rows

    def _word(self, name: PartName) -> str:
        words = {
            "weights": self.tr("Weights"),
            "cache": self.tr("KV cache"),
            "activations": self.tr("Activations"),
            "cuda": self.tr("CUDA context"),
            "canvases": self.tr("Canvas buffers"),
            "others": self.tr("In use now"),
            "free": self.tr("Free"),
        }
        return words[name]

    def _spoken(self, bar: CardBar) -> str:
        parts = ", ".join(f"{self._word(name)} {size / GIB:.1f} GiB" for name, size in bar.parts if size)
        return f"{bar.title}: {parts}, {self._word('free')} {bar.free / GIB:.1f} GiB"

    def _line(self) -> int:
        return self.fontMetrics().height() + 6

    def _row(self) -> int:
        return self._line() + BAR + GAP


def _fill(name: PartName, tokens: Tokens) -> QBrush:
    if name == "free":
        return QBrush(QColor(tokens.sunken))
    if name == "others":
        return QBrush(QColor(tokens.muted), Qt.BrushStyle.Dense5Pattern)
    return QBrush(QColor((_DARK if tokens.name == "dark" else _LIGHT)[name]))
