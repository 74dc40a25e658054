"""Parquet files, a batch of rows in memory at a time. pyarrow is loaded when such a file is met."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from engine.batch.cell_text import cell_text, number_text
from engine.batch.table_format import MAX_CELL, TableFormat, check_columns, no_text_options, only_sheet, reading
from engine.errors import InputError

_BATCH = 1000  # rows


def sniff_parquet(path: Path, *, encoding: str | None, delimiter: str | None, sheet: str | None) -> TableFormat:
    """The columns of a Parquet file.

    Raises:
        InputError: damaged, without columns, with empty or repeated names, or an option that it has not got.
    """
    no_text_options(path, encoding, delimiter, "a Parquet file")
    only_sheet(path, sheet, "a Parquet file")
    with _opened(path) as file:
        columns = tuple(file.schema_arrow.names)
    if not columns:
        raise InputError("table.empty", "{path} has no columns", path=str(path))
    check_columns(columns, path)
    return TableFormat("", "", False, True, "", columns, "parquet")


def parquet_rows(path: Path, fmt: TableFormat) -> Iterator[tuple[str, ...]]:
    """The rows as texts.

    Raises:
        InputError: damaged, or a binary cell that is no text; names column and row.
    """
    before = 0
    with _opened(path) as file:
        # One thread: a table is read beside a window that draws.
        for batch in file.iter_batches(batch_size=_BATCH, columns=list(fmt.columns), use_threads=False):
            columns = [
                _texts(path, name, column, before) for name, column in zip(fmt.columns, batch.columns, strict=True)
            ]
            yield from zip(*columns, strict=True)
            before += batch.num_rows


def _texts(path: Path, name: str, column: Any, before: int) -> list[str]:
    """The cells of a column of one batch."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = column.type
    if pa.types.is_dictionary(kind):
        column = column.dictionary_decode()
        kind = column.type
    if pa.types.is_float32(kind) or pa.types.is_float16(kind):
        # By its own digits: 0.1 of 32 bits is 0.10000000149 in 64.
        return ["" if text is None else number_text(float(text)) for text in pc.cast(column, pa.string()).to_pylist()]
    if pa.types.is_timestamp(kind):
        return [_moment(text) for text in pc.cast(column, pa.string()).to_pylist()]
    if pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_fixed_size_binary(kind):
        return [_decoded(path, name, cell, before + at) for at, cell in enumerate(column.to_pylist(), start=1)]
    cells = [cell_text(value) for value in column.to_pylist()]
    if any(len(cell) > MAX_CELL for cell in cells):
        at = next(at for at, cell in enumerate(cells, start=1) if len(cell) > MAX_CELL)
        message = "{path}: row {row}: a cell has more than {limit} characters"
        raise InputError("table.cell_too_long", message, path=str(path), row=before + at, limit=MAX_CELL)
    return cells


def _moment(text: str | None) -> str:
    """Without the zeros that only say how finely the column could count."""
    if text is None:
        return ""
    whole, point, rest = text.partition(".")
    digits = rest[: len(rest) - len(rest.lstrip("0123456789"))]
    zone = rest[len(digits) :]
    digits = digits.rstrip("0")
    text = f"{whole}.{digits}{zone}" if point and digits else whole + zone
    return text.removesuffix(" 00:00:00")


def _decoded(path: Path, name: str, cell: bytes | None, row: int) -> str:
    if cell is None:
        return ""
    try:
        return cell.decode()
    except UnicodeDecodeError as error:
        raise InputError(
            "table.bytes",
            "{path}: row {row}: column {column} holds bytes that are no text",
            remedy="leave the column out when the file is written",
            path=str(path),
            row=row,
            column=json.dumps(name, ensure_ascii=False),
        ) from error


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with reading(path), pq.ParquetFile(path, pre_buffer=False) as file:
            yield file
    except pa.ArrowException as error:
        raise InputError(
            "table.damaged",
            "{path} is a damaged Parquet file: {detail}",
            remedy="write it again",
            path=str(path),
            detail=str(error).splitlines()[0] if str(error) else type(error).__name__,
        ) from error
