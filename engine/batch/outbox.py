"""Answers on their way to disk: written in small batches, so that little is lost when the process is killed."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Sequence

from engine.domain.reading import Reading
from engine.store.runs import RunStore

BATCH = 64  # answers
DELAY_S = 0.5

RowAnswers = tuple[int, Sequence[Reading]]


class Outbox:
    """Collects the readings of rows and hands them to the store.

    Args:
        write: stores a batch; it returns only when the batch is on disk.
        tick: called after every batch and at least every ``DELAY_S``.
    """

    def __init__(self, write: Callable[[Sequence[RowAnswers]], Awaitable[None]], tick: Callable[[], None]) -> None:
        self._write = write
        self._tick = tick
        self._rows: list[RowAnswers] = []
        self._answers = 0
        self._closed = False
        self._full = asyncio.Event()
        self._room = asyncio.Event()
        self._room.set()

    async def put(self, row: int, readings: Sequence[Reading]) -> None:
        """Add a row; waits while a full batch is waiting behind another that is being written."""
        await self._room.wait()
        self._rows.append((row, readings))
        self._answers += len(readings)
        if self._answers >= BATCH:
            self._full.set()
            self._room.clear()

    def close(self) -> None:
        """Nothing more will come: write the rest and end ``run``."""
        self._closed = True
        self._full.set()

    def abandon(self, store: RunStore) -> None:
        """Queue what is left without waiting, after a failure. The store writes it before it closes."""
        if self._rows:
            store.submit_answers(self._take())

    async def run(self) -> None:
        """Write until closed and empty."""
        while self._rows or not self._closed:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(DELAY_S):
                    await self._full.wait()
            if not self._closed:
                self._full.clear()
            if self._rows:
                await self._write(self._take())
            self._tick()

    def _take(self) -> list[RowAnswers]:
        rows, self._rows, self._answers = self._rows, [], 0
        self._room.set()
        return rows


async def write_to(store: RunStore, batch: Sequence[RowAnswers]) -> None:
    """Store a batch without blocking the loop. A cancelled caller does not take the batch back."""
    await asyncio.shield(asyncio.wrap_future(store.submit_answers(batch)))
