"""The cells of an .xlsx sheet that hold an error (#N/A, #DIV/0! ...), read from the file itself.

Calamine gives such cells as empty ones, and an empty cell is something else (field case: failed cells must differ from
empty ones). The layout is ECMA-376 part 1, 18.3.1.4: ``<c r="B7" t="e"><v>#N/A</v></c>``.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO
from xml.etree import ElementTree

_CELL = re.compile(
    rb"""<c\s(?=[^>]*\bt=["']e["'])[^>]*\br=["']([A-Z]{1,3})(\d{1,7})["'][^>]*>(?:(?!</c>).){0,20000}?<v>([^<]{0,40})""",
    re.DOTALL,
)
_MARKS = (b't="e"', b"t='e'")
_CHUNK = 1 << 20
_OVERLAP = 1 << 15  # a cell with its formula, that a chunk's end cuts
_WORKBOOK, _RELATIONS = "xl/workbook.xml", "xl/_rels/workbook.xml.rels"
_REFERENCE = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
_STRICT = "{http://purl.oclc.org/ooxml/officeDocument/relationships}id"


def error_cells(path: Path, sheet: str) -> dict[int, dict[int, str]]:
    """Row -> column -> text of the error, both from 0; empty for files of other kinds."""
    found: dict[int, dict[int, str]] = {}
    try:
        with zipfile.ZipFile(path) as archive:
            part = _part(archive, sheet)
            if part is not None:
                with archive.open(part) as file:
                    for row, column, text in _errors(file):
                        found.setdefault(row, {})[column] = text
    except (zipfile.BadZipFile, KeyError, ElementTree.ParseError, NotImplementedError):
        return {}  # an .xls, an .ods, an .xlsb: calamine knows how to read it, errors stay empty there
    return found


def _part(archive: zipfile.ZipFile, sheet: str) -> str | None:
    """The file in the archive that holds the sheet."""
    book = ElementTree.fromstring(archive.read(_WORKBOOK))
    relations = ElementTree.fromstring(archive.read(_RELATIONS))
    targets = {each.get("Id"): each.get("Target", "") for each in relations}
    for element in book.iter():
        if element.tag.endswith("}sheet") and element.get("name") == sheet:
            target = targets.get(element.get(_REFERENCE) or element.get(_STRICT))
            return None if target is None else target.lstrip("/") if target.startswith("/") else f"xl/{target}"
    return None


def _errors(file: IO[bytes]) -> Iterator[tuple[int, int, str]]:
    tail = b""
    while chunk := file.read(_CHUNK):
        text = tail + chunk
        if any(mark in text for mark in _MARKS):
            for match in _CELL.finditer(text):
                yield int(match[2]) - 1, _column(match[1]), match[3].decode("utf-8", errors="replace")
        tail = text[-_OVERLAP:]


def _column(letters: bytes) -> int:
    number = 0
    for letter in letters:
        number = number * 26 + letter - 64
    return number - 1
