"""Local pictures: found by a path, known by their first bytes, bounded in size. Nothing remote is ever loaded."""

from __future__ import annotations

import hashlib
import re
import stat
from collections import OrderedDict
from pathlib import Path
from urllib.parse import unquote, urlsplit

from engine.domain.picture import Picture
from engine.errors import InputError
from engine.picture_header import header_of

MAX_BYTES = 20_000_000
MAX_PIXELS = 50_000_000  # a model sees less than a million of them; decoding more takes gigabytes in the engine
MAX_TOGETHER = 16  # pictures of one row or message: each takes about 260 tokens
SHELF_BYTES = 32_000_000  # and a third more than that once they are encoded
_CHECK = "check the path; relative ones start in the table's folder, or where the command was given"
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):")  # two letters at least, so that C:\ is none


def locate(name: str, folder: Path) -> Path:
    """Where the picture lies that a cell of a table names.

    Args:
        name: a path, or a ``file:`` URL.
        folder: where relative paths start.

    Raises:
        InputError: a URL of something that is not on this computer.
    """
    found = _SCHEME.match(name)
    if found is None:
        path = Path(name).expanduser() if name.startswith("~/") else Path(name)
        return folder / path
    if found[1].lower() != "file":
        raise InputError(
            "picture.remote",
            "{name} is no file of this computer: nothing is loaded from elsewhere",
            remedy="save the picture and name its path",
            name=_short(name),
        )
    parts = urlsplit(name)
    if parts.netloc not in ("", "localhost"):
        raise InputError(
            "picture.remote",
            "{name} lies on the computer {host}: nothing is loaded from elsewhere",
            remedy="save the picture and name its path",
            name=_short(name),
            host=parts.netloc,
        )
    return folder / unquote(parts.path)


def read_picture(path: Path) -> Picture:
    """The picture in a file: PNG, JPEG, WebP or GIF, told by its first bytes and not by its name.

    Raises:
        InputError: missing, unreadable, no such picture, or over a limit; names the file.
    """
    try:
        status = path.stat()  # before it is opened: a pipe would never end
        if not stat.S_ISREG(status.st_mode):
            raise InputError("picture.no_file", "{path} is no file", remedy=_CHECK, path=str(path))
        _check_size(status.st_size, str(path))
        data = path.read_bytes()
    except (OSError, ValueError) as error:  # a zero byte in the path is a ValueError
        why = error.strerror if isinstance(error, OSError) else str(error)
        raise InputError("picture.unreadable", "{path}: {why}", remedy=_CHECK, path=str(path), why=why) from error
    return picture_of(data, str(path))


def picture_of(data: bytes, name: str) -> Picture:
    """The picture in some bytes (of a file, or of the clipboard).

    Args:
        name: where it comes from, for messages; its last part becomes the picture's name.

    Raises:
        InputError: no such picture, or over a limit.
    """
    _check_size(len(data), name)
    header = header_of(data)
    if header is None:
        raise InputError(
            "picture.kind",
            "{name} is no picture that can be sent",
            remedy="PNG, JPEG, WebP and GIF can, whatever the file is called",
            name=name,
        )
    if not 0 < header.width * header.height <= MAX_PIXELS:
        raise InputError(
            "picture.pixels",
            "{name}: {width} x {height} pixels; a picture may have {limit} in all, and this one has {count}",
            remedy="make it smaller: a model sees less than a million pixels of it",
            name=name,
            width=header.width,
            height=header.height,
            limit=f"{MAX_PIXELS:,}",
            count=f"{header.width * header.height:,}",
        )
    return Picture(Path(name).name, header.kind, header.width, header.height, hashlib.sha256(data).hexdigest(), data)


class PictureShelf:
    """The pictures read last, so that one that many rows name is read and encoded once. For one thread at a time.

    Args:
        most_bytes: of the pictures' data that are kept.
    """

    def __init__(self, most_bytes: int = SHELF_BYTES) -> None:
        self._most = most_bytes
        self._kept: OrderedDict[tuple[str, int, int, int], Picture] = OrderedDict()
        self._bytes = 0

    def read(self, path: str) -> Picture:
        """As ``read_picture``; a file that has changed is read again."""
        try:
            status = Path(path).stat()
        except (OSError, ValueError):
            return read_picture(Path(path))  # says why
        key = (path, status.st_ino, status.st_mtime_ns, status.st_size)
        found = self._kept.pop(key, None)
        if found is None:
            found = read_picture(Path(path))
            self._bytes += len(found.data)
        self._kept[key] = found
        while self._bytes > self._most and len(self._kept) > 1:
            self._bytes -= len(self._kept.popitem(last=False)[1].data)
        return found


def check_count(count: int) -> None:
    """Raises InputError for more pictures than one prompt may hold."""
    if count > MAX_TOGETHER:
        message = "{count} pictures; at most {limit} can be shown together"
        raise InputError("picture.too_many", message, count=count, limit=MAX_TOGETHER)


def _check_size(size: int, name: str) -> None:
    if size > MAX_BYTES:
        raise InputError(
            "picture.size",
            "{name}: {size} bytes; a picture may have {limit}",
            remedy="make it smaller: a model sees less than a million pixels of it",
            name=name,
            size=f"{size:,}",
            limit=f"{MAX_BYTES:,}",
        )


def _short(name: str) -> str:
    return name if len(name) <= 80 else f"{name[:77]}..."
