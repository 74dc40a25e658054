"""Bulk runs from the window: start a worker, steer it, watch it; a run outlives the engine, the worker and the window.

The window holds no answer. What a worker has stored is in the run's file; when the engine dies the worker pauses, and
when the worker dies the run is unfinished: both go on with ``resume``.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from PySide6.QtCore import QObject, Signal

from app.models.run_rounds import ROUNDS, RoundChoice, RoundOffer
from app.presenters.decisions import EngineHandle, form_text
from app.presenters.run_offer import offer_of
from app.tasks import cancel_all, spawn
from engine import paths
from engine.batch.selection import Selection
from engine.domain.form import Form
from engine.domain.run import Progress, RunInfo, RunState, Totals
from engine.errors import EngineError, UserError
from engine.store.run_browse import delete_run
from engine.store.runs import RunView, list_runs, run_path
from engine.supervise.lifecycle import KEY_VARIABLE
from engine.supervise.protocol import (
    Note,
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
    """

    phase: Phase = "idle"
    run: str = ""
    progress: Progress | None = None
    reason: str = ""


class RunPresenter(QObject):
    """Owns the one worker of this window and the list of stored runs.

    Signals:
        runs_changed(): read ``runs``.
        status_changed(): read ``status``.
        started(str): a run has begun or goes on; its id.
        ended(str, str): its id and how: finished, cancelled or failed.
        failed(str, str): what went wrong and what to do.
        noted(str): something worth showing.
    """

    runs_changed = Signal()
    status_changed = Signal()
    started = Signal(str)
    ended = Signal(str, str)
    failed = Signal(str, str)
    noted = Signal(str)

    def __init__(self, engine: EngineHandle, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._engine = engine
        self.runs: tuple[RunInfo, ...] = ()
        self.status = RunStatus()
        self._worker: Worker | None = None
        self._worker_url = ""
        self._watch: asyncio.Task[None] | None = None
        self._closing = False
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
            arguments = [str(table), *_reading_arguments(reading), *_selection_arguments(selection or Selection())]
            spawn(self, self._start(form, arguments, concurrency), "start run")

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
            self._worker.send("pause")

    def cancel(self) -> None:
        """End the run; stored answers stay, and it can be resumed later."""
        if self._worker is not None and self.status.phase != "stopping":
            self._set(replace(self.status, phase="stopping"))
            self._worker.send("cancel")

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
    async def _start(self, form: Form, arguments: list[str], concurrency: int) -> None:
        try:
            form_path = await asyncio.to_thread(_snapshot, form)
            await self._spawn(["decide", str(form_path), *arguments], concurrency)
        except EngineError as error:
            self._give_up(error)

    async def _again(self, run_id: str, choice: RoundChoice, form: Form, concurrency: int) -> None:
        try:
            arguments = ["again", choice.what, run_id]
            if choice.what == "questions":
                method = form.method if choice.draws is None else replace(form.method, draws=choice.draws)
                arguments += ["--form", str(await asyncio.to_thread(_snapshot, replace(form, method=method)))]
            elif choice.draws is not None:
                arguments.append(f"--draws={choice.draws}")
            await self._spawn(arguments, concurrency)
        except EngineError as error:
            self._give_up(error)

    async def _resume_stored(self, run_id: str, concurrency: int) -> None:
        try:
            arguments = await asyncio.to_thread(_resume_arguments, run_id)
            await self._spawn(arguments, concurrency)
        except EngineError as error:
            self._give_up(error)

    async def _resume_paused(self, run_id: str, concurrency: int) -> None:
        worker = self._worker
        if worker is None:
            return
        if self._engine.url == self._worker_url:
            worker.send("resume")
            return
        # The engine came back at another address: another worker goes on where this one stopped.
        watch = self._watch
        await worker.stop()
        if watch is not None:
            await asyncio.wait([watch])
        self.resume(run_id, concurrency)

    async def _spawn(self, arguments: list[str], concurrency: int) -> None:
        if not self._engine.url:
            raise UserError("engine.none", "no engine is running", remedy="start it on the Engine page")
        out = _scratch_csv()
        # Raw: the scratch file is removed at once, so nothing is to be said about what was guarded in it.
        to = ["--out", str(out), "--raw", "--engine", self._engine.url, "--concurrency", str(concurrency)]
        worker = await Worker.spawn(
            [*arguments, *to],
            log_path=paths.logs_dir() / "worker.log",
            # In the environment, never on the command line, which everybody on the machine can read.
            env={KEY_VARIABLE: self._engine.api_key or ""},
        )
        self._worker, self._worker_url = worker, self._engine.url
        self._watch = spawn(self, self._follow(worker, out), "watch run")
        if self._closing:
            await worker.stop()

    async def _follow(self, worker: Worker, out: Path) -> None:
        try:
            async for event in worker.events():
                self._on_event(event)
        finally:
            self._worker = None
            out.unlink(missing_ok=True)  # noqa: ASYNC240  # one unlink; the window exports to where the user says
        await self.load_runs()

    def _on_event(self, event: WorkerEvent) -> None:
        match event:
            case RunStarted():
                progress = Progress(event.done, event.total, 0.0, None, Totals())
                self._set(RunStatus("running", event.run, progress))
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
                self._on_end(event)

    def _on_end(self, event: RunFinished | RunCancelled | RunFailed) -> None:
        run = self.status.run
        self._mark(run, "finished" if isinstance(event, RunFinished) else "unfinished")
        self._set(RunStatus())
        match event:
            case RunFinished():
                self.ended.emit(run, "finished")
            case RunCancelled():
                self.ended.emit(run, "cancelled")
            case RunFailed():
                self.ended.emit(run, "failed")
                self.failed.emit(event.message, event.remedy)

    def _give_up(self, error: EngineError) -> None:
        self._set(RunStatus())
        self.failed.emit(error.message, error.remedy)

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


def _snapshot(form: Form) -> Path:
    """The form as a file of its own, named by its content: later edits do not touch a run that may be resumed."""
    text = form_text(form, form.name)
    folder = paths.data_dir() / "forms"
    folder.mkdir(parents=True, exist_ok=True)
    stem = "".join(sign if sign.isalnum() else "-" for sign in form.name)[:40]
    path = folder / f"{stem}-{hashlib.sha256(text.encode()).hexdigest()[:12]}.json"
    if not path.exists():
        part = path.with_suffix(f".{os.getpid()}.part")
        part.write_text(text, encoding="utf-8")
        part.replace(path)
    return path


def _scratch_csv() -> Path:
    """A place for the CSV that ``decide`` writes at its end; removed at once, the window exports by itself."""
    folder = paths.data_dir() / "scratch"
    folder.mkdir(parents=True, exist_ok=True)
    return folder / f"{secrets.token_hex(8)}.csv"


def _resume_arguments(run_id: str) -> list[str]:
    """The command that goes on with a stored run in the round that it is in."""
    with RunView(run_path(paths.runs_dir(), run_id)) as view:
        spec, current = view.spec, view.rounds()[-1]
    if (what := ROUNDS.get(current.kind)) is not None:
        # The round is begun: its questions are in the run's file, and no form is read for them again.
        return ["again", what, run_id, *(["--form", spec.form_path] if what == "questions" else [])]
    reading = {
        key: spec.table_format[key] for key in ("encoding", "delimiter", "header", "sheet") if key in spec.table_format
    }
    return ["decide", spec.form_path, spec.table_path, f"--resume={run_id}", *_reading_arguments(reading)]


def _reading_arguments(reading: Mapping[str, object]) -> list[str]:
    arguments: list[str] = []
    if encoding := reading.get("encoding"):
        arguments += ["--encoding", str(encoding)]
    if delimiter := reading.get("delimiter"):
        arguments.append(f"--delimiter={delimiter}")
    if reading.get("header") is False:
        arguments.append("--no-header")
    if sheet := reading.get("sheet"):
        arguments.append(f"--sheet={sheet}")
    return arguments


def _selection_arguments(selection: Selection) -> list[str]:
    kept = selection.as_json()
    return [f"--{key}={kept[key]}" for key in ("where", "first", "sample", "seed") if key in kept]
