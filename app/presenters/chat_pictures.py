"""Files and pictures on their way into a message, the pictures of drafts, and pictures to be looked at."""

from __future__ import annotations

import asyncio
from collections import Counter, OrderedDict
from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import QObject, QSize, Signal
from PySide6.QtGui import QImage
from shiboken6 import isValid

from app.presenters.chat import ChatPresenter
from app.presenters.picture_work import Prepared, decoded, picture_from, prepared
from app.tasks import cancel_all, spawn
from engine.domain.picture import Picture, Sight, StoredPicture
from engine.errors import EngineError, InputError
from engine.pictures import check_count, picture_of
from engine.store.attachments import Attachment, picture_refused, read_given

THUMBNAIL = QSize(480, 360)  # pixels: twice what is shown, for screens with fine pixels
LARGE = QSize(4096, 4096)
KEPT = 64  # thumbnails in memory, at most about 40 MB

Show = Callable[[QImage | None], object]
Given = Path | bytes | QImage  # a file, the bytes of a picture on the clipboard, or a picture without bytes


class ChatPictures(QObject):
    """Takes what is pasted, dropped or chosen, one after the other, for the conversation that was open then.

    Signals:
        text_given(str): a text file as a part of a message.
        waiting_changed(int): so many files are being read for the open conversation.
        failed(EngineError): one was not taken, and why.
    """

    text_given = Signal(str)
    waiting_changed = Signal(int)
    failed = Signal(object)

    def __init__(self, chat: ChatPresenter, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.before: dict[str, tuple[int, int]] = {}  # by sha256: the size before it was scaled down
        self._chat = chat
        self._turn = asyncio.Lock()
        self._leaving: list[tuple[int | None, StoredPicture]] = []  # removed, and still on disk
        self._waiting: Counter[int | None] = Counter()
        self._thumbnails: OrderedDict[str, QImage] = OrderedDict()
        chat.opened.connect(lambda _conversation: self._tell_waiting())

    def take(self, given: Sequence[Given]) -> None:
        """Files are read, pictures prepared; what cannot be taken is told, the rest is."""
        owner = self._chat.current
        self._waiting[owner] += len(given)
        self._tell_waiting()
        for each in given:
            spawn(self, self._take(owner, each), "take a file")

    def remove(self, picture: StoredPicture) -> None:
        """Takes a picture out of the draft of the open conversation: on the screen at once, on disk before anything
        else is written about that draft."""
        owner = self._chat.current
        if self._chat.remove_picture(picture):
            self._leaving.append((owner, picture))
            if not self._chat.draft_turn.locked():  # else whoever writes does it, before it tells
                self._let_go()

    def thumbnail(self, picture: StoredPicture, view: QObject, show: Show) -> None:
        """Gives a small picture, now or later, unless ``view`` has gone; None when it cannot be shown."""
        known = self._thumbnails.get(picture.sha256)
        if known is not None:
            self._thumbnails.move_to_end(picture.sha256)
            show(known)
        else:
            spawn(self, self._show(picture, THUMBNAIL, view, show), "thumbnail")

    def large(self, picture: StoredPicture, view: QObject, show: Show) -> None:
        """Gives a picture to be looked at."""
        spawn(self, self._show(picture, LARGE, view, show), "picture")

    async def close_down(self) -> None:
        await cancel_all(self)

    async def _take(self, owner: int | None, given: Given) -> None:
        try:
            async with self._turn:  # in the order in which they were given
                sight = await self._chat.sight.known()
                found = await asyncio.to_thread(_read, given, sight)
                if isinstance(found, Attachment):
                    self.text_given.emit(found.as_message())
                else:
                    if found.before is not None:
                        self.before[found.picture.sha256] = found.before
                    async with self._chat.draft_turn:
                        there = self._chat.store.draft_pictures(owner)
                        check_count(len(there) + 1)
                        try:
                            pictures: Sequence[Picture | StoredPicture] = [*there, found.picture]
                            await asyncio.to_thread(self._chat.store.set_draft_pictures, owner, pictures)
                        finally:
                            self._let_go()
                    self._chat.pictures_written(owner)
        except EngineError as error:
            self.failed.emit(error)
        finally:
            self._waiting[owner] -= 1
            self._tell_waiting()

    def _let_go(self) -> None:
        """Takes the pictures that were removed off the disk; small writes, that nothing can come between."""
        while self._leaving:
            owner, picture = self._leaving.pop()
            left = list(self._chat.store.draft_pictures(owner))
            if picture not in left:
                continue
            left.remove(picture)
            try:
                self._chat.store.set_draft_pictures(owner, left)
            except EngineError as error:
                self.failed.emit(error)
                self._chat.pictures_written(owner)  # it is there again

    async def _show(self, picture: StoredPicture, box: QSize, view: QObject, show: Show) -> None:
        store = self._chat.store
        image: QImage | None
        try:
            image = await asyncio.to_thread(lambda: decoded(store.picture(picture), box))
        except EngineError:
            image = None
        if image is not None and box == THUMBNAIL:
            self._thumbnails[picture.sha256] = image
            if len(self._thumbnails) > KEPT:
                self._thumbnails.popitem(last=False)
        if isValid(view):
            show(image)

    def _tell_waiting(self) -> None:
        self.waiting_changed.emit(self._waiting[self._chat.current])


def _read(given: Given, sight: Sight) -> Attachment | Prepared:
    """
    Raises:
        InputError: it is not taken, and why.
    """
    if isinstance(given, Path):
        found = read_given(given, sight)
        return found if isinstance(found, Attachment) else prepared(found)
    if sight.sees == "no":
        raise picture_refused(sight=sight)
    if isinstance(given, QImage):
        if given.isNull():
            raise InputError("picture.clipboard", "the clipboard's picture cannot be read", remedy="copy it once more")
        return prepared(picture_from(given, "pasted.png"))
    return prepared(picture_of(given, "pasted picture"))
