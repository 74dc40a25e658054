"""Prompts with pictures, rendered by the engine; and the pictures themselves, read when a row's turn comes.

What the engine makes of a picture (its tensors) is megabytes and the same for every question. So it is asked for once,
kept for a while, and put to the other prompts by the hash that the engine itself gives the picture.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from threading import Lock
from typing import Any
from weakref import WeakValueDictionary

from pydantic_core import to_json

from engine.client.http import EngineClient
from engine.domain.chat import Message
from engine.domain.picture import Picture, PictureUse, State, paths_of
from engine.errors import EngineRefused
from engine.pictures import PictureShelf

TENSOR_BYTES = 64_000_000  # kept; a picture's are about 5 MB for the released model
ROWS_AT_ONCE = 16  # rows with pictures that are under way: each holds its pictures and their tensors

Hashes = tuple[str, ...]
_PARTS = ("kwargs_data", "mm_metadata")


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


class PicturedPrompts:
    """Renders prompts with pictures. For one event loop."""

    def __init__(self, client: EngineClient) -> None:
        self._client = client
        self._kept: OrderedDict[Hashes, tuple[Mapping[str, Any], int]] = OrderedDict()  # features and their bytes
        self._bytes = 0
        self._first: WeakValueDictionary[Hashes, asyncio.Lock] = WeakValueDictionary()

    async def of(self, text: str, pictures: Sequence[Picture]) -> tuple[tuple[int, ...], bytes]:
        """Prompt token ids and the features that belong to them, as JSON.

        Raises:
            EngineRefused: the engine takes no pictures, or leaves them out.
            EngineUnreachable: nobody answers.
        """
        key = tuple(picture.sha256 for picture in pictures)
        message = Message("user", text, tuple(pictures))
        lock = self._first.setdefault(key, asyncio.Lock())
        async with lock:  # the others of a row wait for the first one's tensors
            if key not in self._kept:
                return await self._whole(key, message)
        rendered = await self._client.rendered([message], tensors=False)
        kept = self._kept.get(key)
        features = None if kept is None else _with_tensors(rendered.features, kept[0])
        if features is None:  # dropped meanwhile, or the engine names the picture otherwise now
            return await self._whole(key, message)
        return rendered.token_ids, to_json(features)

    async def _whole(self, key: Hashes, message: Message) -> tuple[tuple[int, ...], bytes]:
        rendered = await self._client.rendered([message])
        if not (rendered.features or {}).get("mm_hashes"):
            raise EngineRefused(
                "engine.picture_left_out",
                "the engine left the row's pictures out of its prompt",
                remedy="serve a model that sees, or read through the native wire",
                status=200,
            )
        assert rendered.features is not None
        features = to_json(rendered.features)
        self._keep(key, rendered.features, len(features))
        return rendered.token_ids, features

    def _keep(self, key: Hashes, features: Mapping[str, Any], size: int) -> None:
        if key in self._kept:
            self._bytes -= self._kept.pop(key)[1]
        self._kept[key] = (features, size)
        self._bytes += size
        while self._bytes > TENSOR_BYTES and len(self._kept) > 1:
            self._bytes -= self._kept.popitem(last=False)[1][1]


def _with_tensors(features: Mapping[str, Any] | None, kept: Mapping[str, Any]) -> dict[str, Any] | None:
    """The places of one prompt with the tensors of another; None unless both name the same pictures."""
    if features is None or features.get("mm_hashes") != kept.get("mm_hashes"):
        return None
    return {**features, **{part: kept[part] for part in _PARTS if part in kept}}
