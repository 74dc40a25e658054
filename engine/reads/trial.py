"""Trying questions before a run: one row in full, alone and jointly side by side; then some rows, and what all take."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from engine.client.http import EngineClient
from engine.domain.picture import State, paths_of
from engine.domain.question import Question
from engine.domain.reading import Method, Reading
from engine.errors import EngineRefused, InputError
from engine.reads.failures import Failures, failures
from engine.reads.reader import Reader, ReadPreview
from engine.reads.together import together

TRY_ROWS = 20


@dataclass(frozen=True, slots=True)
class WayTried:
    """One row read one way.

    Attributes:
        canvases: reads that a row takes, further draws not counted.
        latency_s: seconds of all its canvases, one after the other.
        questions: one preview per question, in order; empty when the way cannot be read.
        refusal: why it cannot be read here; else empty.
    """

    method: Method
    canvases: int
    latency_s: float
    questions: tuple[ReadPreview, ...]
    refusal: str = ""


@dataclass(frozen=True, slots=True)
class RowTried:
    """One row read alone and jointly; ``joint`` is None for a single question, which is always read alone."""

    alone: WayTried
    joint: WayTried | None


@dataclass(frozen=True, slots=True)
class RowsTried:
    """Some rows read as a run would read them.

    Attributes:
        readings: per row, one reading per question.
        seconds: for all of them, with the run's concurrency.
        failures: rows of which a read failed.
    """

    readings: tuple[tuple[Reading, ...], ...]
    seconds: float
    failures: Failures

    @property
    def rows_per_s(self) -> float:
        return len(self.readings) / self.seconds if self.seconds > 0.0 else 0.0

    def estimate_s(self, rows: int) -> float:
        """Seconds that so many rows take at this rate; a first guess, since few rows do not fill the engine."""
        return rows / self.rows_per_s if self.rows_per_s > 0.0 else 0.0

    def sentence(self, rows: int) -> str:
        """The estimate in words."""
        bad = sum(reading.status == "unreadable" for row in self.readings for reading in row)
        failed = sum(reading.status == "error" for row in self.readings for reading in row)
        why = self.failures.sentence(len(self.readings))
        return (
            f"{len(self.readings)} rows in {self.seconds:.1f} s ({bad} answers unreadable, {failed} errors): "
            f"{rows:,} rows would take about {duration(self.estimate_s(rows))}. {why}"
        ).rstrip()


async def try_row(client: EngineClient, questions: Sequence[Question], method: Method, state: State) -> RowTried:
    """Read one row with everything shown, alone and jointly.

    Args:
        method: its draws, wire and limits are used both ways.

    Raises:
        InputError, EngineUnreachable: as ``Reader.open``; what only the joint way refuses is told in it.
        EngineRefused: the row cannot be read alone either.
    """
    alone = await _way(client, questions, replace(method, joint=False), state)
    if len(questions) < 2:
        return RowTried(alone, None)
    together_ = replace(method, joint=True)
    try:
        return RowTried(alone, await _way(client, questions, together_, state))
    except (EngineRefused, InputError) as error:
        return RowTried(alone, WayTried(together_, 0, 0.0, (), str(error)))


async def try_rows(reader: Reader, rows: Sequence[tuple[str, State]], *, concurrency: int = 32) -> RowsTried:
    """Read rows as a run would.

    Args:
        rows: (row key, state) pairs.
        concurrency: rows under way at the same time.

    Raises:
        InputError: no rows.
        EngineUnreachable: the engine is gone.
    """
    if not rows:
        raise InputError("reads.no_rows", "there is no row to try")
    free = asyncio.Semaphore(concurrency)

    async def one(key: str, state: State) -> tuple[Reading, ...]:
        async with free:
            return await reader.read(state, row_key=key)

    started = time.monotonic()
    readings = await together([one(key, state) for key, state in rows])
    seconds = time.monotonic() - started
    failed = failures((key, read) for (key, _), read in zip(rows, readings, strict=True))
    return RowsTried(tuple(readings), seconds, failed)


def duration(seconds: float) -> str:
    """``40 s``, ``12 min``, ``3.5 h``, ``2.1 days``."""
    if seconds < 90:
        return f"{max(seconds, 0.0):.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h" if seconds < 172_800 else f"{seconds / 86_400:.1f} days"


async def _way(client: EngineClient, questions: Sequence[Question], method: Method, state: State) -> WayTried:
    reader = await Reader.open(client, questions, method, pictures=bool(paths_of(state)))
    started = time.monotonic()
    shown = await reader.previews(state)
    waited = time.monotonic() - started
    # A canvas's time is told by each of its questions; native reads share one request.
    canvases = {preview.prompt or "native": preview.latency_s for preview in shown}
    return WayTried(method, reader.canvases, min(sum(canvases.values()), waited), shown)
