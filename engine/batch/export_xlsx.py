"""A run as a workbook: a sheet of answers, a sheet about the run. Rows are written one by one and not kept.

Texts are written as texts, which no spreadsheet runs, so that formulas need no apostrophe here.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import xlsxwriter
from xlsxwriter.exceptions import FileCreateError

from engine.batch.columns import question_columns
from engine.batch.export_rows import Cell, ExportTable
from engine.batch.manifest import manifest_of
from engine.batch.prepare import form_of
from engine.domain.form import Form
from engine.errors import InputError
from engine.store.run_export import long_rows
from engine.store.runs import RunView

# https://support.microsoft.com: Excel specifications and limits
MAX_ROWS, MAX_COLUMNS, MAX_TEXT = 1_048_576, 16_384, 32_767
_SHOWN = 80  # characters of a column's name
_REMEDY = "export as CSV, Parquet or JSON lines, which have no such limit"


def write_workbook(table: ExportTable, part: Path, view: RunView) -> None:
    """Write all rows.

    Raises:
        InputError: more rows, more columns or a longer text than a sheet holds.
        OSError: as the system says.
    """
    _check_size(view.rows, len(table.names))
    # What is not kept lies beside the target: the system's own folder for such files may be in memory.
    with tempfile.TemporaryDirectory(dir=part.parent, prefix=".") as folder:
        options = {
            "constant_memory": True,
            "strings_to_formulas": False,
            "strings_to_numbers": False,
            "strings_to_urls": False,
            "tmpdir": folder,
        }
        book = xlsxwriter.Workbook(str(part), options)
        try:
            _answers(book, table)
            _about(book, view)
        except BaseException:
            book.fileclosed = True  # else it complains when it is forgotten, and so do its sheets
            for sheet in book.worksheets():
                sheet.row_data_fh.close()
            raise
        try:
            book.close()
        except FileCreateError as error:
            raise error.args[0] from error


def check_sheet(form: Form, columns: Sequence[str], rows: Iterable[tuple[int, Sequence[str]]]) -> None:
    """Whether a sheet holds such a table with the form's answers: asked before a run that shall end in one.

    Args:
        rows: (number, cells) of all rows, or of those with long texts.

    Raises:
        InputError: more rows, more columns or a longer text than a sheet holds; names the place.
    """
    width = 1 + len(columns) + sum(len(question_columns(question)) for question in form.questions)
    _check_size(0, width)
    for column in columns:
        _check_text(0, column, column)
    for number, cells in rows:
        _check_size(number, width)
        for column, cell in zip(columns, cells, strict=True):
            if len(cell) > MAX_TEXT // 2:
                _check_text(number, column, cell)


def check_run(view: RunView) -> None:
    """``check_sheet`` of a stored run. Raises InputError as that does."""
    _check_size(view.rows, 0)
    check_sheet(form_of(view), view.spec.columns, long_rows(view, MAX_TEXT // 2))


def _check_size(rows: int, columns: int) -> None:
    for count, limit, what in ((rows + 1, MAX_ROWS, "rows"), (columns, MAX_COLUMNS, "columns")):
        if count > limit:
            message = "a sheet holds {limit} {what} with its header, and this run needs {count}"
            raise InputError("export.sheet_size", message, remedy=_REMEDY, limit=limit, what=what, count=count)


def _check_text(row: int, column: str, text: str) -> None:
    if len(text.encode("utf-16-le", "surrogatepass")) // 2 > MAX_TEXT:
        raise InputError(
            "export.sheet_text",
            "row {row}, column {column}: {count} characters; a cell of a sheet holds {limit}",
            remedy=_REMEDY,
            row=row,
            column=column[:_SHOWN],
            count=len(text),
            limit=MAX_TEXT,
        )


def _answers(book: Any, table: ExportTable) -> None:
    sheet = book.add_worksheet("answers")
    bold = book.add_format({"bold": True})
    sheet.freeze_panes(1, 1)
    for place, name in enumerate(table.names):
        _text(sheet, 0, place, name, table, bold)
    for at, cells in enumerate(table.rows(), start=1):
        for place, cell in enumerate(cells):
            _write(sheet, at, place, cell, table)


def _write(sheet: Any, at: int, place: int, cell: Cell, table: ExportTable) -> None:
    match cell:
        case None | "":
            pass
        case str():
            _text(sheet, at, place, cell, table)
        case bool():
            sheet.write_boolean(at, place, cell)
        case _:
            sheet.write_number(at, place, cell)


def _text(sheet: Any, at: int, place: int, text: str, table: ExportTable, style: Any = None) -> None:
    _check_text(at, table.names[place], text)
    sheet.write_string(at, place, text, style)


def _about(book: Any, view: RunView) -> None:
    """What the manifest says, one line a fact."""
    sheet = book.add_worksheet("about")
    for at, (name, value) in enumerate(_flat(manifest_of(view))):
        sheet.write_string(at, 0, name[:MAX_TEXT])
        sheet.write_string(at, 1, value[: MAX_TEXT // 2])


def _flat(value: Any, name: str = "") -> list[tuple[str, str]]:
    if isinstance(value, dict):
        return [line for key, each in value.items() for line in _flat(each, f"{name}.{key}" if name else str(key))]
    if isinstance(value, list):
        return [line for at, each in enumerate(value, start=1) for line in _flat(each, f"{name}.{at}")]
    return [(name, "" if value is None else str(value))]
