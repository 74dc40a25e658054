"""What calls of ``dual_check`` have seen, in one folder: rows of the table, and what later calls compare with."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

ROWS, SHOWN = "dual.json", "dual.md"
HEAD = "| step | what | expected | seen | |\n|---|---|---|---|---|"


class Table:
    """The rows of all calls; on the disk after each one.

    Args:
        folder: made if it is not there.
        part: of this call; its earlier rows go with its first new one.

    Attributes:
        well: whether every row of this call is as expected.
    """

    def __init__(self, folder: Path, part: str) -> None:
        self.part, self.well = part, True
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / ROWS
        self._rows: dict[str, list[list[str]]] = json.loads(path.read_text()) if path.exists() else {}
        self._mine: set[str] = set()

    def add(self, what: str, expected: str, seen: str, *, well: bool = True) -> None:
        """One more row, printed too."""
        if self.part not in self._mine:
            self._mine.add(self.part)
            self._rows[self.part] = []
        row = [
            part.replace("|", "/").replace("\n", " ") for part in (what, expected, seen, "" if well else "**MISSED**")
        ]
        self._rows[self.part].append(row)
        self.well &= well
        print(f"  = {self.part}: {what}: {seen}{'' if well else '  MISSED: ' + expected}", flush=True)
        _put(self._folder / ROWS, json.dumps(self._rows))
        _put(self._folder / SHOWN, self.text() + "\n")

    def text(self) -> str:
        """All rows as a table."""
        rows = ["| " + " | ".join([part, *row]) + " |" for part, found in self._rows.items() for row in found]
        return "\n".join([HEAD, *rows])

    def keep(self, name: str, what: Any) -> None:
        """For a later call."""
        _put(self._folder / f"{name}.json", json.dumps(what))

    def kept(self, name: str) -> Any:
        """What an earlier call has kept; None for nothing."""
        path = self._folder / f"{name}.json"
        return json.loads(path.read_text()) if path.exists() else None


def _put(path: Path, text: str) -> None:
    """A file that is there as a whole or not at all."""
    part = path.with_suffix(".part")
    part.write_text(text)
    part.replace(path)
