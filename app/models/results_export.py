"""What the user chose about an export."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class ExportChoice:
    """What the user chose.

    Attributes:
        raw: input cells byte for byte, also those that a spreadsheet would run.
        bom: a byte order mark, which Excel needs to see UTF-8.
        overwrite: the file may be replaced (it exists, and the user said so).
    """

    path: Path
    raw: bool
    bom: bool
    overwrite: bool
