"""What the engine is to be asked for, and what of it an engine is sent."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from app.presenters.chat_answer import AnswerRun
from engine.domain.conversation import StoredMessage
from engine.domain.picture import Picture, StoredPicture
from engine.store.chats import ChatStore

Pictures = Callable[[StoredPicture], Picture]


@dataclass(frozen=True, slots=True)
class Request:
    """One question.

    Attributes:
        last: the message that the path before it ends with; None for a first question.
        text, pictures: a new question; empty for ``again`` (``last`` is the question) and ``continue`` (``last`` is
            the answer).
        is_draft: it stood in the composer, which is empty afterwards.
        unseen: the user knows that the engine sees no pictures.
    """

    kind: Literal["ask", "again", "continue"]
    last: int | None
    text: str = ""
    pictures: tuple[StoredPicture, ...] = ()
    is_draft: bool = False
    unseen: bool = False

    def pictures_with(self, path: Sequence[StoredMessage]) -> list[StoredPicture]:
        """All that are in question when it is asked after ``path``."""
        return [picture for message in path for picture in message.pictures] + list(self.pictures)


@dataclass(slots=True, eq=False)
class Job:
    """A request on its way. ``conversation`` is None until a first question is stored."""

    conversation: int | None
    task: asyncio.Task[None] | None = None
    run: AnswerRun | None = None


async def with_bytes(store: ChatStore, pictures: Sequence[StoredPicture]) -> Pictures:
    """Gives pictures as they are sent; read and encoded one by one, off the GUI's thread.

    Raises:
        InputError: one is not there any more.
    """

    def load(picture: StoredPicture) -> Picture:
        found = store.picture(picture)
        _ = found.data_url  # made once, and here
        return found

    found: dict[str, Picture] = {}
    for picture in pictures:
        if picture.sha256 not in found:
            found[picture.sha256] = await asyncio.to_thread(load, picture)
    return lambda picture: found[picture.sha256]


def path_as_stored(
    path: Sequence[StoredMessage], new: Sequence[StoredMessage], cut_at: int | None, summary: str
) -> list[StoredMessage]:
    """The path that ends with the answer, as it is on disk now: ``ChatStore.context`` would read all of it once more.

    Args:
        path: as it was before.
        new: the question, where it is new, and the row of the answer.
        cut_at: the message from which on it is sent now; None: nothing has changed there.
    """
    last = new[-1].id
    whole = [message for message in path if message.id != last] + list(new)
    start = next((place for place, message in enumerate(whole) if message.id == cut_at), None)
    if start is None:
        return whole
    return [replace(whole[start], is_cut=True, summary=summary), *whole[start + 1 :]]
