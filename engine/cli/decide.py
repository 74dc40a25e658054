"""``decide``: a form over a table, from the check of its input to the exported CSV. The work is in ``deciding.py``."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Literal

import click

from engine.batch.form_wire import MAX_STEPS
from engine.batch.runner import MAX_CONCURRENCY
from engine.cli.decide_options import DecideOptions
from engine.cli.deciding import MOST, START, decide
from engine.cli.draws_option import Draws
from engine.cli.engines import EMBEDDED, HELP
from engine.cli.picture_options import column_option, separator_option
from engine.cli.reporting import JsonReporter, TerminalReporter
from engine.supervise.lifecycle import KEY_VARIABLE

NICENESS = 5


class _Delimiter(click.ParamType[str]):
    """One character; a tab can be spelled, since a shell does not pass one easily."""

    name = "C"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> str:
        return "\t" if value in ("\\t", "tab") else str(value)


_PATH = click.Path(path_type=Path)


@click.command("decide")
@click.argument("files", type=_PATH, nargs=-1, metavar="[FORM] TABLE")
@click.option("--out", type=_PATH, required=True, help="The file to write: .csv, .xlsx, .parquet, .jsonl ...")
@click.option("--overwrite", is_flag=True, help="Replace an --out that exists.")
@click.option("--raw", is_flag=True, help="Leave input cells as they are, also those that a spreadsheet would run.")
@click.option("--bom", is_flag=True, help="Begin the CSV with a byte order mark, for Excel.")
@click.option("--encoding", help="Of the table, a Python codec name, instead of the one guessed.")
@click.option("--delimiter", type=_Delimiter(), help="Of the table, one character or tab, instead of the one guessed.")
@click.option("--no-header", is_flag=True, help="The table's first line is data; columns are column_1, column_2, ...")
@click.option("--sheet", help="Of a workbook, instead of its first visible sheet.")
@click.option("--where", help="Read only rows for which this is true, such as: country == 'DE' and amount|float > 10.")
@click.option("--first", type=click.IntRange(min=1), help="Read only the first so many of these rows.")
@click.option("--sample", type=click.IntRange(min=1), help="Read only so many of these rows, taken at random.")
@click.option("--seed", type=int, help="Of the sample; 0 unless given.")
@click.option("--from-manifest", "manifest", type=_PATH, help="Repeat the run of this manifest; then FORM is left out.")
@click.option("--engine", "choice", default=EMBEDDED, show_default=True, help=HELP)
@click.option("--api-key", envvar=KEY_VARIABLE, show_envvar=True, help="Of a server given by its URL.")
@click.option("--joint/--alone", default=None, help="Questions of a row share a canvas; else as the form says.")
@click.option("--draws", type=Draws(), help="Looks per question, 1 to 32, or auto; else as the form says.")
@click.option("--wire", type=click.Choice(["canvas", "native"]), help="How to ask; else as the form says.")
@click.option("--steps", type=click.IntRange(1, MAX_STEPS), help="Denoise steps of a read; else as the form says.")
@click.option(
    "--rotate/--no-rotate",
    default=None,
    help="Read a choice once per rotation of its options: as many reads as options; else as the form says.",
)
@column_option
@separator_option
@click.option(
    "--concurrency",
    type=click.IntRange(1, MAX_CONCURRENCY),
    help=f"Rows read at the same time, at most. Unless given, from {START} on as many as help, up to {MOST}.",
)
@click.option("--resume", is_flag=False, flag_value="", metavar="[RUN]", help="Go on with an unfinished run.")
@click.option("--queue", is_flag=True, help="Make the run and let it wait for `queue work`.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line; see docs/architecture.md.")
@click.option("--worker", is_flag=True, hidden=True, help="As --json, with commands on stdin; its end cancels.")
def command(
    files: tuple[Path, ...],
    out: Path,
    overwrite: bool,
    raw: bool,
    bom: bool,
    encoding: str | None,
    delimiter: str | None,
    no_header: bool,
    sheet: str | None,
    where: str | None,
    first: int | None,
    sample: int | None,
    seed: int | None,
    manifest: Path | None,
    choice: str,
    api_key: str | None,
    joint: bool | None,
    draws: Literal["auto"] | int | None,
    wire: Literal["canvas", "native"] | None,
    steps: int | None,
    rotate: bool | None,
    picture_column: str | None,
    picture_separator: str | None,
    concurrency: int | None,
    resume: str | None,
    queue: bool,
    as_json: bool,
    worker: bool,
) -> int:
    """Read the questions of FORM about every row of TABLE (CSV, workbook, Parquet, JSON lines; - for stdin).

    Ctrl-C keeps every stored answer; the same command with --resume goes on. An argument that follows --resume is
    taken for a run's id, so let --resume stand last or write --resume=RUN.
    """
    form, table = _files(files, manifest)
    options = DecideOptions(
        form=form,
        table=table,
        out=out,
        overwrite=overwrite,
        raw=raw,
        bom=bom,
        encoding=encoding,
        delimiter=delimiter,
        header=not no_header,
        sheet=sheet,
        where=where,
        first=first,
        sample=sample,
        seed=seed,
        manifest=manifest,
        engine=choice,
        api_key=api_key,
        joint=joint,
        draws=draws,
        wire=wire,
        steps=steps,
        rotate=rotate,
        picture_column=picture_column,
        picture_separator=picture_separator,
        concurrency=concurrency,
        resume=resume,
        queue=queue,
        worker=worker,
    )
    if worker:
        os.nice(NICENESS)  # a run can wait, the window that watches it cannot
    reporter = JsonReporter() if as_json or worker else TerminalReporter()
    try:
        return asyncio.run(decide(options, reporter))
    finally:
        reporter.close()


def _files(files: tuple[Path, ...], manifest: Path | None) -> tuple[Path | None, Path]:
    wanted = 2 if manifest is None else 1
    if len(files) != wanted:
        names = "a form and a table" if manifest is None else "a table only: the form is in the manifest"
        raise click.UsageError(f"{len(files)} files are named; decide takes {names}")
    return (files[0], files[1]) if manifest is None else (None, files[0])
