"""Which conversation is open and what of it is shown: opening, paging, options, drafts."""

from __future__ import annotations

import asyncio
import logging
from concurrent.futures import Future

from PySide6.QtCore import QObject, QTimer, Signal

from app.tasks import spawn
from engine.domain.conversation import ChatOptions, Conversation, StoredMessage
from engine.domain.picture import StoredPicture
from engine.errors import EngineError, UserError
from engine.store.chats import ChatStore
from engine.store.chats_read import PAGE, ChatReader

log = logging.getLogger(__name__)

DRAFT_MS = 500  # a draft is on disk so long after the last key
OPEN_NOTE, DRAFT_NOTE = "open", "draft"  # notes: the conversation that was open; the draft of one to be
WHOLE = 2**31  # messages: the path to its beginning
AFTER_HIT = 30  # messages shown below a place that was searched for


def log_failure(future: Future[None]) -> None:
    """For what is written in the background and is shown or written again later."""
    error = future.exception()
    if error is not None:
        log.warning("the conversations could not be written: %s", error)


class OpenConversation(QObject):
    """The open conversation as it is stored; ``ChatPresenter`` adds the asking.

    Signals:
        opened(object): another conversation is open: Conversation, or None for a new one.
        shown(list[StoredMessage], bool): the messages to be shown anew; whether newer ones exist below them.
        found(int): the message that was searched for is among those that were just shown.
        earlier(list[StoredMessage]): older ones, to stand above.
        pictures_changed(): ``pictures`` are others now.
        unsaved(EngineError): the draft could not be stored, and why.
        changed(): something in the list of conversations is no longer as it was.

    Attributes:
        current: its number; None for a new one, which is stored with its first question.
        tip: the last message of the path that is shown.
        pictures: of the draft; they are on disk.
        draft_turn: held while pictures of a draft are written off this thread; what reads and writes drafts waits.
    """

    opened = Signal(object)
    shown = Signal(list, bool)
    found = Signal(int)
    earlier = Signal(list)
    pictures_changed = Signal()
    unsaved = Signal(object)
    changed = Signal()

    def __init__(self, store: ChatStore, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.store = store
        self.current: int | None = None
        self.tip: int | None = None
        self.options = ChatOptions()
        self.draft = ""
        self.pictures: tuple[StoredPicture, ...] = ()
        self.draft_turn = asyncio.Lock()
        self._sought: int | None = None  # the message that is to be shown
        self._draft_changed = False
        self._draft_timer = QTimer(self)
        self._draft_timer.setSingleShot(True)
        self._draft_timer.setInterval(DRAFT_MS)
        self._draft_timer.timeout.connect(self.save_draft)

    def begin(self) -> None:
        """Opens what was open when the program ended, with what was streaming then marked as interrupted."""
        self.store.recover()
        self.store.purge()
        number = self.store.note(OPEN_NOTE)
        try:
            known = number.isdecimal() and self.store.conversation(int(number)).info.deleted is None
        except UserError:
            known = False
        self.open(int(number) if known else None)

    def open(self, conversation: int | None, message: int | None = None) -> None:
        """Shows a conversation, at a message of it where one is named; None begins a new one."""
        self.save_draft()
        self._leave()
        found = None if conversation is None else self.store.conversation(conversation)
        self.current = conversation
        self.options = found.options if found else ChatOptions()
        self.tip = found.tip if found else None
        self.draft = found.draft if found else self.store.note(DRAFT_NOTE)
        self.pictures = self.store.draft_pictures(conversation)
        self._remember_open()
        self._sought = message
        self.opened.emit(found)
        self.pictures_changed.emit()
        if message is None:
            self.show_newest()
        else:
            self._seek(message)

    @property
    def seeking(self) -> bool:
        """Whether a place of the conversation is still being looked for: what is shown is not of it."""
        return self._sought is not None

    async def new_conversation(self) -> None:
        """Begins anew; answers elsewhere go on."""
        self.open(None)

    def show_newest(self) -> None:
        self._sought = None
        self.shown.emit(self._live(self.store.page(self.tip)), False)

    def reveal(self, message: int) -> None:
        """Shows the part of the path around a message of it, once it is read."""
        self._seek(message)

    def load_earlier(self, above: int) -> None:
        """Asks for the messages above one that is shown."""
        self.earlier.emit(self.store.page(self.store.message(above).parent))

    def set_options(self, options: ChatOptions) -> None:
        """They count from the next question on."""
        self.options = options
        if self.current is not None:
            self.store.set_options(self.current, options)

    def set_draft(self, text: str) -> None:
        """What stands in the composer; it is kept."""
        if text != self.draft:
            self.draft = text
            self._draft_changed = True
            self._draft_timer.start()

    def pictures_written(self, conversation: int | None) -> None:
        """The pictures of a draft have been stored anew."""
        if conversation == self.current:
            self.pictures = self.store.draft_pictures(conversation)
            self.pictures_changed.emit()

    def remove_picture(self, picture: StoredPicture) -> bool:
        """Takes a picture out of the draft as it is shown, at once: what is sent from now on has it no more."""
        left = list(self.pictures)
        if picture not in left:
            return False
        left.remove(picture)
        self.pictures = tuple(left)
        self.pictures_changed.emit()
        return True

    def save_draft(self) -> None:
        """Stores the draft now."""
        self._draft_timer.stop()
        if not self._draft_changed:
            return
        self._draft_changed = False
        try:
            if self.current is None:
                self.store.set_note(DRAFT_NOTE, self.draft)
            else:
                self.store.set_draft(self.current, self.draft)
        except EngineError as error:  # a full disk must not keep the window from closing
            self.unsaved.emit(error)

    def conversation(self) -> Conversation | None:
        return None if self.current is None else self.store.conversation(self.current)

    def _remember_open(self) -> None:
        """Without waiting for the disk: a conversation is opened at once."""
        self.store.queue_note(OPEN_NOTE, str(self.current or "")).add_done_callback(log_failure)

    def _leave(self) -> None:
        """The conversation is about to be left."""

    def _live(self, page: list[StoredMessage]) -> list[StoredMessage]:
        """A page with what is newer than the disk."""
        return page

    def _seek(self, message: int) -> None:
        self._sought = message
        spawn(self, self._show_around(message), "show a place", lambda _error: self.show_newest())

    async def _show_around(self, message: int) -> None:
        """The whole path is read for it, off this thread; nothing is shown when another place is wanted meanwhile."""
        conversation, elsewhere = self.current, False
        while True:
            tip = self.tip
            path = await asyncio.to_thread(self._path, tip)
            if (conversation, message) != (self.current, self._sought):
                return
            place = next((place for place, each in enumerate(path) if each.id == message), None)
            if place is None and not elsewhere and conversation is not None:
                elsewhere = True  # in a version that is not shown
                self.tip = self.store.show_version(conversation, message)
            elif tip == self.tip:
                break
        if place is None:
            self.show_newest()
            return
        end = min(place + AFTER_HIT, len(path))
        self._sought = None
        self.shown.emit(self._live(path[max(end - PAGE, 0) : end]), end < len(path))
        self.found.emit(message)

    def _path(self, tip: int | None) -> list[StoredMessage]:
        with ChatReader(self.store.path) as reader:  # of its own: the window's reads do not wait
            return reader.page(tip, WHOLE)
