"""One writer a file: an advisory lock that the kernel lets go of when its holder dies, however it dies."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Callable, Iterator
from pathlib import Path


@contextlib.contextmanager
def locked(path: Path, refusal: Callable[[str], Exception]) -> Iterator[None]:
    """Hold the lock; its file, made where it is missing, names the holder's process.

    Args:
        refusal: makes the error that is raised when somebody else holds it, from the number of that process.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise refusal(os.pread(descriptor, 32, 0).decode("ascii", "replace").strip() or "?") from None
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, b"%d\n" % os.getpid(), 0)
        yield
    finally:
        os.close(descriptor)
