"""``form``: look at a form, begin one, try it, carry it to and from requests of decision endpoints."""

from __future__ import annotations

import asyncio
import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from engine.batch.export_target import spare_inputs
from engine.batch.form import dump_form, load_form, read_json
from engine.batch.form_advice import advise
from engine.batch.form_exchange import PICTURES, SHAPES, Shape, export_request, import_request
from engine.batch.form_library import FormTemplate, template, templates
from engine.batch.form_wire import form_schema
from engine.batch.picture_check import look_at_pictures
from engine.batch.prepare import prepare
from engine.batch.row_sample import SampledRow
from engine.batch.row_state import RowStates
from engine.batch.selection import Selection, count_selected
from engine.batch.tables import Table
from engine.cli.checking import CheckOptions, check_options, format_options, open_given, opened, say
from engine.cli.engines import check_choice, open_engine
from engine.cli.form_trial import row_json, row_lines
from engine.cli.picture_options import column_option, separator_option, with_pictures
from engine.domain.form import Form
from engine.domain.picture import paths_of, text_of
from engine.errors import InputError
from engine.pictures import read_picture
from engine.reads.reader import Reader, check_reading
from engine.reads.trial import TRY_ROWS, RowsTried, RowTried, try_row, try_rows

_PATH = click.Path(path_type=Path)


@click.group("form", context_settings={"help_option_names": ["-h", "--help"]})
def command() -> None:
    """Look at forms, begin one from a template, try one, import and export."""


@command.command("templates")
@click.option("--json", "as_json", is_flag=True, help="One JSON array.")
def list_templates(as_json: bool) -> None:
    """List the forms that come with the program."""
    found = templates()
    if as_json:
        shown = [
            {"id": each.id, "name": each.form.name, "form": str(each.path), "table": str(each.table)} for each in found
        ]
        click.echo(json.dumps(shown))
        return
    for each in found:
        kinds = ", ".join(f"{question.id} ({question.type})" for question in each.form.questions)
        click.echo(f"{each.id:<14} {each.form.name}: {kinds}")


@command.command("new")
@click.argument("name")
@click.option("--to", "folder", type=_PATH, required=True, help="A folder for form.json and table.csv.")
@click.option("--overwrite", is_flag=True, help="Replace files that exist.")
def new(name: str, folder: Path, overwrite: bool) -> None:
    """Copy the template NAME and its small table into a folder."""
    found = template(name)
    folder.mkdir(parents=True, exist_ok=True)
    for source in (found.path, found.table):
        target = folder / source.name
        _write(target, source.read_text(encoding="utf-8"), overwrite=overwrite)
        click.echo(f"wrote {target}")


@command.command("check")
@click.argument("form", type=_PATH)
@click.argument("table", type=_PATH, required=False)
@format_options
@click.option("--where", help="Of the table's rows only those for which this is true.")
@column_option
@separator_option
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def check(
    form: Path,
    table: Path | None,
    where: str | None,
    picture_column: str | None,
    picture_separator: str | None,
    as_json: bool,
    **written: Any,
) -> None:
    """Check FORM, against TABLE when one is given, and say what experience advises.

    Of a form with pictures those of the table's first rows are read too, or of the first ones that pass --where.
    """
    if table is None and where is not None:
        raise click.UsageError("--where is about the rows of TABLE, and no table is named")
    found = with_pictures(load_form(form), picture_column, picture_separator)
    looked = None
    if table is not None:
        fmt = open_given(table, **written).format
        selection = Selection(where or "")
        ready = prepare(form, table, engine="", pictures=found.pictures, table_format=fmt, selection=selection)
        found, looked = ready.form, look_at_pictures(ready)
    advice = advise(found)
    if as_json:
        told = [{"place": each.place, "code": each.code, "text": each.text} for each in advice]
        pictures = {} if looked is None else {"pictures": asdict(looked)}
        click.echo(json.dumps({"form": dump_form(found), "advice": told, **pictures}))
        return
    count, missing = len(found.questions), looked is not None and looked.faults
    verdict = "pictures are missing" if missing else "nothing is wrong"
    click.echo(f"{found.name}: {count} question{'s' * (count > 1)}, {verdict}")
    for each in advice:
        click.echo(f"  {each.place}: {each.text}")
    if looked is not None:
        click.echo(f"  {looked.sentence}")


@command.command("schema")
def schema() -> None:
    """Print the JSON Schema of form files."""
    click.echo(json.dumps(form_schema(), indent=2))


@command.command("import")
@click.argument("body", type=_PATH)
@click.option("--out", type=_PATH, required=True, help="The form file to write.")
@click.option("--table", type=_PATH, help="A CSV to write with the request's own text as its row.")
@click.option("--overwrite", is_flag=True, help="Replace files that exist.")
def import_(body: Path, out: Path, table: Path | None, overwrite: bool) -> None:
    """Make a form of BODY, a request of System One or OpenAI Decisions as JSON."""
    found = import_request(read_json(body), str(body), name=body.stem)
    _check(out, overwrite, body)
    if table is not None:
        _check(table, overwrite, body)
        if table.absolute() == out.absolute():
            raise InputError("out.twice", "{path} is to hold both the form and the table", path=str(out))
    _write(out, json.dumps(dump_form(found.form), indent=2, ensure_ascii=False) + "\n", overwrite=overwrite)
    click.echo(f"wrote {out}: {len(found.form.questions)} questions about the column text")
    if table is not None:
        pictured = found.form.pictures is not None
        header = ["text", PICTURES.column] if pictured else ["text"]
        cells = [found.sample, found.pictures] if pictured else [found.sample]
        quoted = ",".join('"' + cell.replace('"', '""') + '"' for cell in cells)
        _write(table, f"{','.join(header)}\n{quoted}\n", overwrite=overwrite)
        click.echo(f"wrote {table}")
    _tell(found.left_out)


@command.command("export")
@click.argument("form", type=_PATH)
@click.option("--as", "shape", type=click.Choice(SHAPES), required=True, help="Whose request it is to be.")
@click.option("--table", type=_PATH, help="A table whose row is asked about; else the state's template stands there.")
@format_options
@column_option
@separator_option
@click.option("--row", type=click.IntRange(1), default=1, show_default=True, help="Of the table, from 1.")
@click.option("--model", default="", help="Id of the model.")
@click.option("--out", type=_PATH, help="A file instead of stdout.")
@click.option("--overwrite", is_flag=True, help="Replace a file that exists.")
def export(
    form: Path,
    shape: Shape,
    table: Path | None,
    row: int,
    model: str,
    out: Path | None,
    overwrite: bool,
    picture_column: str | None,
    picture_separator: str | None,
    **written: Any,
) -> None:
    """Print the request that asks FORM's questions about one row."""
    found = with_pictures(load_form(form), picture_column, picture_separator)
    state = found.state if table is None else _row(found, open_given(table, **written), row).state
    pictures = [read_picture(Path(path)) for path in paths_of(state)]
    made = export_request(found, shape, text_of(state), model=model, pictures=pictures)
    text = json.dumps(made.body, indent=2, ensure_ascii=False)
    if out is None:
        click.echo(text if _takes_all() else json.dumps(made.body, indent=2))
    else:
        spare_inputs(out, form, table)
        _write(out, text + "\n", overwrite=overwrite)
        click.echo(f"wrote {out}")
    _tell(made.left_out)


@command.command("try")
@check_options
@click.option("--row", type=click.IntRange(1), help="One row in full, alone and jointly; else some rows and a time.")
@click.option("--rows", type=click.IntRange(1), default=TRY_ROWS, show_default=True, help="How many rows, at random.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def try_(row: int | None, rows: int, as_json: bool, **given: Any) -> None:
    """Read one row of TABLE with everything shown, or some rows to see how long a run takes."""
    options = CheckOptions(**given)
    if row is not None:
        tried = asyncio.run(_try_row(options, row))
        if as_json:
            click.echo(json.dumps(row_json(tried)))
        for line in () if as_json else row_lines(tried):
            click.echo(line)
        return
    some, total = asyncio.run(_try_rows(options, rows))
    if as_json:
        figures = {"rows": len(some.readings), "seconds": some.seconds, "rows_per_s": some.rows_per_s}
        click.echo(json.dumps({**figures, "table_rows": total, "estimate_s": some.estimate_s(total)}))
        return
    click.echo(some.sentence(total))


def _template_json(found: FormTemplate) -> dict[str, str]:
    return {"id": found.id, "name": found.form.name, "form": str(found.path), "table": str(found.table)}


async def _try_row(options: CheckOptions, number: int) -> RowTried:
    form = options.load()
    pictured = form.pictures is not None
    check_choice(options.engine, sees=pictured)
    check_reading(form.questions, form.method)
    chosen = await asyncio.to_thread(lambda: _asked_row(form, options.open_table(), number))
    async with open_engine(options.engine, options.api_key, say, sees=pictured) as engine:
        return await try_row(engine.client, form.questions, form.method, chosen.state)


async def _try_rows(options: CheckOptions, count: int) -> tuple[RowsTried, int]:
    total = await asyncio.to_thread(lambda: count_selected(options.open_table(), options.selection))
    async with opened(options, count) as (engine, form, rows):
        reader = await Reader.open(engine.client, form.questions, form.method, pictures=form.pictures is not None)
        for note in reader.notes:
            say(note)
        return await try_rows(reader, [(row.key, row.state) for row in rows]), total


def _asked_row(form: Form, table: Table, number: int) -> SampledRow:
    """The same of a row that a run would read."""
    row = _row(form, table, number)
    if why := RowStates.of_table(form, table).nothing(row.state):
        message = "{path}: row {row}: {why}, so a run skips it"
        raise InputError(
            "form.row_skipped", message, remedy="try another row", path=str(table.path), row=number, why=why
        )
    return row


def _row(form: Form, table: Table, number: int) -> SampledRow:
    """A row by its number, rendered."""
    states = RowStates.of_table(form, table)
    at = 0
    for at, cells in enumerate(table.rows(), start=1):
        if at == number:
            return SampledRow(at, cells, states.render(dict(zip(table.columns, cells, strict=True))))
    message = "{path} has no row {row}; its last one is row {last}"
    raise InputError("form.no_row", message, path=str(table.path), row=number, last=at)


def _takes_all() -> bool:
    """Whether stdout takes every character as it is."""
    return sys.stdout is None or sys.stdout.encoding.lower().startswith("utf")


def _tell(left_out: tuple[str, ...]) -> None:
    if left_out:
        say("not carried over:")
    for each in left_out:
        say(f"  {each}")


def _check(path: Path, overwrite: bool, *inputs: Path | None) -> None:
    spare_inputs(path, *inputs)
    if path.exists() and not overwrite:
        raise InputError("out.exists", "{path} exists", remedy="give another name, or --overwrite", path=str(path))


def _write(path: Path, text: str, *, overwrite: bool) -> None:
    _check(path, overwrite)
    path.write_text(text, encoding="utf-8")
