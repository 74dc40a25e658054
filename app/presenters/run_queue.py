"""The queue of runs: several wait, one is under way, the next begins by itself. It is on disk and outlives the window.

After a restart of the window what waits is held until the user starts it: nobody's cards begin to work unasked.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from app.models.run_queue import LineState, QueueLine, QueueLook
from app.presenters.run import RunPresenter
from app.presenters.run_commands import (
    OF_WINDOW,
    output_arguments,
    queue_options,
    scratch_csv,
    snapshot,
    start_arguments,
    sweep_scratch,
)
from app.tasks import cancel_all, spawn
from engine import paths
from engine.batch.selection import Selection
from engine.domain.form import Form
from engine.errors import EngineError
from engine.store.run_queue import QueueEntry, RunQueue
from engine.supervise.protocol import RunFailed, RunQueued
from engine.supervise.worker import Worker


class QueuePresenter(QObject):
    """Owns what waits; the one worker of the window is the ``RunPresenter``'s.

    Signals:
        changed(): read ``look``.
        added(str): a run waits now; its id.
        ended(int, int): nothing waits any more; so many runs were finished, so many failed.
        failed(str, str): what went wrong and what to do.
    """

    changed = Signal()
    added = Signal(str)
    ended = Signal(int, int)
    failed = Signal(str, str)

    def __init__(self, runs: RunPresenter, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._runs = runs
        self.look = QueueLook()
        self._entries: tuple[QueueEntry, ...] = ()
        self._alive = False  # some process works the queue off
        self._going = False
        self._adding: list[str] = []
        self._dropped = ""  # a run that shall leave the queue once its worker has let it go
        self._turn = asyncio.Lock()
        self._makers: set[Worker] = set()
        runs.freed.connect(self._on_freed)
        runs.started.connect(self._on_started)
        runs.ended.connect(self._on_ended)
        runs.runs_changed.connect(self._show)
        runs.status_changed.connect(self._show)
        runs.queue_ended.connect(self.ended)

    # ---- what is there
    def refresh(self) -> None:
        spawn(self, self.load(), "read the queue")

    async def restore(self) -> None:
        """The window has come up: read what waits from before, and remove what nobody fetched."""
        await asyncio.to_thread(sweep_scratch)
        await self.load()

    async def load(self) -> None:
        """Read the queue anew."""
        if await asyncio.to_thread(paths.queue_file().is_file):  # else nothing has ever waited
            await self._change(lambda _queue: None)

    # ---- changing it
    def add(
        self, form: Form, table: Path, reading: Mapping[str, object], concurrency: int, selection: Selection | None
    ) -> None:
        """Make a run and let it wait; arguments as of ``RunPresenter.start``."""
        self._going = True
        self._adding.append(form.name)
        self._show()
        spawn(self, self._add(form, table, reading, selection or Selection(), concurrency), "add to the queue")

    def add_stored(self, run_id: str, concurrency: int) -> None:
        """Let an unfinished run wait for its turn."""
        self._going = True
        spawn(self, self._add_stored(run_id, concurrency), "add to the queue")

    def remove(self, run: str) -> None:
        """Take a run out; its answers stay."""
        spawn(self, self._change(lambda queue: queue.remove(run)), "remove from the queue")

    async def forget(self, run: str) -> None:
        """Take a run that is to be deleted out of the queue, should it be there."""
        if self.look.line(run) is not None:
            await self._change(lambda queue: queue.remove(run))

    def retry(self, run: str) -> None:
        """Let a run that failed wait once more, at the end."""
        entry = next((each for each in self._entries if each.run == run and each.state == "failed"), None)
        if entry is not None:
            self._going = True
            spawn(self, self._retry(entry), "retry a run of the queue")

    def arrange(self, order: Sequence[str]) -> None:
        """Let those that wait follow each other in this order."""
        spawn(self, self._change(lambda queue: queue.arrange(order)), "arrange the queue")

    def move(self, run: str, by: int) -> None:
        """Let a run go ``by`` places down (or up, below 0)."""
        self.arrange(self.look.moved(run, by))

    # ---- working it off
    def start(self) -> None:
        """Begin with what waits, as soon as nothing else is under way."""
        self._going = True
        self._show()
        self._go_on()

    def stop(self) -> None:
        """Begin nothing more; the run under way goes back to its place, with its answers."""
        self._going = False
        if self._runs.status.queue:
            self._runs.cancel()
        self._show()

    def cancel(self, run: str = "") -> None:
        """End the run that is under way; out of the queue it leaves that too, and the next begins.

        Args:
            run: the one that is meant; when another is under way by now nothing happens.
        """
        under_way = self._runs.status.run
        if run not in ("", under_way):
            return
        if self._runs.status.queue:
            self._dropped = under_way
        self._runs.cancel(under_way)

    async def close_down(self) -> None:
        """The window leaves; what waits stays on disk. Call it before the run's presenter closes down."""
        self._going = False
        for worker in tuple(self._makers):
            await worker.stop()
        await cancel_all(self)

    # ---- private
    async def _add(
        self, form: Form, table: Path, reading: Mapping[str, object], selection: Selection, concurrency: int
    ) -> None:
        try:
            url = self._runs.engine_url()
            form_path = await asyncio.to_thread(snapshot, form)
            arguments = start_arguments(form_path, table, reading, selection)
            run_id = await self._make([*arguments, "--queue", *output_arguments(scratch_csv(), url, concurrency)])
        except EngineError as error:
            self.failed.emit(error.message, error.remedy)
            run_id = ""
        finally:
            self._adding.remove(form.name)
            self._show()
        if run_id:
            await self._change(lambda queue: queue.amend(run_id, {OF_WINDOW: True}))
            await self._runs.load_runs()
            self.added.emit(run_id)
            self._go_on()

    async def _make(self, arguments: list[str]) -> str:
        """Let a worker copy the rows into a new run; its id, empty when that failed (``failed`` says why)."""
        worker = await Worker.spawn(arguments, log_path=paths.logs_dir() / "worker.log", env=self._runs.secrets())
        self._makers.add(worker)
        run_id = ""
        try:
            async for event in worker.events():
                if isinstance(event, RunQueued):
                    run_id = event.run
                elif isinstance(event, RunFailed):
                    self.failed.emit(event.message, event.remedy)
        finally:
            self._makers.discard(worker)
        return run_id

    async def _add_stored(self, run_id: str, concurrency: int) -> None:
        try:
            options = await asyncio.to_thread(queue_options, run_id, self._runs.engine_url(), concurrency)
        except EngineError as error:
            self.failed.emit(error.message, error.remedy)
            return
        await self._change(lambda queue: queue.add(run_id, options))
        self._go_on()

    async def _retry(self, entry: QueueEntry) -> None:
        await self._change(lambda queue: queue.add(entry.run, entry.options))
        self._go_on()

    async def _change(self, act: Callable[[RunQueue], object]) -> None:
        """Do something to the queue's file in a thread, and show what it holds then."""

        def work() -> tuple[tuple[QueueEntry, ...], bool]:
            with RunQueue(paths.queue_file()) as queue:
                try:
                    act(queue)
                except EngineError as error:
                    refused.append(error)
                return tuple(queue.entries()), queue.worked_on()

        refused: list[EngineError] = []
        try:
            async with self._turn:
                self._entries, self._alive = await asyncio.to_thread(work)
        except EngineError as error:
            refused.append(error)
        for each in refused:
            self.failed.emit(each.message, each.remedy)
        self._show()

    def _on_started(self, _run: str) -> None:
        if self._runs.status.queue and not self._going:  # stopped in the instant at which the run before it ended
            self._runs.cancel()
        self.refresh()

    def _on_ended(self, run: str, how: str) -> None:
        if run == self._dropped and how != "cancelled":
            self._dropped = ""  # it had ended before it could be cancelled
        self.refresh()

    def _on_freed(self, how: str, queue: bool) -> None:
        dropped, self._dropped = self._dropped, ""
        if queue and not dropped and how != "finished":
            self._going = False  # stopped by the user, by somebody else, or broken: not again and again
        spawn(self, self._next(dropped), "next of the queue")

    async def _next(self, dropped: str) -> None:
        await (self._change(lambda queue: queue.remove(dropped)) if dropped else self.load())
        self._go_on()

    def _go_on(self) -> None:
        free = not self._runs.busy and self._runs.worker_pid is None  # else the next turn comes when it is free
        if self._going and self.look.waiting and free and not self.look.elsewhere:
            self._runs.work_queue()

    def _show(self) -> None:
        status = self._runs.status
        elsewhere = self._alive and not status.queue and any(each.state == "running" for each in self._entries)
        lines = []
        for entry in self._entries:
            if entry.state == "done":
                continue
            info = self._runs.info(entry.run)
            lines.append(QueueLine(entry.run, info.name if info else entry.run, self._state(entry), entry.note))
        look = QueueLook(tuple(lines), tuple(self._adding), self._going, elsewhere)
        if look != self.look:
            self.look = look
            self.changed.emit()

    def _state(self, entry: QueueEntry) -> LineState:
        """What a worker that has died had taken waits again."""
        if entry.state == "failed":
            return "failed"
        return "running" if entry.state == "running" and self._alive else "waiting"
