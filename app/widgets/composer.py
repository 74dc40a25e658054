"""Where the user writes: grows with the text, sends with Enter or Ctrl+Enter, stops with Esc, takes files
and pictures.

Up in an empty composer, or in one that shows an earlier message, goes back through what has been written before.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QEvent, QMimeData, Qt, Signal
from PySide6.QtGui import (
    QDragEnterEvent,
    QDragMoveEvent,
    QDropEvent,
    QFocusEvent,
    QFontMetricsF,
    QImage,
    QKeyEvent,
    QTextCursor,
)
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPlainTextEdit, QSizePolicy, QVBoxLayout, QWidget

from app.theme import set_role
from app.widgets.chat.picture_chips import PictureChips
from app.widgets.icons import IconButton, ThemedButton
from engine.domain.picture import StoredPicture

MIN_LINES, MAX_LINES = 2, 9
SENT_AS_THEY_ARE = ("image/png", "image/jpeg", "image/webp", "image/gif")


class ComposerText(QPlainTextEdit):
    """Signals: submitted(); focused(bool); files_given(list[str]): paths that were dropped or pasted;
    picture_given(bytes | QImage): a picture was dropped or pasted; older(), newer(): another message of the past is
    wanted."""

    submitted = Signal()
    focused = Signal(bool)
    files_given = Signal(list)
    picture_given = Signal(object)
    older = Signal()
    newer = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.enter_sends = True
        self.recalling = False  # shows a message of the past, unchanged
        set_role(self, "bare")
        self.setObjectName("composer.text")
        self.setAccessibleName(self.tr("Message"))
        self.setTabChangesFocus(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.textChanged.connect(self._fit)
        self._fit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        modifiers = event.modifiers()
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            control = bool(modifiers & Qt.KeyboardModifier.ControlModifier)
            shift = bool(modifiers & Qt.KeyboardModifier.ShiftModifier)
            if control or (self.enter_sends and not shift):
                self.submitted.emit()
                return
        plain = not modifiers & ~Qt.KeyboardModifier.KeypadModifier
        if plain and event.key() == Qt.Key.Key_Up and (self.recalling or not self.toPlainText()):
            self.older.emit()
            return
        if plain and event.key() == Qt.Key.Key_Down and self.recalling:
            self.newer.emit()
            return
        super().keyPressEvent(event)

    def takes(self, source: QMimeData) -> bool:
        """Whether there are files or a picture in it."""
        return any(url.isLocalFile() for url in source.urls()) or _has_picture(source)

    def canInsertFromMimeData(self, source: QMimeData) -> bool:
        return source.hasUrls() or _has_picture(source) or super().canInsertFromMimeData(source)

    def insertFromMimeData(self, source: QMimeData) -> None:
        paths = [url.toLocalFile() for url in source.urls() if url.isLocalFile()]
        if paths:
            self.files_given.emit(paths)
        elif _has_picture(source) and (source.hasUrls() or not source.hasText()):  # its address is not loaded
            self.picture_given.emit(_picture_in(source))
        else:
            self.insertPlainText(source.text())

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if self.canInsertFromMimeData(event.mimeData()):
            event.acceptProposedAction()

    def dragMoveEvent(self, event: QDragMoveEvent) -> None:
        if self.canInsertFromMimeData(event.mimeData()):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        self.insertFromMimeData(event.mimeData())
        event.acceptProposedAction()

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


def _has_picture(source: QMimeData) -> bool:
    return source.hasImage() or any(source.hasFormat(kind) for kind in SENT_AS_THEY_ARE)


def _picture_in(source: QMimeData) -> bytes | QImage:
    """Its bytes as they are, where they can be sent so: decoding would hold the window."""
    for kind in SENT_AS_THEY_ARE:
        if source.hasFormat(kind):
            return bytes(source.data(kind).data())
    image = source.imageData()
    return image if isinstance(image, QImage) else QImage(image)


class Composer(QFrame):
    """The text, the pictures above it, a button for files, and one button that sends or stops.

    Signals:
        sent(str): a text that is not blank, unless there are pictures; the composer keeps it until ``clear``.
        waiting(): it is not sent yet: files are still being read.
        stopped()
        changed(str): what stands in it.
        attach_wanted(): files are to be chosen.
        history_wanted(): ``set_history`` is to be called; the first message of the past follows at once.
        files_given(list[str]), picture_given(bytes | QImage): dropped or pasted.
    """

    sent = Signal(str)
    waiting = Signal()
    stopped = Signal()
    changed = Signal(str)
    attach_wanted = Signal()
    history_wanted = Signal()
    files_given = Signal(list)
    picture_given = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        set_role(self, "composer")
        self.setObjectName("composer")
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self._ready = False
        self._reading = 0  # files
        self._history: list[str] = []
        self._place = -1
        self.text = ComposerText()
        self.text.submitted.connect(self._submit)
        self.text.focused.connect(self._on_focus)
        self.text.textChanged.connect(self._update)
        self.text.older.connect(lambda: self._recall(1))
        self.text.newer.connect(lambda: self._recall(-1))
        self.text.files_given.connect(self.files_given)
        self.text.picture_given.connect(self.picture_given)
        self.setFocusProxy(self.text)
        self.pictures = PictureChips()
        self._build()
        self.set_enter_sends(True)
        self.set_ready(False, "")

    def set_enter_sends(self, enter: bool) -> None:
        """Whether Enter alone sends; else it begins a new line and Ctrl+Enter sends, which it always does."""
        self.text.enter_sends = enter
        keys = self.tr("Enter; Shift+Enter begins a new line") if enter else self.tr("Ctrl+Enter")
        self.send.setToolTip(self.tr("Send  ({keys})").format(keys=keys))

    def set_ready(self, ready: bool, placeholder: str) -> None:
        """Whether a message can be sent now; one can always be written."""
        self._ready = ready
        self.text.setPlaceholderText(placeholder)
        # WORKAROUND: QPlainTextEdit paints a new placeholder only when another one was hidden before (Qt 6.12).
        self.text.viewport().update()
        self._update()

    def set_pictures(self, pictures: Sequence[StoredPicture], before: Mapping[str, tuple[int, int]]) -> None:
        """The pictures of the message; see ``PictureChips``."""
        inside = self.pictures.isAncestorOf(self.focusWidget()) if self.focusWidget() is not None else False
        self.pictures.set_pictures(pictures, before)
        if inside:
            (self.pictures.chips[-1].tile if self.pictures.chips else self.text).setFocus()
        self._look()

    def set_reading(self, count: int) -> None:
        """So many files are being read; the message waits for them."""
        self._reading = count
        self.pictures.set_waiting(count)
        self._look()

    def set_attach_tip(self, tip: str) -> None:
        """What can be attached."""
        self._attach.set_tip(tip)

    def set_answering(self, answering: bool) -> None:
        self.stop.setVisible(answering)
        self.send.setVisible(not answering)

    def set_history(self, texts: Sequence[str]) -> None:
        """What has been written before, the newest first."""
        self._history = [text for text in texts if text]  # a message may be a picture alone

    def put(self, text: str) -> None:
        """Replaces the text and puts the cursor behind it."""
        self.text.setPlainText(text)
        self.text.moveCursor(QTextCursor.MoveOperation.End)
        self.text.setFocus()

    def insert(self, text: str) -> None:
        """Puts a text where the cursor is, on lines of its own."""
        cursor = self.text.textCursor()
        lead = "" if cursor.atBlockStart() else "\n"
        cursor.insertText(f"{lead}{text}\n")
        self.text.setFocus()

    def clear(self) -> None:
        self.text.clear()

    def _build(self) -> None:
        self.send = ThemedButton(self.tr("Send"), "composer.send", icon_name="send", role="primary")
        self.send.clicked.connect(self._submit)
        self.stop = ThemedButton(self.tr("Stop"), "composer.stop", icon_name="stop")
        self.stop.setToolTip(self.tr("Stop the answer  (Esc)"))
        self.stop.clicked.connect(self.stopped)
        self.stop.hide()
        self._attach = IconButton("attach", self.tr("Insert a text file"), "composer.attach")
        self._attach.clicked.connect(self.attach_wanted)
        buttons = QHBoxLayout()
        for button in (self._attach, self.stop, self.send):
            buttons.addWidget(button)
        column = QVBoxLayout()
        column.addStretch(1)
        column.addLayout(buttons)
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addWidget(self.text, 1)
        row.addLayout(column)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(12, 8, 8, 8)
        layout.setSpacing(6)
        layout.addWidget(self.pictures)
        layout.addLayout(row)

    def _recall(self, by: int) -> None:
        if not self.text.recalling:
            self._place = -1
            self.history_wanted.emit()
        self._place = min(self._place + by, len(self._history) - 1)
        self.put(self._history[self._place] if self._place >= 0 else "")
        self.text.recalling = self._place >= 0

    def _submit(self) -> None:
        if self._reading:
            self.waiting.emit()
        elif self._has_content():
            self.sent.emit(self.text.toPlainText())

    def _has_content(self) -> bool:
        return bool(self.text.toPlainText().strip() or self.pictures.chips)

    def _update(self) -> None:
        text = self.text.toPlainText()
        self.text.recalling = False  # _recall sets it again when the text is of the past
        self._look()
        self.changed.emit(text)

    def _look(self) -> None:
        """Whether there is something that can be sent."""
        self.send.setEnabled(self._ready and not self._reading and self._has_content())

    def _on_focus(self, inside: bool) -> None:
        self.setProperty("active", "true" if inside else "false")
        self.style().unpolish(self)
        self.style().polish(self)
