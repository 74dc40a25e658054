"""Bulk runs from the window: start a worker, steer it, watch it; a run outlives the engine, the worker and the window.

The window holds no answer. What a worker has stored is in the run's file; when the engine dies the worker pauses, and
when the worker dies the run is unfinished: both go on with ``resume``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from PySide6.QtCore import QObject, Signal

from app.models.run_rounds import RoundChoice, RoundOffer
from app.presenters.decisions import EngineHandle
from app.presenters.run_commands import (
    OF_WINDOW,
    drop_scratch,
    output_arguments,
    resume_arguments,
    scratch_csv,
    snapshot,
    start_arguments,
)
from app.presenters.run_offer import offer_of
from app.tasks import cancel_all, spawn
from engine import paths
from engine.batch.selection import Selection
from engine.domain.form import Form
from engine.domain.run import Progress, RunInfo, RunState, Totals
from engine.errors import EngineError, UserError
from engine.store.run_browse import delete_run
from engine.store.run_queue import RunQueue
from engine.store.runs import list_runs, run_path
from engine.supervise.lifecycle import KEY_VARIABLE
from engine.supervise.protocol import (
    Note,
    QueueEnded,
    RunCancelled,
    RunFailed,
    RunFinished,
    RunPaused,
    RunProgress,
    RunResumed,
    RunStarted,
    WorkerEvent,
)
from engine.supervise.worker import Worker

Phase = Literal["idle", "starting", "running", "paused", "stopping"]
BY_COMMAND = "asked for"  # the worker's reason for a pause that we asked for


@dataclass(frozen=True, slots=True)
class RunStatus:
    """The worker of this window.

    Attributes:
        run: the id of its run; empty until it has said it.
        reason: why it is paused; empty when the user asked for it.
        queue: it works off the queue, one run after the other.
    """

    phase: Phase = "idle"
    run: str = ""
    progress: Progress | None = None
    reason: str = ""
    queue: bool = False


class RunPresenter(QObject):
    """Owns the one worker of this window and the list of stored runs.

    Signals:
        runs_changed(): read ``runs``.
        status_changed(): read ``status``.
        started(str): a run has begun or goes on; its id.
        ended(str, str): its id and how: finished, cancelled or failed.
        queue_ended(int, int): nothing waits any more; so many runs of the queue were finished, so many failed.
        freed(str, bool): no worker is there any more; how the last one ended, as for ``ended``, and whether it worked
            off the queue.
        failed(str, str): what went wrong and what to do.
        noted(str): something worth showing.
    """

    runs_changed = Signal()
    status_changed = Signal()
    started = Signal(str)
    ended = Signal(str, str)
    queue_ended = Signal(int, int)
    freed = Signal(str, bool)
    failed = Signal(str, str)
    noted = Signal(str)

    def __init__(self, engine: EngineHandle, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.engine = engine
        self.runs: tuple[RunInfo, ...] = ()
        self.status = RunStatus()
        self._worker: Worker | None = None
        self._worker_url = ""
        self._watch: asyncio.Task[None] | None = None
        self._closing = False
        self._moving = False  # another worker takes over from this one
        self._listing = asyncio.Lock()

    @property
    def busy(self) -> bool:
        """Whether a worker of ours is at it."""
        return self.status.phase != "idle"

    @property
    def worker_pid(self) -> int | None:
        """Of the worker's process, which leads a group of its own."""
        return self._worker.pid if self._worker is not None else None

    def info(self, run_id: str) -> RunInfo | None:
        return next((run for run in self.runs if run.id == run_id), None)

    # ---- stored runs
    def refresh(self) -> None:
        spawn(self, self.load_runs(), "list runs")

    async def load_runs(self) -> None:
        """Read the list of stored runs anew."""
        async with self._listing:
            self.runs = tuple(await asyncio.to_thread(list_runs, paths.runs_dir()))
        self._mark_ours()
        self.runs_changed.emit()

    async def delete(self, run_id: str) -> None:
        """Remove a stored run for good, unless a worker is at it."""
        async with self._listing:  # nobody opens the file meanwhile
            try:
                await asyncio.to_thread(delete_run, paths.runs_dir(), run_id)
            except EngineError as error:
                self.failed.emit(error.message, error.remedy)
        await self.load_runs()

    # ---- the worker
    def start(
        self,
        form: Form,
        table: Path,
        reading: Mapping[str, object],
        concurrency: int,
        selection: Selection | None = None,
    ) -> None:
        """Begin a run.

        Args:
            reading: how the table is read where the user overruled a guess: encoding, delimiter, header, sheet.
            concurrency: rows under way at once.
            selection: which rows are read; None: all.
        """
        if not self.busy:
            self._set(RunStatus("starting"))
            spawn(self, self._start(form, table, reading, selection or Selection(), concurrency), "start run")

    def work_queue(self) -> None:
        """Take the runs that wait in the queue in turn, until none waits."""
        if not self.busy:
            self._set(RunStatus("starting", queue=True))
            spawn(self, self._work_queue(), "work off the queue")

    def resume(self, run_id: str, concurrency: int) -> None:
        """Go on with a paused run of ours, or with any unfinished one."""
        if self.status.run == run_id and self.status.phase == "paused" and self._worker is not None:
            spawn(self, self._resume_paused(run_id, concurrency), "resume run")
        elif not self.busy:
            self._set(RunStatus("starting", run_id))
            spawn(self, self._resume_stored(run_id, concurrency), "resume run")

    async def offer(self, run_id: str, form: Form) -> RoundOffer | None:
        """What another round of a finished run could read; None when its file cannot tell (``failed`` says why).

        Args:
            form: the one that may hold questions that the run has not got.
        """
        try:
            return await asyncio.to_thread(offer_of, run_path(paths.runs_dir(), run_id), form)
        except EngineError as error:
            self.failed.emit(error.message, error.remedy)
            return None

    def again(self, run_id: str, choice: RoundChoice, form: Form, concurrency: int) -> None:
        """Begin another round of a finished run.

        Args:
            form: of a round of new questions: the one that holds them.
        """
        if not self.busy:
            self._set(RunStatus("starting", run_id))
            spawn(self, self._again(run_id, choice, form, concurrency), "another round")

    def pause(self) -> None:
        if self._worker is not None:
            self._worker.send("pause", self.status.run)

    def cancel(self, run: str = "") -> None:
        """End ``run``, or the one under way, whichever it is; stored answers stay, and it can be resumed later."""
        if self._worker is not None and self.status.phase != "stopping" and run in ("", self.status.run):
            self._set(replace(self.status, phase="stopping"))
            self._worker.send("cancel", run)

    async def close_down(self) -> None:
        """The window leaves: the worker is cancelled and has ended when this returns."""
        self._closing = True
        worker = self._worker
        if worker is not None:
            await worker.stop()
        if self._watch is not None:
            await asyncio.wait([self._watch], timeout=10)
        await cancel_all(self)

    # ---- private
    async def _start(
        self, form: Form, table: Path, reading: Mapping[str, object], selection: Selection, concurrency: int
    ) -> None:
        try:
            form_path = await asyncio.to_thread(snapshot, form)
            await self._spawn(start_arguments(form_path, table, reading, selection), concurrency)
        except EngineError as error:
            self._give_up(error)

    async def _work_queue(self) -> None:
        try:
            await asyncio.to_thread(_lead_to, self.engine_url())
            await self._spawn(["queue", "work"])
        except EngineError as error:
            self._give_up(error)

    async def _again(self, run_id: str, choice: RoundChoice, form: Form, concurrency: int) -> None:
        try:
            arguments = ["again", choice.what, run_id]
            if choice.what == "questions":
                method = form.method if choice.draws is None else replace(form.method, draws=choice.draws)
                arguments += ["--form", str(await asyncio.to_thread(snapshot, replace(form, method=method)))]
            elif choice.draws is not None:
                arguments.append(f"--draws={choice.draws}")
            await self._spawn(arguments, concurrency)
        except EngineError as error:
            self._give_up(error)

    async def _resume_stored(self, run_id: str, concurrency: int) -> None:
        try:
            arguments = await asyncio.to_thread(resume_arguments, run_id)
            await self._spawn(arguments, concurrency)
        except EngineError as error:
            self._give_up(error)

    async def _resume_paused(self, run_id: str, concurrency: int) -> None:
        worker = self._worker
        if worker is None:
            return
        if self.engine.url == self._worker_url:
            worker.send("resume", run_id)
            return
        # The engine came back at another address: another worker goes on where this one stopped.
        watch, queue = self._watch, self.status.queue
        self._moving = True
        try:
            await worker.stop()
            if watch is not None:
                await asyncio.wait([watch])
        finally:
            self._moving = False
        if queue:
            self.work_queue()  # it has its old place, which is the first
        else:
            self.resume(run_id, concurrency)

    def engine_url(self) -> str:
        """Where the window's engine answers.

        Raises:
            UserError: nowhere.
        """
        if not self.engine.url:
            raise UserError("engine.none", "no engine is running", remedy="start it on the Engine page")
        return self.engine.url

    def secrets(self) -> dict[str, str]:
        """In a worker's environment, never on the command line, which everybody on the machine can read."""
        return {KEY_VARIABLE: self.engine.api_key or ""}

    async def _spawn(self, arguments: list[str], concurrency: int | None = None) -> None:
        """Start a worker; ``concurrency`` None: the queue's, whose runs know where their answers go."""
        url, out = self.engine_url(), None
        if concurrency is not None:
            out = scratch_csv()
            arguments = [*arguments, *output_arguments(out, url, concurrency)]
        worker = await Worker.spawn(arguments, log_path=paths.logs_dir() / "worker.log", env=self.secrets())
        self._worker, self._worker_url = worker, url
        self._watch = spawn(self, self._follow(worker, out, self.status.queue), "watch run")
        if self._closing:
            await worker.stop()

    async def _follow(self, worker: Worker, out: Path | None, queue: bool) -> None:
        how = "failed"
        try:
            async for event in worker.events():
                how = self._on_event(event) or how
        finally:
            ours = self._worker is worker
            if ours:
                self._worker = None
            if out is not None:
                drop_scratch(out)
        await self.load_runs()
        if ours and not self._moving and not self._closing:
            self.freed.emit(how, queue)

    def _on_event(self, event: WorkerEvent) -> str:
        """How the worker ends, should this be its last word; empty otherwise."""
        match event:
            case RunStarted():
                progress = Progress(event.done, event.total, 0.0, None, Totals())
                self._set(RunStatus("running", event.run, progress, queue=self.status.queue))
                self.started.emit(event.run)
                self.refresh()
            case RunProgress():
                totals = Totals(event.ok, event.unreadable, event.error, event.skipped)
                progress = Progress(event.done, event.total, event.rate, event.eta_s, totals)
                self._set(replace(self.status, progress=progress))
            case RunPaused():
                reason = "" if event.reason == BY_COMMAND else event.reason
                self._set(replace(self.status, phase="paused", reason=reason))
                self.refresh()
            case RunResumed():
                self._set(replace(self.status, phase="running", reason=""))
                self.refresh()
            case Note() if "--" not in event.text:  # advice on options is for the command line
                self.noted.emit(event.text)
            case RunFinished() | RunCancelled() | RunFailed():
                return self._on_end(event)
            case QueueEnded():
                self._set(RunStatus())
                self.queue_ended.emit(event.finished, event.failed)
                return "finished"
        return ""

    def _on_end(self, event: RunFinished | RunCancelled | RunFailed) -> str:
        run, queue = event.run or self.status.run, self.status.queue
        self._mark(run, "finished" if isinstance(event, RunFinished) else "unfinished")
        # A queue's worker goes on with the next run, unless it was cancelled or something other than a run failed.
        goes_on = queue and (isinstance(event, RunFinished) or (isinstance(event, RunFailed) and bool(event.run)))
        self._set(RunStatus("starting", queue=True) if goes_on else RunStatus())
        how = "finished" if isinstance(event, RunFinished) else "cancelled"
        if isinstance(event, RunFinished):
            drop_scratch(Path(event.out))
        elif isinstance(event, RunFailed):
            how = "failed"
        self.ended.emit(run, how)
        if isinstance(event, RunFailed):
            self.failed.emit(event.message, event.remedy)
        return how

    def _give_up(self, error: EngineError) -> None:
        queue = self.status.queue
        self._set(RunStatus())
        self.failed.emit(error.message, error.remedy)
        self.freed.emit("failed", queue)

    def _set(self, status: RunStatus) -> None:
        if status != self.status:
            self.status = status
            self._mark_ours()
            self.status_changed.emit()

    def _mark_ours(self) -> None:
        """What our worker says about its run is newer than what the list was read with."""
        status = self.status
        if status.phase in ("running", "stopping", "paused"):
            done = status.progress.done if status.progress is not None else 0
            self._mark(status.run, "paused" if status.phase == "paused" else "running", done)

    def _mark(self, run_id: str, state: RunState, done: int = 0) -> None:
        """State of a listed run, and how far it is at least."""
        self.runs = tuple(
            replace(run, state=state, done=max(run.done, done)) if run.id == run_id else run for run in self.runs
        )


def _lead_to(url: str) -> None:
    """Let the window's runs in the queue be read by the engine that it has now."""
    with RunQueue(paths.queue_file()) as queue:
        for entry in queue.entries():
            if entry.options.get(OF_WINDOW):
                queue.amend(entry.run, {"engine": url})
