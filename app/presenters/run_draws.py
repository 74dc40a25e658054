"""An answer of a run once more on the engine, draw by draw: a run's file keeps what its draws amount to, not each."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from app.models.results_detail import AnswerDetail, AnswerDraws
from app.presenters.decisions import EngineHandle
from app.tasks import cancel_all, spawn
from engine import paths
from engine.batch.prepare import form_of, states_of
from engine.domain.picture import State, paths_of
from engine.domain.question import Question
from engine.domain.reading import Method
from engine.errors import EngineError, UserError
from engine.reads.reader import Reader
from engine.store.runs import RunView, run_path


class DrawsPresenter(QObject):
    """Reads one stored answer again with its round's method and the same noise; nothing is stored.

    Signals:
        ready(object): ``AnswerDraws``.
        failed(str): why nothing was read.
    """

    ready = Signal(object)
    failed = Signal(str)

    def __init__(self, engine: EngineHandle, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._engine = engine

    def read(self, run_id: str, detail: AnswerDetail) -> None:
        spawn(self, self._read(run_id, detail), "read an answer draw by draw")

    async def close_down(self) -> None:
        """The window leaves: nothing is asked any more."""
        await cancel_all(self)

    async def _read(self, run_id: str, detail: AnswerDetail) -> None:
        try:
            if self._engine.client is None:
                raise UserError("engine.none", "no engine is running", remedy="start it on the Engine page")
            questions, method, state = await asyncio.to_thread(_asked, run_path(paths.runs_dir(), run_id), detail)
            pictured = bool(paths_of(state))
            reader = await Reader.open(self._engine.client, questions, method, pictures=pictured)
            seen = await reader.draw_by_draw(state, row_key=str(detail.row))
        except EngineError as error:
            self.failed.emit(str(error))
            return
        found = next(each for each in seen if each.reading.question_id == detail.question.id)
        self.ready.emit(
            AnswerDraws(detail.question, detail.row, found.reading, found.draws, method.seed, method.min_mass)
        )


def _asked(path: Path, detail: AnswerDetail) -> tuple[Sequence[Question], Method, State]:
    """The questions of the answer's round, its method, and what was asked about.

    Raises:
        UserError: the run cannot be read, or the row makes no text.
    """
    with RunView(path) as view:
        form = form_of(view)
        of_round = next(each for each in view.rounds() if each.number == detail.reading.round)
        return (
            [form.questions[place] for place in of_round.questions],
            of_round.method,
            states_of(view).render(dict(detail.cells)),
        )
