"""The chat page: conversations at the side, transcript, live canvas, composer. Built before the engine's rooms are
imported; joined to its presenters with ``attach``."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QUrl, Signal
from PySide6.QtGui import QDesktopServices, QKeySequence, QResizeEvent, QShortcut
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QSizePolicy,
    QSplitter,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from app.models.chat import WayOut
from app.models.engine_state import EngineState
from app.theme import set_role
from app.widgets.canvas_view import CanvasView
from app.widgets.chat.conversation_list import ConversationList
from app.widgets.chat.drop_anywhere import DropAnywhere
from app.widgets.chat.figures import FiguresBar
from app.widgets.chat.find_bar import FindBar
from app.widgets.chat.meter import ContextMeter
from app.widgets.chat.options_panel import OptionsPanel
from app.widgets.chat.overflow_card import OverflowCard
from app.widgets.composer import Composer
from app.widgets.empty_chat import EmptyChat
from app.widgets.icons import IconButton, ThemedButton
from app.widgets.link_dialog import LinkDialog
from app.widgets.page_header import PageHeader
from app.widgets.transcript import COLUMN_WIDTH, Transcript
from engine.domain.conversation import ChatOptions, Conversation, StoredMessage

if TYPE_CHECKING:
    from app.presenters.chat import ChatPresenter
    from app.presenters.chat_find import ChatFind

CANVAS_NEEDS_LINES = 28  # height of the page in lines of text from which on there is room for the canvas
LIST_NEEDS = 46  # width of the page in average letters of its title from which on there is room for the list
LIST_WIDTH = 230  # pixels, at first
MIDDLE_HEIGHT = 90  # pixels, at least
SCROLL_BAR_WIDTH = 12  # as in the style sheet


class ChatPage(QWidget):
    """Signals: new_requested(): the user wants a new conversation."""

    new_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("page.chat")
        self._presenter: ChatPresenter | None = None
        self._state = EngineState(phase="starting")
        self._enter_sends = True
        self._hit = (-1, 0)  # of the search in the conversation: message, and which of its places
        self._canvas_used = False  # an answer of the open conversation began since it was opened
        self._build()
        for keys, slot in (
            ("Ctrl+N", self.new_requested.emit),
            ("Esc", self._stop),
            ("Ctrl+K", self._search),
            ("Ctrl+F", self._begin_find),
            ("Ctrl+L", lambda: self._list_button.toggle()),
        ):
            shortcut = QShortcut(QKeySequence(keys), self)
            shortcut.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
            shortcut.activated.connect(slot)
        self.setFocusProxy(self.composer)
        DropAnywhere(self, self.composer.text)
        self.set_engine_state(self._state)

    def attach(self, presenter: ChatPresenter) -> None:
        """Joins the page to the conversation."""
        self._presenter = presenter
        presenter.opened.connect(self._on_opened)
        presenter.shown.connect(self._on_shown)
        presenter.found.connect(self._show_found)
        presenter.earlier.connect(self.transcript.prepend)
        presenter.appended.connect(self._on_appended)
        presenter.text_changed.connect(self._on_text)
        presenter.message_changed.connect(self._on_message)
        presenter.canvas_changed.connect(self.canvas.add)
        presenter.working.connect(self.show_hint)
        presenter.overflow.connect(lambda found: self._on_choice(lambda: self.overflow.show_overflow(found)))
        presenter.unseen.connect(lambda found: self._on_choice(lambda: self.overflow.show_unseen(found)))
        presenter.refused.connect(self.show_hint)
        presenter.answering_changed.connect(self._on_answering)
        transcript = self.transcript
        transcript.retry.connect(presenter.answer_again)
        transcript.go_on.connect(presenter.go_on)
        transcript.edited.connect(presenter.edit)
        transcript.moved.connect(presenter.switch_version)
        transcript.uncut.connect(presenter.uncut)
        transcript.earlier.connect(presenter.load_earlier)
        transcript.newest.connect(presenter.show_newest)
        self.composer.changed.connect(presenter.set_draft)
        self.composer.history_wanted.connect(lambda: self.composer.set_history(presenter.store.history()))
        self.options.changed.connect(presenter.set_options)
        self.overflow.chosen.connect(self._resolve)
        self.overflow.dismissed.connect(presenter.dismiss)
        self.overflow.dismissed.connect(self._arrange)

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
        foreign = state.kind == "url"
        self.canvas.set_absent(self.tr("only engines that this program starts send their canvas") if foreign else "")

    def set_enter_sends(self, enter: bool) -> None:
        """Whether Enter alone sends a message."""
        self._enter_sends = enter
        self.composer.set_enter_sends(enter)
        self.options.set_enter_sends(enter)
        self.show_hint("")

    def set_system_prompt(self, text: str) -> None:
        """Instructions for the conversation; they count from the next message on."""
        self.options.system.setPlainText(text)

    def show_hint(self, text: str) -> None:
        """One line below the composer."""
        self._hint.setText(text or self._usual_hint())

    def _build(self) -> None:
        self.chats = ConversationList()
        self.chats.new_wanted.connect(self.new_requested)
        self.chats.setMinimumWidth(150)
        right = QWidget()
        layout = QVBoxLayout(right)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        self.options = OptionsPanel()
        layout.addWidget(self._head())
        layout.addWidget(self.options)
        self.find_bar = FindBar()
        layout.addWidget(self.find_bar)
        layout.addWidget(self._conversation(), 1)
        layout.addWidget(self._bottom())
        self._split = QSplitter(Qt.Orientation.Horizontal)
        self._split.setObjectName("chat.split")
        self._split.setChildrenCollapsible(False)
        self._split.setHandleWidth(1)
        self._split.addWidget(self.chats)
        self._split.addWidget(right)
        self._split.setStretchFactor(1, 1)
        self._split.setSizes([LIST_WIDTH, 4 * LIST_WIDTH])
        outer = QHBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.addWidget(self._split)

    def _head(self) -> QWidget:
        self._list_button = IconButton("sidebar", self.tr("Show the conversations  (Ctrl+L)"), "chat.list")
        self._list_button.setCheckable(True)
        self._list_button.setChecked(True)
        self._list_button.toggled.connect(lambda _shown: self._arrange())
        self._prompt_button = ThemedButton(
            self.tr("Instructions"), "chat.instructions", icon_name="prompt", role="quiet"
        )
        self._prompt_button.setCheckable(True)
        self._prompt_button.setToolTip(self.tr("System prompt, thinking and length of answers of this conversation"))
        self._prompt_button.toggled.connect(self._show_options)
        self._canvas_button = ThemedButton(self.tr("Canvas"), "chat.canvas", icon_name="grid", role="quiet")
        self._canvas_button.setCheckable(True)
        self._canvas_button.setChecked(True)
        self._canvas_button.setToolTip(self.tr("Show the canvas while it denoises"))
        self._canvas_button.toggled.connect(lambda _shown: self._arrange())
        new = ThemedButton(self.tr("New"), "chat.new", icon_name="plus")
        new.setAccessibleName(self.tr("New conversation"))
        new.setToolTip(self.tr("New conversation  (Ctrl+N)"))
        new.clicked.connect(self.new_requested)
        self._header = PageHeader(self.tr("Chat"), "", self._list_button, self._prompt_button, self._canvas_button, new)
        return self._header

    def _conversation(self) -> QWidget:
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
        return self._middle

    def _bottom(self) -> QWidget:
        self.composer = Composer()
        self.composer.sent.connect(self._on_sent)
        self.composer.stopped.connect(self._stop)
        self.composer.waiting.connect(lambda: self.show_hint(self.tr("A file is still being read; one moment.")))
        self.overflow = OverflowCard()
        self._hint = QLabel(self._usual_hint())
        self._hint.setObjectName("chat.hint")
        self._hint.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self._hint.setWordWrap(True)
        set_role(self._hint, "caption")
        self.meter = ContextMeter()
        self.figures = FiguresBar()
        facts = QHBoxLayout()
        facts.setSpacing(16)
        facts.addWidget(self.meter)
        facts.addWidget(self.figures, 1)
        column = QWidget()
        column.setMaximumWidth(COLUMN_WIDTH)
        inner = QVBoxLayout(column)
        inner.setContentsMargins(24, 4, 24, 8)
        inner.setSpacing(6)
        for widget in (self.canvas, self.overflow, self.composer):
            inner.addWidget(widget)
        inner.addLayout(facts)
        inner.addWidget(self._hint)
        outer = QWidget()
        outer.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        row = QHBoxLayout(outer)
        row.setContentsMargins(0, 0, SCROLL_BAR_WIDTH, 0)  # in line with the transcript's column
        row.addStretch(1)
        row.addWidget(column, 1000)
        row.addStretch(1)
        return outer

    def _samples(self) -> tuple[str, ...]:
        return (
            self.tr("What is a diffusion model?"),
            self.tr("Tell me a story about a fox."),
            self.tr("Write a loop in Python."),
        )

    def _usual_hint(self) -> str:
        if self._enter_sends:
            return self.tr("Enter sends · Shift+Enter begins a new line · Esc stops · Up recalls · Ctrl+K searches")
        return self.tr("Ctrl+Enter sends · Enter begins a new line · Esc stops · Up recalls · Ctrl+K searches")

    def _on_sample(self, text: str) -> None:
        self.composer.put(text)
        self.composer.text.submitted.emit()

    def _on_sent(self, text: str) -> None:
        if self._presenter is None:
            self.show_hint(self.tr("Still loading; one moment."))
        else:
            self.overflow.hide()
            self._presenter.send(text)

    def _on_opened(self, conversation: Conversation | None) -> None:
        presenter = self._presenter
        assert presenter is not None
        self.chats.set_current(presenter.current)
        if presenter.seeking:
            self.transcript.clear()  # nobody edits a message of another conversation
        self.options.set_options(presenter.options)
        self._mark_options(presenter.options)
        self.overflow.hide()
        self.find_bar.close_bar()
        self.composer.put(presenter.draft)
        self._canvas_used = False
        self.canvas.start()
        self.show_hint("")

    def _on_shown(self, messages: list[StoredMessage], has_later: bool) -> None:
        self._middle.setCurrentWidget(self.transcript if messages else self.empty)
        self.transcript.show_messages(messages, has_later=has_later)
        if messages and messages[-1].state == "streaming":
            self._start_canvas()
        self._arrange()

    def _on_appended(self, messages: list[StoredMessage]) -> None:
        presenter = self._presenter
        assert presenter is not None
        if not presenter.draft:
            self.composer.clear()
        self.chats.set_current(presenter.current)
        if messages:
            self._middle.setCurrentWidget(self.transcript)
            self.transcript.append(messages)
            self._start_canvas()
        self._arrange()

    def _on_answering(self, answering: bool) -> None:
        self.composer.set_answering(answering)
        if answering:
            self.show_hint("")
        self._arrange()

    def _on_text(self, message: int, text: str, thought: str) -> None:
        view = self.transcript.view(message)
        if view is not None:
            view.set_text(text, final=False)
            view.set_thought(thought)

    def _on_message(self, message: StoredMessage) -> None:
        self.transcript.update_message(message)
        if message.state != "streaming":
            self.canvas.finish()

    def _start_canvas(self) -> None:
        self._canvas_used = True
        self.canvas.start()

    def _on_choice(self, show: Callable[[], None]) -> None:
        show()
        self._arrange()  # the question comes before the canvas

    def _resolve(self, way: WayOut) -> None:
        self._arrange()
        if self._presenter is not None:
            self._presenter.resolve(way)

    def _show_options(self, shown: bool) -> None:
        self.options.setVisible(shown)
        if shown:
            self.options.system.setFocus()
        elif self._presenter is not None:
            self._mark_options(self._presenter.options)

    def _mark_options(self, options: ChatOptions) -> None:
        """The button shows that something is set even while the panel is closed."""
        is_set = options != ChatOptions()
        self._prompt_button.setText(self.tr("Instructions ●") if is_set else self.tr("Instructions"))

    def _on_link(self, url: str) -> None:
        LinkDialog(url, lambda: QDesktopServices.openUrl(QUrl(url)), self).open()

    def attach_find(self, find: ChatFind) -> None:
        """Joins the bar that finds in the conversation to who looks."""
        bar = self.find_bar
        bar.searched.connect(find.search)
        bar.moved.connect(find.move)
        bar.closed.connect(lambda: find.search(""))
        bar.closed.connect(self.composer.setFocus)
        find.found.connect(self.transcript.mark_words)
        find.placed.connect(bar.set_place)
        find.current.connect(self._show_hit)

    def _begin_find(self) -> None:
        if self._middle.currentWidget() is self.transcript:
            self.find_bar.open_bar()

    def _show_hit(self, message: int, number: int) -> None:
        self._hit = (message, number)
        if self.transcript.holds(message) or self._presenter is None:
            self.transcript.show_hit(message, number)
        else:
            self._presenter.reveal(message)  # comes back as found

    def _show_found(self, message: int) -> None:
        if message == self._hit[0] and self.find_bar.isVisible():
            self.transcript.show_hit(*self._hit)
        else:
            self.transcript.scroll_to(message)

    def _search(self) -> None:
        self._list_button.setChecked(True)
        self.chats.show()
        self.chats.focus_search()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()

    def _arrange(self) -> None:
        """The list and the canvas where they are wanted and where there is room beside the conversation."""
        metrics = self.fontMetrics()
        room = self.height() >= CANVAS_NEEDS_LINES * metrics.lineSpacing()
        talking = self._middle.currentWidget() is self.transcript
        self.canvas.setVisible(
            self._canvas_button.isChecked() and talking and room and self._canvas_used and self.overflow.isHidden()
        )
        # What has to be chosen comes before what can be read again.
        self._middle.setMinimumHeight(MIDDLE_HEIGHT if self.overflow.isHidden() else 0)
        self._hint.setVisible(self.overflow.isHidden() or room)
        wide = self.width() >= 2 * LIST_NEEDS * metrics.averageCharWidth()
        searching = self.chats.isAncestorOf(self.focusWidget()) if self.focusWidget() is not None else False
        self.chats.setVisible(self._list_button.isChecked() and (wide or searching))

    def _stop(self) -> None:
        if self._presenter is not None:
            self._presenter.stop()
