"""A look at the first pictures of a table, before a run: whether the column and the folder are right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from engine.batch.prepare import PreparedRun
from engine.batch.row_state import RowStates
from engine.batch.selection import Selection, first_selected
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
        chosen: whether a filter or a sample had its say about which rows these are.
    """

    rows: int
    faults: int
    first: str = ""
    chosen: bool = False

    @property
    def sentence(self) -> str:
        """In words."""
        rows = f"first {self.rows} {'chosen ' * self.chosen}rows"
        if not self.faults:
            return f"the pictures of the {rows} can be read"
        return f"of the {rows} {self.faults} would get no answer for want of a picture: {self.first}"


def look_at_pictures(prepared: PreparedRun, rows: int = ROWS) -> PictureCheck | None:
    """Read the pictures of the first rows that the run reads. Call it off the event loop.

    Reads no more of the table than up to the last of these rows; for a random sample all of it, once more.

    Returns:
        None for a form without pictures.

    Raises:
        InputError: as ``select``.
    """
    if prepared.form.pictures is None:
        return None
    table, columns = prepared.table, prepared.table.columns
    selection = Selection(**prepared.spec.selection)
    states = RowStates.of_pictures(prepared.form, columns, str(table.path))
    looked = first_selected(table, selection, rows)
    found = check_rows(states, [(number, dict(zip(columns, cells, strict=True))) for number, cells in looked])
    return replace(found, chosen=bool(selection))


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
