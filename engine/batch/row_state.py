"""From a table's row to what is asked about: the state's text, and the pictures that the row names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from engine.batch.form import unknown_column
from engine.batch.tables import Table
from engine.batch.template import RowTemplate
from engine.domain.form import Form
from engine.domain.picture import PicturedState, State, text_of
from engine.pictures import check_count, locate

EMPTY_STATE = "the state is empty"
NO_PICTURE = "the row names no picture"


class RowStates:
    """Makes the states of a table's rows. No picture is opened here: that is done when a row is read.

    Args:
        columns: of the table.
        folder: where relative paths of pictures start.
        where: what the template is part of, for messages.

    Raises:
        InputError: as ``RowTemplate``; the table has no such column of pictures.
    """

    def __init__(self, form: Form, columns: Sequence[str], folder: Path, where: str = "state") -> None:
        self.template = RowTemplate(form.state, columns, where)
        if form.pictures is not None and form.pictures.column not in columns:
            raise unknown_column(form.pictures.column, columns, f"{form.name}: pictures.column")
        self._pictures = form.pictures
        self._folder = folder.absolute()

    @classmethod
    def of_table(cls, form: Form, table: Table, where: str | None = None) -> RowStates:
        """Of a table's own rows: paths start from its folder."""
        return cls(form, table.columns, table.path.parent, where or f"{form.name}: state")

    @classmethod
    def of_pictures(cls, form: Form, columns: Sequence[str], table: str) -> RowStates:
        """Of the pictures alone: what is wrong with the row text is said elsewhere. ``table``: its path."""
        return cls(replace(form, state="-"), columns, Path(table).parent)

    def render(self, row: Mapping[str, str]) -> State:
        """What is asked about a row.

        Raises:
            UserError: as ``RowTemplate.render``; a picture that is not on this computer, or too many of them.
        """
        text = self.template.render(row)
        if self._pictures is None:
            return text
        cell, separator = row[self._pictures.column], self._pictures.separator
        names = [name.strip() for name in (cell.split(separator) if separator else [cell])]
        named = [name for name in names if name]
        check_count(len(named))
        return PicturedState(text, tuple(str(locate(name, self._folder)) for name in named))

    def nothing(self, state: State) -> str:
        """Why there is nothing to ask about; empty when there is something."""
        if isinstance(state, PicturedState):
            return "" if state.paths else NO_PICTURE
        return "" if text_of(state).strip() else EMPTY_STATE
