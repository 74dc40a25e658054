"""One message of the transcript: who, the text in blocks, and below an answer what it cost or why it broke off."""

from __future__ import annotations

import time

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from app.models.chat import AnswerStats
from app.models.notice import as_sentence
from app.theme import set_role
from app.widgets.code_block import CodeBlock
from app.widgets.icons import IconButton, ThemedButton
from app.widgets.prose import ProseView
from engine.domain.chat import Role

FRAME_MS = 33  # streamed text is shown at most 30 times a second
RENDER_SHARE = 4  # and no more often than every fourth of the time that a render takes


class MessageView(QFrame):
    """A message. Streamed text is coalesced; blocks that did not change keep their widgets.

    Signals:
        link_clicked(str)
        retry(): asks the same again, after a failure.
        resized(): its height may have changed.
    """

    link_clicked = Signal(str)
    retry = Signal()
    resized = Signal()

    def __init__(self, role: Role, text: str = "", author: str = "", parent: QWidget | None = None) -> None:
        """``author``: the name above the message; a default by role when empty."""
        super().__init__(parent)
        self.role = role
        self.author = author
        self._text = ""
        self._widgets: list[ProseView | CodeBlock] = []
        self._shown: list[object] = []
        set_role(self, f"message-{'user' if role == 'user' else 'assistant'}")
        self.setObjectName(f"message.{role}")
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self._render)
        self._interval = FRAME_MS
        self._build()
        self.set_text(text, final=True)

    @property
    def text(self) -> str:
        """The source as it was written or streamed."""
        return self._text

    def set_text(self, text: str, *, final: bool) -> None:
        """Shows a text at once when it is final, else with the next coalesced update."""
        self._text = text
        if final:
            self._timer.stop()
            self._render()
            for widget in self._widgets:
                if isinstance(widget, CodeBlock):
                    widget.finish()
        elif not self._timer.isActive():
            self._timer.start(self._interval)

    def set_waiting(self, text: str) -> None:
        """A line in place of the answer that has not begun; empty takes it away."""
        self._waiting.setText(text)
        self._waiting.setVisible(bool(text))

    def set_stats(self, text: str) -> None:
        self._stats.setText(text)
        self._foot.setVisible(bool(text))

    def show_failure(self, message: str, remedy: str) -> None:
        """Keeps what has arrived and says why there is no more, with a button to ask again."""
        self.set_waiting("")
        self._why.setText(as_sentence(message))
        self._remedy.setText(as_sentence(remedy))
        self._remedy.setVisible(bool(remedy))
        self._failure.setAccessibleName(f"{message} {remedy}".strip())
        self._failure.show()

    def hide_retry(self) -> None:
        """The conversation has gone on: asking again would change the past."""
        self._again.hide()

    def _build(self) -> None:
        head = QHBoxLayout()
        names = {"user": self.tr("You"), "assistant": self.tr("DiffusionGemma"), "system": self.tr("System")}
        self._who = QLabel(self.author or names[self.role])
        self.setAccessibleName(self._who.text())
        set_role(self._who, "strong")
        copy = IconButton("copy", self.tr("Copy the message"), "message.copy", size=15)
        copy.clicked.connect(lambda: QGuiApplication.clipboard().setText(self._text))
        head.addWidget(self._who, 1)
        head.addWidget(copy)
        self._body = QVBoxLayout()
        self._body.setSpacing(8)
        self._waiting = QLabel()
        set_role(self._waiting, "muted")
        self._waiting.hide()
        self._failure = self._failure_card()
        self._failure.hide()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(16, 8, 10, 10)
        layout.setSpacing(4)
        layout.addLayout(head)
        layout.addLayout(self._body)
        layout.addWidget(self._waiting)
        layout.addWidget(self._failure)
        layout.addWidget(self._footer())

    def _footer(self) -> QWidget:
        self._foot = QWidget()
        self._stats = QLabel()
        self._stats.setObjectName("message.stats")
        self._stats.setWordWrap(True)
        self._stats.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        set_role(self._stats, "caption")
        row = QHBoxLayout(self._foot)
        row.setContentsMargins(0, 2, 0, 0)
        row.addWidget(self._stats, 1)
        self._foot.hide()
        return self._foot

    def _failure_card(self) -> QFrame:
        card = QFrame()
        set_role(card, "notice-error")
        card.setObjectName("message.failure")
        self._why = QLabel()
        self._remedy = QLabel()
        for label in (self._why, self._remedy):
            label.setWordWrap(True)
            label.setTextFormat(Qt.TextFormat.PlainText)
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        set_role(self._why, "strong")
        self._again = ThemedButton(self.tr("Ask again"), "message.retry", icon_name="refresh")
        self._again.clicked.connect(self.retry)
        column = QVBoxLayout()
        column.setSpacing(2)
        column.addWidget(self._why)
        column.addWidget(self._remedy)
        row = QHBoxLayout(card)
        row.setContentsMargins(12, 8, 12, 8)
        row.addLayout(column, 1)
        row.addWidget(self._again, 0, Qt.AlignmentFlag.AlignTop)
        return card

    def _render(self) -> None:
        started = time.perf_counter()
        if self.role == "user":
            wanted: list[object] = [self._text]  # what the user typed is shown as typed
        else:
            from app.widgets.markdown import blocks

            wanted = list(blocks(self._text))
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
        self.resized.emit()

    def _show_block(self, index: int, block: object) -> None:
        from app.widgets.markdown import Code, Prose

        old = self._widgets[index] if index < len(self._widgets) else None
        match block:
            case Code(text=text, language=language):
                if not isinstance(old, CodeBlock):
                    old = self._replace(index, CodeBlock())
                old.set_code(text, language)
            case Prose(html=html):
                self._prose(index, old).set_html(html)
            case _:
                self._prose(index, old).set_plain(str(block))

    def _prose(self, index: int, old: ProseView | CodeBlock | None) -> ProseView:
        if isinstance(old, ProseView):
            return old
        view = ProseView()
        view.link_clicked.connect(self.link_clicked)
        return self._replace(index, view)

    def _replace[Block: (ProseView, CodeBlock)](self, index: int, widget: Block) -> Block:
        if index < len(self._widgets):
            old = self._widgets[index]
            self._body.replaceWidget(old, widget)
            old.hide()
            old.deleteLater()
            self._widgets[index] = widget
        else:
            self._body.addWidget(widget)
            self._widgets.append(widget)
        return widget


def stats_text(stats: AnswerStats, view: QWidget) -> str:
    """The stats of an answer as one line."""
    parts = []
    if stats.tokens_per_second is not None:
        parts.append(view.tr("{n} tokens/s wall").format(n=f"{stats.tokens_per_second:.0f}"))
    if stats.tokens is not None:
        tokens = view.tr("{n} token in {s} s") if stats.tokens == 1 else view.tr("{n} tokens in {s} s")
        parts.append(tokens.format(n=stats.tokens, s=f"{stats.seconds:.1f}"))
    else:
        parts.append(view.tr("{s} s").format(s=f"{stats.seconds:.1f}"))
    canvases = view.tr("1 canvas") if stats.canvases == 1 else view.tr("{n} canvases").format(n=stats.canvases)
    parts.append(canvases)
    if stats.steps_per_canvas is not None:
        parts.append(view.tr("{n} denoise steps per canvas").format(n=f"{stats.steps_per_canvas:.1f}"))
    if stats.context_used is not None and stats.context_total:
        used = view.tr("context {used} of {total}").format(used=stats.context_used, total=stats.context_total)
        parts.append(used)
    if stats.cut:
        parts.append(view.tr("cut at the length limit"))
    return "  ·  ".join(parts)
