"""Honest figures: wall time, canvases and denoise steps; per answer, per conversation, over the session."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from PySide6.QtCore import QPointF, QSize
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen, QPolygonF, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QSizePolicy, QWidget

from app.models.engine_memory import CardMemory
from app.theme import current_tokens, set_role
from app.widgets.decisions.parts import ElidedLabel
from engine.domain.conversation import AnswerFigures, StoredMessage
from engine.domain.hardware import GIB

MAX_POINTS = 60  # answers of the session that are drawn
CARDS_NEED = 2.5  # widths of the cards' words from which on there is room for them
SIZE = QSize(90, 18)  # pixels of the sparkline


def figure_words(figures: AnswerFigures, view: QWidget) -> list[str]:
    """The figures, each with its unit. There is no decode rate: a canvas arrives at once, so only wall time counts."""
    parts = []
    if figures.tokens_per_second is not None:
        parts.append(view.tr("{n} tokens/s wall").format(n=f"{figures.tokens_per_second:.0f}"))
    if figures.completion_tokens is not None:
        one = figures.completion_tokens == 1
        tokens = view.tr("{n} token in {s} s") if one else view.tr("{n} tokens in {s} s")
        parts.append(tokens.format(n=figures.completion_tokens, s=f"{figures.seconds:.1f}"))
    elif figures.seconds:
        parts.append(view.tr("{s} s").format(s=f"{figures.seconds:.1f}"))
    one = figures.canvases == 1
    parts.append(view.tr("1 canvas") if one else view.tr("{n} canvases").format(n=figures.canvases))
    if figures.steps_per_canvas is not None:
        parts.append(view.tr("{n} denoise steps per canvas").format(n=f"{figures.steps_per_canvas:.1f}"))
    if figures.first_canvas_s is not None:
        parts.append(view.tr("first canvas after {s} s").format(s=f"{figures.first_canvas_s:.1f}"))
    return parts


def answer_words(message: StoredMessage, view: QWidget) -> str:
    """How an answer ended and what it cost, as one line."""
    endings = {
        "stopped": view.tr("stopped by you"),
        "interrupted": view.tr("interrupted: the program ended"),
        "failed": view.tr("broke off"),
    }
    parts = [endings[message.state]] if message.state in endings else []
    if message.finish == "length":
        parts.append(view.tr("ended at the length limit"))
    if message.figures.seconds:
        parts += figure_words(message.figures, view)
    return "  ·  ".join(parts)


class Sparkline(QWidget):
    """Wall tokens/s of the answers of this session, the newest at the right."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("chat.sparkline")
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self._values: deque[float] = deque(maxlen=MAX_POINTS)

    @property
    def values(self) -> Sequence[float]:
        return tuple(self._values)

    def add(self, value: float) -> None:
        self._values.append(value)
        low, high = min(self._values), max(self._values)
        words = self.tr("Wall tokens/s of the last {n} answers: {low} to {high}, last {last}").format(
            n=len(self._values), low=f"{low:.0f}", high=f"{high:.0f}", last=f"{value:.0f}"
        )
        self.setToolTip(words)
        self.setAccessibleName(words)
        self.update()

    def sizeHint(self) -> QSize:
        return SIZE

    def paintEvent(self, event: QPaintEvent) -> None:
        if not self._values:
            return
        top = max(self._values) or 1.0
        step = self.width() / max(len(self._values), 2)
        room = self.height() - 4
        points = [
            QPointF(step * (place + 0.5), 2 + room * (1 - value / top)) for place, value in enumerate(self._values)
        ]
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        accent = QColor(current_tokens().accent)
        painter.setPen(QPen(accent, 1.5))
        painter.drawPolyline(QPolygonF(points))
        painter.setBrush(accent)
        painter.drawEllipse(points[-1], 2, 2)
        painter.end()


class FiguresBar(QWidget):
    """The figures of the conversation in words, and the sparkline of the session."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("chat.figures")
        self._words = ElidedLabel("caption")
        self._words.setObjectName("chat.figures.words")
        self.sparkline = Sparkline()
        self.sparkline.hide()
        self._cards = QLabel()
        self._cards.setObjectName("chat.figures.cards")
        set_role(self._cards, "caption")
        self._cards.hide()
        self._has_cards = False
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        row.addWidget(self._words, 1)
        row.addWidget(self.sparkline)
        row.addWidget(self._cards)

    def set_cards(self, cards: Sequence[CardMemory]) -> None:
        """Memory and load of the cards; none of them hides it."""
        used = [card.weights + card.cache + card.working + card.others for card in cards]
        self._has_cards = bool(cards)
        parts = [f"{held / GIB:.1f}/{card.total / GIB:.1f}" for held, card in zip(used, cards, strict=True)]
        words = self.tr("GPU {parts} GiB").format(parts=" + ".join(parts))
        loads = [str(card.load) for card in cards if card.load is not None]
        if loads:
            words += "  ·  " + self.tr("{loads} %").format(loads=" + ".join(loads))
        self._cards.setText(words)
        lines = [self._card_line(card, held) for held, card in zip(used, cards, strict=True)]
        self._cards.setToolTip("\n".join(lines))
        self._cards.setAccessibleName("; ".join(lines))
        self._show_cards()

    def _card_line(self, card: CardMemory, held: int) -> str:
        words = self.tr("{title}: {used} of {total} GiB in use").format(
            title=card.title, used=f"{held / GIB:.1f}", total=f"{card.total / GIB:.1f}"
        )
        return words if card.load is None else self.tr("{words}, {load} % busy").format(words=words, load=card.load)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._show_cards()

    def _show_cards(self) -> None:
        """The figures come first."""
        self._cards.setVisible(self._has_cards and self.width() >= CARDS_NEED * self._cards.sizeHint().width())

    def set_totals(self, answers: int, figures: AnswerFigures) -> None:
        """Of the open conversation; nothing is said before its first answer."""
        if not answers or not figures.seconds:
            self.clear()
            return
        count = self.tr("1 answer") if answers == 1 else self.tr("{n} answers").format(n=answers)
        words = "  ·  ".join([count, *figure_words(figures, self)])
        self._words.setText(words)
        self._words.setToolTip(self.tr("This conversation: {words}").format(words=words))

    def clear(self) -> None:
        """A conversation without answers."""
        self._words.setText("")
        self._words.setToolTip("")

    def add_answer(self, figures: AnswerFigures) -> None:
        """One answer of the session."""
        if figures.tokens_per_second is not None:
            self.sparkline.add(figures.tokens_per_second)
            self.sparkline.show()
