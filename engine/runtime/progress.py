"""How far the creation of an environment is.

uv tells of large packages only and of no bytes when its output is no terminal. So the bytes are those that its process
has written (``wchar`` of ``/proc/PID/io``, man 5 proc): it unpacks while it downloads, and links what it has unpacked.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

import psutil

from engine.rate import RateMeter

ARCHIVES = "archive-v0"  # uv's cache: one folder for each unpacked wheel

Phase = Literal["checks", "uv", "python", "fetch", "install", "files", "verify"]


@dataclass(frozen=True, slots=True)
class EnvironmentProgress:
    """A moment of a creation or repair.

    Attributes:
        phase: ``fetch`` downloads and unpacks, ``install`` links into the environment, ``files`` compares files with
            what was installed, ``verify`` imports the engine once.
        packages_done: fetched and unpacked in phase ``fetch``, installed in phase ``install``.
        bytes_done: unpacked on disk, of ``bytes_total`` (a download is about half of it); compared in ``files``.
        bytes_total: None where the lock's figures are not known.
        rate: bytes a second, lately.
        eta_s: until ``bytes_total`` is reached; None while unknown.
    """

    phase: Phase
    packages_done: int = 0
    packages: int = 0
    bytes_done: int = 0
    bytes_total: int | None = None
    rate: float = 0.0
    eta_s: float | None = None
    elapsed_s: float = 0.0


class Listener(Protocol):
    """Hears of a creation or repair."""

    def progress(self, progress: EnvironmentProgress) -> None: ...
    def note(self, text: str) -> None: ...


class Quiet:
    """Listens to nothing."""

    def progress(self, progress: EnvironmentProgress) -> None:
        pass

    def note(self, text: str) -> None:
        pass


class Meter:
    """Watches one uv process.

    Args:
        packages: how many are to be there at the end.
        bytes_total: as of :class:`EnvironmentProgress`.
        bytes_there: in the cache from an attempt before.
        log: uv's output.
    """

    def __init__(
        self,
        *,
        cache: Path,
        site_packages: Path,
        log: Path,
        packages: int,
        bytes_total: int | None,
        bytes_there: int = 0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._cache, self._site_packages, self._log, self._clock = cache, site_packages, log, clock
        self._packages, self._total, self._there = packages, bytes_total, bytes_there
        self._installed_before = _count(site_packages, ".dist-info")
        self._written = 0
        self._began = clock()
        self._meter = RateMeter()

    def look(self, pid: int) -> EnvironmentProgress:
        """Now, of the process with this number."""
        self._written = max(self._written, _written_by(pid))
        installing = self._installing()
        done = self._there + self._written
        if self._total is not None:
            done = self._total if installing else min(done, self._total)
        now = self._clock()
        rate = self._meter.rate(now, self._written)
        return EnvironmentProgress(
            phase="install" if installing else "fetch",
            packages_done=min(self._packages, self._installed() if installing else _archives(self._cache)),
            packages=self._packages,
            bytes_done=done,
            bytes_total=self._total,
            rate=rate,
            eta_s=None if self._total is None or rate <= 0 else (self._total - done) / rate,
            elapsed_s=now - self._began,
        )

    def _installed(self) -> int:
        return _count(self._site_packages, ".dist-info") - self._installed_before

    def _installing(self) -> bool:
        """uv says "Prepared 199 packages in 80s" when all are unpacked."""
        try:
            return any(line.startswith(b"Prepared ") for line in self._log.read_bytes().splitlines())
        except OSError:
            return False


def tree_bytes(*roots: Path) -> int:
    """Size of all files below, those with several names counted once; what vanishes meanwhile counts nothing."""
    seen: set[tuple[int, int]] = set()
    total = 0
    for root in roots:
        for folder, _, names in os.walk(root):
            for name in names:
                try:
                    status = os.lstat(os.path.join(folder, name))
                except OSError:
                    continue
                if (status.st_dev, status.st_ino) not in seen:
                    seen.add((status.st_dev, status.st_ino))
                    total += status.st_size
    return total


def _written_by(pid: int) -> int:
    try:
        return int(psutil.Process(pid).io_counters().write_chars)
    except (psutil.Error, OSError):
        return 0


def _archives(cache: Path) -> int:
    return _count(cache / ARCHIVES, "")


def _count(folder: Path, suffix: str) -> int:
    try:
        return sum(name.endswith(suffix) and not name.startswith(".tmp") for name in os.listdir(folder))
    except OSError:
        return 0
