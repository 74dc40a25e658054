"""How far a download is and how fast."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from engine.rate import RateMeter

TICK_S = 0.5


@dataclass(frozen=True, slots=True)
class DownloadProgress:
    """A moment of a download; bytes.

    Attributes:
        done_bytes: on disk, of ``total_bytes``.
        checked_bytes: read again for their hash since the start of this process.
        fetched_bytes: over the network since the start of this process.
        rate: bytes a second from the network over the last half minute.
        eta_s: None while unknown.
    """

    done_bytes: int
    total_bytes: int
    checked_bytes: int
    fetched_bytes: int
    files_done: int
    files: int
    rate: float
    eta_s: float | None


class Listener(Protocol):
    """Hears of a download."""

    def started(self, progress: DownloadProgress) -> None: ...
    def progress(self, progress: DownloadProgress) -> None: ...
    def paused(self, reason: str) -> None: ...
    def resumed(self) -> None: ...
    def note(self, text: str) -> None: ...


class Steering(Protocol):
    """Who may pause and cancel; ``engine.batch.control.RunControl`` is one."""

    reason: str

    @property
    def cancelled(self) -> bool: ...
    async def wait_running(self) -> None: ...
    async def wait_paused(self) -> None: ...
    async def wait_cancelled(self) -> None: ...


class Tally:
    """Counts what happens to a set of files."""

    def __init__(self, sizes: dict[str, int], clock: Callable[[], float] = time.monotonic) -> None:
        self._sizes, self._clock = sizes, clock
        self._there = dict.fromkeys(sizes, 0)
        self._done: set[str] = set()
        self._meter = RateMeter()
        self.checked = self.fetched = 0

    def there(self, path: str, length: int) -> None:
        """So many bytes of a file are on disk."""
        self._there[path] = length

    def got(self, path: str, count: int) -> None:
        """Bytes of a file came over the network and are on disk."""
        self._there[path] += count
        self.fetched += count

    def was_checked(self, count: int) -> None:
        """Bytes were read again for their hash."""
        self.checked += count

    def finished(self, path: str) -> None:
        """A file is in its place and right."""
        self._there[path] = self._sizes[path]
        self._done.add(path)

    def is_done(self, path: str) -> bool:
        return path in self._done

    def missing_bytes(self) -> int:
        return sum(self._sizes.values()) - sum(self._there.values())

    def forget_rate(self) -> None:
        """After a pause the past would count as slowness."""
        self._meter.restart(self._clock(), self.fetched)

    def look(self) -> DownloadProgress:
        """Now."""
        now, total = self._clock(), sum(self._sizes.values())
        rate, done = self._meter.rate(now, self.fetched), sum(self._there.values())
        left = total - done
        return DownloadProgress(
            done_bytes=done,
            total_bytes=total,
            checked_bytes=self.checked,
            fetched_bytes=self.fetched,
            files_done=len(self._done),
            files=len(self._sizes),
            rate=rate,
            eta_s=0.0 if not left else left / rate if rate > 0 else None,
        )
