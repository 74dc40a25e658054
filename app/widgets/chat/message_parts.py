"""What a message has around its text: versions, a folded thought, the reason of a failure, an editor, the cut."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPlainTextEdit, QVBoxLayout, QWidget

from app.models.notice import as_sentence
from app.theme import set_role
from app.widgets.icons import IconButton, ThemedButton
from app.widgets.prose import ProseView

EDITOR_LINES = 8
SUMMARY_SHOWN = 400  # characters; the rest is in the tool tip


def takes_escape(event: QEvent) -> bool:
    """Whether a widget is being asked if Escape is its own, which a shortcut wants too."""
    if event.type() != QEvent.Type.ShortcutOverride or not isinstance(event, QKeyEvent):
        return False
    return event.key() == Qt.Key.Key_Escape


class VersionSwitch(QWidget):
    """‹ 2 of 3 ›. Signals: moved(int): -1 to the version before, +1 to the one after."""

    moved = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("message.versions")
        self.before = IconButton("left", self.tr("The version before"), "message.version.before", size=15)
        self.after = IconButton("right", self.tr("The next version"), "message.version.after", size=15)
        self._words = QLabel()
        self._words.setObjectName("message.version")
        set_role(self._words, "caption")
        self.before.clicked.connect(lambda: self.moved.emit(-1))
        self.after.clicked.connect(lambda: self.moved.emit(1))
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        for widget in (self.before, self._words, self.after):
            row.addWidget(widget)

    def set_place(self, place: int, versions: int) -> None:
        self._words.setText(self.tr("{place} of {versions}").format(place=place, versions=versions))
        self.before.setEnabled(place > 1)
        self.after.setEnabled(place < versions)


class ThoughtFold(QFrame):
    """A thought, folded away; never part of what is copied or exported."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        set_role(self, "sunken")
        self.setObjectName("message.thought")
        self._button = ThemedButton(self.tr("Thought"), "message.thought.show", icon_name="right", role="quiet")
        self._button.setCheckable(True)
        self._button.setToolTip(self.tr("What the model thought before it answered; it is never exported"))
        self._button.toggled.connect(self._show)
        self._text = ""
        self._view: ProseView | None = None
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(6, 4, 10, 6)
        self._column.addWidget(self._button, 0, Qt.AlignmentFlag.AlignLeft)

    @property
    def text(self) -> str:
        return self._text

    def set_text(self, text: str) -> None:
        self._text = text
        words = len(text.split())
        self._button.setText(
            self.tr("Thought · 1 word") if words == 1 else self.tr("Thought · {n} words").format(n=words)
        )
        if self._view is not None and not self._view.isHidden():
            self._view.set_plain(text)

    def _show(self, shown: bool) -> None:
        self._button.set_icon_name("down" if shown else "right")
        if self._view is None:
            self._view = ProseView()
            self._view.setAccessibleName(self.tr("Thought"))
            self._column.addWidget(self._view)
        self._view.setVisible(shown)
        if shown:
            self._view.set_plain(self._text)


class FailureCard(QFrame):
    """Why an answer broke off. Signals: retry()."""

    retry = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        set_role(self, "notice-error")
        self.setObjectName("message.failure")
        self._why = QLabel()
        self._remedy = QLabel()
        column = QVBoxLayout()
        for label in (self._why, self._remedy):
            label.setWordWrap(True)
            label.setTextFormat(Qt.TextFormat.PlainText)
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            column.addWidget(label)
        set_role(self._why, "strong")
        self._again = ThemedButton(self.tr("Ask again"), "message.retry", icon_name="refresh")
        self._again.clicked.connect(self.retry)
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 8, 8, 8)
        row.addLayout(column, 1)
        row.addWidget(self._again, 0, Qt.AlignmentFlag.AlignTop)

    def set_words(self, message: str, remedy: str) -> None:
        self._why.setText(as_sentence(message) or self.tr("The answer broke off."))
        self._remedy.setText(as_sentence(remedy))
        self._remedy.setVisible(bool(remedy))
        self.setAccessibleName(f"{message} {remedy}".strip())

    def hide_retry(self) -> None:
        """The conversation has gone on: asking again would change the past."""
        self._again.hide()


class CutMark(QFrame):
    """A line above a message: what stands over it is not sent. Signals: removed(): it is to be sent again."""

    removed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        set_role(self, "notice-warning")
        self.setObjectName("message.cut")
        self._words = QLabel()
        self._words.setTextFormat(Qt.TextFormat.PlainText)
        self._words.setWordWrap(True)
        again = ThemedButton(self.tr("Send everything again"), "message.uncut", icon_name="undo", role="quiet")
        again.clicked.connect(self.removed)
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 6, 8, 6)
        row.addWidget(self._words, 1)
        row.addWidget(again, 0, Qt.AlignmentFlag.AlignTop)

    def set_content(self, above: int, summary: str) -> None:
        """``above``: messages over the line."""
        words = self.tr("Above this line: {n} messages that the model is not sent.").format(n=above)
        if summary:
            short = summary if len(summary) <= SUMMARY_SHOWN else summary[:SUMMARY_SHOWN].rstrip() + " …"
            words += "\n" + self.tr("It is sent this summary instead: {summary}").format(summary=short)
        self._words.setText(words)
        self._words.setToolTip(summary)
        self.setAccessibleName(words)


class _EditorText(QPlainTextEdit):
    submitted = Signal()
    cancelled = Signal()

    def event(self, event: QEvent) -> bool:
        if takes_escape(event):  # else the page's shortcut would have it
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        control = bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
        if event.key() == Qt.Key.Key_Escape:
            self.cancelled.emit()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and control:
            self.submitted.emit()
        else:
            super().keyPressEvent(event)


class QuestionEditor(QFrame):
    """A question being edited. Signals: done(str): ask this instead; cancelled()."""

    done = Signal(str)
    cancelled = Signal()

    def __init__(self, text: str, *, may_be_empty: bool = False, parent: QWidget | None = None) -> None:
        """``may_be_empty``: its pictures are a question too."""
        super().__init__(parent)
        self._may_be_empty = may_be_empty
        self.setObjectName("message.editor")
        self.text = _EditorText()
        self.text.setObjectName("message.editor.text")
        self.text.setAccessibleName(self.tr("The question, to be edited"))
        self.text.setTabChangesFocus(True)
        self.text.setPlainText(text)
        self.text.setFixedHeight(self.text.fontMetrics().lineSpacing() * EDITOR_LINES)
        self.text.submitted.connect(self._submit)
        self.text.cancelled.connect(self.cancelled)
        note = QLabel(self.tr("Asks again from here; what followed is kept as another version."))
        note.setWordWrap(True)
        set_role(note, "caption")
        ask = ThemedButton(self.tr("Ask"), "message.editor.ask", icon_name="send", role="primary")
        ask.setToolTip(self.tr("Ask  (Ctrl+Enter)"))
        ask.clicked.connect(self._submit)
        cancel = ThemedButton(self.tr("Cancel"), "message.editor.cancel")
        cancel.clicked.connect(self.cancelled)
        buttons = QHBoxLayout()
        buttons.addWidget(note, 1)
        buttons.addWidget(cancel)
        buttons.addWidget(ask)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 4, 6, 2)
        column.addWidget(self.text)
        column.addLayout(buttons)

    def _submit(self) -> None:
        if self._may_be_empty or self.text.toPlainText().strip():
            self.done.emit(self.text.toPlainText())
