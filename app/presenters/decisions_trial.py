"""Trying a form before a run: one row with everything shown, some rows for the time, the order of the options."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from app.models.decisions_preview import PreviewFacts, TrialFacts
from app.presenters.decisions import DecisionsPresenter, EngineHandle, preview_facts
from app.tasks import cancel_all, spawn
from engine.client.http import EngineClient
from engine.domain.question import Question
from engine.errors import EngineError, UserError
from engine.reads.interference import SAMPLE_ROWS
from engine.reads.order import measure_order
from engine.reads.reader import Reader
from engine.reads.trial import TRY_ROWS, WayTried, try_row, try_rows


class TrialPresenter(QObject):
    """Reads some rows of the open table; nothing is stored.

    Signals:
        row_tried(object): ``TrialFacts``.
        rows_tried(str): how long a run would take, in words.
        failed(str): why nothing was read.
        order_found(str): what the order of the options does, or why that is not known.
    """

    row_tried = Signal(object)
    rows_tried = Signal(str)
    failed = Signal(str)
    order_found = Signal(str)

    def __init__(self, engine: EngineHandle, decisions: DecisionsPresenter, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._engine, self._decisions = engine, decisions

    def try_row(self, row: int) -> None:
        """Read one row (0-based) with all questions, alone and jointly."""
        spawn(self, self._try_row(row), "try one row")

    def try_rows(self, concurrency: int) -> None:
        """Read some rows as a run would read them."""
        spawn(self, self._try_rows(concurrency), "try some rows")

    def check_order(self) -> None:
        """Read a sample of rows with the options of every choice in every order."""
        spawn(self, self._check_order(), "check the option order")

    async def close_down(self) -> None:
        """The window leaves: nothing is asked any more."""
        await cancel_all(self)

    async def _try_row(self, row: int) -> None:
        table, form = self._decisions.table, self._decisions.document.form
        try:
            client = self._client()
            missing = self.tr("There is no such row.")
            state, error = table.state(form, row) if row < table.sample_size else ("", missing)
            if error:
                self.failed.emit(error)
                return
            tried = await try_row(client, form.questions, form.method, state)
        except EngineError as error_:
            self.failed.emit(str(error_))
            return
        joint = tried.joint
        self.row_tried.emit(
            TrialFacts(
                row,
                _facts(form.questions, tried.alone),
                _facts(form.questions, joint) if joint is not None else (),
                joint.refusal if joint is not None else "",
                tried.alone.latency_s,
                joint.latency_s if joint is not None else 0.0,
            )
        )

    async def _try_rows(self, concurrency: int) -> None:
        form, table = self._decisions.document.form, self._decisions.table
        try:
            rows = await table.sampled(form, TRY_ROWS)
            reader = await Reader.open(self._client(), form.questions, form.method, pictures=form.pictures is not None)
            tried = await try_rows(reader, rows, concurrency=concurrency)
        except EngineError as error:
            self.failed.emit(str(error))
            return
        self.rows_tried.emit(tried.sentence(table.remaining or len(rows)))

    async def _check_order(self) -> None:
        form = self._decisions.document.form
        try:
            rows = await self._decisions.table.sampled(form, SAMPLE_ROWS)
            found = await measure_order(self._client(), form.questions, form.method, rows)
        except EngineError as error:
            self.order_found.emit(str(error))
            return
        self.order_found.emit(found.sentence)

    def _client(self) -> EngineClient:
        if self._engine.client is None:
            raise UserError("engine.none", "no engine is running", remedy="start it on the Engine page")
        return self._engine.client


def _facts(questions: tuple[Question, ...], way: WayTried) -> tuple[PreviewFacts, ...]:
    return tuple(preview_facts(question, seen) for question, seen in zip(questions, way.questions, strict=False))
