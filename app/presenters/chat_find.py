"""Words in the conversation that is open: in every message of the path that is shown, built or not."""

from __future__ import annotations

import asyncio
from bisect import bisect_right
from itertools import accumulate

from PySide6.QtCore import QObject, Signal

from app.presenters.chat import ChatPresenter
from app.tasks import cancel_all, spawn
from engine.errors import EngineError
from engine.store.chats_read import ChatReader

WHOLE = 2**31  # messages: the path to its beginning
MARKS = "*_`~"  # of Markdown: they are not seen, so words that hold none of them are found across them
_WITHOUT_MARKS = str.maketrans("", "", MARKS)


def occurrences(text: str, words: str) -> int:
    """How often the words stand in a message, upper and lower case alike."""
    if not any(mark in words for mark in MARKS):
        text = text.translate(_WITHOUT_MARKS)
    return text.casefold().count(words.casefold())


class ChatFind(QObject):
    """Finds in the open conversation; the place that is shown stays where it is while hits come and go around it.

    Signals:
        found(str): the words that are to be marked; empty when the search has ended.
        placed(int, int): 1-based number of the hit that is shown, and how many there are.
        current(int, int): the message of that hit, and which of its hits it is, 0-based.
        failed(Exception, str)
    """

    found = Signal(str)
    placed = Signal(int, int)
    current = Signal(int, int)
    failed = Signal(object, str)

    def __init__(self, chat: ChatPresenter, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._chat = chat
        self._words = ""
        self._hits: list[tuple[int, int]] = []  # message and its number of hits, in the order of the path
        self._place = 0
        self._looking = self._again = False
        chat.opened.connect(lambda _conversation: self.search(""))
        chat.finished.connect(lambda _message: self._look())
        chat.changed.connect(self._look)

    @property
    def hits(self) -> int:
        return sum(count for _message, count in self._hits)

    def search(self, words: str) -> None:
        """Looks for words, case aside, from the newest message on; no words end it."""
        self._words = words if words.strip() else ""
        self._hits, self._place = [], 0
        self.found.emit(self._words)
        self.placed.emit(0, 0)
        self._look()

    def move(self, by: int) -> None:
        """To the hit after (+1) or before (-1); behind the last comes the first."""
        if self._hits:
            self._place = (self._place - 1 + by) % self.hits + 1
            self._tell()

    async def close_down(self) -> None:
        await cancel_all(self)

    def _look(self) -> None:
        if not self._words:
            return
        self._again = self._looking
        if not self._looking:
            self._looking = True
            spawn(self, self._look_through(), "find in conversation")

    async def _look_through(self) -> None:
        try:
            while True:
                words, tip = self._words, self._chat.tip
                hits = await asyncio.to_thread(self._read, words, tip) if words else []
                if words == self._words and not self._again:
                    break
                self._again = False
        except EngineError as error:
            self.failed.emit(error, self.tr("The search failed"))
            return
        finally:
            self._looking = False
        first = not self._place
        self._hits = hits
        self._place = self.hits if first else min(self._place, self.hits)
        if first and hits:
            self._tell()
        else:
            self.placed.emit(self._place, self.hits)

    def _read(self, words: str, tip: int | None) -> list[tuple[int, int]]:
        with ChatReader(self._chat.store.path) as reader:  # of its own: the window's reads do not wait
            counted = [(message.id, occurrences(message.text, words)) for message in reader.page(tip, WHOLE)]
        return [(message, count) for message, count in counted if count]

    def _tell(self) -> None:
        ends = list(accumulate(count for _message, count in self._hits))
        index = bisect_right(ends, self._place - 1)
        message, count = self._hits[index]
        self.placed.emit(self._place, self.hits)
        self.current.emit(message, self._place - 1 - (ends[index] - count))
