"""One ``decide``: check the input, open the engine, run, export, and say what came out."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from engine import paths
from engine.batch.control import RunControl
from engine.batch.export import check_target, export_csv
from engine.batch.form import load_form
from engine.batch.prepare import PreparedRun, form_of, prepare
from engine.batch.runner import Callbacks, RunResult, first_error, run
from engine.batch.tables import sniff
from engine.cli.engines import OpenEngine, check_choice, open_engine
from engine.cli.export import renderings
from engine.cli.main import INTERRUPTED, OK
from engine.cli.metrics import measure_run
from engine.cli.reporting import Reporter
from engine.cli.steering import Keeper, check_stdin, obey_stdin, signals_cancel
from engine.domain.reading import Method
from engine.errors import InputError, UserError
from engine.reads.reader import Reader
from engine.store.runs import RunStore, RunView, find_unfinished, run_path


@dataclass(frozen=True, slots=True)
class DecideOptions:
    """What the command line says. ``None`` for joint, draws and wire: as the form says.

    Attributes:
        encoding, delimiter, header: how the table is written; None: guessed.
        resume: None: a new run; empty: the unfinished run of the same form and table; else a run's id.
        worker: commands come on stdin.
    """

    form: Path
    table: Path
    out: Path
    overwrite: bool = False
    raw: bool = False
    bom: bool = False
    encoding: str | None = None
    delimiter: str | None = None
    header: bool = True
    engine: str = "embedded"
    api_key: str | None = None
    joint: bool | None = None
    draws: Literal["auto"] | int | None = None
    wire: Literal["canvas", "native"] | None = None
    concurrency: int = 32
    resume: str | None = None
    worker: bool = False

    def method(self, base: Method) -> Method:
        """``base`` with what the command line says instead."""
        return replace(
            base,
            joint=base.joint if self.joint is None else self.joint,
            draws=base.draws if self.draws is None else self.draws,
            wire=base.wire if self.wire is None else self.wire,
        )


async def decide(options: DecideOptions, reporter: Reporter) -> int:
    """Run it; the exit code.

    Raises:
        InputError: something is wrong with the input; nothing was asked.
        UserError: no engine, no space; ``run.stuck`` when a run could not go on.
    """
    if options.worker:
        check_stdin()
    check_choice(options.engine)
    _check_out(options)
    method = options.method(load_form(options.form).method)
    prepared = await asyncio.to_thread(_prepare, options, method)
    resumed = _run_to_resume(options, prepared)
    async with open_engine(options.engine, options.api_key, reporter.note) as engine:
        if resumed is None:
            _mention_unfinished(prepared, reporter)
            reader = await Reader.open(engine.client, prepared.form.questions, prepared.form.method)
            spec = replace(prepared.spec, engine=engine.name)
            store = await asyncio.to_thread(replace(prepared, spec=spec).create, paths.runs_dir())
        else:
            with RunView(resumed) as view:
                form, method, begun_with = form_of(view), view.spec.method, view.spec.engine
            if begun_with != engine.name:
                reporter.note(f"the run was begun with {begun_with} and goes on with {engine.name}")
            reader = await Reader.open(engine.client, form.questions, method)
            store = await asyncio.to_thread(RunStore.open, resumed)
        for note in reader.notes:
            reporter.note(note)
        with store:
            result = await _run(options, engine, reader, store, reporter, resumed=resumed is not None)
            run_id, path = store.id, store.path
    return await _end(options, run_id, path, result, reporter)


def _prepare(options: DecideOptions, method: Method) -> PreparedRun:
    fmt = sniff(options.table, encoding=options.encoding, delimiter=options.delimiter, header=options.header)
    return prepare(options.form, options.table, engine=options.engine, method=method, table_format=fmt)


def _check_out(options: DecideOptions) -> None:
    with suppress(OSError):
        if options.out.samefile(options.form):
            raise InputError("out.is_form", "--out {path} is the form itself", path=options.out)
    check_target(options.out, overwrite=options.overwrite, table=options.table)


def _run_to_resume(options: DecideOptions, prepared: PreparedRun) -> Path | None:
    if options.resume is None:
        return None
    spec = prepared.spec
    if options.resume:
        path = run_path(paths.runs_dir(), options.resume)
    else:
        found = find_unfinished(paths.runs_dir(), spec.form_sha256, spec.table_sha256)
        if found is None:
            raise InputError(
                "resume.none",
                "there is no unfinished run of {form} over {table}",
                remedy="leave --resume out to begin one; `runs` lists what there is, `export` writes a finished one",
                form=options.form,
                table=options.table,
            )
        path = run_path(paths.runs_dir(), found.id)
    with RunView(path) as view:
        _check_same(options, prepared, view)
    return path


def _check_same(options: DecideOptions, prepared: PreparedRun, view: RunView) -> None:
    for what, here, there in (
        ("form", prepared.spec.form_sha256, view.spec.form_sha256),
        ("table", prepared.spec.table_sha256, view.spec.table_sha256),
    ):
        if here != there:
            raise InputError(
                "resume.other",
                "run {run} was made with another {what}: {path}",
                remedy="give the same file, unchanged, or begin a new run without --resume",
                run=view.id,
                what=what,
                path=view.spec.form_path if what == "form" else view.spec.table_path,
            )
    stored = view.spec.method
    if options.method(stored) != stored:
        raise InputError(
            "resume.method",
            "run {run} reads {method} with draws {draws}; a run keeps its method",
            remedy="leave --joint, --draws and --wire out, or begin a new run without --resume",
            run=view.id,
            method=stored.name,
            draws=stored.draws,
        )


def _mention_unfinished(prepared: PreparedRun, reporter: Reporter) -> None:
    found = find_unfinished(paths.runs_dir(), prepared.spec.form_sha256, prepared.spec.table_sha256)
    if found is not None:
        reporter.note(f"run {found.id} of the same form and table is unfinished; --resume would go on with it")


async def _run(
    options: DecideOptions, engine: OpenEngine, reader: Reader, store: RunStore, reporter: Reporter, *, resumed: bool
) -> RunResult:
    control = RunControl()
    answered = store.done_rows() * len(store.spec.questions)
    reporter.started(store.id, store.rows, store.spec.questions, answered, resumed=resumed)
    callbacks = Callbacks(reporter.progress, lambda reason: reporter.paused(reason or "asked for"), reporter.resumed)
    keeper = Keeper(control, engine, reporter)
    try:
        with signals_cancel(control):
            async with asyncio.TaskGroup() as tasks:
                steer = obey_stdin(control, engine, reporter) if options.worker else keeper.keep()
                steering = tasks.create_task(steer)
                try:
                    result = await run(
                        store, reader, concurrency=options.concurrency, control=control, callbacks=callbacks
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


async def _end(options: DecideOptions, run_id: str, path: Path, result: RunResult, reporter: Reporter) -> int:
    if result.state != "finished":
        reporter.cancelled(run_id, result.done, result.total)
        return INTERRUPTED
    try:
        summary = await asyncio.to_thread(
            export_csv, path, options.out, overwrite=options.overwrite, raw=options.raw, bom=options.bom
        )
    except UserError:
        reporter.note(f"every answer is stored: `export {run_id} --out FILE` writes them")
        raise
    for line in renderings(summary):
        reporter.note(line)
    summaries = await asyncio.to_thread(measure_run, path, options.form, reporter.note)
    reporter.finished(run_id, str(options.out), result.totals, summaries)
    return OK
