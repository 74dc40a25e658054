"""Figures painted with pyqtgraph in the colours of the theme, and the same figures as PNG and SVG.

Imported when the first figure is shown: pyqtgraph takes most of a second.
"""

from __future__ import annotations

from html import escape
from pathlib import Path

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QBuffer, QEvent, QIODevice, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QImage, QPainter, QPaintEvent, QPen, QWheelEvent
from PySide6.QtSvg import QSvgGenerator
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.models.results_figures import Figure, Ink, Matrix, Series
from app.theme import Tokens, current_tokens

HEIGHT = 230  # pixels
SHARP = 2  # pixels of a PNG for each of the screen
POINT = 8
SIGNS = {"line": "━━", "dash": "╍╍", "bars": "■", "points": "━●━"}
MANY = 4000  # points of a curve beyond which neighbours are left out: more than pixels


class PlotView(pg.PlotWidget):  # type: ignore[misc]  # pyqtgraph has no types
    """One figure of curves, bars or points. It does not move under the mouse."""

    def __init__(self, figure: Figure) -> None:
        super().__init__(parent=None, useOpenGL=False)
        self.setObjectName(f"plot.{figure.name}")
        self.setAccessibleName(figure.title)
        self.setAccessibleDescription(figure.note)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setFixedHeight(HEIGHT)
        self.setMouseEnabled(x=False, y=False)
        self.setMenuEnabled(False)
        self.hideButtons()
        self._figure = figure
        self._draw()

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()  # the page scrolls

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.FontChange) and hasattr(self, "_figure"):
            self._draw()

    def picture(self, painter: QPainter, room: QRectF) -> None:
        """Paint the figure into a picture."""
        painter.fillRect(room, QColor(current_tokens().surface))
        self.scene().render(painter, room, self.sceneRect())

    def _draw(self) -> None:
        tokens, figure, item = current_tokens(), self._figure, self.getPlotItem()
        item.clear()
        self.setBackground(tokens.surface)
        for side, text in (("bottom", figure.x_label), ("left", figure.y_label)):
            axis = item.getAxis(side)
            axis.setPen(tokens.border_strong)
            axis.setTextPen(tokens.muted)
            axis.setTickFont(self.font())
            axis.label.setFont(self.font())
            axis.setLabel(text or None, color=tokens.muted)
        item.setTitle(_legend(figure, tokens), size=f"{self.font().pointSizeF() * 0.9:.1f}pt", color=tokens.text)
        for series in figure.series:
            self._add(series, tokens)
        if figure.mark is not None:
            item.addItem(pg.InfiniteLine(figure.mark, pen=_pen("text", "dash", tokens)))
        for span, fit in ((figure.x_range, self.setXRange), (figure.y_range, self.setYRange)):
            if span is not None:
                fit(*span, padding=0.02)

    def _add(self, series: Series, tokens: Tokens) -> None:
        item, ink = self.getPlotItem(), QColor(getattr(tokens, series.ink))
        match series.style:
            case "bars":
                edges, bars = series.x, {"brush": ink, "pen": tokens.surface}
                item.addItem(pg.BarGraphItem(x0=edges[:-1], x1=edges[1:], height=series.y, **bars))
            case "points":
                x, y = np.asarray(series.x), np.asarray(series.y)
                if series.low:
                    top, bottom = np.asarray(series.high) - y, y - np.asarray(series.low)
                    item.addItem(pg.ErrorBarItem(x=x, y=y, top=top, bottom=bottom, pen=ink))
                item.plot(
                    series.x, series.y, pen=_pen(series.ink, "line", tokens), symbol="o",
                    symbolSize=POINT, symbolBrush=ink, symbolPen=tokens.surface,
                )  # fmt: skip
            case style:
                step = max(1, len(series.x) // MANY)
                thin = [[*each[::step], each[-1]] for each in (series.x, series.y)]
                item.plot(*thin, pen=_pen(series.ink, style, tokens))


class MatrixView(QWidget):
    """A confusion matrix: counts with a tint that grows with the share of their row; the diagonal is framed."""

    def __init__(self, figure: Figure) -> None:
        super().__init__()
        assert figure.matrix is not None
        self.setObjectName(f"plot.{figure.name}")
        self.setAccessibleName(figure.title)
        self._matrix: Matrix = figure.matrix
        lines = [
            f"{name}: " + ", ".join(f"{other} {n}" for other, n in zip(self._matrix.names, counts, strict=True))
            for name, counts in zip(self._matrix.names, self._matrix.counts, strict=True)
        ]
        self.setAccessibleDescription("\n".join([figure.note, *lines]))
        self.setToolTip(self.accessibleDescription())
        self.setMinimumHeight(HEIGHT)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)

    def sizeHint(self) -> QSize:
        return QSize(320, max(HEIGHT, (len(self._matrix.names) + 1) * (self.fontMetrics().height() + 12)))

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        self.picture(painter, QRectF(self.rect()))
        painter.end()

    def picture(self, painter: QPainter, room: QRectF) -> None:
        """Paint the matrix into a picture."""
        tokens, names = current_tokens(), self._matrix.names
        painter.setFont(self.font())
        painter.fillRect(room, QColor(tokens.surface))
        head = min(int(room.width() * 0.3), max(map(self.fontMetrics().horizontalAdvance, names)) + 12)
        wide, high = (room.width() - head) / len(names), room.height() / (len(names) + 1)
        middle = int(Qt.AlignmentFlag.AlignCenter)
        elide = self.fontMetrics().elidedText
        for place, name in enumerate(names):
            painter.setPen(QColor(tokens.muted))
            shown = elide(name, Qt.TextElideMode.ElideRight, int(wide) - 4)
            painter.drawText(QRectF(head + place * wide, 0, wide, high), middle, shown)
            side = QRectF(0, (place + 1) * high, head - 6, high)
            shown = elide(name, Qt.TextElideMode.ElideRight, head - 8)
            painter.drawText(side, int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft), shown)
            total = sum(self._matrix.counts[place]) or 1
            for other, count in enumerate(self._matrix.counts[place]):
                cell = QRectF(head + other * wide, (place + 1) * high, wide, high).adjusted(1, 1, -1, -1)
                _cell(painter, cell, count / total, place == other, tokens)
                painter.setPen(QColor(tokens.text))
                painter.drawText(cell, middle, f"{count:,}")


def view_of(figure: Figure) -> PlotView | MatrixView:
    """The widget that paints a figure."""
    return PlotView(figure) if figure.matrix is None else MatrixView(figure)


def save_picture(view: PlotView | MatrixView, path: Path) -> None:
    """Write what a view shows: SVG by that suffix, else PNG at twice the screen's pixels.

    Raises:
        OSError: the file cannot be written.
    """
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    if path.suffix.lower() == ".svg":
        made = QSvgGenerator()
        made.setOutputDevice(buffer)
        made.setSize(view.size())
        made.setViewBox(QRect(0, 0, view.width(), view.height()))
        made.setTitle(view.accessibleName())
        painter = QPainter(made)
    else:
        image = QImage(view.size() * SHARP, QImage.Format.Format_RGB32)
        painter = QPainter(image)
        painter.scale(SHARP, SHARP)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    view.picture(painter, QRectF(0, 0, view.width(), view.height()))
    painter.end()
    if path.suffix.lower() != ".svg":
        image.save(buffer, "PNG")  # type: ignore[call-overload]  # the stubs want bytes, Qt a str
    path.write_bytes(bytes(buffer.data().data()))


def _legend(figure: Figure, tokens: Tokens) -> str | None:
    """The names of several series with their signs, above the figure, where it covers nothing."""
    if len(figure.series) < 2:
        return None
    parts = [
        f'<span style="color: {getattr(tokens, each.ink)}">{SIGNS[each.style]}</span> {escape(each.name)}'
        for each in figure.series
    ]
    return " &nbsp; ".join(parts)


def _pen(ink: Ink, style: str, tokens: Tokens) -> QPen:
    pen = QPen(QColor(getattr(tokens, ink)), 2)
    pen.setCosmetic(True)
    if style == "dash":
        pen.setStyle(Qt.PenStyle.DashLine)
    return pen


def _cell(painter: QPainter, cell: QRectF, share: float, diagonal: bool, tokens: Tokens) -> None:
    tint = QColor(tokens.accent)
    tint.setAlphaF(0.08 + 0.37 * share)
    painter.setBrush(tint)
    painter.setPen(QPen(QColor(tokens.accent), 1.5) if diagonal else Qt.PenStyle.NoPen)
    painter.drawRoundedRect(cell, 3, 3)
    painter.setBrush(Qt.BrushStyle.NoBrush)
