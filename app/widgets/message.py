"""One message of the transcript: who, the text in blocks, and below an answer what it cost or why it broke off."""

from __future__ import annotations

import time

from PySide6.QtCore import QRect, Qt, QTimer, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from app.theme import set_role
from app.widgets.chat.figures import answer_words
from app.widgets.chat.marks import mark_all
from app.widgets.chat.message_parts import CutMark, FailureCard, QuestionEditor, ThoughtFold, VersionSwitch
from app.widgets.chat.picture_row import PictureRow
from app.widgets.chat.selection import MessageSelection, TextView
from app.widgets.code_block import CodeBlock
from app.widgets.icons import IconButton, ThemedButton
from app.widgets.prose import ProseView
from engine.domain.chat import Role
from engine.domain.conversation import StoredMessage

FRAME_MS = 33  # streamed text is shown at most 30 times a second
RENDER_SHARE = 4  # and no more often than every fourth of the time that a render takes


class MessageView(QFrame):
    """A message. Streamed text is coalesced; blocks that did not change keep their widgets.

    Signals:
        link_clicked(str)
        retry(): asks the same again, after a failure or for another answer.
        go_on(): lets the answer go on where it ended.
        edited(str): asks this instead of what was asked.
        moved(int): to the version before (-1) or after (+1).
        uncut(): what is above is to be sent again.
        picture_wanted(PictureTile), pictures_opened(tuple[StoredPicture, ...], int): see ``PictureRow``.
        editing(): an editor stands in its place.
        resized(): its height may have changed.
    """

    link_clicked = Signal(str)
    retry = Signal()
    go_on = Signal()
    edited = Signal(str)
    moved = Signal(int)
    uncut = Signal()
    picture_wanted = Signal(object)
    pictures_opened = Signal(object, int)
    editing = Signal()
    resized = Signal()

    def __init__(self, role: Role, text: str = "", author: str = "", parent: QWidget | None = None) -> None:
        """``author``: the name above the message; a default by role when empty."""
        super().__init__(parent)
        self.role = role
        self.author = author
        self.message: StoredMessage | None = None
        self._text = ""
        self._widgets: list[ProseView | CodeBlock] = []
        self._shown: list[object] = []
        self._blocks: object | None = None
        self._thought: ThoughtFold | None = None
        self._failure: FailureCard | None = None
        self._cut: CutMark | None = None
        self._versions: VersionSwitch | None = None
        self._pictures: PictureRow | None = None
        self._editor: QuestionEditor | None = None
        self._foot: QWidget | None = None
        set_role(self, f"message-{'user' if role == 'user' else 'assistant'}")
        self.setObjectName(f"message.{role}")
        self._find: tuple[str, int | None] = ("", None)
        self._selection = MessageSelection(self._texts, lambda: self._text, self)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self._render)
        self._interval = FRAME_MS
        self._build()
        if text:
            self.set_text(text, final=True)

    @classmethod
    def of(cls, message: StoredMessage) -> MessageView:
        """The view of a stored message."""
        view = cls(message.role, author=message.model)
        view.set_message(message)
        return view

    @property
    def text(self) -> str:
        """The source as it was written or streamed."""
        return self._text

    @property
    def thought(self) -> str:
        return self._thought.text if self._thought is not None else ""

    def set_message(self, message: StoredMessage) -> None:
        """Shows a message as it is stored, with everything around it."""
        self.message = message
        streaming = message.state == "streaming"
        if message.text or self._text:
            self.set_text(message.text, final=not streaming)
        self.set_thought(message.thought)
        self._set_versions(message)
        self._set_cut(message)
        if message.role == "assistant":
            self._again.setVisible(not streaming)
            self._set_ending(message)
        else:
            self._edit.setVisible(True)
            self._set_pictures(message)

    def set_text(self, text: str, *, final: bool) -> None:
        """Shows a text at once when it is final, else with the next coalesced update."""
        self._text = text
        if final:
            self._timer.stop()
            self._blocks = None
            self._render()
            for widget in self._widgets:
                if isinstance(widget, CodeBlock):
                    widget.finish()
        else:
            self._waiting.hide()
            if not self._timer.isActive():
                self._timer.start(self._interval)

    def flush(self) -> None:
        """Shows at once what waits for the next coalesced update."""
        if self._timer.isActive():
            self._timer.stop()
            self._render()

    def set_thought(self, thought: str) -> None:
        """A thought in a fold above the answer; none takes the fold away."""
        if thought and self._thought is None:
            self._thought = ThoughtFold()
            self._layout.insertWidget(self._layout.indexOf(self._head) + 1, self._thought)
        if self._thought is not None:
            self._thought.set_text(thought)
            self._thought.setVisible(bool(thought))

    def set_waiting(self, text: str) -> None:
        """A line in place of the answer that has not begun; empty takes it away."""
        self._waiting.setText(text)
        self._waiting.setVisible(bool(text))

    def show_failure(self, message: str, remedy: str) -> None:
        """Keeps what has arrived and says why there is no more, with a button to ask again."""
        self.set_waiting("")
        if self._failure is None:
            self._failure = FailureCard()
            self._failure.retry.connect(self.retry)
            self._layout.insertWidget(self._layout.indexOf(self._waiting) + 1, self._failure)
        self._failure.set_words(message, remedy)
        self._failure.show()

    def hide_retry(self) -> None:
        """The conversation has gone on: asking again would change the past."""
        if self._failure is not None:
            self._failure.hide_retry()

    def mark_words(self, words: str, current: int | None = None) -> QRect | None:
        """Marks the words in the text; none takes the marks away.

        Returns:
            Where the hit with this 0-based number stands, in this widget; None without one.
        """
        self._find = (words, current)
        place = mark_all(self._texts(), words, current)
        if place is None:
            return None
        view, rect = place
        return QRect(view.viewport().mapTo(self, rect.topLeft()), rect.size())

    def _mark_again(self) -> None:
        if self._find[0]:
            self.mark_words(*self._find)

    def _texts(self) -> list[TextView]:
        return [widget.view if isinstance(widget, CodeBlock) else widget for widget in self._widgets]

    def begin_edit(self) -> None:
        """Puts an editor in the place of a question."""
        if self.role != "user" or self._editor is not None:
            return
        self._editor = QuestionEditor(self._text, may_be_empty=self._pictures is not None)
        self._editor.done.connect(self.edited)
        self._editor.cancelled.connect(self.end_edit)
        for widget in self._widgets:
            widget.hide()
        self._layout.insertWidget(self._layout.indexOf(self._waiting), self._editor)
        self._editor.text.setFocus()
        self.editing.emit()

    def end_edit(self) -> None:
        """Takes the editor away; nothing was asked."""
        if self._editor is None:
            return
        self._editor.hide()
        self._editor.deleteLater()
        self._editor = None
        for widget in self._widgets:
            widget.show()
        self._edit.setFocus()

    def _build(self) -> None:
        names = {"user": self.tr("You"), "assistant": self.tr("DiffusionGemma"), "system": self.tr("System")}
        self._head = QWidget(self)
        self._who = QLabel(self.author or names[self.role], self._head)
        self._who.setTextFormat(Qt.TextFormat.PlainText)
        self.setAccessibleName(self._who.text())
        set_role(self._who, "strong")
        copy = IconButton("copy", self.tr("Copy the message as Markdown"), "message.copy", parent=self._head, size=15)
        copy.clicked.connect(lambda: QGuiApplication.clipboard().setText(self._text))
        head = self._head_row = QHBoxLayout(self._head)
        head.setContentsMargins(0, 0, 0, 0)
        head.setSpacing(2)
        head.addWidget(self._who, 1)
        if self.role == "user":
            self._edit = IconButton(
                "edit", self.tr("Edit the question and ask again"), "message.edit", parent=self._head, size=15
            )
            self._edit.clicked.connect(self.begin_edit)
            self._edit.hide()
            head.addWidget(self._edit)
        else:
            self._again = IconButton("refresh", self.tr("Another answer"), "message.again", parent=self._head, size=15)
            self._again.clicked.connect(self.retry)
            self._again.hide()
            head.addWidget(self._again)
        head.addWidget(copy)
        self._body = QVBoxLayout()
        self._body.setSpacing(8)
        self._waiting = QLabel(self)
        set_role(self._waiting, "muted")
        self._waiting.hide()
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(16, 8, 10, 10)
        self._layout.setSpacing(4)
        self._layout.addWidget(self._head)
        self._layout.addLayout(self._body)
        self._layout.addWidget(self._waiting)
        self._layout.addStretch(1)  # takes what is too much for a moment, so that nothing else moves

    def _set_versions(self, message: StoredMessage) -> None:
        if message.versions > 1 and self._versions is None:
            self._versions = VersionSwitch()
            self._versions.moved.connect(self.moved)
            self._head_row.insertWidget(1, self._versions)
        if self._versions is not None:
            self._versions.set_place(message.place, message.versions)
            self._versions.setVisible(message.versions > 1)

    def _set_cut(self, message: StoredMessage) -> None:
        if message.is_cut and self._cut is None:
            self._cut = CutMark()
            self._cut.removed.connect(self.uncut)
            self._layout.insertWidget(0, self._cut)
        if self._cut is not None:
            self._cut.set_content(message.depth - 1, message.summary)
            self._cut.setVisible(message.is_cut)

    def _set_pictures(self, message: StoredMessage) -> None:
        """Once: the pictures of a question never change."""
        if message.pictures and self._pictures is None:
            self._pictures = PictureRow(message.pictures)
            self._pictures.wanted.connect(self.picture_wanted)
            self._pictures.opened.connect(lambda place: self.pictures_opened.emit(message.pictures, place))
            self._layout.insertWidget(self._layout.indexOf(self._head) + 1, self._pictures)

    def _set_ending(self, message: StoredMessage) -> None:
        """The words in place of an empty answer, the card of a failure, the figures."""
        waiting = {"streaming": self.tr("Denoising the first canvas …"), "done": self.tr("An empty answer.")}
        waiting |= {
            "stopped": self.tr("Stopped before the first canvas."),
            "interrupted": self.tr("The program ended before the first canvas."),
        }
        self.set_waiting("" if message.text else waiting.get(message.state, ""))
        if message.state == "failed":
            self.show_failure(message.error, message.remedy)
        elif self._failure is not None:
            self._failure.hide()
        words = "" if message.state in ("streaming", "failed") and not message.text else answer_words(message, self)
        if words or message.can_continue or self._foot is not None:
            self._set_foot(words, message.can_continue)

    def _set_foot(self, words: str, can_continue: bool) -> None:
        if self._foot is None:
            self._foot = QWidget()
            self._stats = QLabel()
            self._stats.setObjectName("message.stats")
            self._stats.setWordWrap(True)
            self._stats.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            self._stats.setFocusPolicy(Qt.FocusPolicy.NoFocus)
            set_role(self._stats, "caption")
            self._go_on = ThemedButton(self.tr("Continue"), "message.continue", icon_name="forward", role="quiet")
            self._go_on.setToolTip(self.tr("Lets the answer go on where it ended"))
            self._go_on.clicked.connect(self.go_on)
            row = QHBoxLayout(self._foot)
            row.setContentsMargins(0, 2, 0, 0)
            row.addWidget(self._stats, 1)
            row.addWidget(self._go_on)
            self._layout.addWidget(self._foot)
        self._stats.setText(words)
        self._go_on.setVisible(can_continue)
        self._foot.setVisible(bool(words) or can_continue)

    def _render(self) -> None:
        started = time.perf_counter()
        wanted = self._wanted()
        kept = 0
        while kept < min(len(wanted), len(self._shown)) and wanted[kept] == self._shown[kept]:
            kept += 1
        for index in range(kept, len(wanted)):
            self._show_block(index, wanted[index])
        for widget in self._widgets[len(wanted) :]:
            widget.hide()
            widget.deleteLater()
        del self._widgets[len(wanted) :]
        self._shown = wanted
        self._interval = max(FRAME_MS, round((time.perf_counter() - started) * 1000 * RENDER_SHARE))
        self._mark_again()
        self._grow()
        self.resized.emit()

    def _grow(self) -> None:
        """Takes the height of the text before the layout does: else every block is moved there and back."""
        if not self.isVisible():
            return
        layout, width = self._layout, self.width()
        high = layout.totalHeightForWidth(width) if layout.hasHeightForWidth() else layout.totalSizeHint().height()
        self.resize(width, high)
        self.updateGeometry()

    def _wanted(self) -> list[object]:
        if self.role == "user":
            return [self._text]  # what the user typed is shown as typed
        from app.widgets.markdown_stream import StreamedBlocks

        # Parsed from its beginning when it is final (set_text), else only where it still grows.
        if not isinstance(self._blocks, StreamedBlocks):
            self._blocks = StreamedBlocks()
        return list(self._blocks.update(self._text))

    def _show_block(self, index: int, block: object) -> None:
        from app.widgets.markdown import Code, Prose

        old = self._widgets[index] if index < len(self._widgets) else None
        match block:
            case Code(text=text, language=language):
                if not isinstance(old, CodeBlock):
                    old = self._replace(index, CodeBlock(parent=self))
                old.set_code(text, language)
            case Prose(html=html):
                self._prose(index, old).set_html(html)
            case _:
                self._prose(index, old).set_plain(str(block))

    def _prose(self, index: int, old: ProseView | CodeBlock | None) -> ProseView:
        if isinstance(old, ProseView):
            return old
        view = ProseView(parent=self)
        margins = self._layout.contentsMargins()
        # As wide as it will be: it is laid out once.
        view.resize(self.width() - margins.left() - margins.right(), view.height())
        view.link_clicked.connect(self.link_clicked)
        view.restyled.connect(self._mark_again)
        return self._replace(index, view)

    def _replace[Block: (ProseView, CodeBlock)](self, index: int, widget: Block) -> Block:
        if self.isVisible():
            widget.show()  # before it is in the layout, which would lay out everything for it at the old height
        if index < len(self._widgets):
            old = self._widgets[index]
            self._body.replaceWidget(old, widget)
            old.hide()
            old.deleteLater()
            self._widgets[index] = widget
        else:
            self._body.addWidget(widget)
            self._widgets.append(widget)
        self._selection.watch(widget.view if isinstance(widget, CodeBlock) else widget)
        return widget
