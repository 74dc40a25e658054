"""The command lines of the window's workers, and the files that they are given."""

from __future__ import annotations

import hashlib
import os
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from app.models.run_rounds import ROUNDS
from app.presenters.decisions import form_text
from engine import paths
from engine.batch.selection import Selection
from engine.domain.form import Form
from engine.store.runs import RunView, run_path


def snapshot(form: Form) -> Path:
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


def scratch_dir() -> Path:
    return paths.data_dir() / "scratch"


def scratch_csv() -> Path:
    """A place for the CSV that ``decide`` writes at its end; removed at once, the window exports by itself."""
    scratch_dir().mkdir(parents=True, exist_ok=True)
    return scratch_dir() / f"{secrets.token_hex(8)}.csv"


def drop_scratch(out: Path) -> None:
    """Remove what a worker wrote for nobody; files elsewhere are the user's and stay."""
    if out.parent == scratch_dir():
        out.unlink(missing_ok=True)


def sweep_scratch() -> None:
    """Remove what workers wrote that no window saw end. Raises nothing."""
    for out in scratch_dir().glob("*.csv"):
        drop_scratch(out)


def start_arguments(form: Path, table: Path, reading: Mapping[str, object], selection: Selection) -> list[str]:
    """The command that makes a run; ``reading``: how the table is read where the user overruled a guess."""
    return ["decide", str(form), str(table), *_reading_arguments(reading), *_selection_arguments(selection)]


def resume_arguments(run_id: str) -> list[str]:
    """The command that goes on with a stored run in the round that it is in.

    Raises:
        UserError: the run's file cannot be read.
    """
    with RunView(run_path(paths.runs_dir(), run_id)) as view:
        spec, current = view.spec, view.rounds()[-1]
    if (what := ROUNDS.get(current.kind)) is not None:
        # The round is begun: its questions are in the run's file, and no form is read for them again.
        return ["again", what, run_id, *(["--form", spec.form_path] if what == "questions" else [])]
    reading = {
        key: spec.table_format[key] for key in ("encoding", "delimiter", "header", "sheet") if key in spec.table_format
    }
    return ["decide", spec.form_path, spec.table_path, f"--resume={run_id}", *_reading_arguments(reading)]


def output_arguments(out: Path, engine: str, concurrency: int) -> list[str]:
    """Where a run's answers go and who reads them. Raw: the scratch file is for nobody, so nothing is guarded in it."""
    return ["--out", str(out), "--raw", "--engine", engine, "--concurrency", str(concurrency)]


def queue_options(run_id: str, engine: str, concurrency: int) -> dict[str, Any]:
    """What the queue keeps of a stored run, as ``decide --queue`` writes it.

    Raises:
        UserError: the run's file cannot be read.
    """
    with RunView(run_path(paths.runs_dir(), run_id)) as view:
        form = view.spec.form_path
    kept = {"engine": engine, "out": str(scratch_csv()), "overwrite": False, "raw": True, "bom": False}
    return {**kept, "form": form, "concurrency": concurrency, OF_WINDOW: True}


OF_WINDOW = "window"  # option of a queue's entry: the window's engine reads it, wherever that answers by then


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
