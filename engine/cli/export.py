"""``export``: a stored run as a file, also one that is not finished."""

from __future__ import annotations

from pathlib import Path

import click

from engine import paths
from engine.batch.export import ExportSummary, export_run
from engine.store.runs import run_path


@click.command("export")
@click.argument("run")
@click.option("--out", type=click.Path(path_type=Path), required=True, help="The file to write; its suffix says what.")
@click.option("--overwrite", is_flag=True, help="Replace an --out that exists.")
@click.option("--raw", is_flag=True, help="Leave input cells as they are, also those that a spreadsheet would run.")
@click.option("--bom", is_flag=True, help="Begin the CSV with a byte order mark, for Excel.")
def command(run: str, out: Path, overwrite: bool, raw: bool, bom: bool) -> None:
    """Write the answers of RUN (an id that `runs` lists). Rows without an answer have empty cells.

    The suffix of --out: .xlsx a workbook, .parquet, .jsonl JSON lines, .json the manifest that --from-manifest of
    decide takes, .html a report on one page, anything else a CSV.
    """
    path = run_path(paths.runs_dir(), run)
    summary = export_run(path, out, overwrite=overwrite, raw=raw, bom=bom)
    click.echo(f"wrote {out}: {summary.rows} rows")
    if summary.unanswered:
        click.echo(f"  {summary.unanswered} of them have no answer yet: the run is unfinished")
    for line in renderings(summary):
        click.echo(f"  {line}")


def renderings(summary: ExportSummary) -> list[str]:
    """What was written differently from the input, for the user to know."""
    lines = [f"column {old} is called {new} there" for old, new in summary.renamed]
    if summary.guarded:
        lines.append(f"{summary.guarded} cells got an apostrophe, so that no spreadsheet runs them; --raw leaves them")
    return lines
