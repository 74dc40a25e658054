"""``runs``: the stored runs, newest first."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import click

from engine import paths
from engine.domain.run import RunInfo
from engine.errors import EngineError
from engine.store.runs import list_runs


@click.command("runs")
@click.option("--json", "as_json", is_flag=True, help="One JSON array.")
def command(as_json: bool) -> None:
    """List the stored runs, newest first."""
    runs = list_runs(paths.runs_dir(), _complain)
    if as_json:
        print(json.dumps([asdict(run) for run in runs]))
    elif not runs:
        click.echo(f"no runs in {paths.runs_dir()}")
    else:
        _print(runs)


def _print(runs: list[RunInfo]) -> None:
    lines = [("RUN", "STATE", "DONE", "FORM", "TABLE")]
    for run in runs:
        total = run.rows * len(run.question_ids)
        share = f"{100 * run.done / total:.0f} %" if total else "-"
        lines.append((run.id, run.state, share, _shown(run.name), _shown(run.table_path)))
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    for line in lines:
        click.echo("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())


def _shown(text: str) -> str:
    """On one line, and nothing that a terminal would obey: a form may come from a stranger."""
    return "".join(char if char.isprintable() else "\ufffd" for char in text)


def _complain(path: Path, error: EngineError) -> None:
    click.echo(f"left out: {path.name}: {error}", err=True)
