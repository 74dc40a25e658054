"""A GIF writer for pictures of few colours: Qt reads the format and does not write it.

After the specification "Graphics Interchange Format, Version 89a" (CompuServe, 1990): one global table of colours, one
application extension that repeats the film, and of each picture only the rows that changed.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Sequence

MAX_CODES = 4096  # of LZW in GIF: twelve bits
BLOCK = 255  # bytes of a data sub-block


def gif(size: tuple[int, int], colors: Sequence[tuple[int, int, int]], frames: Iterable[tuple[bytes, int]]) -> bytes:
    """An endless film.

    Args:
        size: width and height in pixels.
        colors: 2 to 256 of them, each red, green, blue.
        frames: of each picture one byte a pixel, row by row, an index into ``colors``; and how long it stands in ms.
    """
    bits = max(2, (len(colors) - 1).bit_length())
    table = [*colors, *[(0, 0, 0)] * ((1 << bits) - len(colors))]
    head = struct.pack("<6sHHBBB", b"GIF89a", *size, 0x80 | (bits - 1), 0, 0)
    loop = b"\x21\xff\x0bNETSCAPE2.0\x03\x01\x00\x00\x00"
    return b"".join([head, *map(bytes, table), loop, *_pictures(size, bits, frames), b"\x3b"])


def _pictures(size: tuple[int, int], bits: int, frames: Iterable[tuple[bytes, int]]) -> Iterator[bytes]:
    width, height = size
    before = b""
    for pixels, ms in frames:
        top, bottom = _changed(before, pixels, width, height)
        control = struct.pack("<BBBBHBB", 0x21, 0xF9, 4, 0x04, round(ms / 10), 0, 0)  # 4: leave it where it is
        place = struct.pack("<BHHHHBB", 0x2C, 0, top, width, bottom - top, 0, bits)
        yield control + place + _blocks(_lzw(pixels[top * width : bottom * width], bits))
        before = pixels


def _changed(before: bytes, pixels: bytes, width: int, height: int) -> tuple[int, int]:
    """The rows from the first to behind the last that differ; at least one."""
    rows = [row for row in range(height) if before[row * width : (row + 1) * width] != _row(pixels, row, width)]
    return (rows[0], rows[-1] + 1) if rows else (0, 1)


def _row(pixels: bytes, row: int, width: int) -> bytes:
    return pixels[row * width : (row + 1) * width]


def _lzw(pixels: bytes, bits: int) -> bytes:
    """Variable-length LZW as in appendix F of the specification: the lowest bit first."""
    clear, end = 1 << bits, (1 << bits) + 1
    out = bytearray()
    held, have, wide = clear, bits + 1, bits + 1  # begins with a clear code
    codes: dict[int, int] = {}
    following, prefix = end + 1, pixels[0]
    for pixel in pixels[1:]:
        key = prefix << 8 | pixel
        known = codes.get(key)
        if known is not None:
            prefix = known
            continue
        held |= prefix << have
        have += wide
        if following < MAX_CODES:
            codes[key] = following
            if following == 1 << wide:
                wide += 1
            following += 1
        else:
            held |= clear << have
            have += wide
            codes.clear()
            following, wide = end + 1, bits + 1
        while have >= 8:
            out.append(held & 0xFF)
            held >>= 8
            have -= 8
        prefix = pixel
    held |= prefix << have
    have += wide
    if following == 1 << wide and wide < 12:
        wide += 1
    held |= end << have
    have += wide
    return bytes(out) + held.to_bytes((have + 7) // 8, "little")


def _blocks(data: bytes) -> bytes:
    parts = (data[start : start + BLOCK] for start in range(0, len(data), BLOCK))
    return b"".join(bytes([len(part)]) + part for part in parts) + b"\x00"
