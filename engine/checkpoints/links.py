"""A file that is on this machine already, put into a checkpoint's folder without a copy."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path


def link_into(source: Path, target: Path) -> str:
    """Hard-links a file, or refers to it where that cannot be (another disk); replaces what is at ``target``.

    Args:
        source: symbolic links are followed, so that a cache may be emptied without taking a hard-linked file along.

    Returns:
        ``same`` when target is that file already, ``hard`` or ``symbolic``.

    Raises:
        OSError: the folder cannot be written.
    """
    real = source.resolve(strict=True)
    with suppress(FileNotFoundError):
        if target.samefile(real):
            return "same"
    target.parent.mkdir(parents=True, exist_ok=True)
    staged = target.with_name(f".{target.name}.linking")
    staged.unlink(missing_ok=True)
    try:
        os.link(real, staged)
        how = "hard"
    except OSError:  # another file system, or one without links, or a file of another user
        staged.symlink_to(real)
        how = "symbolic"
    staged.replace(target)
    return how
