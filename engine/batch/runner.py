"""Running a form over the rows of a stored run.

A fixed number of tasks takes rows in the table's order, renders and reads them as the throttle lets them, and hands
the readings to one writer. Nothing is counted before it is on disk. When the engine is gone (or the disk is full) the
run pauses with everything it holds; when only a row is bad, the row gets the status ``error`` and the run goes on.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from engine.batch.control import RunControl
from engine.batch.outbox import Outbox, RowAnswers, write_to
from engine.batch.prepare import states_of
from engine.batch.round_tally import RoundTally
from engine.batch.throttle import Throttle
from engine.domain.picture import State
from engine.domain.reading import Reading, ReadStatus
from engine.domain.run import Progress, RunState, Totals
from engine.errors import BugError, EngineBusy, EngineUnreachable, InputError, UserError, first_error
from engine.rate import RateMeter
from engine.store.runs import PendingRow, RunStore

log = logging.getLogger(__name__)

MAX_CONCURRENCY = 1024
PAGE = 256  # rows fetched ahead
REPORT_S = 0.25
BUSY_S = 300.0  # an engine that turned every row away for so long is as good as gone
TIMEOUT_TRIES = 2  # a row that times out while others are read is at fault itself

_PAUSING = ("disk.full", "disk.io", "store.busy")


class RowReader(Protocol):
    """What asks the questions; ``engine.reads.reader.Reader`` is one."""

    async def read(self, state: State, *, row_key: str) -> tuple[Reading, ...]:
        """One reading per question of the reader, in the form's order.

        Raises:
            EngineBusy: the engine has too much to do.
            EngineUnreachable: the engine is gone or did not answer in time.
        """
        ...


ReaderOf = Callable[[tuple[str, ...]], Awaitable[RowReader]]  # by the ids of the questions


@dataclass(frozen=True, slots=True)
class Callbacks:
    """What a run tells its owner, in the loop's thread.

    Attributes:
        progress: after answers were stored, a few times a second at most.
        paused: with the reason, empty when it was asked for.
        resumed: after a pause.
    """

    progress: Callable[[Progress], None] = lambda _: None
    paused: Callable[[str], None] = lambda _: None
    resumed: Callable[[], None] = lambda: None


@dataclass(frozen=True, slots=True)
class RunResult:
    """How a run ended.

    Attributes:
        state: finished or unfinished.
        cancelled: whether the owner asked for the end.
        error: what stopped it, when nobody was there to resume it.
        totals: answers by status, per question.
    """

    state: RunState
    done: int
    total: int
    totals: Mapping[str, Totals]
    cancelled: bool = False
    error: UserError | None = None


async def run(
    store: RunStore,
    reader: RowReader,
    *,
    concurrency: int = 32,
    start: int | None = None,
    reader_of: ReaderOf | None = None,
    control: RunControl | None = None,
    callbacks: Callbacks | None = None,
    wait_when_stuck: bool = True,
) -> RunResult:
    """Read everything that the run's current round has not read yet.

    Args:
        reader: reads the questions of the round.
        concurrency: rows read at the same time, at most; fewer when the engine is busy.
        start: rows read at the same time in the beginning; None: ``concurrency``.
        reader_of: makes a reader of some of the questions, for rounds that read single answers again.
        control: to pause, resume and cancel.
        wait_when_stuck: pause until resumed when the engine is gone or the disk is full; False: end as unfinished.

    Raises:
        InputError: a concurrency out of range, or a run whose form cannot be used.
        UserError: another worker took the run over.
        BugError: a reader that breaks its contract; stored answers stay.
    """
    if not 1 <= concurrency <= MAX_CONCURRENCY:
        message = "concurrency is {value}; allowed are 1 to {limit}"
        raise InputError("run.concurrency", message, value=concurrency, limit=MAX_CONCURRENCY)
    readers = _Readers(store, reader, reader_of)
    throttle = Throttle(min(start or concurrency, concurrency), concurrency)
    work = _Run(store, readers, throttle, control or RunControl(), callbacks or Callbacks(), wait_when_stuck)
    return await work.execute(concurrency)


class _Readers:
    """The reader for the questions that a row still needs."""

    def __init__(self, store: RunStore, reader: RowReader, make: ReaderOf | None) -> None:
        self._ids = store.spec.questions
        self._known: dict[tuple[int, ...], RowReader] = {store.round.questions: reader}
        self._make = make
        self._making = asyncio.Lock()

    async def of(self, places: tuple[int, ...]) -> RowReader:
        """Raises as ``Reader.open`` does."""
        found = self._known.get(places)
        if found is not None:
            return found
        async with self._making:
            if places not in self._known:
                if self._make is None:
                    raise BugError("run.no_reader", "nothing reads the questions {places} alone", places=places)
                self._known[places] = await self._make(tuple(self._ids[place] for place in places))
        return self._known[places]


class _Run:
    """The state of one call of ``run``."""

    def __init__(
        self,
        store: RunStore,
        readers: _Readers,
        throttle: Throttle,
        control: RunControl,
        callbacks: Callbacks,
        wait_when_stuck: bool,
    ) -> None:
        self.store, self.readers, self.throttle, self.control = store, readers, throttle, control
        self.callbacks, self.wait_when_stuck = callbacks, wait_when_stuck
        self.states = states_of(store)
        self.columns = store.spec.columns
        self.outbox = Outbox(self._write, self._report)
        self.meter = RateMeter()
        self.tally = RoundTally(store)
        self.rows_read = 0
        self.stuck: UserError | None = None
        self._answered_at = 0.0
        self._stop = asyncio.Event()  # cancelled, or stuck with nobody to wait for
        self._feed: deque[PendingRow] = deque()
        self._after = 0
        self._feeding = asyncio.Lock()
        self._reported = 0.0

    async def execute(self, concurrency: int) -> RunResult:
        """Work until all rows are answered, the run is cancelled, or it is stuck."""
        await asyncio.to_thread(self.store.set_state, "running")
        self._answered_at = _now()
        self.meter.restart(_now(), self.tally.done)
        try:
            async with asyncio.TaskGroup() as group:
                writing = group.create_task(self.outbox.run())
                following = [group.create_task(self._follow_pauses()), group.create_task(self._follow_cancel())]
                working = group.create_task(self._work_all(concurrency))
                stopping = group.create_task(self._stop.wait())
                await asyncio.wait({working, stopping}, return_when=asyncio.FIRST_COMPLETED)
                working.cancel()
                await asyncio.wait({working})
                self.outbox.close()
                await writing
                for task in (stopping, *following):
                    task.cancel()
        except BaseExceptionGroup as errors:
            raise first_error(errors) from None
        finally:
            self.outbox.abandon(self.store)
        return await self._finish()

    async def _work_all(self, concurrency: int) -> None:
        async with asyncio.TaskGroup() as group:
            for _ in range(concurrency):
                group.create_task(self._work())

    async def _work(self) -> None:
        while True:
            await self._gate()
            item = await self._next()
            if item is None:
                return
            await self.outbox.put(item.row, await self._answer(item))

    async def _gate(self) -> None:
        """Wait while the run is paused; for good when it ends, which cancels the waiting task."""
        await self.control.wait_running()
        if self.control.cancelled or self._stop.is_set():
            await asyncio.Event().wait()

    async def _next(self) -> PendingRow | None:
        async with self._feeding:
            if not self._feed:
                self._feed.extend(await asyncio.to_thread(self.store.pending, self._after, PAGE))
                if not self._feed:
                    return None
                self._after = self._feed[-1].row
            return self._feed.popleft()

    async def _answer(self, item: PendingRow) -> Sequence[Reading]:
        try:
            state = self.states.render(dict(zip(self.columns, item.cells, strict=True)))
        except UserError as error:
            return self._all(item, "error", str(error))
        if nothing := self.states.nothing(state):
            return self._all(item, "skipped", nothing)
        return await self._read(item, state)

    async def _read(self, item: PendingRow, state: State) -> Sequence[Reading]:
        """Ask until there is an answer; a row is only given up when others get theirs."""
        timeouts, read_before = 0, self.rows_read
        while True:
            await self._gate()
            epoch = self.control.epoch
            mark = await self.throttle.enter()
            began = _now()
            try:
                reader = await self.readers.of(item.questions)
                readings = await reader.read(state, row_key=str(item.row))
            except EngineBusy as error:
                self.throttle.back_off(mark, error.retry_after_s)
                if began - self._answered_at > BUSY_S + (error.retry_after_s or 0.0) and self.control.epoch == epoch:
                    self._stick(error)
            except EngineUnreachable as error:
                timed_out = error.code == "engine.timeout"
                if timed_out:
                    self.throttle.back_off(mark, hold=False)
                timeouts += timed_out
                if timeouts >= TIMEOUT_TRIES and self.rows_read > read_before:
                    return self._all(item, "error", str(error))
                once = timed_out and timeouts < TIMEOUT_TRIES
                if not once and self.control.epoch == epoch:
                    self._stick(error)
            except UserError as error:
                return self._all(item, "error", str(error))
            else:
                self.rows_read += 1
                self._answered_at = _now()
                self.throttle.answered(self._answered_at - began)
                return readings
            finally:
                self.throttle.leave()

    def _all(self, item: PendingRow, status: ReadStatus, why: str) -> tuple[Reading, ...]:
        method, ids = self.store.round.method.name, self.store.spec.questions
        return tuple(Reading(ids[place], status, method=method, error=why) for place in item.questions)

    async def _write(self, batch: Sequence[RowAnswers]) -> None:
        """Store a batch; on a full disk hold it until the run is resumed. What is dropped is read again later."""
        while True:
            try:
                await write_to(self.store, batch)
            except UserError as error:
                if error.code not in _PAUSING:
                    raise
                self._stick(error)
                if not self.wait_when_stuck:
                    return
                await self.control.wait_running()
                if self.control.cancelled:
                    return
            else:
                self.tally.add(reading for _, readings in batch for reading in readings)
                return

    def _stick(self, error: UserError) -> None:
        """The engine is gone or the disk full: pause, and end the run when nobody would resume it."""
        self.control.pause(str(error))
        if not self.wait_when_stuck:
            self.stuck = self.stuck or error
            self._stop.set()

    async def _follow_cancel(self) -> None:
        await self.control.wait_cancelled()
        self._stop.set()

    async def _follow_pauses(self) -> None:
        """Note pauses in the store, for those who only watch the file, and tell the owner."""
        while True:
            await self.control.wait_paused()
            if self._stop.is_set():
                return
            reason = self.control.reason
            log.info("run %s paused: %s", self.store.id, reason or "on request")
            await self._note("paused", reason)
            self.callbacks.paused(reason)
            await self.control.wait_running()
            if self.control.cancelled:
                return
            self._answered_at = _now()
            self.meter.restart(_now(), self.tally.done)
            await self._note("running")
            self.callbacks.resumed()

    async def _note(self, state: RunState, reason: str = "") -> None:
        try:
            await asyncio.to_thread(self.store.set_state, state, reason)
        except UserError as error:  # a full disk pauses the run, and the pause cannot be noted there
            if error.code not in _PAUSING:
                raise
            log.warning("the state %s was not stored: %s", state, error)

    def _report(self, *, last: bool = False) -> None:
        now = _now()
        if not last and (self.control.paused or now - self._reported < REPORT_S):
            return
        self._reported = now
        done, total = self.tally.done, self.tally.total
        rate = self.meter.rate(now, done)
        eta = (total - done) / rate if rate > 0 else None
        self.callbacks.progress(Progress(done, total, rate, eta, self.tally.totals()))

    async def _finish(self) -> RunResult:
        """Count once more, in the file, and note the end."""
        totals = await asyncio.to_thread(self.store.totals)
        await asyncio.to_thread(self.tally.restart)
        done, total = self.tally.done, self.tally.total
        complete = done == total
        if not complete and not self._stop.is_set():
            message = "run {run}: {done} answers of {total} are stored though every row was taken"
            raise BugError("run.incomplete", message, run=self.store.id, done=done, total=total)
        state: RunState = "finished" if complete else "unfinished"
        await self._note(state, "" if complete else str(self.stuck or "cancelled"))
        self._report(last=True)
        return RunResult(state, done, total, totals, self.control.cancelled and not complete, self.stuck)


def _now() -> float:
    return asyncio.get_running_loop().time()
