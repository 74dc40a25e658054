"""Which stored run ``decide --resume`` goes on with, and whether it is the one that the command line describes."""

from __future__ import annotations

from pathlib import Path

from engine import paths
from engine.batch.prepare import PreparedRun, form_of
from engine.cli.decide_options import DecideOptions
from engine.cli.reporting import Reporter
from engine.errors import InputError
from engine.store.runs import RunView, busy, find_unfinished, find_worked_on, run_path


def run_to_resume(options: DecideOptions, prepared: PreparedRun) -> Path | None:
    """The file of the run that ``--resume`` goes on with; None without the option.

    Raises:
        InputError: there is none, or it was made of something else.
        UserError: ``run.busy`` while another process works on it.
    """
    if options.resume is None:
        return None
    spec = prepared.spec
    if options.resume:
        path = run_path(paths.runs_dir(), options.resume)
    else:
        wanted = spec.selection if options.selects else None
        alike = (paths.runs_dir(), spec.form_sha256, spec.table_sha256, wanted)
        # One that somebody works on is told apart below; it is not taken away from its worker.
        found = find_unfinished(*alike) or find_worked_on(*alike)
        if found is None:
            raise InputError(
                "resume.none",
                "there is no unfinished run of {form} over {table}",
                remedy="leave --resume out to begin one; `runs` lists what there is, `export` writes a finished one",
                form=spec.form_path,
                table=spec.table_path,
            )
        path = run_path(paths.runs_dir(), found.id)
    with RunView(path) as view:
        _check_same(options, prepared, view)
        if (worker := view.info().worker) is not None:
            raise busy(view.id, worker)
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
    if options.selects and prepared.spec.selection != view.spec.selection:
        raise InputError(
            "resume.selection",
            "run {run} reads other rows: {stored}",
            remedy="leave --where, --first, --sample and --seed out: a run keeps its rows",
            run=view.id,
            stored=", ".join(f"{key} {value}" for key, value in view.spec.selection.items()) or "all",
        )
    if options.picks_pictures and prepared.form.pictures != (shown := form_of(view).pictures):
        raise InputError(
            "resume.pictures",
            "run {run} takes its pictures from {stored}; a run keeps its column",
            remedy="leave --picture-column and --picture-separator out, or begin a new run without --resume",
            run=view.id,
            stored="no column" if shown is None else f"the column {shown.column}",
        )
    stored = view.rounds()[-1].method
    if options.method(stored) != stored:
        raise InputError(
            "resume.method",
            "run {run} reads {method} with draws {draws}; a run keeps its method",
            remedy="leave --joint, --draws, --wire, --steps and --rotate out, or begin a new run without --resume",
            run=view.id,
            method=stored.name,
            draws=stored.draws,
        )


def mention_unfinished(prepared: PreparedRun, reporter: Reporter) -> None:
    """Say before a new run that an unfinished one of the same form and table could be gone on with."""
    found = find_unfinished(paths.runs_dir(), prepared.spec.form_sha256, prepared.spec.table_sha256)
    if found is not None:
        reporter.note(f"run {found.id} of the same form and table is unfinished; --resume would go on with it")
