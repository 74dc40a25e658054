"""The canvas while it denoises: every slot's likeliest token, what is accepted, what has just changed, what is noise.

Tokens that the sampler accepted stand on a tint, tokens that changed in this step are underlined, the rest is pale;
where the engine gives the entropy, the paleness follows it. The words in the header say the same, so nothing rests on
colour alone.
"""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, QTimer
from PySide6.QtGui import QColor, QFont, QFontDatabase, QFontMetricsF, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QScrollArea, QSizePolicy, QSlider, QVBoxLayout, QWidget

from app.models.canvas import CanvasSnapshot, Cell
from app.theme import current_tokens, set_role
from app.widgets.icons import IconButton

FRAME_MS = 33  # at most 30 pictures a second
MAX_STEPS_KEPT = 2048  # of the last answer, for the replay
HEIGHT_LINES = 4.3  # the part of a line says that there is more
PAD_X, PAD_Y, GAP = 3.0, 2.0, 2.0  # pixels around and between tokens
SHADE_FULL = 4.0  # nats; an entropy from here on is drawn palest
PALEST, DARKEST = 70, 190  # alpha of unsettled tokens
REPLAY_MS = 120
PADDING = "<pad>"  # Gemma's; behind the end of an answer a canvas is full of it


@dataclass(frozen=True, slots=True)
class _Placed:
    """A token with its place on the sheet."""

    cell: Cell
    text: str
    rect: QRectF


class CanvasSheet(QWidget):
    """Draws one snapshot as flowing text."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("canvas.sheet")
        self._cells: tuple[Cell, ...] = ()
        self._committed = False
        self._placed: list[_Placed] = []
        self._placed_width = -1
        self._widths: dict[str, float] = {}  # of tokens; measuring one takes longer than looking it up

    def set_cells(self, cells: tuple[Cell, ...], *, committed: bool = False) -> None:
        """``committed``: the canvas is final, so nothing of it is noise any more."""
        self._cells = cells
        self._committed = committed
        self._place()
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(320, self.minimumHeight())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self.width() != self._placed_width:  # placing sets the height, which is no reason to place again
            self._place()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange and hasattr(self, "_widths"):
            self._widths.clear()
            self._place()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(self.token_font())
        tokens = current_tokens()
        settled, text, accent = QColor(tokens.accent_soft), QColor(tokens.text), QColor(tokens.accent)
        area = QRectF(event.rect())
        for placed in self._placed:
            if not placed.rect.intersects(area):
                continue
            pen = QColor(text)
            if placed.cell.accepted:
                painter.setPen(Qt.PenStyle.NoPen)
                painter.setBrush(settled)
                painter.drawRoundedRect(placed.rect, 3, 3)
            elif not self._committed:
                pen.setAlpha(_alpha(placed.cell.entropy))
            painter.setPen(pen)
            painter.drawText(placed.rect, Qt.AlignmentFlag.AlignCenter, placed.text)
            if placed.cell.changed:
                painter.setPen(QPen(accent, 1.5))
                low = placed.rect.bottom() - 1
                painter.drawLine(QPointF(placed.rect.left() + 2, low), QPointF(placed.rect.right() - 2, low))
        painter.end()

    def token_font(self) -> QFont:
        font = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
        font.setPointSizeF(self.font().pointSizeF() * 0.92)
        return font

    def _place(self) -> None:
        metrics = QFontMetricsF(self.token_font())
        line = metrics.height() + 2 * PAD_Y
        room = self._placed_width = self.width()
        x = y = 0.0
        self._placed = []
        for cell in self._cells:
            text = _visible(cell.text)
            wide = self._widths.get(text)
            if wide is None:
                wide = self._widths[text] = metrics.horizontalAdvance(text) + 2 * PAD_X
            wide = min(wide, max(room, 1))
            if x > 0 and x + wide > room:
                x, y = 0.0, y + line + GAP
            self._placed.append(_Placed(cell, text, QRectF(x, y, wide, line)))
            x += wide + GAP
        self.setMinimumHeight(round(y + line) if self._cells else 0)


class CanvasView(QFrame):
    """Header with the step, the sheet, and after the answer a slider over its steps."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        set_role(self, "sunken")
        self.setObjectName("canvas")
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(self.tr("Canvas"))
        self._steps: list[CanvasSnapshot] = []
        self._shown: CanvasSnapshot | None = None
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self._show_last)
        self._player = QTimer(self)
        self._player.setInterval(REPLAY_MS)
        self._player.timeout.connect(self._advance)
        self._build()

    def start(self) -> None:
        """A new answer begins: the steps of the last one go."""
        self._player.stop()
        self._steps.clear()
        self._replay.hide()
        self._title.setText(self.tr("Canvas"))
        self._detail.setText(self.tr("waiting for the first denoise step"))
        self.sheet.set_cells(())

    def add(self, snapshot: CanvasSnapshot) -> None:
        """One more step; drawn with the next coalesced update."""
        self._steps.append(snapshot)
        if len(self._steps) > MAX_STEPS_KEPT:
            del self._steps[0]
        if not self._timer.isActive():
            self._timer.start(FRAME_MS)

    def finish(self) -> None:
        """The answer ended: its steps can be replayed."""
        self._timer.stop()
        if not self._steps:
            self._detail.setText(self.tr("this engine sends no live canvas"))
            return
        self._slider.setRange(0, len(self._steps) - 1)
        self._slider.setValue(len(self._steps) - 1)
        self._show(self._steps[-1])
        self._replay.show()

    def show_step(self, index: int) -> None:
        """A step of the last answer, 0-based over all its canvases."""
        if 0 <= index < len(self._steps):
            self._show(self._steps[index])

    @property
    def steps(self) -> int:
        return len(self._steps)

    @property
    def shown(self) -> CanvasSnapshot | None:
        return self._shown

    def _build(self) -> None:
        self._title = QLabel(self.tr("Canvas"))
        set_role(self._title, "strong")
        self._detail = QLabel()
        self._detail.setObjectName("canvas.detail")
        set_role(self._detail, "caption")
        self._key = QLabel(self.tr("tinted: accepted · underlined: changed · pale: noise"))
        set_role(self._key, "caption")
        head = QHBoxLayout()
        head.addWidget(self._title)
        head.addWidget(self._detail, 1)
        head.addWidget(self._key)
        self.sheet = CanvasSheet()
        self.sheet.setToolTip(self._key.text())
        scroll = QScrollArea()
        scroll.setObjectName("canvas.scroll")
        scroll.setAccessibleName(self.tr("Tokens of the canvas"))
        scroll.setWidgetResizable(True)
        scroll.setWidget(self.sheet)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._scroll = scroll
        self._fit()
        self.sheet.setAutoFillBackground(False)
        scroll.viewport().setAutoFillBackground(False)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(12, 8, 12, 8)
        layout.setSpacing(6)
        layout.addLayout(head)
        layout.addWidget(scroll)
        layout.addWidget(self._replay_row())

    def _replay_row(self) -> QWidget:
        self._replay = QWidget()
        self._play = IconButton("play", self.tr("Replay the answer's denoising"), "canvas.play", size=16)
        self._play.clicked.connect(self._toggle)
        self._slider = QSlider(Qt.Orientation.Horizontal)
        self._slider.setObjectName("canvas.slider")
        self._slider.setAccessibleName(self.tr("Denoise step of the last answer"))
        self._slider.valueChanged.connect(self.show_step)
        self._slider.sliderPressed.connect(self._pause)
        row = QHBoxLayout(self._replay)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self._play)
        row.addWidget(self._slider, 1)
        self._replay.hide()
        return self._replay

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._key.setVisible(self.width() >= 2.2 * self._key.sizeHint().width())  # the step comes first

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange and hasattr(self, "_scroll"):
            self._fit()

    def _fit(self) -> None:
        """As high as a few lines of the sheet, whatever the size of the text."""
        line = QFontMetricsF(self.sheet.token_font()).height() + 2 * PAD_Y + GAP
        self._scroll.setFixedHeight(round(HEIGHT_LINES * line))

    def _show_last(self) -> None:
        if self._steps:
            self._show(self._steps[-1])

    def _show(self, snapshot: CanvasSnapshot) -> None:
        self._shown = snapshot
        self._title.setText(self.tr("Canvas {n}").format(n=snapshot.canvas))
        text = self.tr("denoise step {step} · {settled} of {slots} tokens accepted").format(
            step=snapshot.step, settled=snapshot.accepted, slots=snapshot.slots
        )
        self._detail.setText(text + (self.tr(" · committed") if snapshot.converged else ""))
        self.sheet.setAccessibleDescription(self._detail.text())
        self.sheet.set_cells(snapshot.cells(), committed=snapshot.converged)

    def _toggle(self) -> None:
        if self._player.isActive():
            self._pause()
            return
        if self._slider.value() == self._slider.maximum():
            self._slider.setValue(0)
        self._player.start()
        self._play.set_icon_name("pause")

    def _pause(self) -> None:
        self._player.stop()
        self._play.set_icon_name("play")

    def _advance(self) -> None:
        if self._slider.value() >= self._slider.maximum():
            self._pause()
        else:
            self._slider.setValue(self._slider.value() + 1)


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
