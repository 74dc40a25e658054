"""One writer a folder: an advisory lock that the kernel lets go of when its holder dies, however it dies."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

from engine.errors import UserError


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Holds the lock.

    Raises:
        UserError: ``checkpoint.locked``, with the process that holds it.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UserError(
                "checkpoint.locked",
                "process {pid} is already at work in {folder}",
                remedy="wait for it or end it",
                pid=os.pread(descriptor, 32, 0).decode("ascii", "replace").strip() or "?",
                folder=path.parent.parent,
            ) from None
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, b"%d\n" % os.getpid(), 0)
        yield
    finally:
        os.close(descriptor)
