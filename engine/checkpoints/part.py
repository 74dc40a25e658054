"""A file under way: bytes appended, hashed as they come, synced now and then, renamed when they are right."""

from __future__ import annotations

import asyncio
import errno
import os
import shutil
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from engine.checkpoints.journal import Done, Durable, Journal
from engine.checkpoints.manifest import Folder, RemoteFile, sync_folder
from engine.errors import UserError

if TYPE_CHECKING:
    from hashlib import _Hash

SYNC_BYTES = 64 << 20  # a power cut costs at most this much of a file, and a sync every half second costs nothing
BLOCK_BYTES = 8 << 20

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


async def in_thread[**P, R](call: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R:
    """``asyncio.to_thread`` that, when cancelled, ends only after the call: nobody writes behind our back."""
    future = asyncio.get_running_loop().run_in_executor(None, lambda: call(*args, **kwargs))
    try:
        return await asyncio.shield(future)
    except asyncio.CancelledError:
        await asyncio.wait([future])
        if not future.cancelled():
            future.exception()  # looked at; the cancellation goes on
        raise


async def hash_file(path: Path, hasher: _Hash, limit: int, progress: Callable[[int], None]) -> int:
    """Feeds the first ``limit`` bytes of a file to a hasher; how many there were. ``progress`` hears of each block."""
    done = 0
    async for block in _blocks(path, limit):
        await in_thread(hasher.update, block)
        done += len(block)
        progress(len(block))
    return done


async def _blocks(path: Path, limit: int) -> AsyncIterator[bytes]:
    with await in_thread(path.open, "rb") as source:
        while limit > 0:
            block = await in_thread(source.read, min(BLOCK_BYTES, limit))
            if not block:
                return
            limit -= len(block)
            yield block


class PartFile:
    """The part of one file. One task at a time.

    Attributes:
        length: bytes that are there and hashed.
        in_place: it was right and has its final name.
    """

    def __init__(self, folder: Folder, file: RemoteFile, journal: Journal) -> None:
        self.file = file
        self.path = folder.part(file)
        self.length = 0
        self.in_place = False
        self._folder, self._journal = folder, journal
        self._hasher = file.hasher()
        self._descriptor = -1
        self._synced = 0

    @property
    def complete(self) -> bool:
        return self.length == self.file.size

    @property
    def right(self) -> bool:
        """Whether a complete part has the hash that it should have."""
        return self._hasher.hexdigest() == self.file.tag

    async def open(self, checked: Callable[[int], None]) -> None:
        """Opens or makes the part and reads what is there again, for its hash; a second call does nothing."""
        if self._descriptor >= 0:
            return
        self.path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            there = os.fstat(descriptor).st_size
            if there > self.file.size:  # not of our making
                os.ftruncate(descriptor, there := 0)
            hasher = self.file.hasher()
            self.length = await hash_file(self.path, hasher, there, checked)
        except BaseException:
            os.close(descriptor)
            raise
        self._descriptor, self._hasher = descriptor, hasher
        self._synced = self._journal.proven.durable.get(self.file.key, 0)
        if self._synced > self.length:  # an older part of this name is gone; nothing is known of this one
            self._journal.append(Durable(key=self.file.key, at=0))
            self._synced = 0
        os.lseek(descriptor, self.length, os.SEEK_SET)

    def append(self, data: bytes) -> None:
        """Adds bytes. Blocks: call it in a thread.

        Raises:
            UserError: ``download.disk_full``, or the disk fails. The part is then closed; opening it again mends it.
        """
        try:
            view = memoryview(data)
            while view:
                view = view[os.write(self._descriptor, view) :]
            self._hasher.update(data)
            self.length += len(data)
            if self.length - self._synced >= SYNC_BYTES:
                self._sync()
        except OSError as error:
            self.close()  # what was written of it is not hashed
            refuse_disk(error, self._folder.root, self.file.size - self.length)

    def restart(self) -> None:
        """Drops everything."""
        # The journal first: killed in between, the length is below what is called durable, which is harmless.
        self._journal.append(Durable(key=self.file.key, at=0))
        os.ftruncate(self._descriptor, 0)
        os.lseek(self._descriptor, 0, os.SEEK_SET)
        self.length = self._synced = 0
        self._hasher = self.file.hasher()

    def finish(self) -> None:
        """Puts a complete and right part in its place, durably. Blocks."""
        final = self._folder.final(self.file)
        try:
            os.fsync(self._descriptor)
            final.parent.mkdir(parents=True, exist_ok=True)
            self.path.replace(final)
            sync_folder(final.parent)
            self._journal.append(mark(self.file, final))
            self.in_place = True
        except OSError as error:
            refuse_disk(error, self._folder.root, 0)
        finally:
            self.close()

    def close(self) -> None:
        """May be called twice."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def _sync(self) -> None:
        os.fdatasync(self._descriptor)
        self._synced = self.length
        self._journal.append(Durable(key=self.file.key, at=self.length))


def mark(file: RemoteFile, path: Path) -> Done:
    """The journal's note that this file was found right as it is now."""
    seen = path.stat()
    return Done(path=file.path, tag=file.tag, size=seen.st_size, mtime_ns=seen.st_mtime_ns)


def gigabytes(count: float) -> str:
    """Bytes as people say them: decimal, as disks are sold."""
    return f"{count / 1e9:.1f} GB" if count >= 1e9 else f"{count / 1e6:.1f} MB"


def free_bytes(folder: Path) -> int:
    """What a user may still write to the file system of a folder that may not exist yet."""
    while not folder.exists():
        folder = folder.parent
    return shutil.disk_usage(folder).free


def refuse_disk(error: OSError, folder: Path, missing: int) -> NoReturn:
    """Raises the UserError for a disk that fails or is full.

    Args:
        missing: bytes that still were to come.
    """
    if error.errno in _FULL:
        raise UserError(
            "download.disk_full",
            "the disk of {folder} is full: {free} are free, {missing} are still to come",
            remedy="make room; everything fetched so far is kept, and the same command goes on",
            folder=folder,
            free=gigabytes(free_bytes(folder)),
            missing=gigabytes(missing),
        ) from error
    raise UserError(
        "download.disk",
        "{path} cannot be used: {why}",
        remedy="give another folder with --to; everything fetched so far is kept",
        path=error.filename or folder,
        why=error.strerror or str(error),
    ) from error
