"""The results of one run: its answers in any order, a page at a time, what came out of it, and its export."""

from __future__ import annotations

import asyncio
import threading
from array import array
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QTimer, Signal

from app.models.results import PAGE, ResultsModel
from app.models.results_export import ExportChoice
from app.presenters.run_results_read import (
    Measured,
    changed_keys,
    detail_of,
    measured_of,
    open_run,
    outcomes_of,
    page_of,
)
from app.tasks import cancel_all, spawn
from engine import paths
from engine.domain.form import Form
from engine.errors import EngineError, UserError
from engine.store.run_browse import Browse, RunBrowser
from engine.store.runs import run_path

if TYPE_CHECKING:
    from engine.batch.export import ExportSummary

CANCELLED = "export.cancelled"
REFRESH_MS = 1000  # while a run is under way


class ResultsPresenter(QObject):
    """Reads the file of the open run, in threads, and never writes it.

    Attributes:
        companions: end with this one; each is closed before it.
        seen: whether the answers are on the screen; nothing is brought up to date for nobody.

    Signals:
        opened(object): another run is open (``RunInfo``), or None.
        counted(int): so many answers pass the filter.
        outcome_changed(list): ``QuestionOutcome`` for each question.
        detail_ready(object): ``AnswerDetail`` of the chosen answer.
        exporting(int, int): rows written and rows in all; comes from the thread that writes.
        exported(object): ``ExportSummary``.
        export_failed(str, str): what went wrong and what to do; empty when it was cancelled.
        failed(str, str): what went wrong and what to do.
    """

    opened = Signal(object)
    counted = Signal(int)
    outcome_changed = Signal(list)
    detail_ready = Signal(object)
    exporting = Signal(int, int)
    exported = Signal(object)
    export_failed = Signal(str, str)
    failed = Signal(str, str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.model = ResultsModel(self)
        self.model.page_wanted.connect(lambda number: spawn(self, self._fetch(number), "fetch answers"))
        self.seen = False
        self.companions: list[Callable[[], Coroutine[Any, Any, None]]] = []
        self.form: Form | None = None
        self.run_id = ""
        self.wanted = ""
        self._browser: RunBrowser | None = None
        self._browse = Browse()
        self._keys: array[int] = array("q")
        self._serial = 0
        self._cancelled = threading.Event()
        self._measured: dict[str, Measured] = {}
        self._refreshing = asyncio.Lock()
        self._timer = QTimer(self)
        self._timer.setObjectName("results refresh")
        self._timer.setInterval(REFRESH_MS)
        self._timer.timeout.connect(lambda: self.refresh() if self.seen else None)

    def open(self, run_id: str) -> None:
        """Show another run; the empty id closes. ``wanted`` names it at once, ``run_id`` once its file is open."""
        spawn(self, self._load(run_id, self._want(run_id)), "open run")

    def follow(self, running: bool) -> None:
        """Whether answers still arrive: then the table is brought up to date every second."""
        if running and not self._timer.isActive():
            self._timer.start()
        elif not running and self._timer.isActive():
            self._timer.stop()
            spawn(self, self._settle(), "settle results")

    def refresh(self) -> None:
        """Bring table and outcome up to date, unless that is being done already."""
        if self._browser is not None and not self._refreshing.locked():
            spawn(self, self._refresh(), "refresh results")

    def browse(self, wanted: dict[str, Any]) -> None:
        """Filter and order anew; ``wanted`` holds the fields of a ``Browse``."""
        self._browse = Browse(**wanted)
        self.reread()

    def reread(self) -> None:
        """Fetch again what the filter lets pass: somebody has reviewed answers."""
        spawn(self, self._order(), "order answers")

    def choose(self, line: int) -> None:
        """Fetch the answer in this line of the table with everything about it."""
        if 0 <= line < len(self._keys):
            spawn(self, self._choose(self._keys[line]), "fetch answer")

    def export(self, choice: ExportChoice) -> None:
        """Write the run into a file, in a thread."""
        self._cancelled.clear()
        spawn(self, self._export(choice), "export")

    def cancel_export(self) -> None:
        """Stop writing; nothing is left of the file."""
        self._cancelled.set()

    async def load(self, run_id: str) -> None:
        """Open a run and read its outcome."""
        await self._load(run_id, self._want(run_id))

    def _want(self, run_id: str) -> int:
        """From now on this run is the one to show; the number of the wish, of which only the last counts."""
        self._serial += 1
        self.wanted = run_id
        return self._serial

    async def _load(self, run_id: str, serial: int) -> None:
        if serial != self._serial:
            return
        await self._close()
        if not run_id:
            self.opened.emit(None)
            return
        try:
            browser, form, info = await asyncio.to_thread(open_run, run_path(paths.runs_dir(), run_id))
        except EngineError as error:
            self.failed.emit(error.message, error.remedy)
            if serial == self._serial:
                self.wanted = ""
                self.opened.emit(None)
            return
        if serial != self._serial:
            await asyncio.to_thread(browser.close)
            return
        self._browser, self.form, self.run_id, self._browse = browser, form, run_id, Browse()
        self.opened.emit(info)
        await self._order()
        await self.load_outcome()
        await self.measure()

    async def measure(self) -> None:
        """Compare with the gold columns; reads the whole run, so only at its beginning and its end."""
        browser, form = self._browser, self.form
        if browser is None or form is None:
            return
        if not form.group and not any(question.gold for question in form.questions):
            return
        measured = await self._ask(browser, lambda: measured_of(browser))
        if measured is not None:
            self._measured = measured
            await self.load_outcome()

    async def load_outcome(self) -> None:
        """Counts and pictures of every question."""
        browser, form = self._browser, self.form
        if browser is None or form is None:
            return
        outcomes = await self._ask(browser, lambda: outcomes_of(browser, form, self._measured))
        if outcomes is not None:
            self.outcome_changed.emit(outcomes)

    async def close_down(self) -> None:
        """The window leaves: nothing of this is asked any more, and the file is closed."""
        self._timer.stop()
        self._serial += 1
        self._cancelled.set()
        for close in self.companions:
            await close()
        await cancel_all(self)
        await self._close()

    # ---- private
    async def _ask[T](self, browser: RunBrowser, question: Callable[[], T]) -> T | None:
        """Ask the file in a thread. None when it cannot answer, or when another run has been opened meanwhile."""
        try:
            answer = await asyncio.to_thread(question)
        except EngineError as error:
            if browser is self._browser:
                self.failed.emit(error.message, error.remedy)
            return None
        return answer if browser is self._browser else None

    async def _close(self) -> None:
        browser, self._browser = self._browser, None
        self.form, self.run_id, self._measured = None, "", {}
        self._keys = array("q")
        self.model.reset(0)
        if browser is not None:
            await asyncio.to_thread(browser.close)

    async def _order(self) -> None:
        browser, browse = self._browser, self._browse
        if browser is None:
            return
        keys = await self._ask(browser, lambda: browser.keys(browse))
        if keys is not None and browse is self._browse:
            self._keys = keys
            self.model.reset(len(keys))
            self.counted.emit(len(keys))

    async def _settle(self) -> None:
        """Everything that the run has stored so far, counted and measured."""
        await self._refresh()
        await self.load_outcome()
        await self.measure()

    async def _refresh(self) -> None:
        async with self._refreshing:
            browser, browse, old = self._browser, self._browse, self._keys
            if browser is None:
                return
            changed = await self._ask(browser, lambda: changed_keys(browser, browse, old))
            if changed is not None and browse is self._browse and old is self._keys and changed[1] >= 0:
                self._keys, first = changed
                keys = self._keys
                self.model.change(len(keys), first)
                self.counted.emit(len(keys))
                await self.load_outcome()

    async def _fetch(self, number: int) -> None:
        browser = self._browser
        if browser is None:
            return
        here = slice(number * PAGE, (number + 1) * PAGE)
        wanted = self._keys[here]
        rows = await self._ask(browser, lambda: page_of(browser, wanted))
        if rows is None:
            return
        if self._keys[here] == wanted:
            self.model.put_page(number, rows)
        else:  # the order changed on the way
            self.model.forget(number)

    async def _choose(self, key: int) -> None:
        browser, form = self._browser, self.form
        if browser is None or form is None:
            return
        detail = await self._ask(browser, lambda: detail_of(browser, form, key))
        if detail is not None:
            self.detail_ready.emit(detail)

    async def _export(self, choice: ExportChoice) -> None:
        browser = self._browser
        if browser is None:
            return
        try:
            summary = await asyncio.to_thread(_export, browser.path, choice, self._on_rows)
        except EngineError as error:
            cancelled = error.code == CANCELLED
            self.export_failed.emit("" if cancelled else error.message, "" if cancelled else error.remedy)
        else:
            self.exported.emit(summary)

    def _on_rows(self, done: int, total: int) -> None:
        """Called in the thread that writes."""
        if self._cancelled.is_set():
            raise UserError(CANCELLED, "the export was cancelled")
        self.exporting.emit(done, total)


def _export(path: Path, choice: ExportChoice, on_rows: Callable[[int, int], None]) -> ExportSummary:
    from engine.batch.export import export_run

    return export_run(
        path,
        choice.path,
        kind=choice.kind,
        overwrite=choice.overwrite,
        raw=choice.raw,
        bom=choice.bom,
        on_rows=on_rows,
    )
