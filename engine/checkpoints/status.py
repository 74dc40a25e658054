"""How much of a checkpoint is in a folder, by a glance: no network, no reading of files, no lock."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from engine.checkpoints.journal import Proven, replay
from engine.checkpoints.manifest import Folder, RemoteFile
from engine.checkpoints.part import mark


@dataclass(frozen=True, slots=True)
class CheckpointStatus:
    """What is there.

    Attributes:
        state: ``absent``: no download or adoption was begun. ``partial``: some bytes are missing. ``unchecked``: all
            are there, but some were changed or put there since they were verified: the next download reads them again.
            ``complete``: every file is as it was when its hash was found right.
        proven: complete, and every hash was named by a hub.
        done_bytes, total_bytes: 0 when absent.
    """

    folder: Path
    state: Literal["absent", "partial", "unchecked", "complete"]
    proven: bool = False
    repo: str = ""
    commit: str = ""
    done_bytes: int = 0
    total_bytes: int = 0


def status(folder: Path) -> CheckpointStatus:
    """Looks at a folder.

    Raises:
        InputError: its manifest cannot be read.
    """
    at = Folder(folder)
    manifest = at.load()
    if manifest is None:
        return CheckpointStatus(folder, "absent")
    proven = Proven()
    with suppress(FileNotFoundError):
        proven = replay(at.journal.read_bytes())
    there = {file: _bytes_there(at, file) for file in manifest.files}
    state: Literal["partial", "unchecked", "complete"] = "complete"
    if any(count < file.size or not at.final(file).exists() for file, count in there.items()):
        state = "partial"
    elif any(proven.done.get(file.path) != mark(file, at.final(file)) for file in manifest.files):
        state = "unchecked"
    return CheckpointStatus(
        folder=folder,
        state=state,
        proven=state == "complete" and all(file.source != "self" for file in manifest.files),
        repo=manifest.repo,
        commit=manifest.commit,
        done_bytes=sum(there.values()),
        total_bytes=manifest.total_bytes,
    )


def _bytes_there(at: Folder, file: RemoteFile) -> int:
    """Of a file in its place, else of its part; a file of another size counts for nothing."""
    with suppress(OSError):
        size = at.final(file).stat().st_size
        return size if size == file.size else 0
    with suppress(OSError):
        return min(at.part(file).stat().st_size, file.size)
    return 0
