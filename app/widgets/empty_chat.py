"""What an empty conversation shows: what this is, and three prompts to begin with."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt, QTimer, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QSizePolicy, QVBoxLayout, QWidget

from app.theme import set_role
from app.widgets.icons import ThemedButton, pixmap

WIDTH = 560  # pixels


class EmptyChat(QWidget):
    """Signals: chosen(str): a sample prompt."""

    chosen = Signal(str)

    def __init__(self, prompts: tuple[str, ...], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("chat.empty")
        mark = QLabel()
        mark.setPixmap(pixmap("app", "#ffffff", 52))
        title = QLabel(self.tr("Watch an answer come out of noise"))
        title.setWordWrap(True)
        title.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        set_role(title, "title")
        words = QLabel(
            self.tr(
                "A diffusion model writes a whole canvas at once and settles it step by step. "
                "Ask something and watch the canvas, or begin with one of these:"
            )
        )
        set_role(words, "muted")
        words.setWordWrap(True)
        words.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        column = QVBoxLayout()
        column.setSpacing(10)
        column.addStretch(2)
        column.addWidget(mark, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addWidget(title)
        column.addWidget(words)
        column.addSpacing(8)
        samples = []
        for number, prompt in enumerate(prompts, start=1):
            button = ThemedButton(prompt, f"chat.sample.{number}", role="suggestion")
            button.clicked.connect(lambda _checked=False, text=prompt: self.chosen.emit(text))
            column.addWidget(button)
            samples.append(button)
        self._giving_way = (mark, words, *reversed(samples), title)  # in this order
        self._column = column
        column.addStretch(3)
        holder = QWidget()
        holder.setMaximumWidth(WIDTH)
        holder.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        holder.setLayout(column)
        row = self._row = QHBoxLayout(self)
        row.setContentsMargins(24, 0, 36, 0)  # the transcript that takes its place has a scroll bar at the right
        row.addStretch(1)
        row.addWidget(holder, 1000)
        row.addStretch(1)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            QTimer.singleShot(0, self, self._fit)

    def _fit(self) -> None:
        """Shows what there is room for, whole: nothing lies on something else."""
        margins = self.contentsMargins() + self._row.contentsMargins()
        width = min(self.width() - margins.left() - margins.right(), WIDTH)
        for widget in self._giving_way:
            widget.show()
        for widget in self._giving_way:
            self._column.invalidate()  # what has just been shown or hidden counts now
            if self._column.totalHeightForWidth(width) <= self.height():
                break
            widget.hide()
        self._column.activate()  # what is left takes the room of what has gone; nobody else asks for that
