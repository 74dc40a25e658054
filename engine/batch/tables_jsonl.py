"""JSON lines: one object a line. The columns are all keys of all lines, in the order in which they are met.

Numbers stand in the cells as they stand in the file; true, false and null as ``true``, ``false`` and nothing; a key
that a line lacks is an empty cell; lists and objects are JSON.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from engine.batch.encodings import by_mark
from engine.batch.table_format import MAX_CELL, TableFormat, check_columns, check_encoding, empty, not_in, reading
from engine.errors import InputError

_SUFFIXES = (".jsonl", ".ndjson")
_ESCAPED_HALF = re.compile(r"\\u[dD][89a-fA-F]")  # a surrogate; two of them are a whole character
_DOCUMENT = re.compile(rb'\s*(\[\s*\{\s*"|\{\s*\n\s*")')


def looks_like_jsonl(path: Path, head: bytes) -> bool:
    """Whether the file is called so, or its first line is a JSON object.

    Args:
        head: the beginning of the file.
    """
    if path.suffix.lower() in _SUFFIXES:
        return True
    line = head.removeprefix(codecs.BOM_UTF8).lstrip().split(b"\n", 1)[0]
    if not line.startswith(b"{"):
        return False
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def looks_like_json(head: bytes) -> bool:
    """Whether a file begins like a JSON document over several lines, or like a list of objects.

    Args:
        head: the beginning of the file, which is no JSON lines.
    """
    return _DOCUMENT.match(head.removeprefix(codecs.BOM_UTF8)) is not None


def sniff_jsonl(path: Path, *, encoding: str | None = None) -> TableFormat:
    """The columns of a file of JSON lines. Reads it whole: the last line may have a key of its own.

    Raises:
        InputError: a line that is no JSON object (names it), another encoding, empty or repeated names.
    """
    with reading(path), path.open("rb") as file:
        mark = by_mark(file.read(4))
    codec = encoding or mark or "utf-8"
    check_encoding(codec, path)
    keys: dict[str, None] = {}
    seen = False
    for _, record in _records(path, codec):
        seen = True
        if not keys.keys() >= record.keys():
            keys.update(dict.fromkeys(record))
    if not seen:
        raise empty(path)
    columns = tuple(keys)
    if not columns:
        raise InputError("table.empty", "{path}: its objects have no keys", path=str(path))
    check_columns(columns, path)
    return TableFormat(codec, "", mark is not None, True, "\n", columns, "jsonl")


def jsonl_rows(path: Path, fmt: TableFormat) -> Iterator[tuple[str, ...]]:
    """The rows as texts.

    Raises:
        InputError: a line that is no JSON object, a key that was not there before, a cell that is too long.
    """
    columns = fmt.columns
    known = frozenset(columns)
    for number, (line, record) in enumerate(_records(path, fmt.encoding), start=1):
        if not known >= record.keys():
            message = "{path}: line {line}: the key {key} was not there when the table was opened"
            new = next(key for key in record if key not in known)
            raise InputError("table.changed", message, remedy="open it again", path=str(path), line=line, key=new)
        cells = tuple(_text(record[name]) if name in record else "" for name in columns)
        if any(len(cell) > MAX_CELL for cell in cells):
            message = "{path}: row {row} (line {line}): a cell has more than {limit} characters"
            raise InputError("table.cell_too_long", message, path=str(path), row=number, line=line, limit=MAX_CELL)
        yield cells


class _Number(str):
    """A number as it is written in the file."""

    __slots__ = ()


def _text(value: Any) -> str:
    match value:
        case str():
            return str(value)
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case _:
            return json.dumps(_plain(value), ensure_ascii=False)


def _plain(value: Any) -> Any:
    """A list or an object with its numbers as numbers again."""
    match value:
        case _Number():
            return json.loads(value)
        case list():
            return [_plain(each) for each in value]
        case dict():
            return {key: _plain(each) for key, each in value.items()}
        case _:
            return value


def _records(path: Path, encoding: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """(line, object) of every line that is not blank."""
    decode = json.JSONDecoder(parse_float=_Number, parse_int=_Number, parse_constant=_Number).decode
    codec = "utf-8-sig" if codecs.lookup(encoding).name == "utf-8" else encoding
    line = 0
    # Only "\n" ends a line: other breaks may stand inside a text.
    with reading(path), path.open(encoding=codec, newline="\n") as file:
        try:
            for line, text in enumerate(file, start=1):
                if text.isspace():
                    continue
                record = decode(text)
                if not isinstance(record, dict):
                    raise _bad_line(path, line, "it is no object in braces")
                if _ESCAPED_HALF.search(text):
                    _check_halves(path, line, record)
                yield line, record
        except UnicodeError as error:
            raise not_in(path, encoding, line, error) from error
        except (ValueError, RecursionError) as error:
            raise _bad_line(path, line, str(error)) from error


def _check_halves(path: Path, line: int, record: dict[str, Any]) -> None:
    """JSON can spell half of a character, which no file, no request and no run can hold.

    Raises:
        InputError: names the line and the key.
    """
    for key, value in record.items():
        try:
            f"{key}{_text(value)}".encode()
        except UnicodeEncodeError as error:
            half = f"U+{ord(error.object[error.start]):04X}"
            raise InputError(
                "table.half_character",
                "{path}: line {line}: the key {key} holds half of a character ({half})",
                remedy="write the text again, or leave the line out",
                path=str(path),
                line=line,
                key=json.dumps(key),
                half=half,
            ) from error


def _bad_line(path: Path, line: int, detail: str) -> InputError:
    return InputError(
        "table.json_line",
        "{path}: line {line} is no JSON object: {detail}",
        remedy="JSON lines hold one object a line",
        path=str(path),
        line=line,
        detail=detail,
    )
