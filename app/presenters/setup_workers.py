"""The setup's one worker at a time: the engine's environment or a checkpoint, started, steered, watched."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from PySide6.QtCore import QObject, Signal

from app.models.setup import Step, StepName, Work
from app.presenters.setup_work import work_of
from app.tasks import cancel_all, spawn
from engine import paths
from engine.errors import EngineError
from engine.supervise.protocol import LAST_WORDS, Command, Note, RunFailed, RunPaused, RunResumed, WorkerEvent
from engine.supervise.worker import Worker

BY_COMMAND = "asked for"  # the worker's reason for a pause that we asked for


class SetupWorkers(QObject):
    """Signals:
    stood(str, Step): how a step stands now.
    under_way(str, bool): whether its work is to go on at the next start of the program.
    ended(str): its worker is gone, in whatever way but by failure; what it left is on disk.
    """

    stood = Signal(str, object)
    under_way = Signal(str, bool)
    ended = Signal(str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._worker: Worker | None = None
        self._watch: asyncio.Task[None] | None = None
        self._now = Step()
        self._closing = False
        self.step: StepName | None = None

    @property
    def pid(self) -> int | None:
        """Of the running worker."""
        return self._worker.pid if self._worker is not None else None

    def run(self, step: StepName, argv: Sequence[str], phase: str) -> bool:
        """Start a worker for a step; False when one is at work already. ``phase``: until it has said something."""
        if self.step is not None:
            return False
        self.step = step
        self._stand(step, Step("running", work=Work(phase)))
        self._watch = spawn(self, self._run(step, argv), f"setup {step}")
        return True

    def send(self, command: Command) -> None:
        """Pause or resume; for a worker that hears commands."""
        if self._worker is not None:
            self._worker.send(command)

    def cancel(self) -> None:
        """Let it stop in good order; what is on disk stays."""
        self.send("cancel")

    async def close_down(self) -> None:
        """Ends the worker, one that is only being started too; when this returns it is gone."""
        self._closing = True
        if self._worker is not None:
            await self._worker.stop()
        if self._watch is not None:
            await asyncio.wait([self._watch], timeout=10)
        if self._worker is not None:  # it came up meanwhile, and does not hear
            await self._worker.stop()
        await cancel_all(self)

    async def _run(self, step: StepName, argv: Sequence[str]) -> None:
        last: WorkerEvent | None
        try:
            self._worker = await Worker.spawn_program(argv, log_path=paths.logs_dir() / f"setup-{step}.log")
        except EngineError as error:
            last = RunFailed(code=error.code, message=error.message, remedy=error.remedy)
        else:
            if self._closing:
                self.cancel()
            self._stand(step, self._now)  # its process is known now
            last = await self._follow(step, self._worker)
        # The last word counts when the process is gone: its locks are free, and the next worker may start.
        self._worker, self.step = None, None
        self.under_way.emit(step, False)
        if isinstance(last, RunFailed):
            self._stand(step, Step("failed", last.message, last.remedy))
        else:
            self._stand(step, Step())
            self.ended.emit(step)

    async def _follow(self, step: StepName, worker: Worker) -> WorkerEvent | None:
        last: WorkerEvent | None = None
        async for event in worker.events():
            if isinstance(event, LAST_WORDS):
                last = event
            else:
                self._on_event(step, event)
        return last

    def _on_event(self, step: StepName, event: WorkerEvent) -> None:
        match event:
            case RunPaused():
                self.under_way.emit(step, False)
                reason = "" if event.reason == BY_COMMAND else event.reason
                self._stand(step, replace(self._now, phase="paused", text=reason))
            case RunResumed():
                self.under_way.emit(step, True)
                self._stand(step, replace(self._now, phase="running", text=""))
            case Note():
                self._stand(step, replace(self._now, text=event.text))
            case _:
                work = work_of(event)
                if work is not None:
                    self._stand(step, replace(self._now, work=work))

    def _stand(self, step: StepName, value: Step) -> None:
        self._now = value
        self.stood.emit(step, value)
