"""Tables of every kind: CSV with any delimiter, workbooks, Parquet and JSON lines, all as rows of texts, streamed.

Cells are texts. Of a CSV they are what stands in the file; of typed files they are what a user sees there (a date, 1
for 1.0). Rows without any cell are no rows. Row numbers count from 1 below the header.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from pathlib import Path

from engine.batch.table_format import Kind, TableFormat, empty, only_sheet, reading
from engine.batch.tables_csv import csv_rows, sniff_csv
from engine.batch.tables_jsonl import jsonl_rows, looks_like_json, looks_like_jsonl, sniff_jsonl
from engine.batch.tables_parquet import parquet_rows, sniff_parquet
from engine.batch.tables_xlsx import sniff_workbook, workbook_rows
from engine.errors import InputError

__all__ = ["Table", "TableFormat", "file_sha256", "open_table", "sniff"]

_ROWS: Mapping[Kind, Callable[[Path, TableFormat], Iterator[tuple[str, ...]]]] = {
    "csv": csv_rows,
    "xlsx": workbook_rows,
    "parquet": parquet_rows,
    "jsonl": jsonl_rows,
}
_WORKBOOKS = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")  # a zip (.xlsx, .xlsb, .ods), a compound file (.xls)
_PARQUET = b"PAR1"
_HEAD = 1 << 16


class Table:
    """A table opened with a format. Iterates as often as wanted; holds one row at a time (a workbook: its sheet)."""

    def __init__(self, path: Path, fmt: TableFormat) -> None:
        self.path = path
        self.format = fmt
        self.columns = fmt.columns

    def rows(self) -> Iterator[tuple[str, ...]]:
        """The rows' cells, in the order of the columns.

        Raises:
            InputError: the file cannot be read, or a row is faulty; names the row.
        """
        return _ROWS[self.format.kind](self.path, self.format)

    def preview(self, count: int = 20) -> list[tuple[str, ...]]:
        """The first rows."""
        return list(islice(self.rows(), count))

    def count(self) -> int:
        """How many rows there are; reads the whole file and so finds every fault in it.

        Raises:
            InputError: as ``rows``, and when there is no row.
        """
        total = sum(1 for _ in self.rows())
        if not total:
            raise InputError("table.empty", "{path} has no rows below its header", path=str(self.path))
        return total


def open_table(path: Path, fmt: TableFormat | None = None) -> Table:
    """Open a table, in the format found by ``sniff`` unless one is given.

    Raises:
        InputError: as ``sniff``.
    """
    return Table(path, fmt or sniff(path))


def sniff(
    path: Path,
    *,
    encoding: str | None = None,
    delimiter: str | None = None,
    header: bool = True,
    sheet: str | None = None,
) -> TableFormat:
    """Find out how a table is written, by its content and not by its name. Reads a text once, a workbook's sheet too.

    Args:
        encoding, delimiter: given by the user instead of guessed; for texts only.
        header: whether the first line names the columns; JSON lines and Parquet always name them.
        sheet: of a workbook, instead of its first visible one.

    Raises:
        InputError: unreadable, empty, binary, an option that this kind of file has not got, an unknown encoding or
            sheet, or a header with empty or repeated names.
    """
    with reading(path), path.open("rb") as file:
        head = file.read(_HEAD)
    if not head.strip():
        raise empty(path)
    if head.startswith(_WORKBOOKS):
        return sniff_workbook(path, encoding=encoding, delimiter=delimiter, header=header, sheet=sheet)
    if head.startswith(_PARQUET):
        return sniff_parquet(path, encoding=encoding, delimiter=delimiter, sheet=sheet)
    only_sheet(path, sheet, "no workbook")
    if delimiter is None and looks_like_jsonl(path, head):
        return sniff_jsonl(path, encoding=encoding)
    if delimiter is None and looks_like_json(head):
        raise InputError(
            "table.json",
            "{path} is one JSON document, not JSON lines",
            remedy="write one object a line, without brackets and commas around them",
            path=str(path),
        )
    return sniff_csv(path, encoding=encoding, delimiter=delimiter, header=header)


def file_sha256(path: Path) -> str:
    """SHA-256 of the file's bytes, in hex."""
    with reading(path), path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
