"""Prompts with pictures, rendered by the engine; and the pictures themselves, read when a row's turn comes.

The engine's rendered prompt has a range of places for every picture. What is sent back for a read has one token there
again and the picture itself beside it (``content_parts``), so the engine places it as it does in a chat. Its features
are not handed back, since vLLM 0.32 and 0.33 drop from them which tokens of a range are the picture's, and then their
engine dies of the marks around it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any

from pydantic_core import to_json

from engine.client.http import EngineClient
from engine.domain.chat import Message
from engine.domain.picture import Picture, PictureUse, State, paths_of
from engine.errors import EngineRefused
from engine.pictures import PictureShelf

ROWS_AT_ONCE = 16  # rows with pictures that are under way, each with its pictures in memory


@dataclass(frozen=True, slots=True)
class Prompt:
    """A rendered prompt.

    Attributes:
        ids: as the model sees it; the noise of draw 0 follows it.
        sent: the same with one token for each picture.
        parts: of the pictures, as JSON; empty for none.
    """

    ids: tuple[int, ...]
    sent: tuple[int, ...]
    parts: bytes = b""


class RowPictures:
    """Reads the pictures of rows."""

    def __init__(self) -> None:
        self._shelf = PictureShelf()
        self._one = Lock()  # the shelf is for one thread at a time
        self.free = asyncio.Semaphore(ROWS_AT_ONCE)

    async def of(self, state: State) -> tuple[Picture, ...]:
        """The pictures of a row, encoded for the wire.

        Raises:
            InputError: as ``read_picture``.
        """
        paths = paths_of(state)
        return await asyncio.to_thread(self._read, paths) if paths else ()

    def _read(self, paths: Sequence[str]) -> tuple[Picture, ...]:
        found = []
        for path in paths:
            with self._one:
                picture = self._shelf.read(path)
            _ = picture.data_url  # made here, off the loop
            found.append(picture)
        return tuple(found)


def uses(state: State, pictures: Sequence[Picture]) -> tuple[PictureUse, ...]:
    """What an answer keeps of the pictures that it was read with."""
    return tuple(PictureUse(path, picture.sha256) for path, picture in zip(paths_of(state), pictures, strict=True))


async def render(client: EngineClient, text: str, pictures: Sequence[Picture]) -> Prompt:
    """The prompt of one message.

    Raises:
        EngineRefused: the engine takes no pictures, leaves them out, or marks them in a way that is not known.
        EngineUnreachable: nobody answers.
    """
    if not pictures:
        ids = await client.render([Message("user", text)])
        return Prompt(ids, ids)
    rendered = await client.rendered([Message("user", text, tuple(pictures))])
    sent = collapsed(rendered.token_ids, _ranges(rendered.picture_places), len(pictures))
    parts = [{"type": "image_url", "url": picture.data_url} for picture in pictures]
    return Prompt(rendered.token_ids, sent, to_json(parts))


def collapsed(ids: Sequence[int], ranges: Sequence[tuple[int, int]], pictures: int) -> tuple[int, ...]:
    """Token ids with one token in place of each range of a picture.

    Args:
        ranges: (offset, length) of each, in order.
        pictures: how many ranges there must be.

    Raises:
        EngineRefused: there are more or fewer, or one does not consist of one token again and again between marks.
    """
    if len(ranges) != pictures:
        raise EngineRefused(
            "engine.picture_left_out",
            "of {pictures} pictures the engine put {ranges} into its prompt",
            remedy="serve a model that sees, or read through the native wire",
            status=200,
            pictures=pictures,
            ranges=len(ranges),
        )
    found: list[int] = []
    end = 0
    for offset, length in ranges:
        places = ids[offset : offset + length]
        place = places[length // 2] if offset >= end and len(places) == length > 0 else None
        if place is None or any(token != place for token in places[1:-1]):  # at its ends may stand marks
            raise EngineRefused(
                "engine.picture_places",
                "the engine marks a picture in its prompt in a way that is not known",
                remedy="read through the native wire",
                status=200,
            )
        found += [*ids[end:offset], place]
        end = offset + length
    return (*found, *ids[end:])


def _ranges(places: Sequence[Any]) -> list[tuple[int, int]]:
    try:
        return sorted((int(place["offset"]), int(place["length"])) for place in places)
    except (TypeError, KeyError, ValueError) as error:
        raise EngineRefused(
            "engine.unexpected_answer",
            "the engine does not say where it put a picture: {detail}",
            status=200,
            detail=str(error),
        ) from error
