"""A look at the first pictures of a table, before a run: whether the column and the folder are right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from engine.batch.prepare import PreparedRun
from engine.batch.row_state import RowStates
from engine.batch.selection import Selection, preview_selection
from engine.domain.picture import paths_of
from engine.errors import UserError
from engine.pictures import read_picture

ROWS = 20


@dataclass(frozen=True, slots=True)
class PictureCheck:
    """What was found in the first rows that a run would read.

    Attributes:
        rows: looked at.
        faults: rows that would be an error or be skipped.
        first: the first one's number and what is wrong with it; empty when nothing is.
    """

    rows: int
    faults: int
    first: str = ""

    @property
    def sentence(self) -> str:
        """In words."""
        if not self.faults:
            return f"the pictures of the first {self.rows} rows can be read"
        return f"of the first {self.rows} rows {self.faults} would get no answer for want of a picture: {self.first}"


def look_at_pictures(prepared: PreparedRun, rows: int = ROWS) -> PictureCheck | None:
    """Read the pictures of the first rows; None for a form without pictures. Call it off the event loop."""
    if prepared.form.pictures is None:
        return None
    table, columns = prepared.table, prepared.table.columns
    states = RowStates.of_table(prepared.form, table)
    looked = preview_selection(table, Selection(**prepared.spec.selection), rows)
    return check_rows(states, [(number, dict(zip(columns, cells, strict=True))) for number, cells in looked])


def check_rows(states: RowStates, rows: Sequence[tuple[int, dict[str, str]]]) -> PictureCheck:
    """Read the pictures of these rows, each with its number. Call it off the event loop."""
    found = [(number, _fault(states, row)) for number, row in rows]
    faults = [f"row {number}: {why}" for number, why in found if why]
    return PictureCheck(len(rows), len(faults), faults[0] if faults else "")


def _fault(states: RowStates, row: dict[str, str]) -> str:
    """Why a row would get no answer for want of a picture; empty when it has all of them. Reads the files."""
    try:
        state = states.render(row)
        for path in paths_of(state):
            read_picture(Path(path))
    except UserError as error:
        return str(error)
    return states.nothing(state)
