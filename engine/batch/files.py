"""Files that are read: what a path may name where it is read more than once, and no more of it than is meant."""

from __future__ import annotations

import stat
from pathlib import Path

from engine.errors import InputError


def check_file(path: Path) -> None:
    """Refuse a pipe and a device: the first look would use it up, and it may never end.

    What is not there, and a folder, are left to whoever opens them.

    Raises:
        InputError: it is neither a file nor a folder.
        OSError: the system does not say.
    """
    mode = path.stat().st_mode if path.exists() else stat.S_IFREG
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise InputError(
            "file.none",
            "{path} is a pipe or a device, and no file",
            remedy="save what it brings as a file, since it is read twice; a table can be piped into `decide FORM -`",
            path=str(path),
        )


def read_at_most(path: Path, limit: int) -> bytes:
    """The bytes of a file or a pipe; one more than ``limit`` of what is larger, however large it is.

    Raises:
        OSError: it cannot be read.
    """
    with path.open("rb") as file:
        return file.read(limit + 1)
