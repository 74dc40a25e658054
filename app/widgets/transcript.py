"""The conversation: one widget per message in a scroll area that follows the end unless the reader has scrolled up."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from app.theme import set_role
from app.widgets.icons import ThemedButton
from app.widgets.message import MessageView
from engine.domain.chat import Role

SHOWN = 100  # messages built at a time; older ones come back with "load earlier"
COLUMN_WIDTH = 780  # pixels; longer lines are hard to read
NEAR_END = 40  # pixels from the end that still count as reading along


class Transcript(QScrollArea):
    """Signals: link_clicked(str), retry(): of the last answer."""

    link_clicked = Signal(str)
    retry = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("transcript")
        self.setAccessibleName(self.tr("Conversation"))
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        # Always there, though invisible while there is nothing to scroll: the column must not jump.
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOn)
        self._messages: list[MessageView] = []
        self._earlier: list[tuple[Role, str, str]] = []
        self._follow = True
        self._more = ThemedButton(self.tr("Load earlier messages"), "transcript.earlier", role="quiet")
        self._more.clicked.connect(self._load_earlier)
        self._more.hide()
        self._build()
        bar = self.verticalScrollBar()
        bar.valueChanged.connect(self._on_scrolled)
        bar.rangeChanged.connect(self._on_range)

    @property
    def messages(self) -> list[MessageView]:
        return list(self._messages)

    def add(self, role: Role, text: str = "", author: str = "") -> MessageView:
        """Appends a message and scrolls to it."""
        message = self._make(role, text, author)
        for older in self._messages:
            older.hide_retry()
        self._messages.append(message)
        self._column.insertWidget(self._column.count() - 1, message)
        while len(self._messages) > SHOWN:
            oldest = self._messages.pop(0)
            self._earlier.append((oldest.role, oldest.text, oldest.author))
            oldest.hide()
            oldest.deleteLater()
        self._more.setVisible(bool(self._earlier))
        self._follow = True
        return message

    def remove_last(self) -> None:
        """Takes the last message away, before it is asked again."""
        message = self._messages.pop()
        message.hide()
        message.deleteLater()

    def clear(self) -> None:
        while self._messages:
            self.remove_last()
        self._earlier.clear()
        self._more.hide()

    def _make(self, role: Role, text: str, author: str) -> MessageView:
        message = MessageView(role, text, author)
        message.link_clicked.connect(self.link_clicked)
        message.retry.connect(self.retry)
        return message

    def _load_earlier(self) -> None:
        batch, self._earlier = self._earlier[-SHOWN:], self._earlier[:-SHOWN]
        for role, text, author in reversed(batch):
            message = self._make(role, text, author)
            self._messages.insert(0, message)
            self._column.insertWidget(1, message)
        self._more.setVisible(bool(self._earlier))
        self._follow = False

    def _build(self) -> None:
        column = QWidget()
        column.setMaximumWidth(COLUMN_WIDTH)
        self._column = QVBoxLayout(column)
        self._column.setContentsMargins(24, 16, 24, 16)
        self._column.setSpacing(14)
        self._column.addWidget(self._more, 0, Qt.AlignmentFlag.AlignHCenter)
        self._column.addStretch(1)
        outer = QWidget()
        set_role(outer, "page")
        row = QHBoxLayout(outer)
        row.setContentsMargins(0, 0, 0, 0)
        row.addStretch(1)
        row.addWidget(column, 1000)  # fills the width up to its maximum, then stays in the middle
        row.addStretch(1)
        self.setWidget(outer)

    def _on_scrolled(self, value: int) -> None:
        self._follow = value >= self.verticalScrollBar().maximum() - NEAR_END

    def _on_range(self, _low: int, high: int) -> None:
        if self._follow:
            self.verticalScrollBar().setValue(high)
