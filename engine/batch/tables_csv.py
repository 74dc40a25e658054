"""CSV tables: how a file is written (encoding, delimiter, header), and its rows, streamed.

Cells are texts, exactly as they stand in the file; nothing is trimmed, typed or filled in. Lines without any
character are no rows. Row numbers count from 1 below the header.
"""

from __future__ import annotations

import codecs
import csv
import io
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from engine.batch.encodings import by_mark, guess_encoding, utf16_without_mark
from engine.batch.table_format import (
    MAX_CELL,
    TableFormat,
    check_columns,
    check_encoding,
    empty,
    not_in,
    reading,
    unnamed,
)
from engine.errors import InputError

DELIMITERS = (",", ";", "\t", "|")
_CHUNK = 1 << 20
_HEAD = 1 << 18  # bytes looked at for the delimiter
_ODD_LINES = 1 << 16  # bytes of lines that are not UTF-8, kept for the guess
_SNIFFED_ROWS = 100

_MAGIC = (
    (b"\x89PNG", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"%PDF", "a PDF"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"SQLite format 3\0", "an SQLite database"),
    (b"\x7fELF", "a program"),
)


def sniff_csv(
    path: Path, *, encoding: str | None = None, delimiter: str | None = None, header: bool = True
) -> TableFormat:
    """Find out how a CSV is written. Reads the file once.

    Args:
        encoding, delimiter: given by the user instead of guessed.
        header: whether the first line names the columns.

    Raises:
        InputError: unreadable, empty, binary, unknown encoding, or a header with empty or repeated names.
    """
    with reading(path), path.open("rb") as file:
        head = file.read(_HEAD)
    if not head.strip():
        raise empty(path)
    _refuse_binary(path, head)
    mark = by_mark(head)
    codec = encoding or mark or utf16_without_mark(head) or _scan(path)
    check_encoding(codec, path)
    bom = mark is not None and codecs.lookup(codec).name.startswith(codecs.lookup(mark).name)
    codec = mark if bom and mark else codec  # "utf-16" takes the mark away, "utf-16-le" would leave it in the header
    text = _head_text(path, head, codec, bom)
    if delimiter is not None and (len(delimiter) != 1 or delimiter in '"\r\n'):
        message = "{path}: the delimiter is one character, no quote and no line break; got {value}"
        raise InputError("table.delimiter", message, path=str(path), value=repr(delimiter))
    fmt = TableFormat(codec, delimiter or _delimiter(text), bom, header, _line_ending(text), ())
    first = next((cells for _, cells in _records(path, fmt, skip_header=False)), None)
    if first is None:
        raise empty(path)
    columns = tuple(first) if header else unnamed(len(first))
    check_columns(columns, path)
    return TableFormat(codec, fmt.delimiter, bom, header, fmt.line_ending, columns)


def csv_rows(path: Path, fmt: TableFormat) -> Iterator[tuple[str, ...]]:
    """The rows' cells.

    Raises:
        InputError: not in this encoding, a broken quote, or a row of another width than the header; names the row.
    """
    for number, (line, cells) in enumerate(_records(path, fmt), start=1):
        if len(cells) != len(fmt.columns):
            raise InputError(
                "table.ragged",
                "{path}: row {row} (line {line}) has {cells} cells, the header has {columns}",
                remedy="a cell that holds the delimiter or a line break needs double quotes",
                path=str(path),
                row=number,
                line=line,
                cells=len(cells),
                columns=len(fmt.columns),
            )
        yield tuple(cells)


def _records(path: Path, fmt: TableFormat, *, skip_header: bool = True) -> Iterator[tuple[int, list[str]]]:
    """(line where the record ends, cells) of every record that has a character."""
    # The csv module keeps one limit for the whole process; ours is the only room that reads CSV.
    csv.field_size_limit(MAX_CELL)
    count = 0
    encoding = "utf-8-sig" if fmt.bom and codecs.lookup(fmt.encoding).name == "utf-8" else fmt.encoding
    with reading(path), path.open(encoding=encoding, newline="") as file:
        reader = csv.reader(file, delimiter=fmt.delimiter, strict=True)
        try:
            for cells in reader:
                if not cells:
                    continue
                count += 1
                if count > 1 or not (skip_header and fmt.header):
                    yield reader.line_num, cells
        except UnicodeError as error:
            raise not_in(path, fmt.encoding, reader.line_num, error) from error
        except csv.Error as error:
            raise _bad_record(path, count + (0 if fmt.header else 1), reader.line_num, str(error)) from error


def _bad_record(path: Path, row: int, line: int, detail: str) -> InputError:
    if "field larger" in detail:
        message = (
            "{path}: row {row} (line {line}): a cell has more than {limit} characters; perhaps a quote is not closed"
        )
        return InputError("table.cell_too_long", message, path=str(path), row=row, line=line, limit=MAX_CELL)
    return InputError(
        "table.quotes",
        "{path}: row {row} (line {line}): broken quotes ({detail})",
        remedy='a quote inside a quoted cell is written twice: ""',
        path=str(path),
        row=row,
        line=line,
        detail=detail,
    )


def _scan(path: Path) -> str:
    """UTF-8 when the whole file is, else a guess by the lines that are not. Also finds zero bytes anywhere.

    A file may be ASCII for a gigabyte and then not: hence the whole of it.
    """
    decoder = codecs.getincrementaldecoder("utf-8")()
    utf8, odd, rest, lines_before = True, bytearray(), b"", 0
    with reading(path), path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            if 0 in chunk:
                raise _zero(path, chunk, lines_before)
            lines_before += chunk.count(b"\n")
            if utf8:
                try:
                    decoder.decode(chunk)
                except UnicodeDecodeError:
                    utf8 = False
            if len(odd) < _ODD_LINES and not chunk.isascii():
                lines = (rest + chunk).split(b"\n")
                rest = lines.pop()[-_CHUNK:]
                odd += b"\n".join(line for line in lines if not line.isascii()) + b"\n"
            else:
                rest = b""
    if utf8:
        try:
            decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            utf8 = False
    if utf8:
        return "utf-8"
    if not rest.isascii():
        odd += rest
    return guess_encoding(bytes(odd))


def _refuse_binary(path: Path, head: bytes) -> None:
    for magic, what in _MAGIC:
        if head.startswith(magic):
            raise _binary(path, what)
    if by_mark(head) is None and utf16_without_mark(head) is None and 0 in head:
        raise _zero(path, head)


def _zero(path: Path, chunk: bytes, lines_before: int = 0) -> InputError:
    return _binary(path, f"a zero byte (line {lines_before + chunk.count(b'\n', 0, chunk.index(0)) + 1})")


def _binary(path: Path, what: str) -> InputError:
    return InputError(
        "table.binary",
        "{path} is no text table: it is or holds {what}",
        remedy="save the table as CSV, as a workbook (.xlsx) or as Parquet, and choose that file",
        path=str(path),
        what=what,
    )


def _head_text(path: Path, head: bytes, encoding: str, bom: bool) -> str:
    """The file's beginning as text; what is cut in the middle of a character is left out."""
    decoder = codecs.getincrementaldecoder(encoding)(errors="replace")
    try:
        text = decoder.decode(head)
    except UnicodeError as error:  # UTF-16 and UTF-32 without a mark that says their order
        raise not_in(path, encoding, 0, error) from error
    return text.removeprefix("\ufeff") if bom else text


def _delimiter(text: str) -> str:
    """The delimiter by which the first rows come out as wide as the header.

    A candidate that is not in the header is no delimiter. If none is there, the table has one column, and any
    candidate that no row holds will do.
    """
    scores = {delimiter: _agreement(text, delimiter) for delimiter in DELIMITERS}
    split = {delimiter: score for delimiter, score in scores.items() if score[1] > 1}
    if split:
        return max(split, key=split.__getitem__)
    return max(DELIMITERS, key=lambda delimiter: scores[delimiter][0])


def _agreement(text: str, delimiter: str) -> tuple[float, int]:
    """(share of the first rows that are as wide as the header, that width)."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    widths = []
    try:
        for cells in islice((cells for cells in reader if cells), _SNIFFED_ROWS):
            widths.append(len(cells))
    except csv.Error:
        return (0.0, widths[0] if widths else 1)
    if not widths:  # nothing but a byte order mark and blank lines
        return (0.0, 1)
    if len(widths) > 2:
        widths.pop()  # may be cut where the sample ends
    rows = widths[1:] or widths
    return (round(sum(width == widths[0] for width in rows) / len(rows), 1), widths[0])


def _line_ending(text: str) -> str:
    counts = {"\r\n": text.count("\r\n")}
    counts["\n"] = text.count("\n") - counts["\r\n"]
    counts["\r"] = text.count("\r") - counts["\r\n"]
    return max(counts, key=counts.__getitem__) if any(counts.values()) else "\n"
