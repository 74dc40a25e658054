"""Pictures of every view of the Decisions page: ``python -m tools.screenshots_decisions [folder]``.

Each in both themes, at 100 % and at 150 % of the text, with the embedded engine answering on a few rows of the tickets.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from PySide6.QtGui import QPixmap
from PySide6.QtWidgets import QApplication, QCheckBox, QDialog, QWidget

from app.pages.decisions import FORM, METHOD, RUNS, TABLE, TRY, DecisionsPage
from app.pages.decisions_runs import ANALYSIS, ANSWERS, REVIEW, SUMMARY
from app.theme import apply_theme
from app.windows.desk import Desk
from engine import paths
from tools.pictures import LARGE, SETTLE_S, SIZE, once, opened, run

WAIT_S = 600.0
ROWS = 40
WAYS = {
    "draws": ("auto", "1"),
    "steps": ("1",),
    "layout": ("alone", "questions together"),
    "state": ("the row's text",),
}


class Camera:
    """Takes the window as it stands, four times."""

    def __init__(self, desk: Desk, folder: Path) -> None:
        self._desk, self._folder = desk, folder

    async def take(self, name: str, shown: Callable[[], QWidget] | None = None) -> None:
        """``shown``: another window than the main one."""
        for scale in (1.0, LARGE):
            for theme in ("light", "dark"):
                apply_theme(self._desk.app, theme, scale)
                await asyncio.sleep(SETTLE_S)
                picture: QPixmap = (shown() if shown is not None else self._desk.window).grab()
                picture.save(str(self._folder / f"{name}-{theme}-{round(100 * scale)}.png"))
        apply_theme(self._desk.app, "light")


async def shoot(desk: Desk, folder: Path) -> None:
    """Every view, in the order of the steps."""
    await opened(desk)
    assert desk.engine is not None
    if not desk.engine.state.ready:
        await asyncio.wait_for(once(desk.engine.ready.connect), WAIT_S)
    desk.window.resize(*SIZE)
    desk.window.show_page("decisions")
    page = desk.window.page("decisions")
    assert isinstance(page, DecisionsPage)
    camera = Camera(desk, folder)
    await camera.take("0-empty")
    await before_a_run(page, camera)
    await methods(page, camera)
    await runs(page, camera)
    await results(page, camera)


async def before_a_run(page: DecisionsPage, camera: Camera) -> None:
    """Form, table, and one row tried."""
    counted = once(page.presenter.table.selection_changed.connect, lambda: page.presenter.table.remaining is not None)
    page.files.open_example("tickets")
    await asyncio.wait_for(counted, WAIT_S)
    await shorten(page)
    page.tabs.setCurrentIndex(FORM)
    menu = page.new_button.menu()
    menu.popup(page.mapToGlobal(page.new_button.geometry().bottomLeft()))
    await camera.take("1-library", lambda: menu)
    menu.close()
    for place, name in enumerate(("noul", "choice", "score")):
        page.form_part.list.select(place)
        await camera.take(f"1-form-{name}")
    page.tabs.setCurrentIndex(TABLE)
    await camera.take("2-table")
    page.table_part.state.which.setCurrentIndex(1)
    page.presenter.document.set_document("Ticket {{ ticket_id }}: {{ message }}")
    await camera.take("2-document")
    page.table_part.state.which.setCurrentIndex(0)
    page.tabs.setCurrentIndex(TRY)
    tried = once(page.trial.row_tried.connect)
    page.preview.both_requested.emit(0)
    await asyncio.wait_for(tried, WAIT_S)
    told = once(page.trial.rows_tried.connect)
    page.trial.try_rows(8)
    await asyncio.wait_for(told, WAIT_S)
    await camera.take("3-try")


async def shorten(page: DecisionsPage) -> None:
    """The first rows only, as a file of their own, one look each."""
    facts, table = page.presenter.table.facts, paths.data_dir() / "tickets.csv"
    assert facts is not None
    await asyncio.to_thread(_head, Path(facts.path), table)
    await page.presenter.table.load(table)
    page.presenter.document.set_method(replace(page.presenter.document.form.method, draws=1))


def _head(source: Path, target: Path) -> None:
    lines = source.read_text(encoding="utf-8").splitlines(keepends=True)
    target.write_text("".join(lines[: ROWS + 1]), encoding="utf-8")


async def methods(page: DecisionsPage, camera: Camera) -> None:
    """The comparison of methods, before and after."""
    page.presenter.save_form(paths.data_dir() / "tickets.json")
    page.tabs.setCurrentIndex(METHOD)
    await camera.take("4-method")
    view = page.method_part.view
    for key, texts in WAYS.items():
        for box in view.findChildren(QCheckBox):
            if box.objectName().startswith(f"method_{key}."):
                box.setChecked(box.text() in texts)
    view.sample.setValue(12)
    found = once(page.methods.found.connect, lambda facts: facts is not None)
    view.start_requested.emit(False)
    await asyncio.wait_for(found, WAIT_S)
    await camera.take("4-method-compared")


async def runs(page: DecisionsPage, camera: Camera) -> None:
    """The checks, a run under way, and others that wait."""
    page.tabs.setCurrentIndex(RUNS)
    document, setup = page.presenter.document, page.runs_part.setup
    document.set_method(replace(document.form.method, joint=True))
    priced, ordered = once(page.presenter.price_ready.connect), once(page.trial.order_found.connect)
    setup.measure.click()
    setup.order.click()
    await asyncio.wait_for(priced, WAIT_S)
    await asyncio.wait_for(ordered, WAIT_S)
    await camera.take("5-checks")
    document.set_method(replace(document.form.method, joint=False))
    begun = once(page.runs.status_changed.connect, lambda: page.runs.status.phase == "running")
    setup.start.click()
    await asyncio.wait_for(begun, WAIT_S)
    page.runs.pause()
    for name in ("Tickets of May", "Tickets of June, only those that were written on a weekend"):
        document.set_name(name)
        added = once(page.runs_part.queue.presenter.added.connect)
        setup.start.click()
        await asyncio.wait_for(added, WAIT_S)
    page.runs_part.queue.view.choose(page.runs_part.queue.presenter.look.waiting[0])
    await camera.take("6-queue")
    ended = once(page.runs_part.queue.presenter.ended.connect)
    page.runs.resume(page.runs.status.run, 8)
    await asyncio.wait_for(ended, WAIT_S)


async def results(page: DecisionsPage, camera: Camera) -> None:
    """What came out: answers with the drawer, summary, review, analysis; the two dialogs."""
    part = page.runs_part
    await asyncio.sleep(SETTLE_S)
    part.tabs.setCurrentIndex(ANSWERS)
    chosen = once(page.results.detail_ready.connect)
    page.results.choose(1)
    await asyncio.wait_for(chosen, WAIT_S)
    await camera.take("7-results-drawer")
    part.tabs.setCurrentIndex(SUMMARY)
    await camera.take("7-summary")
    part.tabs.setCurrentIndex(REVIEW)
    await camera.take("8-review")
    measured = once(part.analyses.ready.connect)
    part.tabs.setCurrentIndex(ANALYSIS)
    await asyncio.wait_for(measured, WAIT_S)
    await camera.take("9-analysis")
    part.exports.ask(page.runs.info(page.results.run_id))
    await camera.take("9-export", lambda: _dialog("export_dialog"))
    _dialog("export_dialog").reject()
    part.rounds.ask(page.results.run_id)
    await asyncio.sleep(3 * SETTLE_S)
    await camera.take("9-again", lambda: _dialog("again_dialog"))
    _dialog("again_dialog").reject()


def _dialog(name: str) -> QDialog:
    for widget in QApplication.topLevelWidgets():
        if isinstance(widget, QDialog) and widget.objectName() == name and widget.isVisible():
            return widget
    raise LookupError(name)


if __name__ == "__main__":
    run(shoot)
