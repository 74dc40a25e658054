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
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO

from engine.domain.diagnosis import Diagnosis
from engine.domain.hardware import Machine
from engine.domain.plan import LaunchPlan, Wishes
from engine.errors import UserError
from engine.supervise.diagnose import LogReader
from engine.supervise.diagnose_catalogue import catalogue
from engine.supervise.diagnose_explain import explain
from engine.supervise.diagnose_retry import offered
from engine.supervise.lifecycle import EngineHandle, SupervisedEngine

LOOK_S = 0.25
PIECE_BYTES = 128 * 1024  # read at once: a log of many megabytes is caught up with on a thread, piece by piece
PATIENCE = 5.0  # times a hang's own time: then a start that says nothing is ended

# Errors of ours whose text goes on with the end of the log, which a diagnosis makes needless.
_WITH_LOG = frozenset({"engine.died_at_start", "engine.start_timeout", "engine.died"})
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
    """

    def __init__(
        self,
        engine: SupervisedEngine,
        *,
        machine: Machine | None = None,
        plan: LaunchPlan | None = None,
        wishes: Wishes | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._engine, self._machine, self._plan, self._wishes = engine, machine, plan, wishes or Wishes()
        self._reader = LogReader(clock)
        self._file: BinaryIO | None = None
        self._before = _inode(engine.log_path)  # of the start before: it is moved away when ours begins
        self._guard = threading.Lock()  # a look that was cancelled may still be at work on its thread

    @property
    def began(self) -> bool:
        """Whether a process was launched: without one there is no log of this start."""
        return self._file is not None

    async def follow(self) -> None:
        """Read what the log grows by, until cancelled."""
        while True:
            await self._catch_up()
            await asyncio.sleep(LOOK_S)

    async def hang(self) -> Diagnosis | None:
        """The hang that the log stands in now, if it does."""
        found = await asyncio.to_thread(self._diagnosis)
        return found if found.kind == "hang" else None

    async def verdict(self) -> Diagnosis:
        """What the whole log says, once the engine has ended."""
        await self._catch_up()
        return await asyncio.to_thread(self._close)

    def explained(self, rule: str) -> Diagnosis:
        """A failure that was noticed by us and not by the engine, in the words of a rule."""
        found = catalogue().rule(rule)
        said = explain(found, {}, self._machine, self._plan)
        return self._offered(
            Diagnosis(found.id, found.kind, found.phase, "start", said.cause, said.remedies, sources=found.sources)
        )

    async def _catch_up(self) -> None:
        while await asyncio.to_thread(self._take):
            pass

    def _take(self) -> bool:
        """Feed one piece; whether there may be more."""
        with self._guard:
            if self._file is None and _inode(self._engine.log_path) != self._before:
                self._file = _open(self._engine)
            if self._file is None:
                return False
            piece = self._file.read(PIECE_BYTES)
            if piece:
                self._reader.feed(piece)
                return len(piece) == PIECE_BYTES
            return self._turn_over()

    def _turn_over(self) -> bool:
        """The old file is read to its end: go on with the new one, if the log was rotated."""
        newer = _open(self._engine)
        if newer is None or self._file is None:
            return False
        if _same(self._file, newer):
            newer.close()
            return False
        self._file.close()
        self._file = newer
        return True

    def _diagnosis(self) -> Diagnosis:
        with self._guard:
            return self._offered(self._reader.diagnosis(machine=self._machine, plan=self._plan))

    def _offered(self, diagnosis: Diagnosis) -> Diagnosis:
        if self._plan is None:
            return diagnosis
        return replace(diagnosis, remedies=offered(diagnosis, self._plan, self._wishes))

    def _close(self) -> Diagnosis:
        with self._guard:
            self._reader.close()
            if self._file is not None:
                self._file.close()
        return self._diagnosis()


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


def _open(engine: SupervisedEngine) -> BinaryIO | None:
    try:
        return engine.log_path.open("rb")
    except OSError:
        return None


def _inode(path: Path) -> int | None:
    try:
        return path.stat().st_ino
    except OSError:
        return None


def _same(first: BinaryIO, second: BinaryIO) -> bool:
    return os.fstat(first.fileno()).st_ino == os.fstat(second.fileno()).st_ino
