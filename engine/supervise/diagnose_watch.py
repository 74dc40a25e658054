"""A start and a life with somebody who reads the log: hangs are noticed while they last, an end comes with its cause.

watch = LogWatch(engine, machine=machine, plan=plan)
handle = await start_watched(engine, watch, on_hang=tell)   # or EngineFailed, which has the diagnosis
...
diagnosis = await watch.verdict()                           # once it has died
"""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections.abc import Callable, Coroutine
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from engine.domain.diagnosis import PARTS_FAILED, Diagnosis, Remedy
from engine.domain.hardware import Machine
from engine.domain.plan import LaunchPlan, Wishes
from engine.errors import UserError
from engine.supervise.diagnose import LogReader, diagnose_file
from engine.supervise.diagnose_catalogue import catalogue
from engine.supervise.diagnose_explain import explain
from engine.supervise.diagnose_retry import has_parts, offered
from engine.supervise.lifecycle import EngineHandle, SupervisedEngine

LOOK_S = 0.25
PIECE_BYTES = 128 * 1024  # read at once
PATIENCE = 5.0  # times a hang's own time: then a start that says nothing is ended

# Errors of ours whose text goes on with the end of the log, which a diagnosis makes needless.
_WITH_LOG = frozenset({"engine.died_at_start", "engine.start_timeout", "engine.died"})
_STOCK = Remedy("without_parts", "start without Diffusion Desk's own parts inside vLLM, in case they are the cause")
_RULES = {"port.in_use": "port"}  # errors of ours that mean the same as a line of the engine


class EngineFailed(UserError):
    """An engine did not start, or died, and its log says why.

    Args:
        diagnosis: of its log.
        during: ``start`` or ``serving``.
    """

    def __init__(self, code: str, message: str, *, remedy: str, diagnosis: Diagnosis, during: str) -> None:
        super().__init__(code, "{why}", remedy="{what}" if remedy else "", why=message, what=remedy)
        self.diagnosis = diagnosis
        self.during = during


class LogWatch:
    """Follows the log of one start of an engine, whatever its file is called meanwhile.

    Args:
        engine: not started yet.
        machine, plan, wishes: for causes and remedies that speak of this machine; what is so already is not offered.
        clock: seconds, monotonic.
        to_stock: makes the engine's next start one without our own parts inside vLLM, and gives its plan; None where
            that cannot be done.
    """

    def __init__(
        self,
        engine: SupervisedEngine,
        *,
        machine: Machine | None = None,
        plan: LaunchPlan | None = None,
        wishes: Wishes | None = None,
        clock: Callable[[], float] = time.monotonic,
        to_stock: Callable[[], LaunchPlan] | None = None,
    ) -> None:
        self._to_stock = to_stock
        self._engine, self._machine, self._plan, self._wishes = engine, machine, plan, wishes or Wishes()
        self._clock, self._reader = clock, LogReader(clock)
        # The log of the start before is moved away when ours begins.
        self._inode = self._before = _inode(engine.log_path)
        self._at = 0
        self._guard = threading.Lock()  # a look that was cancelled may still be at work on its thread

    async def follow(self) -> None:
        """Read what the log grows by, until cancelled."""
        while True:
            while await asyncio.to_thread(self._take):
                pass
            await asyncio.sleep(LOOK_S)

    async def hang(self) -> Diagnosis | None:
        """The hang that the log stands in now, if it does."""
        found = await asyncio.to_thread(self._now)
        return found if found.kind == "hang" else None

    async def verdict(self) -> Diagnosis:
        """What the whole log says, once the engine has ended."""
        return await asyncio.to_thread(self._whole)

    async def hopeless(self, log: Path) -> str | None:
        """Why a start of the same plan would end as this one did, once it has ended; None where it may go well.

        Want of memory would come again, and so would every failure for which its rule names no restart, but for one of
        our own parts where :meth:`changed` can leave them out. It is the verdict of
        :class:`engine.supervise.keep.Keeper`.

        Args:
            log: of the engine; the one that is watched anyway.
        """
        found = await self.verdict()
        again = any(remedy.action == "restart" for remedy in found.remedies) or self._parts_failed(found)
        return found.cause if explains(found) and (found.out_of_memory or not again) else None

    async def changed(self, log: Path) -> str:
        """Leave our own parts out of the next start where they have failed, and say so; else nothing.

        Args:
            log: as of :meth:`hopeless`.
        """
        if self._to_stock is None or not self._parts_failed(await self.verdict()):
            return ""
        self._plan = self._to_stock()
        return "without Diffusion Desk's parts inside vLLM, which have failed"

    def _parts_failed(self, diagnosis: Diagnosis) -> bool:
        able = self._to_stock is not None and self._plan is not None and has_parts(self._plan)
        return able and diagnosis.rule == PARTS_FAILED

    def explained(self, rule: str) -> Diagnosis:
        """A failure that was noticed by us and not by the engine, in the words of a rule."""
        found = catalogue().rule(rule)
        said = explain(found, {}, self._machine, self._plan)
        return self._offered(
            Diagnosis(found.id, found.kind, found.phase, "start", said.cause, said.remedies, sources=found.sources)
        )

    def _take(self) -> bool:
        """Feed one piece; whether there may be more."""
        with self._guard, suppress(OSError), self._engine.log_path.open("rb") as file:
            state = os.fstat(file.fileno())
            if state.st_ino == self._before:
                return False  # ours has not begun
            if state.st_ino != self._inode or state.st_size < self._at:  # begun, or cut since it was too long
                self._inode, self._at = state.st_ino, 0
                self._reader = LogReader(self._clock)
            file.seek(self._at)
            piece = file.read(PIECE_BYTES)
            self._at += len(piece)
            self._reader.feed(piece)
            return len(piece) == PIECE_BYTES
        return False

    def _now(self) -> Diagnosis:
        with self._guard:
            return self._offered(self._reader.diagnosis(machine=self._machine, plan=self._plan))

    def _whole(self) -> Diagnosis:
        path = self._engine.log_path
        if _inode(path) == self._before:  # nothing was launched
            return self._now()
        found = diagnose_file(path, machine=self._machine, plan=self._plan)
        return self._offered(_or_stock(found)) if self._plan else found

    def _offered(self, diagnosis: Diagnosis) -> Diagnosis:
        if self._plan is None:
            return diagnosis
        return replace(diagnosis, remedies=offered(diagnosis, self._plan, self._wishes))


async def start_watched(
    engine: SupervisedEngine,
    watch: LogWatch,
    *,
    on_hang: Callable[[Diagnosis | None], None] = lambda diagnosis: None,
    timeout_s: float | None = None,
) -> EngineHandle:
    """Start an engine and say why, if it does not.

    Args:
        on_hang: told when the log stands in a known hang, and with None when it goes on after all.
        timeout_s: as of the engine's ``start``; its own where left out.

    Raises:
        EngineFailed: it did not start, or hung for :data:`PATIENCE` times the time of the hang.
    """
    given = {} if timeout_s is None else {"timeout_s": timeout_s}
    async with asyncio.TaskGroup() as tasks:
        following = tasks.create_task(watch.follow())
        hanging = tasks.create_task(_until_hopeless(watch, on_hang))
        starting = tasks.create_task(_outcome(engine.start(**given)))
        await asyncio.wait({starting, hanging}, return_when=asyncio.FIRST_COMPLETED)
        for task in (starting, hanging, following):
            task.cancel()
    if hanging.done() and not hanging.cancelled():
        raise failed(hanging.result(), "engine.hangs", "start")
    outcome = starting.result()
    if isinstance(outcome, UserError):
        raise await _explained(outcome, watch)
    if isinstance(outcome, Exception):
        raise outcome
    return outcome


def failed(diagnosis: Diagnosis, code: str, during: str, message: str = "", remedy: str = "") -> EngineFailed:
    """An error in the words of a diagnosis; in those given where the log names no cause."""
    if not explains(diagnosis):
        return EngineFailed(code, message or diagnosis.cause, remedy=remedy, diagnosis=diagnosis, during=during)
    first = next(iter(diagnosis.remedies), None)
    return EngineFailed(
        code, diagnosis.cause, remedy=first.text if first else remedy, diagnosis=diagnosis, during=during
    )


def explains(diagnosis: Diagnosis) -> bool:
    """Whether it names why an engine ended: a refused request or a notice does not."""
    return diagnosis.known and diagnosis.kind in ("fault", "echo", "hang")


def _or_stock(diagnosis: Diagnosis) -> Diagnosis:
    """What no rule explains may be the fault of our own parts inside vLLM: then the engine is to be had without them.

    Whether the plan has parts is :func:`offered`'s to see.
    """
    if explains(diagnosis):
        return diagnosis
    return replace(diagnosis, remedies=(*diagnosis.remedies, _STOCK))


async def _explained(error: UserError, watch: LogWatch) -> EngineFailed:
    if error.code in _RULES:
        diagnosis = watch.explained(_RULES[error.code])
        return EngineFailed(error.code, error.message, remedy=error.remedy, diagnosis=diagnosis, during="start")
    diagnosis = await watch.verdict()
    said = error.message
    if error.code in _WITH_LOG:
        said = f"the engine {error.params.get('what', 'ended')}"
    return failed(diagnosis, error.code, "start", said, error.remedy)


async def _outcome(work: Coroutine[Any, Any, EngineHandle]) -> EngineHandle | Exception:
    """The error as a value: a task group would wrap it."""
    try:
        return await work
    except Exception as error:  # noqa: BLE001  # raised again by whoever asked
        return error


async def _until_hopeless(watch: LogWatch, on_hang: Callable[[Diagnosis | None], None]) -> Diagnosis:
    """Tell of hangs; ends with the one that has lasted too long."""
    told = ""
    while True:
        await asyncio.sleep(LOOK_S)
        found = await watch.hang()
        if found is None:
            if told:
                told = ""
                on_hang(None)
            continue
        if found.rule != told:
            told = found.rule
            on_hang(found)
        limit = catalogue().rule(found.rule).timeout_s or 0.0
        if float(found.params["seconds"]) >= limit * PATIENCE:
            return found


def _inode(path: Path) -> int | None:
    try:
        return path.stat().st_ino
    except OSError:
        return None
