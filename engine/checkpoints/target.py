"""Whether a folder that the user names can take a checkpoint; asked before anything is begun."""

from __future__ import annotations

import os
from pathlib import Path

from engine.checkpoints.manifest import Folder
from engine.errors import InputError


def check_target(folder: Path) -> Path:
    """The folder, absolute and with ``~`` spelled out.

    Raises:
        InputError: ``checkpoint.target``: it is a file, cannot be made or written, or holds a model of somebody else's.
    """
    target = folder.expanduser()
    if not target.is_absolute():
        raise _refused(folder, "is no full path", "give it from the root on, such as /data/models/diffusiongemma")
    there = next(parent for parent in (target, *target.parents) if os.path.lexists(parent))
    if not there.is_dir():
        raise _refused(folder, f"cannot be a folder: {there} is a file", "give another folder")
    if not os.access(there, os.W_OK | os.X_OK):
        raise _refused(folder, f"cannot be written: you may not write to {there}", "give a folder of yours")
    if not Folder(target).state.is_dir() and any(target.glob("*.safetensors")):
        raise _refused(
            folder, "holds a model already", "give another folder; if it is this checkpoint, use the files as they are"
        )
    return target


def _refused(folder: Path, what: str, remedy: str) -> InputError:
    return InputError("checkpoint.target", "{folder} {what}", remedy=remedy, folder=folder, what=what)
