"""One writer a checkpoint's folder."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path

from engine import locks
from engine.errors import UserError


def locked(path: Path) -> AbstractContextManager[None]:
    """Holds the lock of a checkpoint's folder, the file ``path`` in its ``.desk``.

    Raises:
        UserError: ``checkpoint.locked``, with the process that holds it.
    """
    return locks.locked(
        path,
        lambda pid: UserError(
            "checkpoint.locked",
            "process {pid} is already at work in {folder}",
            remedy="wait for it or end it",
            pid=pid,
            folder=path.parent.parent,
        ),
    )
