"""The pictures that a table's rows name: whether the engine sees, whether the files are there, and thumbnails of them.

Nothing remote is ever loaded: a picture is a file of this computer. Files are read and decoded in threads.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

from PySide6.QtCore import QObject, QSize, Signal

from app.models.decisions_pictures import SeenPicture
from app.presenters.decisions import DecisionsPresenter, EngineHandle
from app.presenters.engine_sight import EngineSight
from app.presenters.picture_work import decoded
from app.tasks import cancel_all, spawn
from engine.batch.picture_check import ROWS, PictureCheck, check_rows
from engine.batch.row_state import RowStates
from engine.domain.picture import Sight, paths_of
from engine.errors import EngineError, UserError
from engine.pictures import MAX_TOGETHER, read_picture

if TYPE_CHECKING:
    from app.presenters.engine import EnginePresenter

THUMBNAIL = QSize(160, 120)  # pixels, at most
Show = Callable[[Sequence[SeenPicture]], object]


class PicturesPresenter(QObject):
    """Looks at the pictures of the open table's rows.

    Signals:
        row_ready(object): the ``SeenPicture`` of the row that is shown; empty for a form without pictures.
        checked(object): the ``PictureCheck`` of the first rows, or None where there is nothing to check.
        sight_changed(): read ``sight``.
    """

    row_ready = Signal(object)
    checked = Signal(object)
    sight_changed = Signal()

    def __init__(self, engine: EngineHandle, decisions: DecisionsPresenter, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._decisions = decisions
        self._sight = EngineSight(cast("EnginePresenter", engine), self)
        self._sight.changed.connect(lambda _sight: self.sight_changed.emit())
        self._shown: tuple[object, ...] = ()
        self._looked: tuple[object, ...] = ()
        self.check: PictureCheck | None = None
        decisions.row_changed.connect(self._look)
        decisions.table.changed.connect(self._look)
        decisions.table.selection_changed.connect(self._look)

    @property
    def sight(self) -> Sight:
        """Whether the engine sees."""
        return self._sight.value

    @property
    def blind(self) -> str:
        """Why a run of this form cannot begin: the engine does not see; empty when it may."""
        wants = self._decisions.document.form.pictures is not None
        return self.sight.why if wants and self.sight.sees == "no" else ""

    def load(self, paths: Sequence[str], show: Show) -> None:
        """Thumbnails of these files."""
        spawn(self, self._load(tuple(paths), show), "thumbnails")

    async def close_down(self) -> None:
        """The window leaves: no file is read any more."""
        await self._sight.close_down()
        await cancel_all(self)

    # ---- private
    def _look(self) -> None:
        """Once for each row and each column; the row text is rendered at every key."""
        form, table = self._decisions.document.form, self._decisions.table
        facts, row = table.facts, self._decisions.row
        known = facts is not None and form.pictures is not None and form.pictures.column in facts.columns
        if facts is None or not known or not table.sample_size:
            self._show_nothing()
            return
        states = RowStates.of_pictures(form, facts.columns, facts.path)
        of_table = (form.pictures, facts.path, facts.columns, facts.rows)
        of_rows = (*of_table, table.selection)
        if of_rows != self._looked:
            self._looked = of_rows
            spawn(self, self._check(of_rows, states), "look at pictures")
        of_row = (*of_table, row)
        if of_row != self._shown:
            self._shown = of_row
            spawn(self, self._show_row(of_row, states, table.row(row)), "thumbnails")

    def _show_nothing(self) -> None:
        if self._shown or self._looked:
            self._shown, self._looked, self.check = (), (), None
            self.row_ready.emit(())
            self.checked.emit(None)

    async def _check(self, wanted: object, states: RowStates) -> None:
        """Of the rows that a run would read; none where the filter fails, which is said beside it."""
        table, found = self._decisions.table, None
        chosen = bool(table.selection)
        try:
            rows = await table.first_selected(ROWS)
            if rows:
                found = replace(await asyncio.to_thread(check_rows, states, rows), chosen=chosen)
        except EngineError:
            found = None
        if wanted == self._looked:
            self.check = found
            self.checked.emit(found)

    async def _show_row(self, wanted: object, states: RowStates, row: dict[str, str]) -> None:
        try:
            paths = tuple(paths_of(states.render(row)))
        except UserError as error:
            seen: tuple[SeenPicture, ...] = (SeenPicture("", "", fault=str(error)),)
        else:
            seen = await asyncio.to_thread(_thumbnails, paths)
        if wanted == self._shown:
            self.row_ready.emit(seen)

    async def _load(self, paths: tuple[str, ...], show: Show) -> None:
        show(await asyncio.to_thread(_thumbnails, paths))


def _thumbnails(paths: Sequence[str]) -> tuple[SeenPicture, ...]:
    return tuple(_thumbnail(path) for path in paths[:MAX_TOGETHER])


def _thumbnail(path: str) -> SeenPicture:
    name = Path(path).name
    try:
        picture = read_picture(Path(path))
        return SeenPicture(path, name, picture.width, picture.height, decoded(picture, THUMBNAIL))
    except EngineError as error:
        return SeenPicture(path, name, fault=str(error))
