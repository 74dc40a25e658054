"""The bar that finds words in the conversation that is open."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QLineEdit, QWidget

from app.theme import set_role
from app.widgets.chat.message_parts import takes_escape
from app.widgets.icons import IconButton


class FindBar(QFrame):
    """Signals: searched(str): on every change; moved(int): -1 to the hit before, +1 to the next; closed()."""

    searched = Signal(str)
    moved = Signal(int)
    closed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        set_role(self, "sunken")
        self.setObjectName("chat.findbar")
        self.text = QLineEdit()
        self.text.setObjectName("chat.find")
        self.text.setPlaceholderText(self.tr("Find in this conversation"))
        self.text.setAccessibleName(self.tr("Find in this conversation"))
        self.text.textChanged.connect(self.searched)
        self.text.installEventFilter(self)
        self._count = QLabel()
        self._count.setObjectName("chat.find.count")
        self._count.setMinimumWidth(self._count.fontMetrics().averageCharWidth() * 16)
        set_role(self._count, "caption")
        before = IconButton("up", self.tr("The hit before  (Shift+Enter)"), "chat.find.before", size=16)
        after = IconButton("down", self.tr("The next hit  (Enter)"), "chat.find.next", size=16)
        close = IconButton("close", self.tr("Close  (Esc)"), "chat.find.close", size=16)
        before.clicked.connect(lambda: self.moved.emit(-1))
        after.clicked.connect(lambda: self.moved.emit(1))
        close.clicked.connect(self.close_bar)
        self._buttons = (before, after)
        row = QHBoxLayout(self)
        row.setContentsMargins(8, 4, 8, 4)
        row.addWidget(self.text, 1)
        for widget in (self._count, before, after, close):
            row.addWidget(widget)
        self.set_place(0, 0)
        self.hide()

    def open_bar(self) -> None:
        """Shows it with the last words selected, and looks for them again."""
        self.show()
        self.text.setFocus()
        self.text.selectAll()
        self.searched.emit(self.text.text())

    def close_bar(self) -> None:
        """Hides it; what was marked is marked no longer."""
        if not self.isHidden():
            self.hide()
            self.closed.emit()

    def set_place(self, place: int, hits: int) -> None:
        """``place``: 1-based number of the hit that is shown; 0 for none."""
        words = self.tr("{place} of {hits}").format(place=place, hits=hits) if hits else ""
        if self.text.text().strip() and not hits:
            words = self.tr("not found")
        self._count.setText(words)
        for button in self._buttons:
            button.setEnabled(hits > 0)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if takes_escape(event):  # else the page's shortcut would have it
            event.accept()
            return True
        if event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            if event.key() == Qt.Key.Key_Escape:
                self.close_bar()
                return True
            if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                self.moved.emit(-1 if event.modifiers() & Qt.KeyboardModifier.ShiftModifier else 1)
                return True
        return super().eventFilter(watched, event)
