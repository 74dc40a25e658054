"""A table from the clipboard or a pipe becomes a file, so that everything that works on files works on it."""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
from pathlib import Path

from engine.errors import InputError

SUFFIX = ".tsv"  # what spreadsheets copy; the delimiter is found out by the content all the same


def save_pasted(text: str, folder: Path) -> Path:
    """Keep a pasted text as a table file. The same text is the same file, so that its run can be resumed.

    Args:
        text: cells as spreadsheets copy them (tabs and line breaks), or the text of a CSV or of JSON lines.
        folder: where pasted tables are kept; it exists.

    Raises:
        InputError: nothing but white space, or half of a character.
    """
    if not text.strip():
        remedy = "copy the cells with their header first"
        raise InputError("table.pasted_empty", "the clipboard holds no text", remedy=remedy)
    try:
        # Without blank lines around: some programs copy one more line break than there are rows.
        raw = text.strip("\r\n").encode() + b"\n"
    except UnicodeEncodeError as error:
        raise InputError("table.pasted_text", "the pasted text holds half of a character") from error
    return _keep(raw, folder)


def save_piped(raw: bytes, folder: Path) -> Path:
    """Keep what a pipe brought as a table file, of whatever kind and encoding; UTF-8 as a pasted text.

    Args:
        folder: where pasted tables are kept; it exists.

    Raises:
        InputError: nothing but white space.
    """
    if not raw.strip():
        remedy = "pipe a table into the command, or name its file instead of -"
        raise InputError("table.piped_empty", "stdin holds no table", remedy=remedy)
    if b"\0" not in raw:  # else a workbook, Parquet, or UTF-16: not a byte may be touched
        with contextlib.suppress(UnicodeDecodeError):
            return save_pasted(raw.decode(), folder)
    return _keep(raw, folder)


def _keep(raw: bytes, folder: Path) -> Path:
    path = folder / f"pasted-{hashlib.sha256(raw).hexdigest()[:16]}{SUFFIX}"
    if not path.exists():
        part = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
        try:
            part.write_bytes(raw)
            os.replace(part, path)
        finally:
            part.unlink(missing_ok=True)
    return path
