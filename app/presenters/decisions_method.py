"""Which method? A gold-labelled sample is read in several ways; what was read is kept beside the form."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.models.decisions_method import MethodFacts, MethodRow
from app.presenters.decisions import DecisionsPresenter, EngineHandle
from app.tasks import cancel_all, spawn
from engine.batch.compare import Cell, Comparison, comparison_path, load_comparison
from engine.batch.compare_run import CompareProgress, Plan, compare_methods, open_comparison, plan
from engine.batch.form import form_sha256
from engine.batch.selection import Selection
from engine.batch.tables import open_table, sniff
from engine.errors import EngineError, UserError
from engine.reads.trial import duration

if TYPE_CHECKING:
    from engine.batch.compare_figures import CellFigures


class MethodPresenter(QObject):
    """Owns the comparison that is under way.

    Signals:
        busy_changed(): read ``busy``.
        progressed(int, int, str): reads done, of how many, and in words.
        found(object): ``MethodFacts``, or None where nothing is kept.
        failed(str): what went wrong; what was read to its end is kept.
    """

    busy_changed = Signal()
    progressed = Signal(int, int, str)
    found = Signal(object)
    failed = Signal(str)

    def __init__(self, engine: EngineHandle, decisions: DecisionsPresenter, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._engine, self._decisions = engine, decisions
        self._task: asyncio.Task[None] | None = None
        self._closing = False

    @property
    def busy(self) -> bool:
        return self._task is not None

    def obstacle(self) -> str:
        """Why nothing can be compared now; empty when it can."""
        document = self._decisions.document
        if not any(question.gold for question in document.form.questions):
            return self.tr("Give a question its gold column first (step 1): methods are compared by right answers.")
        if self._decisions.problems:
            return self.tr("The form is not complete yet.")
        if document.path is None or document.dirty:
            return self.tr("Save the form first: the comparison is kept beside it.")
        if self._decisions.table.facts is None:
            return self.tr("No table is open (step 2).")
        if self._engine.client is None:
            return self.tr("No engine is running. Start it on the Engine page.")
        return ""

    def start(self, question: str, sample: int, cells: Sequence[Cell], *, anew: bool = False) -> None:
        """Read the ways that are missing.

        Args:
            sample: labelled rows.
            cells: ways; the first one is what the others are held against.
            anew: forget what is kept.
        """
        if self._task is None:
            self._task = spawn(self, self._run(question, sample, tuple(cells), anew), "compare methods")
            self.busy_changed.emit()

    def cancel(self) -> None:
        """Stop; every way that was read to its end stays, and ``start`` goes on with the others."""
        if self._task is not None:
            self._task.cancel()

    def show(self, question: str) -> None:
        """Tell what is kept beside the form about this question."""
        path = self._decisions.document.path
        if path is not None and question and self._task is None:
            spawn(self, self._show(comparison_path(path, question)), "show comparison")
        elif self._task is None:
            self.found.emit(None)

    async def close_down(self) -> None:
        """The window leaves: what was read to its end is kept."""
        self._closing = True
        await cancel_all(self)

    async def _run(self, question: str, sample: int, cells: tuple[Cell, ...], anew: bool) -> None:
        done = False
        try:
            await self._compare(question, sample, cells, anew)
            done = True
        except EngineError as error:
            self.failed.emit(self._reason(error))
        except asyncio.CancelledError:
            self.failed.emit(self.tr("Stopped. Every way that was read to its end is kept; Compare goes on."))
            raise
        finally:
            self._task = None
            self.busy_changed.emit()
            if not done and not self._closing:
                self.show(question)  # what was read to its end

    def _reason(self, error: EngineError) -> str:
        if error.code == "comparison.other":
            return self.tr(
                "What is kept beside the form is of another form, table, engine or number of rows. Tick “begin anew” "
                "to replace it."
            )
        if error.code == "comparison.bad":
            return self.tr("What lies beside the form is no comparison. Tick “begin anew” to replace it.")
        return str(error)

    async def _compare(self, question: str, sample: int, cells: tuple[Cell, ...], anew: bool) -> None:
        client, form_path, facts = self._engine.client, self._decisions.document.path, self._decisions.table.facts
        if client is None or form_path is None or facts is None:
            raise UserError("comparison.not_ready", self.obstacle())
        reading, selection = dict(self._decisions.table.overruled), self._decisions.table.selection

        planned = await asyncio.to_thread(_plan, form_path, Path(facts.path), reading, question, sample, selection)
        path = comparison_path(form_path, question)
        state = self._engine.state
        name = f"embedded: {state.model}" if state.kind == "embedded" else f"{self._engine.url}: {state.model}"
        begun = open_comparison(path, planned, name, overwrite=anew)
        done = await compare_methods(client, planned, cells, begun, path, progress=self._on_progress)
        await self._tell(done, cells[0], path)

    def _on_progress(self, now: CompareProgress) -> None:
        text = self.tr("{n} of {all}: {way}").format(n=now.number, all=now.cells, way=now.cell.name)
        if now.eta_s is not None:
            text += self.tr(", about {time} left").format(time=duration(now.eta_s))
        self.progressed.emit(now.done, now.total, text)

    async def _show(self, path: Path) -> None:
        try:
            kept = await asyncio.to_thread(load_comparison, path)
        except EngineError as error:
            self.failed.emit(self._reason(error))
            return
        if kept is None:
            self.found.emit(None)
        else:
            await self._tell(kept, None, path)

    async def _tell(self, comparison: Comparison, base: Cell | None, path: Path) -> None:
        quality, rows, words = await asyncio.to_thread(_weighed, comparison, base)
        current = await asyncio.to_thread(self._is_current, comparison)
        self.found.emit(MethodFacts(quality, rows, words, str(path), current))

    def _is_current(self, comparison: Comparison) -> bool:
        path = self._decisions.document.path
        return path is not None and form_sha256(path) == comparison.subject.form_sha256


def _plan(
    form: Path, table: Path, reading: Mapping[str, object], question: str, sample: int, selection: Selection
) -> Plan:
    fmt = sniff(table, **reading)  # type: ignore[arg-type]  # built by the reading bar from typed values
    return plan(form, open_table(table, fmt), question=question, sample=sample, selection=selection)


def _weighed(comparison: Comparison, base: Cell | None) -> tuple[str, tuple[MethodRow, ...], str]:
    """What quality is called for this type, a row for each way, and the recommendation."""
    from engine.batch.compare_figures import QUALITY, figures, recommend  # brings numpy: not before it is needed

    rows = tuple(_row(one) for one in figures(comparison, base))
    return QUALITY[comparison.kind], rows, recommend(comparison, base)


def _row(found: CellFigures) -> MethodRow:
    if found.refusal:
        return MethodRow(found.cell.name, found.refusal)
    interval, against = found.interval, found.difference_interval
    return MethodRow(
        found.cell.name,
        "",
        (
            _number(found.quality),
            f"{interval.low:.3f} – {interval.high:.3f}" if interval else "",
            f"{found.difference:+.3f} ({against.low:+.3f} – {against.high:+.3f})" if against else "",
            _number(found.ece),
            f"{found.unreadable:.1%}" if found.unreadable is not None else "",
            _number(found.spread),
            f"{found.per_s:.1f}" if found.per_s is not None else "",
        ),
    )


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"
