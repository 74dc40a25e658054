"""Prompt tokens of long conversations, a slice at a time: nothing here holds the GUI's thread for longer than a slice.

A chat template puts a fixed frame around a conversation (its beginning, and what asks for the answer) and writes one
message after the other between. So the tokens of a conversation are those of its slices, less the frames that are
counted too often. A conversation of one slice is counted as it is sent.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass

from engine.client.http import EngineClient
from engine.client.sight import picture_tokens
from engine.domain.chat import Message
from engine.domain.conversation import ChatOptions, StoredMessage, sent_messages, told
from engine.domain.picture import Picture, StoredPicture
from engine.errors import EngineRefused
from engine.store.chats import ChatStore

SLICE = 50  # messages: half a millisecond to read and as much to send
_TOO_LONG = frozenset({400, 413, 422})
_PROBE = (Message("user", "a"), Message("assistant", "b"), Message("user", "a"))


async def path_of(store: ChatStore, last: int | None) -> list[StoredMessage]:
    """The part of the path to ``last`` that the model is sent, as ``ChatStore.context`` gives it, slice by slice."""
    slices: list[list[StoredMessage]] = []
    while last is not None:
        page = store.page(last, limit=SLICE)
        start = max((place for place, message in enumerate(page) if message.is_cut), default=None)
        slices.append(page[start:])
        last = page[0].parent if page and start is None else None
        if last is not None:
            await asyncio.sleep(0)
    return [message for page in reversed(slices) for message in page]


async def tokens_of(client: EngineClient, messages: Sequence[Message]) -> int | None:
    """Prompt tokens; None when there are so many that the engine does not count them.

    Raises:
        EngineRefused: the server does not count at all.
        EngineUnreachable: nobody answers.
    """
    try:
        return await client.count(messages)
    except EngineRefused as error:
        if error.status in _TOO_LONG:
            return None
        raise


@dataclass(frozen=True, slots=True)
class Asked:
    """A question that is not in the path yet."""

    text: str = ""
    pictures: tuple[StoredPicture, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.text or self.pictures)


class PathCounter:
    """Counts paths with one engine and remembers the slices, so that a longer path costs its new messages only.

    A picture is counted by itself, once for each size: what it takes depends on nothing else.
    ``count`` raises what ``tokens_of`` raises.

    Args:
        load: gives the bytes of a picture.
    """

    def __init__(self, client: EngineClient, load: Callable[[StoredPicture], Awaitable[Picture]]) -> None:
        self.client = client
        self._load = load
        self._known: dict[tuple[object, ...], int] = {}
        self._pictures: dict[tuple[int, int], int] = {}
        self._frame: int | None = None  # tokens around the messages

    async def count(
        self, path: Sequence[StoredMessage], options: ChatOptions, asked: Asked = Asked(), *, sees: bool = True
    ) -> int | None:
        """Prompt tokens of a path and a question after it; None when a part is too long to be counted.

        Args:
            path: what is sent, oldest first; only its first message may be cut.
            options: the system prompt counts.
            sees: whether the engine is sent the pictures, or is told what it is not shown.
        """
        slices = list(_slices(path))
        if len(slices) <= 1:
            return await self._tokens(path, options, asked, sees, is_last=True)
        total = frame = await self._frame_tokens()
        last = len(slices) - 1
        for place, part in enumerate(slices):
            await asyncio.sleep(0)  # a slice that is known is not waited for
            of_part = options if place == 0 else ChatOptions()
            if place == last:
                found = await self._tokens(part, of_part, asked, sees, is_last=True)
            else:
                found = await self._remembered(part, of_part, sees)
            if found is None:
                return None
            total += max(found - frame, 0)  # a slice of which nothing is sent has no frame either
        return total

    async def pictures(self, pictures: Sequence[StoredPicture]) -> int:
        """Prompt tokens of pictures."""
        total = 0
        for picture in pictures:
            size = (picture.width, picture.height)
            if size not in self._pictures:
                self._pictures[size] = await picture_tokens(self.client, await self._load(picture))
            total += self._pictures[size]
        return total

    async def _remembered(self, part: Sequence[StoredMessage], options: ChatOptions, sees: bool) -> int | None:
        # A message's text changes only while its answer grows.
        length = sum(len(message.text) for message in part)
        key = (part[0].id, part[-1].id, length, part[0].is_cut, part[0].summary, options.system, sees)
        found = self._known.get(key)
        if found is None:
            found = await self._tokens(part, options, Asked(), sees, is_last=False)
            if found is not None:
                self._known[key] = found
        return found

    async def _tokens(
        self, part: Sequence[StoredMessage], options: ChatOptions, asked: Asked, sees: bool, *, is_last: bool
    ) -> int | None:
        messages = sent_messages(part, options, _without_bytes if sees else None)
        if (asked or not is_last) and messages and messages[-1].role == "user":
            messages.pop()  # a question that got no answer is not sent when another follows
        shown = [picture for message in messages for picture in message.pictures]
        if asked:
            messages.append(Message("user", asked.text if sees else told(asked.text, asked.pictures)))
        if not messages:
            return 0
        found = await tokens_of(self.client, [Message(each.role, each.content) for each in messages])
        if found is None or not sees:
            return found
        by_key = {picture.sha256: picture for message in part for picture in message.pictures}
        return found + await self.pictures([*(by_key[each.sha256] for each in shown), *asked.pictures])

    async def _frame_tokens(self) -> int:
        if self._frame is None:
            one, two, three = [await self.client.count(_PROBE[:length]) for length in (1, 2, 3)]
            self._frame = one + two - three
        return self._frame


def _without_bytes(picture: StoredPicture) -> Picture:
    return Picture(picture.name, picture.kind, picture.width, picture.height, picture.sha256, b"")


def _slices(path: Sequence[StoredMessage]) -> Iterator[Sequence[StoredMessage]]:
    """Slices that begin with a question, at the same messages wherever the path begins and ends."""
    start = 0
    for place, message in enumerate(path):
        if message.role == "user" and message.depth // SLICE != path[start].depth // SLICE:
            yield path[start:place]
            start = place
    if start < len(path):
        yield path[start:]
