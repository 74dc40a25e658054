"""Workbooks: .xlsx, .xlsm, .xlsb, .xls and .ods, through calamine. One sheet is a table.

Calamine holds the sheet in memory while it is read (about 100 bytes a cell); rows become texts one by one. It says
nothing about cells that hold an error, so those of an .xlsx are looked up in the file (``xlsx_errors``).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from python_calamine import (
    CalamineError,
    CalamineSheet,
    CalamineWorkbook,
    PasswordError,
    SheetTypeEnum,
    SheetVisibleEnum,
)

from engine.batch.cell_text import cell_text
from engine.batch.table_format import (
    MAX_CELL,
    TableFormat,
    check_columns,
    empty,
    no_text_options,
    reading,
    unnamed,
)
from engine.batch.xlsx_errors import error_cells
from engine.errors import InputError


def sniff_workbook(
    path: Path, *, encoding: str | None, delimiter: str | None, header: bool, sheet: str | None
) -> TableFormat:
    """The columns of a sheet, and which sheets there are.

    Args:
        sheet: by its name; None: the first that is visible.

    Raises:
        InputError: no workbook, protected by a password, no such sheet, an empty one, a header with empty or
            repeated names, or an encoding or a delimiter.
    """
    no_text_options(path, encoding, delimiter, "a workbook")
    with _opened(path) as book:
        sheets = _sheets(book)
        if not sheets:
            raise InputError("table.no_sheet", "{path} has no sheet with cells", path=str(path))
        if sheet is not None and sheet not in sheets:
            message = "{path} has no sheet named {sheet}"
            remedy = "its sheets are {sheets}"
            raise InputError(
                "table.unknown_sheet", message, remedy=remedy, path=str(path), sheet=sheet, sheets=", ".join(sheets)
            )
        name = sheet or sheets[0]
        first, width = _header(path, book, name)
    if not width:
        raise InputError("table.empty", "{path}: sheet {sheet} is empty", path=str(path), sheet=name)
    columns = first[:width] if header else unnamed(width)
    check_columns(columns, path)
    return TableFormat("", "", False, header, "", columns, "xlsx", name, sheets)


def workbook_rows(path: Path, fmt: TableFormat) -> Iterator[tuple[str, ...]]:
    """The rows below the header; blank ones are none. Columns without a name hold nothing.

    Raises:
        InputError: no such sheet any more, or a cell that is too long; names the row.
    """
    width, number = len(fmt.columns), 0
    with _opened(path) as book:
        for place, cells in enumerate(_filled(path, book, fmt.sheet)):
            if fmt.header and place == 0:
                continue
            number += 1
            if any(len(cell) > MAX_CELL for cell in cells):
                message = "{path}: row {row}: a cell has more than {limit} characters"
                raise InputError("table.cell_too_long", message, path=str(path), row=number, limit=MAX_CELL)
            yield (*cells[:width], *[""] * (width - len(cells)))


def _header(path: Path, book: CalamineWorkbook, name: str) -> tuple[tuple[str, ...], int]:
    """The first row, and how many columns hold anything at all: formatted cells beyond them are not meant."""
    first: tuple[str, ...] = ()
    width = 0
    for cells in _filled(path, book, name):
        first = first or cells
        while width < len(cells) and any(cells[width:]):
            width += 1
        if width == len(cells):
            break
    return first, width


def _filled(path: Path, book: CalamineWorkbook, name: str) -> Iterator[tuple[str, ...]]:
    """The rows with a cell that is not empty, as texts."""
    sheet = _sheet(path, book, name)
    errors = error_cells(path, name)
    left = sheet.start[1] if sheet.start else 0
    for at, row in enumerate(sheet.iter_rows()):
        cells = tuple(map(cell_text, row))
        if at in errors:
            cells = tuple(errors[at].get(left + place, cell) for place, cell in enumerate(cells))
        if any(cells):
            yield cells


def _sheet(path: Path, book: CalamineWorkbook, name: str) -> CalamineSheet:
    try:
        return book.get_sheet_by_name(name)
    except CalamineError as error:
        message = "{path}: sheet {sheet} cannot be read: {detail}"
        raise InputError("table.sheet", message, path=str(path), sheet=name, detail=str(error)) from error


def _sheets(book: CalamineWorkbook) -> tuple[str, ...]:
    cells = [each for each in book.sheets_metadata if each.typ == SheetTypeEnum.WorkSheet]
    cells.sort(key=lambda each: each.visible != SheetVisibleEnum.Visible)  # stable: the workbook's order otherwise
    return tuple(each.name for each in cells)


@contextmanager
def _opened(path: Path) -> Iterator[CalamineWorkbook]:
    try:
        with reading(path), CalamineWorkbook.from_path(path) as book:
            yield book
    except PasswordError as error:
        remedy = "save it without a password"
        message = "{path} is protected by a password"
        raise InputError("table.password", message, remedy=remedy, path=str(path)) from error
    except CalamineError as error:
        if not path.stat().st_size:
            raise empty(path) from error
        raise InputError(
            "table.binary",
            "{path} is no workbook that can be read: {detail}",
            remedy="save the table as CSV and choose that file",
            path=str(path),
            detail=str(error),
        ) from error
