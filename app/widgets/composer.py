"""Where the user writes: grows with the text, Enter sends, Shift+Enter begins a new line, Esc stops an answer."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QFocusEvent, QFontMetricsF, QKeyEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPlainTextEdit, QSizePolicy, QVBoxLayout, QWidget

from app.theme import set_role
from app.widgets.icons import ThemedButton

MIN_LINES, MAX_LINES = 2, 9


class ComposerText(QPlainTextEdit):
    """Signals: submitted(): Enter was pressed; focused(bool)."""

    submitted = Signal()
    focused = Signal(bool)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        set_role(self, "bare")
        self.setObjectName("composer.text")
        self.setAccessibleName(self.tr("Message"))
        self.setTabChangesFocus(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.textChanged.connect(self._fit)
        self._fit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if enter and not event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            self.submitted.emit()
            return
        super().keyPressEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.focused.emit(True)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.focused.emit(False)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._fit()

    def _fit(self) -> None:
        lines = min(max(round(self.document().size().height()), MIN_LINES), MAX_LINES)
        spacing = QFontMetricsF(self.font()).lineSpacing()
        self.setFixedHeight(round(lines * spacing + 2 * self.document().documentMargin() + 2))


class Composer(QFrame):
    """The text, and one button that sends or stops.

    Signals:
        sent(str): a text that is not blank; the composer keeps it until ``clear``.
        stopped()
    """

    sent = Signal(str)
    stopped = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        set_role(self, "composer")
        self.setObjectName("composer")
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self._ready = False
        self._answering = False
        self.text = ComposerText()
        self.text.submitted.connect(self._submit)
        self.text.focused.connect(self._on_focus)
        self.text.textChanged.connect(self._update)
        self.setFocusProxy(self.text)
        self.send = ThemedButton(self.tr("Send"), "composer.send", icon_name="send", role="primary")
        self.send.setToolTip(self.tr("Send  (Enter; Shift+Enter begins a new line)"))
        self.send.clicked.connect(self._submit)
        self.stop = ThemedButton(self.tr("Stop"), "composer.stop", icon_name="stop")
        self.stop.setToolTip(self.tr("Stop the answer  (Esc)"))
        self.stop.clicked.connect(self.stopped)
        self.stop.hide()
        buttons = QHBoxLayout()
        buttons.addWidget(self.stop)
        buttons.addWidget(self.send)
        column = QVBoxLayout()
        column.addStretch(1)
        column.addLayout(buttons)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(12, 8, 8, 8)
        layout.setSpacing(8)
        layout.addWidget(self.text, 1)
        layout.addLayout(column)
        self.set_ready(False, "")

    def set_ready(self, ready: bool, placeholder: str) -> None:
        """Whether a message can be sent now; one can always be written."""
        self._ready = ready
        self.text.setPlaceholderText(placeholder)
        # WORKAROUND: QPlainTextEdit paints a new placeholder only when another one was hidden before (Qt 6.12).
        self.text.viewport().update()
        self._update()

    def set_answering(self, answering: bool) -> None:
        self._answering = answering
        self.stop.setVisible(answering)
        self.send.setVisible(not answering)

    def put(self, text: str) -> None:
        """Replaces the text and puts the cursor behind it."""
        self.text.setPlainText(text)
        self.text.moveCursor(self.text.textCursor().MoveOperation.End)
        self.text.setFocus()

    def clear(self) -> None:
        self.text.clear()

    def _submit(self) -> None:
        if self.text.toPlainText().strip():
            self.sent.emit(self.text.toPlainText())

    def _update(self) -> None:
        self.send.setEnabled(self._ready and bool(self.text.toPlainText().strip()))

    def _on_focus(self, inside: bool) -> None:
        self.setProperty("active", "true" if inside else "false")
        self.style().unpolish(self)
        self.style().polish(self)
