"""One file from the hub into its place, through everything that a network does."""

from __future__ import annotations

import time
from collections.abc import Callable

from engine.checkpoints.hub import Body, Hub, WrongPlace
from engine.checkpoints.manifest import Manifest, RemoteFile
from engine.checkpoints.part import PartFile, in_thread
from engine.checkpoints.patience import Again, Patience, patiently
from engine.checkpoints.progress import Tally
from engine.errors import UserError

MOST_RESTARTS = 2  # by a server that does not continue where it is asked to


class Fetch:
    """Brings one file. It may be dropped at any await and run again.

    Args:
        part: kept over pauses, with the hash of what is there.
        note: hears of everything that a user may wonder about.
    """

    def __init__(
        self,
        hub: Hub,
        manifest: Manifest,
        part: PartFile,
        tally: Tally,
        patience: Patience,
        note: Callable[[str], None],
    ) -> None:
        self._hub, self._manifest, self._part, self._tally = hub, manifest, part, tally
        self._patience, self._note = patience, note
        self._restarts = 0
        self._received = 0

    async def run(self) -> None:
        """Until the file is in its place with the right hash.

        Raises:
            UserError: the hub refuses, patience ends, the disk is full, or the bytes are wrong twice.
        """
        part, file = self._part, self._part.file
        await part.open(self._tally.was_checked)
        self._tally.there(file.path, part.length)
        await self._complete()
        if not part.right:
            self._note(f"{file.path} has arrived with wrong bytes and is fetched once more")
            self._restart()
            await self._complete()
            if not part.right:
                self._restart()
                raise _wrong_bytes(file)
        try:
            await in_thread(part.finish)
        finally:  # dropped in between it has its name all the same
            if part.in_place:
                self._tally.finished(file.path)

    async def _complete(self) -> None:
        while not self._part.complete:
            await patiently(self._attempt, self._patience, moved=lambda: self._received, note=self._note)

    async def _attempt(self) -> None:
        part, file = self._part, self._part.file
        try:
            async with self._hub.body(self._manifest, file, part.length) as body:
                if body.offset < part.length:
                    self._note(f"the server does not continue files: {file.path} begins again")
                    self._restart()
                await self._take(body)
        except WrongPlace as wrong:
            self._restarts += 1
            if self._restarts > MOST_RESTARTS:
                raise wrong.error from None
            self._restart()
            raise

    async def _take(self, body: Body) -> None:
        part, file = self._part, self._part.file
        slow = _SlowWatch(self._patience)
        async for chunk in body.chunks():
            if part.length + len(chunk) > file.size:
                self._restart()
                raise Again(UserError("hub.too_long", "{file} does not end where it should", file=file.path))
            await self._append(chunk)
            if slow.is_slow(len(chunk)):
                raise Again(UserError("hub.slow", "the connection for {file} is all but dead", file=file.path))
        if not part.complete:
            raise Again(
                UserError(
                    "hub.cut",
                    "{file} broke off at {at} of {size} bytes",
                    remedy="everything fetched so far is kept, and the same command goes on",
                    file=file.path,
                    at=part.length,
                    size=file.size,
                )
            )

    async def _append(self, chunk: bytes) -> None:
        part, before = self._part, self._part.length
        try:
            await in_thread(part.append, chunk)
        finally:  # dropped in between it is on disk all the same, and counts
            self._received += part.length - before
            self._tally.got(part.file.path, part.length - before)

    def _restart(self) -> None:
        self._part.restart()
        self._tally.there(self._part.file.path, 0)


class _SlowWatch:
    """Tells a connection that trickles from one that is merely slow."""

    def __init__(self, patience: Patience) -> None:
        self._patience = patience
        self._since, self._bytes = time.monotonic(), 0

    def is_slow(self, count: int) -> bool:
        self._bytes += count
        elapsed = time.monotonic() - self._since
        if elapsed < self._patience.slow_s:
            return False
        slow = self._bytes < self._patience.slow_bytes_s * elapsed
        self._since, self._bytes = time.monotonic(), 0
        return slow


def _wrong_bytes(file: RemoteFile) -> UserError:
    return UserError(
        "download.wrong_bytes",
        "{file} arrived twice with bytes that are not the hub's: its hash should be {tag}",
        remedy="something on the way changes files: try another network or mirror",
        file=file.path,
        tag=file.tag,
    )
