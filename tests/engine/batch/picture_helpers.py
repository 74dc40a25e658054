"""A table whose rows name pictures, good ones and every kind of bad ones; and the program as a process."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import Any

from batch_helpers import CHOICE, NOUL, write_form, write_table
from fakes.seeing_engine import png

from engine.batch.prepare import PreparedRun, prepare

HEADER = ("text", "photo")
METHOD = {"draws": 1, "min_mass": 0.0}
ROWS = [
    ("A square.", "red.png"),
    ("A square.", "sub/blue.jpg"),
    ("A square.", "missing.png"),
    ("A square.", "https://example.org/red.png"),
    ("A square.", "  "),
    ("A square.", "notes.png"),
    ("", "red.png"),
]


def prepared(folder: Path, *rows: tuple[str, str], **fields: Any) -> PreparedRun:
    """A form with pictures over a table in a folder that holds some."""
    (folder / "sub").mkdir(exist_ok=True)
    (folder / "red.png").write_bytes(png("red"))
    (folder / "sub" / "blue.jpg").write_bytes(png("blue"))  # a PNG, whatever it is called
    (folder / "notes.png").write_text("no picture")
    given = {"pictures": {"column": "photo"}, "method": METHOD, **fields}
    path = write_form(folder / "form.json", NOUL, CHOICE, **given)
    return prepare(path, write_table(folder / "table.csv", HEADER, rows or ROWS), engine="a stand-in")


async def command(folder: Path, *arguments: str) -> tuple[int, str]:
    """The program itself: exit code, and what it said."""
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])}
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "engine.cli", *arguments),
        cwd=folder,
        env=environment,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    said, _ = await process.communicate()
    assert process.returncode is not None
    return process.returncode, said.decode()
