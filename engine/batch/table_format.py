"""What all kinds of tables share: how a table is written, the checks of its column names, errors about its file."""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from engine.batch.files import check_file
from engine.errors import InputError

Kind = Literal["csv", "xlsx", "parquet", "jsonl"]
MAX_CELL = 10_000_000  # characters; in a CSV an unclosed quote swallows the rest of a file, and this ends it
MAX_COLUMNS = 10_000

# Python's codecs for texts inside other texts, no encodings of files; some bring halves of characters forth.
_NO_FILES = frozenset({"idna", "punycode", "undefined", "unicode_escape", "unicode-escape"})
_NO_FILES |= {"raw_unicode_escape", "raw-unicode-escape", "utf-7"}


@dataclass(frozen=True, slots=True)
class TableFormat:
    """How a table is written.

    Attributes:
        encoding: a Python codec name; empty where the file is no text (workbooks, Parquet).
        delimiter: between the cells of a CSV, one character; cells may stand in double quotes. Empty for other kinds.
        bom: the file begins with a byte order mark.
        header: the first line holds the columns' names; else they are called column_1, column_2, ...
        line_ending: the one met most, for display; empty where the file is no text.
        columns: names in order.
        kind: ``csv`` (any delimiter), ``xlsx`` (a workbook of any make), ``parquet`` or ``jsonl``.
        sheet: of a workbook, the sheet that is read.
        sheets: of a workbook, all sheets with cells, in its order, hidden ones last.
    """

    encoding: str
    delimiter: str
    bom: bool
    header: bool
    line_ending: str
    columns: tuple[str, ...]
    kind: Kind = "csv"
    sheet: str = ""
    sheets: tuple[str, ...] = ()


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Turns the system's errors about a file into ours; raises InputError for what is no file."""
    try:
        check_file(path)
        yield
    except OSError as error:
        detail = error.strerror or str(error)
        raise InputError("table.unreadable", "cannot read {path}: {detail}", path=str(path), detail=detail) from error


def check_encoding(encoding: str, path: Path) -> None:
    """Whether Python has such an encoding of files.

    Raises:
        InputError: it has not, or it is one of texts inside other texts.
    """
    if not _of_files(encoding):
        message = "{path}: there is no text encoding named {encoding}"
        remedy = "name one as Python does: utf-8, cp1252, cp949, utf-16, ..."
        raise InputError("table.unknown_encoding", message, remedy=remedy, path=str(path), encoding=encoding)


def _of_files(encoding: str) -> bool:
    try:
        name = codecs.lookup(encoding).name
        with suppress(UnicodeError):  # half a character, or no mark, of an encoding that exists
            b"a".decode(encoding)
    except (LookupError, ValueError):  # also for rot13, hex and the like, which are no text encodings
        return False
    return name not in _NO_FILES


def not_in(path: Path, encoding: str, line: int, error: UnicodeError) -> InputError:
    """The error for a text that is not written in the encoding.

    Args:
        line: up to which it was read.
    """
    why = str(error)
    if isinstance(error, UnicodeDecodeError):
        why = f"byte 0x{error.object[error.start]:02x}"
    return InputError(
        "table.encoding",
        "{path}: not in {encoding} behind line {line} ({why})",
        remedy="choose another encoding",
        path=str(path),
        encoding=encoding,
        line=line,
        why=why,
    )


def unnamed(count: int) -> tuple[str, ...]:
    """Names for the columns of a table without a header."""
    return tuple(f"column_{number}" for number in range(1, count + 1))


def empty(path: Path) -> InputError:
    """The error for a file without anything in it."""
    return InputError("table.empty", "{path} is empty", path=str(path))


def no_text_options(path: Path, encoding: str | None, delimiter: str | None, what: str) -> None:
    """Refuse an encoding or a delimiter for a file that has none.

    Args:
        what: the kind of file in words.

    Raises:
        InputError: one of them is given.
    """
    for name, value in (("encoding", encoding), ("delimiter", delimiter)):
        if value is not None:
            raise InputError(
                "table.no_such_option",
                "{path} is {what}, which has no {name}; got {value}",
                remedy="leave it out",
                path=str(path),
                what=what,
                name=name,
                value=repr(value),
            )


def only_sheet(path: Path, sheet: str | None, what: str) -> None:
    """Refuse the choice of a sheet where there are none.

    Raises:
        InputError: one is given.
    """
    if sheet is not None:
        message = "{path} is {what}, which has no sheets; got {sheet}"
        raise InputError("table.no_such_option", message, remedy="leave it out", path=str(path), what=what, sheet=sheet)


def check_columns(columns: Iterable[str], path: Path) -> None:
    """Every column has a name of its own.

    Raises:
        InputError: a name is empty or repeated, or there are too many columns.
    """
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
