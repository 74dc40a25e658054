"""``serve --engine vllm``: look, start, serve until SIGINT or SIGTERM, stop, and say that the memory is back.

An engine that crashes is started again by the same rule as in the window (:mod:`engine.supervise.keep`).
"""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from pathlib import Path

from engine import paths
from engine.cli.main import BAD_INPUT, INTERRUPTED, NOT_STARTED, OK
from engine.cli.vllm_launch import Prepared, VllmOptions, prepare
from engine.cli.vllm_reporting import Restart, ServeReport
from engine.domain.diagnosis import Diagnosis, Retry
from engine.domain.plan import LaunchPlan
from engine.errors import UserError
from engine.launch.fixes import require
from engine.local.kernels import ensure_tested
from engine.local.launch import LocalEngine
from engine.local.tested import wanted
from engine.supervise.diagnose_retry import next_start
from engine.supervise.diagnose_watch import EngineFailed, LogWatch, failed, start_watched
from engine.supervise.keep import Keeper, RestartPolicy
from engine.supervise.leftovers import sweep
from engine.supervise.lifecycle import EngineHandle
from engine.supervise.state import EngineState
from engine.supervise.vllm import VllmEngine

TICK_S = 1.0


async def serve_vllm(
    options: VllmOptions,
    report: ServeReport,
    *,
    restarts: int = 2,
    skip_fixes: bool = False,
    skip_preflight: bool = False,
    skip_selftest: bool = False,
) -> int:
    """Run it to its end; the exit code.

    Args:
        restarts: how often within ten minutes an engine that crashes is started again; never on a plan that would
            fail the same way.
        skip_fixes: start although the engine lacks something that the plan needs.
        skip_preflight: start although something is in the way.
        skip_selftest: start although the numeric self-test has not been passed.

    Raises:
        UserError: there is nothing to start: no plan, no engine, no checkpoint, a fix is missing, or the self-test
            was not passed.
    """
    for leftover in await sweep(paths.runtime_dir()):
        report.note(f"ended an engine that a crash had left behind (pid {leftover.record.pid})")
    prepared = await prepare(options)
    report.planned(prepared)
    await _check_fixes(prepared, report, skip=skip_fixes)
    if not await _nothing_in_the_way(prepared, report) and not skip_preflight:
        report.note("not started; --skip-preflight starts all the same")
        return BAD_INPUT
    if not skip_selftest:
        await _check_kernels(prepared, report)
    engine = prepared.engine(report.progress)
    with _stop_signals() as stop:
        try:
            return await _serve(engine, prepared, report, stop, RestartPolicy(limit=restarts))
        finally:
            report.stopping()
            await engine.stop()
            report.stopped(*memory_of(engine))


def next_try(prepared: Prepared, diagnosis: Diagnosis) -> tuple[Retry, LaunchPlan] | None:
    """The next start that this machine has a plan for."""
    return next_start(diagnosis, prepared.plan, prepared.wishes, partial(prepared.memory.plan, prepared.machine))


async def _serve(
    engine: LocalEngine, prepared: Prepared, report: ServeReport, stop: asyncio.Event, policy: RestartPolicy
) -> int:
    machine, plan, wishes = prepared.machine, prepared.plan, prepared.wishes
    watch = LogWatch(engine, machine=machine, plan=plan, wishes=wishes, to_stock=engine.without_parts)
    try:
        handle = await _started(engine, watch, prepared, report, stop)
        if handle is None:
            return INTERRUPTED
        async with _ticking(report):
            ended = await _until_over(engine, watch, report, stop, policy)
        if not stop.is_set():
            raise failed(await watch.verdict(), "engine.died", "serving", ended.short)
    except EngineFailed as error:
        retry = await asyncio.to_thread(next_try, prepared, error.diagnosis)
        report.failed(error, prepared, retry)
        return NOT_STARTED
    return OK


async def _started(
    engine: VllmEngine, watch: LogWatch, prepared: Prepared, report: ServeReport, stop: asyncio.Event
) -> EngineHandle | None:
    """The engine, answering; None when the user has stopped its start."""
    began = time.monotonic()
    async with _ticking(report), asyncio.TaskGroup() as tasks:
        stopping = tasks.create_task(stop.wait())
        starting = tasks.create_task(_as_value(engine, watch, report))
        await asyncio.wait({stopping, starting}, return_when=asyncio.FIRST_COMPLETED)
        stopping.cancel()
        starting.cancel()
    if starting.cancelled():
        return None
    outcome = starting.result()
    if isinstance(outcome, UserError):
        raise outcome
    report.ready(outcome, time.monotonic() - began, new_key=prepared.api_key is None)
    return outcome


async def _as_value(engine: VllmEngine, watch: LogWatch, report: ServeReport) -> EngineHandle | UserError:
    """The error as a value: a task group would wrap it."""
    try:
        return await start_watched(engine, watch, on_hang=report.hang)
    except UserError as error:
        return error


async def _until_over(
    engine: VllmEngine, watch: LogWatch, report: ServeReport, stop: asyncio.Event, policy: RestartPolicy
) -> EngineState:
    """Serve until told to stop, over crashes too, or until the engine is not started again; its state then."""

    def restarting(number: int, delay_s: float) -> None:
        report.restarting(Restart(number, policy.limit, delay_s), *memory_of(engine))

    async def change(log: Path) -> str:
        said = await watch.changed(log)
        if said:
            report.note(f"vLLM is started again {said}")
        return said

    keeper = Keeper(engine, policy, verdict=watch.hopeless, change=change, on_restart=restarting)
    engine.on_state = _Told(engine, report)
    async with asyncio.TaskGroup() as tasks:
        following = tasks.create_task(watch.follow())
        stopping = tasks.create_task(stop.wait())
        keeping = tasks.create_task(keeper.keep())
        await asyncio.wait({stopping, keeping}, return_when=asyncio.FIRST_COMPLETED)
        engine.on_state = None
        for task in (following, stopping, keeping):
            task.cancel()
    return engine.state


class _Told:
    """Tells the report of crashes and of the starts after them."""

    def __init__(self, engine: VllmEngine, report: ServeReport) -> None:
        self._engine, self._report = engine, report
        self._began: float | None = None  # of the start that runs

    def __call__(self, state: EngineState) -> None:
        if state.phase == "crashed":
            self._report.crashed(state.short)
        elif state.phase == "starting":
            self._began = time.monotonic()
        elif state.phase == "ready" and self._began is not None and self._engine.handle is not None:
            self._report.ready(self._engine.handle, time.monotonic() - self._began, new_key=False)
            self._began = None


def memory_of(engine: VllmEngine) -> tuple[list[str], bool]:
    """What the engine's end has left on each card in words, and whether all is back."""
    return [str(card) for card in engine.cards], all(card.back for card in engine.cards)


async def _check_fixes(prepared: Prepared, report: ServeReport, *, skip: bool) -> None:
    """Refuse an engine that lacks what the plan needs, or say so."""
    results = await asyncio.to_thread(prepared.fixes)
    if not skip:
        require(results)
    for fix in results:
        if fix.status == "missing":
            report.lacking(fix)


async def _check_kernels(prepared: Prepared, report: ServeReport) -> None:
    """The numeric self-test of every card that has not passed it with this engine and driver."""
    if prepared.launch is not None:
        await ensure_tested(prepared.launch, report.kernels)
    elif wanted(prepared.plan):
        report.note("the numeric self-test is run on the setup's engine only, not with --python")


async def _nothing_in_the_way(prepared: Prepared, report: ServeReport) -> bool:
    findings = await prepared.findings()
    for finding in findings:
        report.finding(finding)
    return not any(finding.severity == "blocker" for finding in findings)


@contextmanager
def _stop_signals() -> Iterator[asyncio.Event]:
    """An event that SIGINT and SIGTERM set, instead of ending the program."""
    stop, loop = asyncio.Event(), asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    try:
        yield stop
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)


@asynccontextmanager
async def _ticking(report: ServeReport) -> AsyncIterator[None]:
    """Keeps the time on a terminal going."""

    async def tick() -> None:
        while True:
            await asyncio.sleep(TICK_S)
            report.tick()

    async with asyncio.TaskGroup() as tasks:
        ticking = tasks.create_task(tick())
        yield
        ticking.cancel()
