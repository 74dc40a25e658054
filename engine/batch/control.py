"""Pausing, resuming and cancelling a run. One event loop's thread only."""

from __future__ import annotations

import asyncio


class RunControl:
    """The handle on a run that its owner keeps.

    Attributes:
        reason: why the run is paused; empty when somebody asked for it.
        epoch: counts the resumptions, so that a failure can be told to belong to a time before the last one.
    """

    def __init__(self) -> None:
        self.reason = ""
        self.epoch = 0
        self._running = asyncio.Event()
        self._running.set()
        self._paused = asyncio.Event()
        self._cancelled = asyncio.Event()

    @property
    def paused(self) -> bool:
        return self._paused.is_set()

    @property
    def cancelled(self) -> bool:
        return self._cancelled.is_set()

    def pause(self, reason: str = "") -> None:
        """Start no more reads; those under way are finished and stored."""
        if not self.paused and not self.cancelled:
            self.reason = reason
            self._running.clear()
            self._paused.set()

    def resume(self) -> None:
        """Go on; rows that met a dead engine are read again."""
        if self.paused:
            self.reason = ""
            self.epoch += 1
            self._paused.clear()
            self._running.set()

    def cancel(self) -> None:
        """End the run: reads under way are dropped, stored answers stay, and it can be resumed later."""
        self._cancelled.set()
        self._running.set()

    async def wait_running(self) -> None:
        """Return at once unless the run is paused; a cancelled run waits for nothing."""
        if not self._running.is_set():
            await self._running.wait()

    async def wait_paused(self) -> None:
        await self._paused.wait()

    async def wait_cancelled(self) -> None:
        await self._cancelled.wait()
