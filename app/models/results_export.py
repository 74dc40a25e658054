"""What the user chose about an export, and the kinds of files there are."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

ExportKind = Literal["csv", "xlsx", "parquet", "jsonl", "manifest", "report"]

SUFFIXES: dict[ExportKind, str] = {
    "csv": ".csv",
    "xlsx": ".xlsx",
    "parquet": ".parquet",
    "jsonl": ".jsonl",
    "manifest": ".json",
    "report": ".html",
}


@dataclass(frozen=True, slots=True)
class ExportChoice:
    """What the user chose.

    Attributes:
        raw: of a CSV: input cells byte for byte, also those that a spreadsheet would run.
        bom: of a CSV: a byte order mark, which Excel needs to see UTF-8.
        overwrite: the file may be replaced (it exists, and the user said so).
    """

    path: Path
    raw: bool
    bom: bool
    overwrite: bool
    kind: ExportKind = "csv"
