"""Takes a checkpoint that lies on this machine: verified where it is, linked into its folder, never copied."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from engine.checkpoints.catalogue import REQUIRED, CatalogueEntry
from engine.checkpoints.found import Found, FoundFile, find
from engine.checkpoints.journal import Boot, Done, Journal, boot_id
from engine.checkpoints.links import link_into
from engine.checkpoints.lock import locked
from engine.checkpoints.manifest import NO_COMMIT, Folder, Manifest, RemoteFile
from engine.checkpoints.part import hash_file, mark
from engine.checkpoints.verify import FileVerdict, index_problems, verify_file
from engine.errors import InputError, UserError


@dataclass(frozen=True, slots=True)
class AdoptResult:
    """What was taken.

    Attributes:
        folder: give this to the engine.
        source: where the files are.
        manifest: what the folder holds now.
        proven: every hash was named by a hub; else some are only known from the files themselves.
    """

    folder: Path
    source: Path
    manifest: Manifest
    proven: bool


def choose(root: Path, entry: CatalogueEntry) -> Found:
    """The checkpoint in a folder that is the wanted one, the largest when there are several.

    Raises:
        InputError: there is none; says what was found instead.
    """
    found = find(root)
    fitting = [each for each in found if each.ours and each.kind == entry.kind]
    if fitting:
        return fitting[0]
    if not found:
        raise InputError(
            "adopt.nothing",
            "there is no checkpoint in {folder}: no folder with a config.json and .safetensors files",
            remedy="give the folder that holds these files, or one above it",
            folder=root,
        )
    raise InputError(
        "adopt.other",
        "{folder} holds no {wanted} DiffusionGemma, but {what}",
        remedy="give another folder, or --checkpoint",
        folder=root,
        wanted=entry.title,
        what=", ".join(f"{each.folder.name} ({_describe(each)})" for each in found[:3]),
    )


async def adopt(
    found: Found,
    entry: CatalogueEntry,
    folder: Path,
    *,
    note: Callable[[str], None] = lambda text: None,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> AdoptResult:
    """Verifies a found checkpoint and links it into ``folder``; with ``folder`` the same one it is adopted in place.

    Files whose right hash nobody noted are taken as they are, with the hash that they have now.

    Raises:
        InputError: it does not hold together (shards missing, headers broken); nothing was changed.
        UserError: files with wrong bytes, by name. Those that are right are linked all the same, so that a download
            into this folder fetches the others only.
    """
    at = Folder(folder)
    problems = [f"{name} is a link that leads nowhere" for name in found.dangling]
    there = {file.path for file in found.files}
    problems += [f"there is no {name}" for name in REQUIRED if name not in there]
    problems += await asyncio.to_thread(index_problems, found.folder)
    if problems:
        raise InputError(
            "adopt.broken",
            "the checkpoint in {folder} is not whole: {what}",
            remedy="fetch it again; `download` takes over every file that is right",
            folder=found.folder,
            what="; ".join(problems[:3]),
        )
    with locked(at.lock):
        expected = _expected(found, await asyncio.to_thread(at.load), entry)
        remotes, bad = await _verified(found, expected, progress)
        await asyncio.to_thread(_link, found, at, remotes)
        if bad:
            raise _bad(found, bad)
        manifest = Manifest(
            checkpoint=entry.kind, repo=entry.repo, commit=found.commit or NO_COMMIT, files=tuple(remotes)
        )
        await asyncio.to_thread(at.save, manifest)
    unproven = [file.path for file in remotes if file.source == "self"]
    if unproven:
        note(f"nobody on this machine knows the right hash of {_some(unproven)}: taken as they are")
    return AdoptResult(folder, found.folder, manifest, not unproven)


def _expected(found: Found, manifest: Manifest | None, entry: CatalogueEntry) -> dict[str, RemoteFile]:
    """What each file should be, from the best witness: the hub's own list, then what hub tools noted."""
    noted = {file.path: file.as_remote() for file in found.files if file.tag}
    if manifest is not None and manifest.repo == entry.repo:
        noted |= {file.path: file for file in manifest.files if file.source == "hub"}
    return noted


async def _verified(
    found: Found, expected: dict[str, RemoteFile], progress: Callable[[int, int], None]
) -> tuple[list[RemoteFile], list[FileVerdict]]:
    done, total = 0, found.total_bytes

    def took(count: int) -> None:
        nonlocal done
        done += count
        progress(done, total)

    right, bad = [], []
    for file in found.files:
        remote = expected.get(file.path)
        if remote is None:
            right.append(await _as_it_is(found.folder, file, took))
            continue
        verdict = await verify_file(found.folder / file.path, remote, took)
        if verdict.verdict in ("right", "unchanged"):
            right.append(remote)
        else:
            bad.append(verdict)
    return right, bad


async def _as_it_is(folder: Path, file: FoundFile, took: Callable[[int], None]) -> RemoteFile:
    remote = RemoteFile(path=file.path, size=file.size, sha256="0" * 64, source="self")
    hasher = remote.hasher()
    await hash_file(folder / file.path, hasher, file.size, took)
    return remote.model_copy(update={"sha256": hasher.hexdigest()})


def _link(found: Found, at: Folder, files: Sequence[RemoteFile]) -> None:
    with closing(Journal.open(at.journal)) as journal:
        marks: list[Done] = []
        for file in files:
            link_into(found.folder / file.path, at.final(file))
            marks.append(mark(file, at.final(file)))
        journal.append(Boot(boot=boot_id()), *marks)


def _bad(found: Found, bad: Sequence[FileVerdict]) -> UserError:
    return UserError(
        "adopt.wrong_bytes",
        "in {folder} these are not the hub's files: {what}",
        remedy="run `download` without --adopt: it fetches these and keeps the others",
        folder=found.folder,
        what="; ".join(f"{each.path} ({each.verdict}: {each.detail})" for each in bad),
    )


def _describe(found: Found) -> str:
    return f"{'DiffusionGemma' if found.ours else 'another model'}, {found.kind or 'another format'}"


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
