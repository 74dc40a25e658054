"""The analysis of the open run: computed in a thread when it is looked at, written to files when asked for."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.tasks import cancel_all, spawn
from engine import paths
from engine.batch.joint_price import price_in
from engine.errors import EngineError
from engine.store.runs import RunView, run_path

if TYPE_CHECKING:
    from engine.batch.analysis.report import Analysis
    from engine.batch.analysis.thresholds import Goal


class AnalysisPresenter(QObject):
    """Analyses one run at a time.

    Attributes:
        analyses: an ``Analysis`` for each question.
        price: what joint reading did to a sample before the run, in sentences; empty for a run that reads alone.

    Signals:
        started(): an analysis is under way.
        ready(tuple): an ``Analysis`` for each question.
        saved(str): a file or folder that was written.
        failed(str, str): what went wrong and what to do.
    """

    started = Signal()
    ready = Signal(tuple)
    saved = Signal(str)
    failed = Signal(str, str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.analyses: tuple[Analysis, ...] = ()
        self.price: tuple[str, ...] = ()
        self._serial = 0

    def begin(self, run_id: str, goal: Goal = "f1", least: float | None = None) -> None:
        """Analyse a run; a later call makes an earlier one count for nothing."""
        self._serial += 1
        spawn(self, self.load(run_id, goal, least), "analyse run")

    async def load(self, run_id: str, goal: Goal = "f1", least: float | None = None) -> None:
        """Analyse a run and say so."""
        serial, self.analyses, self.price = self._serial, (), ()
        self.started.emit()
        try:
            path = run_path(paths.runs_dir(), run_id)
            found, price = await asyncio.to_thread(_analyse, path, goal, least)
        except EngineError as error:
            self.failed.emit(error.message, error.remedy)
            return
        if serial == self._serial:
            self.analyses, self.price = found, price
            self.ready.emit(found)

    def save_numbers(self, path: Path, place: int, figure: str) -> None:
        """Write the numbers of one figure of a question as CSV."""
        spawn(self, self._save(path, self.analyses[place], figure), "save numbers")

    def save_all(self, folder: Path) -> None:
        """Write the numbers of every figure of every question into a folder."""
        spawn(self, self._save_all(folder), "save all numbers")

    async def close_down(self) -> None:
        """The window leaves."""
        await cancel_all(self)

    async def _save(self, path: Path, analysis: Analysis, figure: str) -> None:
        from engine.batch.analysis.tables import tables_of, write_table

        try:
            await asyncio.to_thread(write_table, tables_of(analysis)[figure], path)
            self.saved.emit(str(path))
        except EngineError as error:
            self.failed.emit(error.message, error.remedy)

    async def _save_all(self, folder: Path) -> None:
        from engine.batch.analysis.tables import write_tables

        try:
            await asyncio.to_thread(write_tables, self.analyses, folder)
            self.saved.emit(str(folder))
        except EngineError as error:
            self.failed.emit(error.message, error.remedy)


def _analyse(path: Path, goal: Goal, least: float | None) -> tuple[tuple[Analysis, ...], tuple[str, ...]]:
    from engine.batch.analysis.report import analyse_run  # numpy, only when there is something to measure
    from engine.batch.analysis.thresholds import Aim

    with RunView(path) as view:
        price = price_in(view.spec)
        said = (price.sentence, price.advice) if price is not None else ()
        return analyse_run(view, Aim(goal, least)), said
