"""How much of the window the next message takes: counted by the engine, a moment after the last key."""

from __future__ import annotations

from PySide6.QtCore import QObject, QTimer, Signal

from app.models.chat import ContextUse
from app.presenters.chat import ChatPresenter
from app.presenters.chat_count import path_of
from app.tasks import cancel_all, spawn_late
from engine.client.http import EngineClient
from engine.domain.conversation import ChatOptions
from engine.errors import EngineError, EngineRefused

WAIT_MS = 400  # after the last change


class ChatMeter(QObject):
    """Signals: changed(ContextUse)."""

    changed = Signal(object)

    def __init__(self, chat: ChatPresenter, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.use = ContextUse()
        self._chat = chat
        self._known: tuple[tuple[object, ...], int | None, int] | None = None
        self._cannot: EngineClient | None = None  # a server that does not count
        self._counting = False
        self._again = False
        self._closed = False
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(WAIT_MS)
        self._timer.timeout.connect(self._begin)
        chat.opened.connect(self.touch)
        chat.shown.connect(self.touch)
        chat.pictures_changed.connect(self.touch)
        chat.sight.changed.connect(self.touch)
        chat.finished.connect(self.forget)
        chat.engine.state_changed.connect(self.forget)

    def touch(self) -> None:
        """Something has changed that counts: it is counted anew in a moment."""
        if not self._closed:
            self._timer.start()

    def forget(self) -> None:
        """The conversation itself has changed."""
        self._known = None
        self.touch()

    async def close_down(self) -> None:
        self._closed = True  # what is closed after us still tells of changes
        self._timer.stop()
        await cancel_all(self)

    def _begin(self) -> None:
        if self._counting:
            self._again = True
            return
        self._counting = True
        spawn_late(self, self._count, "context meter")

    async def _count(self) -> None:
        try:
            use = await self._measured()
        finally:
            self._counting = False
        if use != self.use:
            self.use = use
            self.changed.emit(use)
        if self._again:
            self._again = False
            self._timer.start()

    async def _measured(self) -> ContextUse:
        chat, client = self._chat, self._chat.engine.client
        window = chat.engine.state.context
        if client is None or not chat.engine.state.ready or self._cannot is client:
            return ContextUse(None, window, 0)
        try:
            sees = chat.sight.value.sees != "no"  # counted anew when it is known
            base, left_out = await self._base(client, chat.tip, chat.options, sees)
            draft = len(await client.tokenize(chat.draft)) if chat.draft.strip() else 0
            if sees:
                draft += await chat.counter(client).pictures(chat.pictures)
        except EngineRefused as error:
            if error.status == 404:
                self._cannot = client
            return ContextUse(None, window, 0)
        except EngineError:
            return ContextUse(None, window, 0)
        return ContextUse(None if base is None else base + draft, window, left_out)

    async def _base(
        self, client: EngineClient, tip: int | None, options: ChatOptions, sees: bool
    ) -> tuple[int | None, int]:
        """Tokens of what is sent without the draft, and how many messages are not sent."""
        key = (client, tip, options.system, sees)
        if self._known is not None and self._known[0] == key:
            return self._known[1:]
        path = await path_of(self._chat.store, tip)
        tokens = await self._chat.counter(client).count(path, options, sees=sees)
        self._known = (key, tokens, path[0].depth - 1 if path else 0)
        return self._known[1:]
