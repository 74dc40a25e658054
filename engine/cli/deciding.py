"""One ``decide``: check the input, open the engine, run, export, and say what came out."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from engine import paths
from engine.batch.control import RunControl
from engine.batch.export import check_holds, export_run
from engine.batch.joint_price import price_of_joint
from engine.batch.picture_check import look_at_pictures
from engine.batch.prepare import PreparedRun, form_of, has_pictures
from engine.batch.runner import Callbacks, ReaderOf, RunResult, run
from engine.cli.decide_options import DecideOptions, check_out, prepare_run
from engine.cli.engine_facts import engine_facts
from engine.cli.engines import OpenEngine, check_choice, open_engine
from engine.cli.export import renderings
from engine.cli.main import INTERRUPTED, OK
from engine.cli.metrics import measure_run
from engine.cli.reporting import Reporter
from engine.cli.resuming import mention_unfinished, run_to_resume
from engine.cli.steering import Keeper, check_stdin, obey_stdin, signals_cancel
from engine.client.http import EngineClient
from engine.domain.form import Form
from engine.domain.reading import Method
from engine.errors import InputError, UserError, first_error
from engine.reads.reader import Reader
from engine.store.run_queue import RunQueue
from engine.store.runs import RunStore, RunView

MOST, START = 192, 32  # rows at the same time when nobody says how many


@dataclass(frozen=True, slots=True)
class Ending:
    """Where the answers go when a run has ended.

    Attributes:
        form: where the run's form lies; a word reader may lie beside it.
        engine: what ``--engine`` said.
        worker: commands come on stdin.
    """

    out: Path
    overwrite: bool
    raw: bool
    bom: bool
    form: Path
    engine: str
    concurrency: int | None
    worker: bool


async def decide(options: DecideOptions, reporter: Reporter) -> int:
    """Run it; the exit code.

    Raises:
        InputError: something is wrong with the input; nothing was asked.
        UserError: no engine, no space; ``run.stuck`` when a run could not go on.
    """
    if options.worker:
        check_stdin()
    check_choice(options.engine)
    if options.queue and options.resume is not None:
        raise InputError("queue.resume", "--queue is for a new run", remedy="leave --resume out")
    check_out(options)
    prepared = await asyncio.to_thread(prepare_run, options)
    await asyncio.to_thread(check_holds, options.out, prepared)
    resumed = run_to_resume(options, prepared)
    # A run keeps its column of pictures, whether this command line names one or not.
    pictured = prepared.form.pictures is not None if resumed is None else has_pictures(resumed)
    check_choice(options.engine, sees=pictured)
    if resumed is None:
        await _say_pictures(prepared, reporter)
    ending = Ending(
        options.out,
        options.overwrite,
        options.raw,
        options.bom,
        Path(prepared.spec.form_path),
        options.engine,
        options.concurrency,
        options.worker,
    )
    if options.queue:
        return await asyncio.to_thread(_enqueue, prepared, ending, reporter)
    async with open_engine(options.engine, options.api_key, reporter.note, sees=pictured) as engine:
        if resumed is not None:
            return await go_on(resumed, engine, ending, reporter)
        mention_unfinished(prepared, reporter)
        reader = await Reader.open(engine.client, prepared.form.questions, prepared.form.method, pictures=pictured)
        facts = await engine_facts(engine, options.engine, reader)
        facts |= await price_of_joint(engine.client, prepared, reporter.note)
        spec = replace(prepared.spec, engine=engine.name, facts=facts)
        store = await asyncio.to_thread(replace(prepared, spec=spec).create, paths.runs_dir())
        return await work_off(store, reader, engine, ending, reporter, resumed=False)


def _enqueue(prepared: PreparedRun, ending: Ending, reporter: Reporter) -> int:
    """Make the run, and let it wait for its turn. Where its files lie is noted from the root on."""
    with prepared.create(paths.runs_dir()) as store:
        run_id = store.id
    kept = {
        "engine": ending.engine,
        "out": str(ending.out.absolute()),
        "overwrite": ending.overwrite,
        "raw": ending.raw,
        "bom": ending.bom,
        "form": str(ending.form),
        "concurrency": ending.concurrency,
    }
    with RunQueue(paths.queue_file()) as queue:
        queue.add(run_id, kept)
    reporter.queued(run_id)
    return OK


async def go_on(path: Path, engine: OpenEngine, ending: Ending, reporter: Reporter) -> int:
    """Go on with a stored run in its current round; the exit code.

    Raises:
        UserError: as ``decide``.
    """
    with RunView(path) as view:
        form, current = form_of(view), view.rounds()[-1]
        made_only = not view.spec.facts and not view.answered()  # it has waited in a queue
    if current.engine != engine.name and not made_only:
        reporter.note(f"the run was begun with {current.engine} and goes on with {engine.name}")
    questions = [form.questions[place] for place in current.questions]
    reader = await Reader.open(engine.client, questions, current.method, pictures=form.pictures is not None)
    store = await asyncio.to_thread(RunStore.open, path)
    if made_only:
        facts = await engine_facts(engine, ending.engine, reader)
        await asyncio.to_thread(store.note_engine, engine.name, facts)
    return await work_off(store, reader, engine, ending, reporter, resumed=not made_only)


async def work_off(
    store: RunStore, reader: Reader, engine: OpenEngine, ending: Ending, reporter: Reporter, *, resumed: bool
) -> int:
    """Read what the open run still needs, close it and export it; the exit code."""
    for note in reader.notes:
        reporter.note(note)
    with store:
        engine.client.leave_busy_to_caller()
        result = await _run(ending, engine, reader, store, reporter, resumed=resumed)
        run_id, path = store.id, store.path
    return await _end(ending, run_id, path, result, reporter)


def reader_of(client: EngineClient, form: Form, method: Method, reader: Reader) -> ReaderOf:
    """Readers of some of the questions, for rounds that read single answers again."""

    async def make(ids: Sequence[str]) -> Reader:
        questions = [question for question in form.questions if question.id in ids]
        pictured = form.pictures is not None
        return await Reader.open(client, questions, method, pictures=pictured, served=reader.served)

    return make


async def _say_pictures(prepared: PreparedRun, reporter: Reporter) -> None:
    found = await asyncio.to_thread(look_at_pictures, prepared)
    if found is not None and found.faults:
        reporter.note(found.sentence)


async def _run(
    ending: Ending, engine: OpenEngine, reader: Reader, store: RunStore, reporter: Reporter, *, resumed: bool
) -> RunResult:
    control = RunControl()
    reporter.started(store.id, store.rows, store.spec.questions, store.answered(), resumed=resumed)
    callbacks = Callbacks(reporter.progress, lambda reason: reporter.paused(reason or "asked for"), reporter.resumed)
    keeper = Keeper(control, engine, reporter)
    try:
        with signals_cancel(control):
            async with asyncio.TaskGroup() as tasks:
                steer = obey_stdin(control, engine, reporter, store.id) if ending.worker else keeper.keep()
                steering = tasks.create_task(steer)
                try:
                    result = await run(
                        store,
                        reader,
                        concurrency=ending.concurrency or MOST,
                        start=ending.concurrency or START,
                        reader_of=reader_of(engine.client, form_of(store), store.round.method, reader),
                        control=control,
                        callbacks=callbacks,
                    )
                finally:
                    steering.cancel()
    except BaseExceptionGroup as errors:
        raise first_error(errors) from None
    if keeper.gave_up and result.state != "finished":
        raise UserError(
            "run.stuck",
            "run {run} cannot go on: {why}",
            remedy="{done} of {total} answers are stored; the same command with --resume {run} goes on",
            run=store.id,
            why=keeper.gave_up,
            done=result.done,
            total=result.total,
        )
    return result


async def _end(ending: Ending, run_id: str, path: Path, result: RunResult, reporter: Reporter) -> int:
    if result.state != "finished":
        reporter.cancelled(run_id, result.done, result.total)
        return INTERRUPTED
    try:
        summary = await asyncio.to_thread(
            export_run, path, ending.out, overwrite=ending.overwrite, raw=ending.raw, bom=ending.bom
        )
    except UserError:
        reporter.note(f"every answer is stored: `export {run_id} --out FILE` writes them")
        raise
    for line in [*renderings(summary), *await asyncio.to_thread(_failed, path)]:
        reporter.note(line)
    summaries = await asyncio.to_thread(measure_run, path, ending.form, reporter.note)
    reporter.finished(run_id, str(ending.out), result.totals, summaries)
    return OK


def _failed(path: Path) -> list[str]:
    """How many answers failed, why the first did, and what to do; nothing where none did."""
    with RunView(path) as view:
        count = sum(totals.error for totals in view.totals().values())
        if not count:
            return []
        (row,) = view.page(limit=1, status="error")
        first = next(reading for reading in row.readings if reading.status == "error")
        return [
            f"{count} answers failed, first row {row.row}, {first.question_id}: {first.error}",
            f"`again failed {view.id} --out FILE` reads what failed once more",
        ]
