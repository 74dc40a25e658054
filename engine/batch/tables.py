"""CSV tables: how a file is written (encoding, delimiter, header), and its rows, streamed.

Cells are texts, exactly as they stand in the file; nothing is trimmed, typed or filled in. Lines without any
character are no rows. Row numbers count from 1 below the header.
"""

from __future__ import annotations

import codecs
import csv
import hashlib
import io
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from engine.batch.encodings import by_mark, guess_encoding, utf16_without_mark
from engine.errors import InputError

DELIMITERS = (",", ";", "\t", "|")
MAX_CELL = 10_000_000  # characters; an unclosed quote swallows the rest of a file, and this ends it
MAX_COLUMNS = 10_000
_CHUNK = 1 << 20
_HEAD = 1 << 18  # bytes looked at for the delimiter
_ODD_LINES = 1 << 16  # bytes of lines that are not UTF-8, kept for the guess
_SNIFFED_ROWS = 100

# Python's codecs for texts inside other texts, no encodings of files; some bring halves of characters forth.
_NO_FILES = frozenset({"idna", "punycode", "undefined", "unicode_escape", "unicode-escape"})
_NO_FILES |= {"raw_unicode_escape", "raw-unicode-escape", "utf-7"}

_MAGIC = (
    (b"PK\x03\x04", "a zip archive or an Excel workbook (.xlsx)"),
    (b"\xd0\xcf\x11\xe0", "an old Excel workbook (.xls)"),
    (b"\x89PNG", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"%PDF", "a PDF"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"PAR1", "a Parquet file"),
    (b"SQLite format 3\0", "an SQLite database"),
    (b"\x7fELF", "a program"),
)


@dataclass(frozen=True, slots=True)
class TableFormat:
    """How a table is written.

    Attributes:
        encoding: a Python codec name.
        delimiter: between cells, one character; cells may stand in double quotes.
        bom: the file begins with a byte order mark.
        header: the first line holds the columns' names; else they are called column_1, column_2, ...
        line_ending: the one met most, for display.
        columns: names in order.
    """

    encoding: str
    delimiter: str
    bom: bool
    header: bool
    line_ending: str
    columns: tuple[str, ...]


class Table:
    """A CSV file opened with a format. Iterates as often as wanted; holds one row at a time."""

    def __init__(self, path: Path, fmt: TableFormat) -> None:
        self.path = path
        self.format = fmt
        self.columns = fmt.columns

    def rows(self) -> Iterator[tuple[str, ...]]:
        """The rows' cells, in the order of the columns.

        Raises:
            InputError: unreadable, not in this encoding, a broken quote, or a row of another width; names the row.
        """
        for number, (line, cells) in enumerate(_records(self.path, self.format), start=1):
            if len(cells) != len(self.columns):
                raise InputError(
                    "table.ragged",
                    "{path}: row {row} (line {line}) has {cells} cells, the header has {columns}",
                    remedy="a cell that holds the delimiter or a line break needs double quotes",
                    path=str(self.path),
                    row=number,
                    line=line,
                    cells=len(cells),
                    columns=len(self.columns),
                )
            yield tuple(cells)

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


def sniff(path: Path, *, encoding: str | None = None, delimiter: str | None = None, header: bool = True) -> TableFormat:
    """Find out how a table is written. Reads the file once.

    Args:
        encoding, delimiter: given by the user instead of guessed.
        header: whether the first line names the columns.

    Raises:
        InputError: unreadable, empty, binary, unknown encoding, or a header with empty or repeated names.
    """
    with _reading(path), path.open("rb") as file:
        head = file.read(_HEAD)
    if not head.strip():
        raise InputError("table.empty", "{path} is empty", path=str(path))
    _refuse_binary(path, head)
    mark = by_mark(head)
    codec = encoding or mark or utf16_without_mark(head) or _scan(path)
    _check_encoding(codec, path)
    bom = mark is not None and codecs.lookup(codec).name.startswith(codecs.lookup(mark).name)
    codec = mark if bom and mark else codec  # "utf-16" takes the mark away, "utf-16-le" would leave it in the header
    text = _head_text(path, head, codec, bom)
    if delimiter is not None and (len(delimiter) != 1 or delimiter in '"\r\n'):
        message = "{path}: the delimiter is one character, no quote and no line break; got {value}"
        raise InputError("table.delimiter", message, path=str(path), value=repr(delimiter))
    fmt = TableFormat(codec, delimiter or _delimiter(text), bom, header, _line_ending(text), ())
    first = next((cells for _, cells in _records(path, fmt, skip_header=False)), None)
    if first is None:
        raise InputError("table.empty", "{path} is empty", path=str(path))
    columns = tuple(first) if header else tuple(f"column_{number}" for number in range(1, len(first) + 1))
    _check_columns(columns, path)
    return TableFormat(codec, fmt.delimiter, bom, header, fmt.line_ending, columns)


def file_sha256(path: Path) -> str:
    """SHA-256 of the file's bytes, in hex."""
    with _reading(path), path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    """Turns the system's errors about a file into ours."""
    try:
        yield
    except OSError as error:
        detail = error.strerror or str(error)
        raise InputError("table.unreadable", "cannot read {path}: {detail}", path=str(path), detail=detail) from error


def _records(path: Path, fmt: TableFormat, *, skip_header: bool = True) -> Iterator[tuple[int, list[str]]]:
    """(line where the record ends, cells) of every record that has a character."""
    # The csv module keeps one limit for the whole process; ours is the only room that reads CSV.
    csv.field_size_limit(MAX_CELL)
    count = 0
    encoding = "utf-8-sig" if fmt.bom and codecs.lookup(fmt.encoding).name == "utf-8" else fmt.encoding
    with _reading(path), path.open(encoding=encoding, newline="") as file:
        reader = csv.reader(file, delimiter=fmt.delimiter, strict=True)
        try:
            for cells in reader:
                if not cells:
                    continue
                count += 1
                if count > 1 or not (skip_header and fmt.header):
                    yield reader.line_num, cells
        except UnicodeDecodeError as error:
            raise InputError(
                "table.encoding",
                "{path}: not in {encoding} behind line {line} (byte {byte})",
                remedy="choose another encoding",
                path=str(path),
                encoding=fmt.encoding,
                line=reader.line_num,
                byte=f"0x{error.object[error.start]:02x}",
            ) from error
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
    with _reading(path), path.open("rb") as file:
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
        remedy="save the table as CSV and choose that file",
        path=str(path),
        what=what,
    )


def _check_encoding(encoding: str, path: Path) -> None:
    try:
        b"a".decode(encoding)
        known = codecs.lookup(encoding).name not in _NO_FILES
    except UnicodeDecodeError:
        return  # half a character of an encoding that exists
    except (LookupError, ValueError):  # also for rot13, hex and the like, which are no text encodings
        known = False
    if not known:
        message = "{path}: there is no text encoding named {encoding}"
        remedy = "name one as Python does: utf-8, cp1252, cp949, utf-16, ..."
        raise InputError("table.unknown_encoding", message, remedy=remedy, path=str(path), encoding=encoding)


def _head_text(path: Path, head: bytes, encoding: str, bom: bool) -> str:
    """The file's beginning as text; what is cut in the middle of a character is left out."""
    decoder = codecs.getincrementaldecoder(encoding)(errors="replace")
    text = decoder.decode(head)
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


def _check_columns(columns: Iterable[str], path: Path) -> None:
    seen: dict[str, int] = {}
    for number, name in enumerate(columns, start=1):
        if not name.strip():
            message = "{path}: column {number} has no name in the header"
            remedy = "give every column a name in the first line; a delimiter at its end makes one more column"
            raise InputError("table.unnamed_column", message, remedy=remedy, path=str(path), number=number)
        if name in seen:
            message = "{path}: columns {first} and {number} are both named {name}"
            raise InputError(
                "table.duplicate_column",
                message,
                remedy="give every column a name of its own",
                path=str(path),
                first=seen[name],
                number=number,
                name=repr(name),
            )
        seen[name] = number
    if len(seen) > MAX_COLUMNS:
        message = "{path}: {count} columns; at most {limit} are read"
        raise InputError("table.too_many_columns", message, path=str(path), count=len(seen), limit=MAX_COLUMNS)
