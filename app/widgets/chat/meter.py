"""The context meter: how much of the window the next message takes, with the mark of exact recall."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QWidget

from app.models.chat import EXACT_RECALL, ContextUse
from app.theme import current_tokens
from app.widgets.decisions.parts import ElidedLabel

BAR = QSize(110, 8)  # pixels
NEARLY_FULL = 0.85


class _Bar(QWidget):
    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.use = ContextUse()

    def sizeHint(self) -> QSize:
        return BAR

    def paintEvent(self, event: QPaintEvent) -> None:
        tokens = current_tokens()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        area = QRectF(self.rect()).adjusted(0.5, 1.5, -0.5, -1.5)
        painter.setPen(QColor(tokens.border_strong))
        painter.setBrush(QColor(tokens.sunken))
        painter.drawRoundedRect(area, 2.5, 2.5)
        painter.setPen(QColor(0, 0, 0, 0))
        painter.setBrush(QColor(tokens.warning if self.use.share >= NEARLY_FULL else tokens.accent))
        painter.drawRoundedRect(QRectF(area.left(), area.top(), area.width() * self.use.share, area.height()), 2.5, 2.5)
        if self.use.shows_recall_mark and self.use.window:
            x = area.left() + area.width() * EXACT_RECALL / self.use.window
            painter.setPen(QPen(QColor(tokens.text), 1.5))
            painter.drawLine(round(x), 0, round(x), self.height())
        painter.end()


class ContextMeter(QWidget):
    """A bar and its words."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("chat.meter")
        self._bar = _Bar()
        self._words = ElidedLabel("caption")
        self._words.setObjectName("chat.meter.words")
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        row.addWidget(self._bar)
        row.addWidget(self._words)
        self.set_use(ContextUse())

    def set_use(self, use: ContextUse) -> None:
        self._bar.use = use
        self._bar.update()
        self._bar.setVisible(use.used is not None and use.window is not None)
        self._words.setText(self._text(use))
        self.setToolTip(f"{self._words.text()}\n{self._tip(use)}".strip())
        self.setAccessibleName(f"{self._words.text()}. {self._tip(use)}")

    def _text(self, use: ContextUse) -> str:
        if use.window is None:
            return ""
        if use.used is None:
            return self.tr("window of {window} tokens").format(window=f"{use.window:,}")
        words = self.tr("{used} of {window} tokens").format(used=f"{use.used:,}", window=f"{use.window:,}")
        if use.shows_recall_mark and use.used > EXACT_RECALL:
            words += self.tr(" · beyond exact recall")
        if use.left_out:
            words += self.tr(" · {n} messages not sent").format(n=use.left_out)
        return words

    def _tip(self, use: ContextUse) -> str:
        tip = self.tr("What the model is sent next, of its window; prompt and answer share it.")
        if use.shows_recall_mark:
            tip += " " + self.tr("The mark at {n} tokens: up to there exact details are recalled cleanly.").format(
                n=f"{EXACT_RECALL:,}"
            )
        return tip
