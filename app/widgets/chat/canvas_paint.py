"""How a canvas looks: its tokens as flowing text, accepted ones on a tint, changed ones underlined, noise pale."""

from __future__ import annotations

from collections.abc import MutableMapping, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontDatabase, QFontMetricsF, QPainter, QPen

from app.models.canvas import Cell
from app.theme import Tokens

PAD_X, PAD_Y, GAP = 3.0, 2.0, 2.0  # pixels around and between tokens
SHADE_FULL = 4.0  # nats; an entropy from here on is drawn palest
PALEST, DARKEST = 70, 190  # alpha of unsettled tokens
FONT_SHARE = 0.92  # of the size around it
PADDING = "<pad>"  # Gemma's; behind the end of an answer a canvas is full of it


@dataclass(frozen=True, slots=True)
class Placed:
    """A token with its place on the sheet."""

    cell: Cell
    text: str
    rect: QRectF


def token_font(points: float) -> QFont:
    """The font of the tokens beside text of this size in points."""
    font = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
    font.setPointSizeF(points * FONT_SHARE)
    return font


def place(
    cells: Sequence[Cell], width: float, font: QFont, widths: MutableMapping[str, float]
) -> tuple[list[Placed], float]:
    """Where each token stands, and the height of all in pixels.

    Args:
        widths: of tokens in this font; filled here, since measuring takes longer than looking up.
    """
    metrics = QFontMetricsF(font)
    line = metrics.height() + 2 * PAD_Y
    x = y = 0.0
    placed = []
    for cell in cells:
        text = _visible(cell.text)
        wide = widths.get(text)
        if wide is None:
            wide = widths[text] = metrics.horizontalAdvance(text) + 2 * PAD_X
        wide = min(wide, max(width, 1))
        if x > 0 and x + wide > width:
            x, y = 0.0, y + line + GAP
        placed.append(Placed(cell, text, QRectF(x, y, wide, line)))
        x += wide + GAP
    return placed, y + line if placed else 0.0


def paint(painter: QPainter, placed: Sequence[Placed], tokens: Tokens, area: QRectF, *, committed: bool) -> None:
    """Draws what lies in ``area``. ``committed``: the canvas is final, so nothing of it is noise any more."""
    settled, text, accent = QColor(tokens.accent_soft), QColor(tokens.text), QColor(tokens.accent)
    for each in placed:
        if not each.rect.intersects(area):
            continue
        pen = QColor(text)
        if each.cell.accepted:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(settled)
            painter.drawRoundedRect(each.rect, 3, 3)
        elif not committed:
            pen.setAlpha(_alpha(each.cell.entropy))
        painter.setPen(pen)
        painter.drawText(each.rect, Qt.AlignmentFlag.AlignCenter, each.text)
        if each.cell.changed:
            painter.setPen(QPen(accent, 1.5))
            low = each.rect.bottom() - 1
            painter.drawLine(QPointF(each.rect.left() + 2, low), QPointF(each.rect.right() - 2, low))


def _visible(piece: str) -> str:
    """A token's text with its invisible parts made visible; padding is only a place."""
    if piece == PADDING:
        return "▫"
    return piece.replace("\n", "⏎").replace("\t", "⇥").replace(" ", "·" if not piece.strip() else " ").strip() or "∅"


def _alpha(entropy: float | None) -> int:
    """How strong an unsettled token is drawn: the less sure, the paler."""
    if entropy is None:
        return (PALEST + DARKEST) // 2
    share = min(max(entropy / SHADE_FULL, 0.0), 1.0)
    return round(DARKEST - share * (DARKEST - PALEST))
