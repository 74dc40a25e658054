"""What the window knows of a vLLM of ours beside its state: the phases of its start, its hangs, why it failed."""

from __future__ import annotations

import asyncio
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from app.models.engine_start import StartView
from app.presenters.engine_memory import Ours, in_use, look_at_cards
from app.presenters.engine_start import StartTimes
from engine.domain.diagnosis import Diagnosis
from engine.domain.plan import LaunchPlan
from engine.local.launch import Launch, LocalEngine
from engine.supervise.diagnose_hang import WAITING
from engine.supervise.diagnose_watch import EngineFailed, LogWatch, start_watched
from engine.supervise.lifecycle import EngineHandle
from engine.supervise.start_log import StartProgress
from engine.supervise.vllm import VllmEngine

HANG_LOOK_S = 2.0


class VllmStart(QObject):
    """Starts a vLLM with somebody who reads its log.

    Signals:
        progressed(StartView): the start has come further.
        hung(Diagnosis or None): its log stands in a known hang; None when it goes on after all.

    Attributes:
        launch: what the engine was put together from; None before the first one.
        failed: what ran into what since the last start that worked; the same want of memory is not tried twice.
    """

    progressed = Signal(object)
    hung = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.launch: Launch | None = None
        self.failed: list[tuple[Diagnosis, LaunchPlan]] = []
        self._clock = StartTimes()
        self._before: dict[str, int] = {}
        self._watch: LogWatch | None = None
        self._heard: VllmEngine | None = None

    @property
    def plan(self) -> LaunchPlan | None:
        return self.launch.plan if self.launch is not None else None

    def view(self) -> StartView:
        """The start now, or the last one."""
        return self._clock.view()

    def ours(self, pids: frozenset[int]) -> Ours:
        """For the memory of the cards."""
        return Ours(pids, self.plan, self._clock.weights, self._clock.cache, self._before)

    async def start(self, engine: VllmEngine) -> EngineHandle:
        """Start it and wait until it answers.

        Raises:
            EngineFailed: it did not; has the diagnosis.
        """
        self._hear(engine)
        self.launch = engine.launch if isinstance(engine, LocalEngine) else None
        self._clock = StartTimes(self.plan.phases if self.plan else ())
        self.progressed.emit(self.view())
        self._before = in_use((await asyncio.to_thread(look_at_cards))[1])
        machine = self.launch.machine if self.launch else None
        to_stock = engine.without_parts if isinstance(engine, LocalEngine) else None
        self._watch = LogWatch(engine, machine=machine, plan=self.plan, to_stock=to_stock)
        serves = False
        try:
            handle = await start_watched(engine, self._watch, on_hang=self.hung.emit)
            serves = True
        except EngineFailed as error:
            self._note(error.diagnosis)
            raise
        finally:
            self._clock.end(serves=serves)
            self.progressed.emit(self.view())
        self.failed.clear()
        return handle

    async def follow(self) -> None:
        """Read the log while it serves, and tell when a request hangs in it."""
        watch = self._watch
        if watch is None:
            return
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(watch.follow())
            tasks.create_task(self._tell_hangs(watch))

    def begin_again(self) -> None:
        """The engine is started again by whoever keeps it."""
        self._clock = StartTimes(self.plan.phases if self.plan else ())

    async def hopeless(self, log: Path) -> str | None:
        """Why a start of the same plan would end the same way, by the log of an engine that has ended; else None."""
        return None if self._watch is None else await self._watch.hopeless(log)

    async def changed(self, log: Path) -> str:
        """What the next start has otherwise than the one that has ended; see :meth:`LogWatch.changed`."""
        said = "" if self._watch is None else await self._watch.changed(log)
        if said and isinstance(self._heard, LocalEngine):
            self.launch = self._heard.launch
        return said

    async def verdict(self) -> Diagnosis | None:
        """Why the engine that was ready is gone."""
        if self._watch is None:
            return None
        found = await self._watch.verdict()
        self._note(found)
        return found

    async def _tell_hangs(self, watch: LogWatch) -> None:
        """An engine that serves writes of waiting only while a request runs; the marks of a start are over."""
        told = False
        while True:
            await asyncio.sleep(HANG_LOOK_S)
            found = await watch.hang()
            hangs = found is not None and found.rule == WAITING
            if hangs != told:
                told = hangs
                self.hung.emit(found if hangs else None)

    def _note(self, diagnosis: Diagnosis) -> None:
        if self.plan is not None:
            self.failed.append((diagnosis, self.plan))

    def _hear(self, engine: VllmEngine) -> None:
        """Whoever made the engine goes on hearing of its start too."""
        if engine is self._heard:
            return
        self._heard, first = engine, engine.on_progress

        def both(progress: StartProgress) -> None:
            first(progress)
            self._clock.feed(progress)
            self.progressed.emit(self.view())

        engine.on_progress = both
