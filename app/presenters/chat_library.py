"""The list of conversations: search, pins, names, deletion with a way back, files in and out."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from app.presenters.chat import ChatPresenter
from app.tasks import cancel_all, spawn
from engine.domain.conversation import ConversationInfo, SearchHit
from engine.errors import EngineError
from engine.store.chats_exchange import as_json, as_markdown, import_json, read_file, write_file
from engine.store.chats_read import ChatReader


class ChatLibrary(QObject):
    """All conversations.

    Signals:
        listed(list[ConversationInfo])
        found(str, list[SearchHit]): for the text of the last ``search``; an empty text ends the search.
        deleted(ConversationInfo): it can be restored.
        told(str): something was done, in words.
        failed(Exception, str): something was not done: why, and what it was.
    """

    listed = Signal(list)
    found = Signal(str, list)
    deleted = Signal(object)
    told = Signal(str)
    failed = Signal(object, str)

    def __init__(self, chat: ChatPresenter, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._chat = chat
        self._store = chat.store
        self._wanted = ""
        self._searching = False
        chat.changed.connect(self.refresh)

    def refresh(self) -> None:
        """Tells the list, and the hits of a search that is open."""
        self.listed.emit(self._store.conversations())

    def search(self, text: str) -> None:
        """Looks for words on a thread; while it looks, only the newest text waits."""
        self._wanted = text
        if not self._searching:
            self._searching = True
            spawn(self, self._search_all(), "chat search")

    def rename(self, conversation: int, title: str) -> None:
        self._try(lambda: self._store.rename(conversation, title), self.tr("The conversation was not renamed"))

    def set_pinned(self, conversation: int, pinned: bool) -> None:
        self._try(lambda: self._store.set_pinned(conversation, pinned), self.tr("The conversation was not pinned"))

    def delete(self, conversation: int) -> None:
        """Stops its answer and takes it out of the list; ``restore`` brings it back."""
        spawn(self, self._delete(conversation), "delete conversation")

    def restore(self, conversation: int) -> None:
        self._try(lambda: self._store.restore(conversation), self.tr("The conversation was not restored"))
        self._chat.open(conversation)

    def export(self, conversations: Sequence[int], path: Path) -> None:
        """Writes a file: Markdown for ``.md``, else JSON."""
        spawn(self, self._export(tuple(conversations), path), "export conversations")

    def import_file(self, path: Path) -> None:
        """Adds the conversations of a file and opens the first."""
        spawn(self, self._import(path), "import conversations")

    async def close_down(self) -> None:
        await cancel_all(self)

    async def _search_all(self) -> None:
        try:
            while True:
                text = self._wanted
                hits = await asyncio.to_thread(self._hits, text) if text.strip() else []
                if text == self._wanted:
                    self.found.emit(text, hits)
                    return
        except EngineError as error:
            self.failed.emit(error, self.tr("The search failed"))
        finally:
            self._searching = False

    def _hits(self, text: str) -> list[SearchHit]:
        with ChatReader(self._store.path) as reader:  # of its own: the window's reads do not wait for a search
            return reader.search(text)

    async def _delete(self, conversation: int) -> None:
        try:
            await self._chat.stop_conversation(conversation)
            info: ConversationInfo = self._store.conversation(conversation).info
            self._store.delete(conversation)
        except EngineError as error:
            self.failed.emit(error, self.tr("The conversation was not deleted"))
            return
        if self._chat.current == conversation:
            self._chat.open(None)
        self.refresh()
        self.deleted.emit(info)

    async def _export(self, conversations: tuple[int, ...], path: Path) -> None:
        try:
            await asyncio.to_thread(self._write, conversations, path)
        except EngineError as error:
            self.failed.emit(error, self.tr("The conversation was not exported"))
        else:
            self.told.emit(self.tr("Exported to {path}").format(path=path))

    def _write(self, conversations: tuple[int, ...], path: Path) -> None:
        with ChatReader(self._store.path) as reader:
            text = (as_markdown if path.suffix.lower() in (".md", ".markdown") else as_json)(reader, conversations)
        write_file(path, text)

    async def _import(self, path: Path) -> None:
        try:
            data = await asyncio.to_thread(read_file, path)
            added = await asyncio.to_thread(import_json, self._store, data, str(path))
        except EngineError as error:
            self.failed.emit(error, self.tr("The file was not imported"))
            return
        self.refresh()
        if added:
            self._chat.open(added[0])
        count = len(added)
        self.told.emit(
            self.tr("1 conversation imported") if count == 1 else self.tr("{n} conversations imported").format(n=count)
        )

    def _try(self, work: Callable[[], object], doing: str) -> None:
        try:
            work()
        except EngineError as error:
            self.failed.emit(error, doing)
        self.refresh()
