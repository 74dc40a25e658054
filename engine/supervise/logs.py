"""Log files of processes: one a start, the last few kept."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

KEPT = 3  # starts before this one
LIMIT_BYTES = 32 << 20  # of one start's log; a server that logs every request would fill a disk in some weeks
TAIL_BYTES = 64 * 1024


def rotate(path: Path, kept: int = KEPT) -> None:
    """Move ``x.log`` to ``x.log.1``, ``x.log.1`` to ``x.log.2`` and so on; the oldest goes. Raises OSError."""
    if not path.exists():
        return
    for number in range(kept, 0, -1):
        older = path if number == 1 else path.with_name(f"{path.name}.{number - 1}")
        with suppress(FileNotFoundError):
            os.replace(older, path.with_name(f"{path.name}.{number}"))


def tail(path: Path, lines: int, *, inode: int | None = None) -> str:
    """The last lines of a log, of at most its last 64 KiB; empty when there is none.

    Args:
        inode: of the very file that is meant, should it have been rotated meanwhile.
    """
    try:
        with _current(path, inode).open("rb") as file:
            file.seek(0, os.SEEK_END)
            file.seek(max(0, file.tell() - TAIL_BYTES))
            text = file.read().decode("utf-8", "replace")
    except OSError:
        return ""
    return "\n".join(text.splitlines()[-lines:])


def _current(path: Path, inode: int | None) -> Path:
    if inode is not None:
        for name in (path, *(path.with_name(f"{path.name}.{number}") for number in range(1, KEPT + 1))):
            with suppress(FileNotFoundError):
                if name.stat().st_ino == inode:
                    return name
    return path
