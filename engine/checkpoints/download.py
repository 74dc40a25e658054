"""A checkpoint from a hub into a folder: what is there is kept, what is missing is fetched, everything is verified.

The state is on disk at every moment (``manifest``, ``journal``), so that a kill, a pause and a new start are the same
thing: look at what is there, fetch the rest.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from engine.checkpoints.catalogue import CatalogueEntry
from engine.checkpoints.fetch import Fetch
from engine.checkpoints.hf_home import cached_blob
from engine.checkpoints.hub import Hub
from engine.checkpoints.journal import Boot, Journal, boot_id
from engine.checkpoints.links import link_into
from engine.checkpoints.lock import locked
from engine.checkpoints.manifest import NO_COMMIT, Folder, Manifest, RemoteFile
from engine.checkpoints.part import PartFile, free_bytes, gigabytes, hash_file, mark, refuse_disk
from engine.checkpoints.patience import Patience
from engine.checkpoints.progress import TICK_S, DownloadProgress, Listener, Steering, Tally
from engine.checkpoints.steer import Cancelled, alone, steered
from engine.checkpoints.transport import Transport, parse_endpoint
from engine.checkpoints.verify import index_problems
from engine.errors import UserError

CONNECTIONS = 4  # files at once; see transport.QUEUE_BYTES before raising it
SPARE_SHARE = 100  # of the disk's need, one part in so many stays free


@dataclass(frozen=True, slots=True)
class Source:
    """Where files come from.

    Attributes:
        endpoint: of the hub or mirror.
        token: gives the hub's token, or None; asked only when the hub refuses without.
        hub_cache: of the user's hub tools; files that are there are linked, not fetched. None: not looked at.
    """

    endpoint: str
    token: Callable[[], str | None] = field(default=lambda: None, repr=False)
    hub_cache: Path | None = None
    connections: int = CONNECTIONS
    patience: Patience = field(default_factory=Patience)


@dataclass(frozen=True, slots=True)
class DownloadResult:
    """How it ended. ``progress`` holds the last figures; ``commit`` is empty when it ended before the hub answered."""

    state: Literal["finished", "cancelled"]
    folder: Path
    commit: str
    progress: DownloadProgress


async def download(
    entry: CatalogueEntry, folder: Path, source: Source, steering: Steering, listener: Listener
) -> DownloadResult:
    """Brings a checkpoint, or goes on with one that was begun.

    Raises:
        InputError: the address cannot be used, or the folder's manifest cannot be read.
        UserError: the hub refuses or stays away, the disk is too small or full, bytes are wrong, or another process is
            at work in the folder. What is there stays, always.
    """
    parse_endpoint(source.endpoint)
    at = Folder(folder)
    work = _Download(entry, at, source, steering, listener)
    try:
        with locked(at.lock):
            return await work.run()
    except OSError as error:
        refuse_disk(error, folder, work.missing_bytes)


class _Download:
    def __init__(
        self, entry: CatalogueEntry, folder: Folder, source: Source, steering: Steering, listener: Listener
    ) -> None:
        self._entry, self._folder, self._source = entry, folder, source
        self._steering, self._listener = steering, listener
        self._tally = Tally({})
        self._commit = ""

    @property
    def missing_bytes(self) -> int:
        return self._tally.missing_bytes()

    async def run(self) -> DownloadResult:
        try:
            async with Transport(self._source.endpoint, self._source.patience, self._source.token) as transport:
                hub = Hub(transport, self._source.patience, self._listener.note)
                manifest = await self._manifest(hub)
                with self._journal(manifest) as journal:
                    await self._bring(hub, manifest, journal)
        except Cancelled:
            return self._result("cancelled")
        return self._result("finished")

    def _result(self, state: Literal["finished", "cancelled"]) -> DownloadResult:
        return DownloadResult(state, self._folder.root, self._commit, self._tally.look())

    async def _manifest(self, hub: Hub) -> Manifest:
        manifest = self._folder.load()
        if manifest is not None and manifest.repo != self._entry.repo:
            raise UserError(
                "checkpoint.other",
                "{folder} holds {there}, not {wanted}",
                remedy="give another folder",
                folder=self._folder.root,
                there=manifest.repo,
                wanted=self._entry.repo,
            )
        if manifest is None or (manifest.commit == NO_COMMIT and not self._all_there(manifest)):
            manifest = await steered(lambda: hub.listing(self._entry), self._steering, self._listener)
            self._folder.save(manifest)
        self._commit = manifest.commit
        self._tally = Tally({file.path: file.size for file in manifest.files})
        return manifest

    def _all_there(self, manifest: Manifest) -> bool:
        finals = ((self._folder.final(file), file.size) for file in manifest.files)
        return all(path.is_file() and path.stat().st_size == size for path, size in finals)

    @contextmanager
    def _journal(self, manifest: Manifest) -> Iterator[Journal]:
        journal = Journal.open(self._folder.journal)
        try:
            keep = {self._folder.part(file): journal.proven.durable.get(file.key, 0) for file in manifest.files}
            tidy_parts(self._folder.parts, keep, same_boot=journal.proven.boot == boot_id() != "")
            journal.append(Boot(boot=boot_id()))
            yield journal
        finally:
            journal.close()

    async def _bring(self, hub: Hub, manifest: Manifest, journal: Journal) -> None:
        unsure = [file for file in manifest.files if self._look_at(file, journal)]
        self._listener.started(self._tally.look())
        await self._steer(lambda: self._each(unsure, lambda file: self._check(file, journal)))
        missing = [file for file in manifest.files if not self._tally.is_done(file.path)]
        if self._source.hub_cache is not None:
            reusable = [file for file in missing if self._link_from_cache(file, self._source.hub_cache)]
            await self._steer(lambda: self._each(reusable, lambda file: self._check(file, journal)))
            missing = [file for file in missing if not self._tally.is_done(file.path)]
        check_space(self._folder.root, self._tally.missing_bytes())
        await self._fetch(hub, manifest, missing, journal)
        problems = index_problems(self._folder.root)
        if problems:
            raise UserError(
                "checkpoint.incomplete",
                "{folder} is as the hub has it, but does not fit together: {what}",
                remedy="the repository itself is broken: try again when it was repaired",
                folder=self._folder.root,
                what="; ".join(problems[:3]),
            )

    async def _steer(self, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        async def ticking() -> None:
            async with asyncio.TaskGroup() as tasks:
                ticker = tasks.create_task(self._tick())
                try:
                    await work()
                finally:
                    ticker.cancel()

        await steered(lambda: alone(ticking), self._steering, self._listener)

    async def _tick(self) -> None:
        self._tally.forget_rate()
        while True:
            self._listener.progress(self._tally.look())
            await asyncio.sleep(TICK_S)

    async def _each(self, files: list[RemoteFile], work: Callable[[RemoteFile], Awaitable[None]]) -> None:
        """A few at a time, small ones first: what is wrong with a repository shows early."""
        waiting = deque(sorted(files, key=lambda file: file.size))

        async def take() -> None:
            while waiting:
                await work(waiting.popleft())

        async with asyncio.TaskGroup() as tasks:
            for _ in range(min(self._source.connections, len(files))):
                tasks.create_task(take())

    def _look_at(self, file: RemoteFile, journal: Journal) -> bool:
        """Notes what is there of a file; whether it has to be read to know."""
        try:
            seen = self._folder.final(file).stat()
        except OSError:
            part = self._folder.part(file)
            self._tally.there(file.path, part.stat().st_size if part.exists() else 0)
            return False
        if seen.st_size != file.size:
            return False
        proof = journal.proven.done.get(file.path)
        if proof == mark(file, self._folder.final(file)):
            self._tally.finished(file.path)
            return False
        return True

    async def _check(self, file: RemoteFile, journal: Journal) -> None:
        if self._tally.is_done(file.path):
            return
        path, hasher = self._folder.final(file), file.hasher()
        try:
            await hash_file(path, hasher, file.size, self._tally.was_checked)
        except OSError as error:  # a bad block, or somebody else's file: a new one takes its place
            self._listener.note(f"{file.path} cannot be read ({error.strerror}) and is fetched anew")
            return
        if hasher.hexdigest() == file.tag:
            journal.append(mark(file, path))
            self._tally.finished(file.path)
        else:
            self._listener.note(f"{file.path} is there with other bytes and is fetched anew")

    def _link_from_cache(self, file: RemoteFile, cache: Path) -> bool:
        blob = cached_blob(cache, self._entry.repo, file)
        if blob is None:
            return False
        try:
            how = link_into(blob, self._folder.final(file))
        except OSError as error:
            self._listener.note(f"{file.path} is in the hub cache and cannot be taken from there: {error.strerror}")
            return False
        self._listener.note(f"{file.path} is in the hub cache: taken from there ({how} link)")
        return True

    async def _fetch(self, hub: Hub, manifest: Manifest, missing: list[RemoteFile], journal: Journal) -> None:
        parts = {file.path: PartFile(self._folder, file, journal) for file in missing}

        async def fetch(file: RemoteFile) -> None:
            if not self._tally.is_done(file.path):
                part = parts[file.path]
                note = self._listener.note
                await Fetch(hub, manifest, part, self._tally, self._source.patience, note).run()

        try:
            await self._steer(lambda: self._each(missing, fetch))
        finally:
            for part in parts.values():
                part.close()
        self._listener.progress(self._tally.look())


def tidy_parts(parts: Path, keep: dict[Path, int], *, same_boot: bool) -> None:
    """Removes parts that belong to nothing, and after a new start of the machine what was not synced.

    Args:
        keep: for each part that may be there, how many of its bytes are durable.
    """
    if not parts.is_dir():
        return
    for path in parts.iterdir():
        if path not in keep:
            path.unlink()
        elif not same_boot and path.stat().st_size > keep[path]:
            with path.open("r+b") as part:
                part.truncate(keep[path])


def check_space(folder: Path, missing: int) -> None:
    """Raises UserError when the disk cannot hold what is missing."""
    free, needed = free_bytes(folder), missing + missing // SPARE_SHARE
    if missing and free < needed:
        raise UserError(
            "download.no_space",
            "{folder} has {free} free, and {needed} are still to come",
            remedy="make room, or give a folder on another disk with --to",
            folder=folder,
            free=gigabytes(free),
            needed=gigabytes(needed),
        )
