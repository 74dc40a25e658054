"""Is a checkpoint on disk what it should be? Every file by its hash, the shards against their index."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from engine.checkpoints.catalogue import wanted
from engine.checkpoints.journal import Done, Journal
from engine.checkpoints.lock import locked
from engine.checkpoints.manifest import Folder, Manifest, RemoteFile
from engine.checkpoints.part import hash_file
from engine.checkpoints.shards import INDEX, BadShard, read_index, tensor_names
from engine.errors import InputError

Verdict = Literal["right", "unchanged", "missing", "wrong size", "wrong bytes", "unreadable", "extra"]
GOOD: frozenset[Verdict] = frozenset({"right", "unchanged", "extra"})


@dataclass(frozen=True, slots=True)
class FileVerdict:
    """One file.

    Attributes:
        verdict: ``right``: its hash is the one that the hub (or a hub cache) named. ``unchanged``: its hash is the one
            that it had when it was adopted; nobody named another. ``extra``: it does not belong here and harms nothing,
            unless it is a shard, which an engine might load (then ``problems`` of the report name it).
    """

    path: str
    verdict: Verdict
    detail: str = ""


@dataclass(frozen=True, slots=True)
class VerifyReport:
    """All files, and what does not fit together between them."""

    folder: Path
    commit: str
    total_bytes: int
    files: tuple[FileVerdict, ...]
    problems: tuple[str, ...]

    @property
    def good(self) -> bool:
        return not self.problems and all(file.verdict in GOOD for file in self.files)

    @property
    def proven(self) -> bool:
        """Whether every hash was named by a hub, not by ourselves."""
        return self.good and all(file.verdict != "unchanged" for file in self.files)


async def verify(folder: Path, progress: Callable[[int, int], None] = lambda done, total: None) -> VerifyReport:
    """Reads every byte of a checkpoint that was downloaded or adopted.

    Args:
        progress: hears bytes read and bytes to read.

    Raises:
        InputError: there is no checkpoint of ours in the folder, or its manifest cannot be read.
    """
    at = Folder(folder)
    manifest = await asyncio.to_thread(at.load)
    if manifest is None:
        raise InputError(
            "checkpoint.none",
            "{folder} holds no checkpoint that was downloaded or adopted",
            remedy="`download --adopt {folder}` takes files that came another way",
            folder=folder,
        )
    done, total = 0, manifest.total_bytes

    def took(count: int) -> None:
        nonlocal done
        done += count
        progress(done, total)

    verdicts = [await verify_file(at.final(file), file, took) for file in manifest.files]
    verdicts += [FileVerdict(path, "extra", "not part of the checkpoint") for path in _extra(folder, manifest)]
    problems = await asyncio.to_thread(index_problems, folder)
    return VerifyReport(folder, manifest.commit, total, tuple(verdicts), tuple(problems))


def distrust(report: VerifyReport) -> None:
    """Makes the next download look again at the files that are not right, whatever was proven about them before.

    Raises:
        UserError: another process is at work in the folder.
    """
    at = Folder(report.folder)
    bad = [Done(path=file.path, tag="", size=0, mtime_ns=0) for file in report.files if file.verdict not in GOOD]
    with locked(at.lock), closing(Journal.open(at.journal)) as journal:
        journal.append(*bad)


async def verify_file(path: Path, file: RemoteFile, took: Callable[[int], None] = lambda count: None) -> FileVerdict:
    """One file against its size and hash."""
    fault = await asyncio.to_thread(_fault, path, file)
    if fault is not None:
        return fault
    hasher = file.hasher()
    try:
        await hash_file(path, hasher, file.size, took)
    except OSError as error:
        return FileVerdict(file.path, "unreadable", error.strerror or str(error))
    if hasher.hexdigest() != file.tag:
        return FileVerdict(file.path, "wrong bytes", f"hash {hasher.hexdigest()[:12]}... instead of {file.tag[:12]}...")
    return FileVerdict(file.path, "unchanged" if file.source == "self" else "right")


def _fault(path: Path, file: RemoteFile) -> FileVerdict | None:
    try:
        size = path.stat().st_size
    except FileNotFoundError:
        broken = " (a link that leads nowhere)" if path.is_symlink() else ""
        return FileVerdict(file.path, "missing", f"not there{broken}")
    except OSError as error:
        return FileVerdict(file.path, "unreadable", error.strerror or str(error))
    return None if size == file.size else FileVerdict(file.path, "wrong size", f"{size} bytes instead of {file.size}")


def index_problems(root: Path) -> list[str]:
    """What does not fit together: shards that the index names and nobody has, tensors that are not where it says.

    Sentences for users; empty when all is well. Reads headers only.
    """
    present = {path.name for path in root.glob("*.safetensors")}
    try:
        index = read_index(root)
    except BadShard as error:
        return [str(error)]
    if index is None:
        named = present
        problems = [] if present else ["there is no .safetensors file"]
        if len(present) > 1:
            problems = [f"there are {len(present)} shards and no {INDEX}"]
    else:
        named = set(index.shards)
        problems = [f"{name} is named by the index and missing" for name in sorted(named - present)]
        problems += [f"{name} is not named by the index" for name in sorted(present - named)]
    for name in sorted(named & present):
        problems += _shard_problems(root / name, set() if index is None else _of(index.tensors, name))
    return problems


def _of(tensors: dict[str, str], shard: str) -> set[str]:
    return {tensor for tensor, holder in tensors.items() if holder == shard}


def _shard_problems(path: Path, promised: set[str]) -> list[str]:
    try:
        absent = promised - tensor_names(path)
    except BadShard as error:
        return [f"{path.name}: {error}"]
    except OSError as error:
        return [f"{path.name}: {error.strerror}"]
    if absent:
        return [f"{path.name}: {len(absent)} tensors of the index are not in it, first {min(absent)}"]
    return []


def _extra(root: Path, manifest: Manifest) -> list[str]:
    known = {file.path for file in manifest.files}
    found = (path.relative_to(root).as_posix() for path in root.rglob("*") if not path.is_dir())
    return sorted(path for path in found if path not in known and wanted(path))
