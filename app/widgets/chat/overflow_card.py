"""When a question does not fit, or the engine does not see its pictures: what would be left out, and the user's choice.

Nothing is left out without it.
"""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QLabel, QVBoxLayout, QWidget

from app.models.chat import Overflow, Unseen
from app.models.notice import as_sentence
from app.theme import set_role
from app.widgets.decisions.flow import FlowLayout
from app.widgets.icons import ThemedButton


class OverflowCard(QFrame):
    """Signals: chosen(str): ``drop``, ``summarise``, ``branch`` or ``unseen``; dismissed(): the question is to be
    changed."""

    chosen = Signal(str)
    dismissed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        set_role(self, "notice-warning")
        self.setObjectName("chat.overflow")
        self._head, self._detail = QLabel(), QLabel()
        set_role(self._head, "strong")
        for label in (self._head, self._detail):
            label.setWordWrap(True)
            label.setTextFormat(Qt.TextFormat.PlainText)
        self._ways = {
            "drop": ThemedButton(self.tr("Leave them out"), "overflow.drop", role="primary"),
            "summarise": ThemedButton(self.tr("Send a summary of them"), "overflow.summarise"),
            "branch": ThemedButton(self.tr("Ask in a new branch"), "overflow.branch"),
            "unseen": ThemedButton(self.tr("Send without the pictures"), "overflow.unseen", role="primary"),
        }
        self._ways["summarise"].setToolTip(self.tr("The model sums them up first; you see the summary"))
        self._ways["unseen"].setToolTip(self.tr("The model is told where a picture stood; the conversation keeps them"))
        self._ways["branch"].setToolTip(self.tr("The question alone; this branch stays as it is"))
        buttons = FlowLayout()
        for way, button in self._ways.items():
            button.clicked.connect(lambda _checked=False, chosen=way: self._choose(chosen))
            buttons.addWidget(button)
        cancel = ThemedButton(self.tr("Cancel"), "overflow.cancel", role="quiet")
        cancel.clicked.connect(self._dismiss)
        buttons.addWidget(cancel)
        column = QVBoxLayout(self)
        column.setContentsMargins(14, 10, 10, 10)
        column.setSpacing(6)
        column.addWidget(self._head)
        column.addWidget(self._detail)
        column.addLayout(buttons)
        self.hide()

    def show_overflow(self, overflow: Overflow) -> None:
        """Says what does not fit and offers what helps."""
        needed = f"{overflow.needed:,}" if overflow.needed is not None else self.tr("more")
        self._head.setText(
            self.tr(
                "This does not fit: {needed} tokens and {reserve} for the answer; the model's window holds {window}."
            ).format(needed=needed, reserve=f"{overflow.reserve:,}", window=f"{overflow.window:,}")
        )
        self._detail.setText(self._words(overflow))
        self._offer({"drop", "summarise", "branch"} if overflow.helps else set(), "drop")

    def show_unseen(self, unseen: Unseen) -> None:
        """Says that the engine sees no pictures and offers to leave them out."""
        one, many = self.tr("A picture would be sent"), self.tr("{n} pictures would be sent").format(n=unseen.count)
        head = self.tr("{what}, and the engine sees none: {why}.")
        self._head.setText(head.format(what=one if unseen.count == 1 else many, why=unseen.why))
        self._detail.setText(
            self.tr("Without them the model is told where each one stood. They stay here, for an engine that sees.")
        )
        self._offer({"unseen"}, "unseen")

    def _offer(self, ways: set[str], first: str) -> None:
        for way, button in self._ways.items():
            button.setVisible(way in ways)
        self.setAccessibleName(f"{self._head.text()} {self._detail.text()}")
        self.show()
        if ways:
            self._ways[first].setFocus()

    def _words(self, overflow: Overflow) -> str:
        if not overflow.helps:
            return self.tr("The message alone is too long: shorten it, or send it in parts.")
        words = self.tr(
            "The oldest {n} messages would have to go, from “{first}” to “{last}”; {kept} stay. "
            "Whatever you choose, everything stays in the conversation."
        ).format(n=overflow.left_out, first=overflow.first, last=overflow.last, kept=overflow.kept)
        return f"{as_sentence(overflow.fault)}. {words}" if overflow.fault else words

    def _choose(self, way: str) -> None:
        self.hide()
        self.chosen.emit(way)

    def _dismiss(self) -> None:
        self.hide()
        self.dismissed.emit()
