"""The canvas while it denoises: every slot's likeliest token, what is accepted, what has just changed, what is noise.

Tokens that the sampler accepted stand on a tint, tokens that changed in this step are underlined, the rest is pale;
where the engine gives the entropy, the paleness follows it. The words in the header say the same, so nothing rests on
colour alone.
"""

from __future__ import annotations

from PySide6.QtCore import QEvent, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QFont, QFontMetricsF, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QScrollArea, QSizePolicy, QSlider, QVBoxLayout, QWidget

from app.models.canvas import CanvasSnapshot, Cell
from app.theme import current_tokens, set_role
from app.widgets.chat.canvas_export import Replay
from app.widgets.chat.canvas_paint import GAP, PAD_Y, Placed, paint, place, token_font
from app.widgets.icons import IconButton

FRAME_MS = 33  # at most 30 pictures a second
MAX_STEPS_KEPT = 2048  # of the last answer, for the replay
HEIGHT_LINES = 4.3  # the part of a line says that there is more
REPLAY_MS = 120


class CanvasSheet(QWidget):
    """Draws one snapshot as flowing text."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("canvas.sheet")
        self._cells: tuple[Cell, ...] = ()
        self._committed = False
        self._placed: list[Placed] = []
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
        paint(painter, self._placed, current_tokens(), QRectF(event.rect()), committed=self._committed)
        painter.end()

    def token_font(self) -> QFont:
        return token_font(self.font().pointSizeF())

    def _place(self) -> None:
        self._placed_width = self.width()
        self._placed, high = place(self._cells, self.width(), self.token_font(), self._widths)
        self.setMinimumHeight(round(high))


class CanvasView(QFrame):
    """Header with the step, the sheet, and after the answer a slider over its steps.

    Signals: export_wanted(): the replay is to be written to a file.
    """

    export_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        set_role(self, "sunken")
        self.setObjectName("canvas")
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(self.tr("Canvas"))
        self._steps: list[CanvasSnapshot] = []
        self._absent = ""
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
        self._detail.setText(self._absent or self.tr("waiting for the first denoise step"))
        self.sheet.set_cells(())
        self._show_room()

    def add(self, snapshot: CanvasSnapshot) -> None:
        """One more step; drawn with the next coalesced update."""
        self._steps.append(snapshot)
        if len(self._steps) == 1:
            self._show_room()
        if len(self._steps) > MAX_STEPS_KEPT:
            del self._steps[0]
        if not self._timer.isActive():
            self._timer.start(FRAME_MS)

    def finish(self) -> None:
        """The answer ended: its steps can be replayed."""
        self._timer.stop()
        if not self._steps:
            self._detail.setText(self._absent or self.tr("this engine sends no live canvas"))
            self._show_room()
            return
        self._slider.setRange(0, len(self._steps) - 1)
        self._slider.setValue(len(self._steps) - 1)
        self._show(self._steps[-1])
        self._replay.show()

    def set_absent(self, why: str) -> None:
        """Why there is no canvas to be seen with this engine; empty where there may be."""
        self._absent = why
        if why and not self._steps:
            self._detail.setText(why)
        self._show_room()

    def _show_room(self) -> None:
        """One line is enough where no canvas will come."""
        has_room = bool(self._steps) or not self._absent
        self._scroll.setVisible(has_room)
        # The step comes first.
        self._key.setVisible(has_room and self.width() >= 2.2 * self._key.sizeHint().width())

    def replay(self) -> Replay:
        """The steps of the last answer, to be written to a file."""
        captions = [f"{self._title_of(step)} · {self._words(step)}" for step in self._steps]
        return Replay(tuple(self._steps), captions, current_tokens(), self.sheet.token_font())

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
        export = IconButton("export", self.tr("Save the replay as GIF or PNG"), "canvas.export", size=16)
        export.clicked.connect(self.export_wanted)
        row.addWidget(export)
        self._replay.hide()
        return self._replay

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._show_room()

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
        self._title.setText(self._title_of(snapshot))
        self._detail.setText(self._words(snapshot))
        self.sheet.setAccessibleDescription(self._detail.text())
        self.sheet.set_cells(snapshot.cells(), committed=snapshot.converged)

    def _title_of(self, snapshot: CanvasSnapshot) -> str:
        return self.tr("Canvas {n}").format(n=snapshot.canvas)

    def _words(self, snapshot: CanvasSnapshot) -> str:
        text = self.tr("denoise step {step} · {settled} of {slots} tokens accepted").format(
            step=snapshot.step, settled=snapshot.accepted, slots=snapshot.slots
        )
        return text + (self.tr(" · committed") if snapshot.converged else "")

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
