"""Many requests, one model: a worker thread that does one unit of work at a time and hands results to asyncio."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import AsyncGenerator, Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from engine.embedded.fairness import FairQueue
from engine.embedded.generate import Committed, Counters, Generation, GenerationRequest
from engine.embedded.live import LivePublisher
from engine.embedded.model import MAX_MODEL_LEN, DemoModel
from engine.embedded.tokenizer import DemoTokenizer
from engine.errors import BugError, EngineUnreachable

logger = logging.getLogger(__name__)

Deliver = Callable[[Committed | BaseException], None]


@dataclass(slots=True, eq=False)
class Job:
    """A request in the queue. ``cancelled`` is looked at before every unit of work."""

    generation: Generation
    deliver: Deliver
    started: bool = False
    cancelled: bool = False


class EmbeddedEngine:
    """The model with its queue. Safe to use from any thread; ``start`` before and ``close`` after.

    Attributes:
        counters: totals for /metrics; written by the worker thread only.
    """

    def __init__(self, model: DemoModel, tokenizer: DemoTokenizer, live: LivePublisher | None = None) -> None:
        self.model = model
        self.tokenizer = tokenizer
        self.counters = Counters()
        self._live = live
        self._queue: FairQueue[Job] = FairQueue()
        self._jobs: set[Job] = set()
        self._changed = threading.Condition()
        self._closing = False
        self._thread: threading.Thread | None = None

    @classmethod
    def load(cls, folder: Path, *, threads: int = 2, max_model_len: int = MAX_MODEL_LEN) -> EmbeddedEngine:
        """An engine on the checkpoint in ``folder``, with live frames where the environment asks for them.

        Raises:
            UserError: a file of the checkpoint is missing or broken.
        """
        tokenizer = DemoTokenizer(folder)
        model = DemoModel(folder, threads=threads, max_model_len=max_model_len)
        return cls(model, tokenizer, LivePublisher.from_environment())

    def start(self) -> None:
        """Starts the worker thread; a second call does nothing."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="embedded-engine", daemon=True)
            self._thread.start()

    def close(self) -> None:
        """Ends every request with ``EngineUnreachable`` and the thread with it; a second call does nothing."""
        with self._changed:
            self._closing = True
            jobs = list(self._jobs)
            self._changed.notify()
        for job in jobs:
            job.cancelled = True
            job.deliver(EngineUnreachable("embedded.closing", "the engine is shutting down"))
        if self._thread is not None:
            self._thread.join()
            self._thread = None
        if self._live is not None:
            self._live.close()
            self._live = None

    @property
    def running(self) -> int:
        """Requests whose work has begun."""
        with self._changed:
            return sum(job.started for job in self._jobs)

    @property
    def waiting(self) -> int:
        """Requests whose work has not begun."""
        with self._changed:
            return sum(not job.started for job in self._jobs)

    def submit(self, request: GenerationRequest, deliver: Deliver) -> Job:
        """Queues a request; ``deliver`` is called from the worker thread with each canvas, or with what went wrong."""
        generation = Generation(self.model, self.tokenizer, request, counters=self.counters, live=self._live)
        job = Job(generation, deliver)
        with self._changed:
            if self._closing or self._thread is None:
                raise BugError("embedded.not_running", "a request came to an engine that is not running")
            self._jobs.add(job)
            self._queue.add(job, is_read=request.read_only)
            self._changed.notify()
        return job

    def cancel(self, job: Job) -> None:
        """Gives a job up: no further unit of work is done for it."""
        with self._changed:
            job.cancelled = True
            self._forget(job)

    async def stream(self, request: GenerationRequest) -> AsyncGenerator[Committed]:
        """The canvases of an answer as they are committed. Leaving the iterator early ends the request.

        Raises:
            EngineUnreachable: the engine is shutting down.
            BugError: the model failed; the log has the trace.
        """
        loop = asyncio.get_running_loop()
        arrivals: asyncio.Queue[Committed | BaseException] = asyncio.Queue()

        def deliver(outcome: Committed | BaseException) -> None:
            with suppress(RuntimeError):  # the loop is gone, and whoever waited with it
                loop.call_soon_threadsafe(arrivals.put_nowait, outcome)

        job = self.submit(request, deliver)
        try:
            while True:
                outcome = await arrivals.get()
                if isinstance(outcome, BaseException):
                    raise outcome
                yield outcome
                if outcome.finish_reason is not None:
                    return
        finally:
            self.cancel(job)

    async def collect(self, request: GenerationRequest) -> Committed:
        """The whole answer as one piece."""
        pieces = [piece async for piece in self.stream(request)]
        return Committed(
            token_ids=tuple(i for piece in pieces for i in piece.token_ids),
            text="".join(piece.text for piece in pieces),
            logprobs=tuple(row for piece in pieces for row in piece.logprobs),
            finish_reason=pieces[-1].finish_reason,
            stop_reason=pieces[-1].stop_reason,
        )

    def _forget(self, job: Job) -> None:
        self._jobs.discard(job)
        self._queue.remove(job)

    def _work(self) -> None:
        while (job := self._next()) is not None:
            try:
                outcome = job.generation.advance()
            except Exception as error:
                logger.exception("a request failed inside the model")
                self.cancel(job)
                job.deliver(BugError("embedded.model_failed", "the model failed: {reason}", reason=repr(error)))
                continue
            if outcome is None:
                continue
            with self._changed:
                if outcome.finish_reason is not None:
                    self._forget(job)
                else:
                    self._queue.rotate(job)
            if not job.cancelled:
                job.deliver(outcome)

    def _next(self) -> Job | None:
        """Waits for work; None when the engine closes."""
        with self._changed:
            while not self._closing and not len(self._queue):
                self._changed.wait()
            if self._closing:
                return None
            job = self._queue.next()
            job.started = True
            return job
