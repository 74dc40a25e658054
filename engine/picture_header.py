"""What the first bytes of a picture say: its kind and its size in pixels. Nothing is decoded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from engine.domain.picture import PictureKind

_STANDALONE = frozenset([0x01, *range(0xD0, 0xD9)])  # JPEG markers without a length (ITU T.81, table B.1)
_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}  # start of frame; the others are tables
_MARKS = (b"\x89PNG\r\n\x1a\n", b"GIF87a", b"GIF89a", b"\xff\xd8\xff", b"II*\x00", b"MM\x00*")
_BOXES = frozenset({b"ftypheic", b"ftypheix", b"ftypmif1", b"ftypavif"})  # ISO 14496-12, 4.3


@dataclass(frozen=True, slots=True)
class Header:
    """Kind and pixels of a picture."""

    kind: PictureKind
    width: int
    height: int


def header_of(data: bytes) -> Header | None:
    """None for what is none of the four kinds, or too short or too broken to tell its size."""
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        size = _png(data)
        kind: PictureKind = "png"
    elif data.startswith((b"GIF87a", b"GIF89a")):
        size, kind = _pair(data, 6, 2, "little"), "gif"  # GIF89a, section 18
    elif data.startswith(b"\xff\xd8\xff"):
        size, kind = _jpeg(data), "jpeg"
    elif data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        size, kind = _webp(data), "webp"
    else:
        return None
    return None if size is None else Header(kind, *size)


def looks_like_picture(head: bytes) -> bool:
    """Whether a file that begins so is a picture, also of a kind that is not sent (BMP, TIFF, HEIC, AVIF)."""
    return head.startswith(_MARKS) or (head.startswith(b"RIFF") and head[8:12] == b"WEBP") or head[4:12] in _BOXES


def _pair(data: bytes, at: int, width: int, order: Literal["little", "big"]) -> tuple[int, int] | None:
    """Two whole numbers of ``width`` bytes each, or None where they are cut off."""
    if len(data) < at + 2 * width:
        return None
    first, second = data[at : at + width], data[at + width : at + 2 * width]
    return int.from_bytes(first, order), int.from_bytes(second, order)


def _png(data: bytes) -> tuple[int, int] | None:
    """The IHDR chunk comes first (PNG, 11.2.1)."""
    return _pair(data, 16, 4, "big") if data[12:16] == b"IHDR" else None


def _jpeg(data: bytes) -> tuple[int, int] | None:
    """The first start of frame: length, precision, height, width (ITU T.81, B.2.2)."""
    at = 2
    while at + 4 <= len(data):
        if data[at] != 0xFF:
            return None
        marker = data[at + 1]
        if marker == 0xFF:  # fill
            at += 1
        elif marker in _STANDALONE:
            at += 2
        elif marker in _FRAMES:
            size = _pair(data, at + 5, 2, "big")
            return None if size is None else (size[1], size[0])
        elif marker in (0xD9, 0xDA):  # the picture itself, before any frame
            return None
        else:
            at += 2 + int.from_bytes(data[at + 2 : at + 4], "big")
    return None


def _webp(data: bytes) -> tuple[int, int] | None:
    """The first chunk: extended, lossless or lossy (RFC 9649, 2.5 to 2.7; RFC 6386, 9.1)."""
    chunk = data[12:16]
    if chunk == b"VP8X":
        size = _pair(data, 24, 3, "little")
        return None if size is None else (size[0] + 1, size[1] + 1)
    if chunk == b"VP8L" and len(data) >= 25 and data[20] == 0x2F:
        bits = int.from_bytes(data[21:25], "little")
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    if chunk == b"VP8 " and data[23:26] == b"\x9d\x01\x2a":
        size = _pair(data, 26, 2, "little")
        return None if size is None else (size[0] & 0x3FFF, size[1] & 0x3FFF)
    return None
