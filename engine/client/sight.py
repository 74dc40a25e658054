"""Whether an engine sees: it is shown a small grey square, which costs no read and writes nothing."""

from __future__ import annotations

import zlib
from functools import cache

from engine.client.http import EngineClient
from engine.domain.chat import Message
from engine.domain.picture import Picture, Sight
from engine.errors import EngineRefused, UserError
from engine.pictures import picture_of

SIDE = 64  # pixels; one of a single pixel is taken for another layout by some processors
_NOT_TAKEN = frozenset({400, 413, 422})
_NOT_THERE = frozenset({403, 404, 405, 501})
BLIND_TOY = "the bundled toy model was trained on text only"
BLIND_PLAN = "vLLM was started without the vision tower (text only)"
REMEDY = "take an engine that sees, or leave the pictures out; for vLLM choose Pictures on the Setup page"


async def find_sight(client: EngineClient) -> Sight:
    """Whether the engine takes pictures, and what one costs.

    Asked through /render, else, where that is not served, by counting with /tokenize. ``unknown`` where neither is.

    Raises:
        EngineUnreachable: nobody answers.
        EngineRefused: 401, the key is wrong.
    """
    shown = Message("user", "", (probe_picture(),))
    try:
        places = (await client.rendered([shown])).picture_places
    except EngineRefused as refusal:
        if refusal.status in _NOT_THERE:
            return await _by_counting(client)
        return _refused(refusal)
    if not places:
        return Sight("no", "the engine leaves pictures out of what its model is shown")
    length = places[0].get("length") if isinstance(places[0], dict) else None
    return Sight("yes", tokens=length if isinstance(length, int) else None)


async def picture_tokens(client: EngineClient, picture: Picture) -> int:
    """Prompt tokens that a picture takes in a message, as the engine counts.

    Raises:
        EngineRefused: the engine does not see, or does not count.
        EngineUnreachable: nobody answers.
    """
    return await client.count([Message("user", "", (picture,))]) - await client.count([Message("user", "")])


def blind(sight: Sight) -> UserError:
    """Why no picture can be shown to an engine."""
    return UserError("engine.blind", "the engine sees no pictures: {why}", remedy=REMEDY, why=sight.why)


@cache
def probe_picture() -> Picture:
    """A grey square, made here so that no file is needed."""
    return picture_of(square((128, 128, 128), SIDE), "grey.png")


def square(colour: tuple[int, int, int], side: int) -> bytes:
    """A PNG of one colour. ``colour``: red, green and blue, 0 to 255; ``side``: pixels."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return len(data).to_bytes(4, "big") + kind + data + zlib.crc32(kind + data).to_bytes(4, "big")

    head = side.to_bytes(4, "big") * 2 + b"\x08\x02\x00\x00\x00"  # 8 bits, RGB
    rows = (b"\x00" + bytes(colour) * side) * side
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


async def _by_counting(client: EngineClient) -> Sight:
    try:
        tokens = await picture_tokens(client, probe_picture())
    except EngineRefused as refusal:
        if refusal.status in _NOT_THERE:
            return Sight("unknown", "the engine has no endpoint that tells whether it sees")
        return _refused(refusal)
    if tokens <= 0:
        return Sight("no", "the engine leaves pictures out of what its model is shown")
    return Sight("yes", tokens=tokens)


def _refused(refusal: EngineRefused) -> Sight:
    if refusal.status == 401:
        raise refusal
    detail = refusal.params.get("detail") or str(refusal)
    if refusal.status in _NOT_TAKEN:
        return Sight("no", f"it says: {detail}")
    return Sight("unknown", f"it failed when it was shown one: {detail}")
