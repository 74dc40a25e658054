"""The chat page: transcript, live canvas, composer. Built before the engine's rooms are imported; joined to its
presenter with ``attach``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QUrl, Signal
from PySide6.QtGui import QDesktopServices, QKeySequence, QResizeEvent, QShortcut
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QPlainTextEdit,
    QSizePolicy,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from app.models.chat import AnswerStats
from app.models.engine_state import EngineState
from app.theme import set_role
from app.widgets.canvas_view import CanvasView
from app.widgets.composer import Composer
from app.widgets.empty_chat import EmptyChat
from app.widgets.icons import ThemedButton
from app.widgets.link_dialog import LinkDialog
from app.widgets.message import MessageView, stats_text
from app.widgets.page_header import PageHeader
from app.widgets.transcript import COLUMN_WIDTH, Transcript

if TYPE_CHECKING:
    from app.presenters.chat import ChatPresenter

SYSTEM_PROMPT_HEIGHT = 72  # pixels
CANVAS_NEEDS_LINES = 28  # height of the page in lines of text from which on there is room for the canvas
MIDDLE_HEIGHT = 90  # pixels, at least
SCROLL_BAR_WIDTH = 12  # as in the style sheet


class ChatPage(QWidget):
    """Signals: new_requested(): the user wants a new conversation."""

    new_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("page.chat")
        self._presenter: ChatPresenter | None = None
        self._answer: MessageView | None = None
        self._state = EngineState(phase="starting")
        self._build()
        for keys, slot in (("Ctrl+N", self.new_requested.emit), ("Esc", self._stop)):
            shortcut = QShortcut(QKeySequence(keys), self)
            shortcut.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
            shortcut.activated.connect(slot)
        self.setFocusProxy(self.composer)
        self.set_engine_state(self._state)

    def attach(self, presenter: ChatPresenter) -> None:
        """Joins page and presenter."""
        self._presenter = presenter
        presenter.asked.connect(self._on_asked)
        presenter.text_changed.connect(self._on_text)
        presenter.canvas_changed.connect(self.canvas.add)
        presenter.finished.connect(self._on_finished)
        presenter.failed.connect(self._on_failed)
        presenter.refused.connect(self.show_hint)
        presenter.cleared.connect(self._on_cleared)
        presenter.answering_changed.connect(self.composer.set_answering)
        self.transcript.retry.connect(self._on_retry)

    def set_engine_state(self, state: EngineState) -> None:
        if state.phase != self._state.phase:
            self.show_hint("")  # what it said about the engine is no longer so
        self._state = state
        texts = {
            "ready": self.tr("Ask something …"),
            "starting": self.tr("The engine is starting; you can write already …"),
            "stopping": self.tr("The engine is stopping …"),
            "stopped": self.tr("The engine is stopped: start it on the Engine page"),
        }
        fallback = self.tr("The engine does not answer: restart it on the Engine page")
        self.composer.set_ready(state.ready, texts.get(state.phase, fallback))

    def set_system_prompt(self, text: str) -> None:
        """Instructions for the conversation; they count from the next message on."""
        self._system.setPlainText(text)

    def show_hint(self, text: str) -> None:
        """One line below the composer."""
        self._hint.setText(text or self._usual_hint())

    def _build(self) -> None:
        self._prompt_button = ThemedButton(
            self.tr("Instructions"), "chat.instructions", icon_name="prompt", role="quiet"
        )
        self._prompt_button.setCheckable(True)
        self._prompt_button.setToolTip(self.tr("A system prompt for this conversation"))
        self._canvas_button = ThemedButton(self.tr("Canvas"), "chat.canvas", icon_name="grid", role="quiet")
        self._canvas_button.setCheckable(True)
        self._canvas_button.setChecked(True)
        self._canvas_button.setToolTip(self.tr("Show the canvas while it denoises"))
        new = ThemedButton(self.tr("New conversation"), "chat.new", icon_name="plus")
        new.setToolTip(self.tr("New conversation  (Ctrl+N)"))
        new.clicked.connect(self.new_requested)
        header = PageHeader(self.tr("Chat"), "", self._prompt_button, self._canvas_button, new)
        self.transcript = Transcript()
        self.transcript.link_clicked.connect(self._on_link)
        self.empty = EmptyChat(self._samples())
        self.empty.chosen.connect(self._on_sample)
        self._middle = QStackedWidget()
        self._middle.addWidget(self.empty)
        self._middle.addWidget(self.transcript)
        # In a small window the transcript gives way, not what one writes into.
        self._middle.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Ignored)
        self._middle.setMinimumHeight(MIDDLE_HEIGHT)
        self.canvas = CanvasView()
        self.canvas.hide()
        self._canvas_button.toggled.connect(lambda _shown: self._show_canvas())
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(header)
        layout.addWidget(self._instructions())
        layout.addWidget(self._middle, 1)
        layout.addWidget(self._bottom())

    def _bottom(self) -> QWidget:
        self.composer = Composer()
        self.composer.sent.connect(self._on_sent)
        self.composer.stopped.connect(self._stop)
        self._hint = QLabel(self._usual_hint())
        self._hint.setObjectName("chat.hint")
        self._hint.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self._hint.setWordWrap(True)
        set_role(self._hint, "caption")
        column = QWidget()
        column.setMaximumWidth(COLUMN_WIDTH)
        inner = QVBoxLayout(column)
        inner.setContentsMargins(24, 4, 24, 8)
        inner.setSpacing(8)
        for widget in (self.canvas, self.composer, self._hint):
            inner.addWidget(widget)
        outer = QWidget()
        outer.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        row = QHBoxLayout(outer)
        row.setContentsMargins(0, 0, SCROLL_BAR_WIDTH, 0)  # in line with the transcript's column
        row.addStretch(1)
        row.addWidget(column, 1000)
        row.addStretch(1)
        return outer

    def _instructions(self) -> QWidget:
        panel = QFrame()
        self._system = QPlainTextEdit()
        self._system.setObjectName("chat.system")
        self._system.setAccessibleName(self.tr("System prompt"))
        self._system.setPlaceholderText(
            self.tr("For instance: answer in one short sentence. Counts from the next message on.")
        )
        self._system.setFixedHeight(SYSTEM_PROMPT_HEIGHT)
        self._system.setTabChangesFocus(True)
        self._system.textChanged.connect(self._on_system)
        row = QHBoxLayout(panel)
        row.setContentsMargins(24, 0, 24, 10)
        row.addWidget(self._system)
        panel.hide()
        self._prompt_button.toggled.connect(panel.setVisible)
        self._prompt_button.toggled.connect(lambda shown: self._system.setFocus() if shown else None)
        return panel

    def _samples(self) -> tuple[str, ...]:
        return (
            self.tr("What is a diffusion model?"),
            self.tr("Tell me a story about a fox."),
            self.tr("Write a loop in Python."),
        )

    def _usual_hint(self) -> str:
        return self.tr("Enter sends · Shift+Enter begins a new line · Esc stops · Ctrl+N begins anew")

    def _on_sample(self, text: str) -> None:
        if self._presenter is not None and self._presenter.send(text):
            return
        self.composer.put(text)

    def _on_sent(self, text: str) -> None:
        if self._presenter is None:
            self.show_hint(self.tr("Still loading; one moment."))
        elif self._presenter.send(text):
            self.composer.clear()

    def _on_system(self) -> None:
        if self._presenter is not None:
            self._presenter.system_prompt = self._system.toPlainText()

    def _on_asked(self, question: str) -> None:
        self.show_hint("")
        self._middle.setCurrentWidget(self.transcript)
        self.transcript.add("user", question)
        author = self.tr("Toy model") if self._state.is_toy else self._state.model
        self._answer = self.transcript.add("assistant", "", author)
        self._answer.set_waiting(self.tr("Denoising the first canvas …"))
        self.canvas.start()
        self._show_canvas()

    def _on_text(self, text: str) -> None:
        if self._answer is not None:
            self._answer.set_waiting("")
            self._answer.set_text(text, final=False)

    def _on_finished(self, stats: AnswerStats, stopped: bool) -> None:
        if self._answer is None or self._presenter is None:
            return
        answer, text = self._answer, self._presenter.turns[-1].answer
        answer.set_text(text, final=True)
        answer.set_waiting(
            "" if text else self.tr("Stopped before the first canvas.") if stopped else self.tr("An empty answer.")
        )
        words = stats_text(stats, answer)
        answer.set_stats(self.tr("stopped by you  ·  {stats}").format(stats=words) if stopped else words)
        self.canvas.finish()
        self._answer = None

    def _on_failed(self, message: str, remedy: str) -> None:
        if self._answer is None or self._presenter is None:
            return
        self._answer.set_text(self._presenter.turns[-1].answer, final=True)
        self._answer.show_failure(message, remedy)
        self.canvas.finish()
        self._answer = None

    def _on_retry(self) -> None:
        if self._presenter is None:
            return
        if not self._state.ready:
            self.show_hint(self._presenter.why_not())
            return
        self.transcript.remove_last()
        self.transcript.remove_last()
        self._presenter.retry()

    def _on_cleared(self) -> None:
        self._answer = None
        self.transcript.clear()
        self.canvas.start()
        self.canvas.hide()
        self._middle.setCurrentWidget(self.empty)
        self.show_hint("")
        self.composer.setFocus()

    def _on_link(self, url: str) -> None:
        LinkDialog(url, lambda: QDesktopServices.openUrl(QUrl(url)), self).open()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._show_canvas()

    def _show_canvas(self) -> None:
        """Where it is wanted, where there is an answer, and where there is room for it and the transcript."""
        room = self.height() >= CANVAS_NEEDS_LINES * self.fontMetrics().lineSpacing()
        talking = self._middle.currentWidget() is self.transcript
        self.canvas.setVisible(self._canvas_button.isChecked() and talking and room)

    def _stop(self) -> None:
        if self._presenter is not None:
            self._presenter.stop()
