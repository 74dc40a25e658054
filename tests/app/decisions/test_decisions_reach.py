"""Every control of every view of the page is reached with Tab and has a name that a screen reader can say."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest
from decisions_driver import Place, leaving
from decisions_runs_maker import make_run
from desk_driver import expect, within
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractSpinBox,
    QComboBox,
    QDialog,
    QLabel,
    QLineEdit,
    QRadioButton,
    QWidget,
)

from app.models.run_queue import QueueLine, QueueLook
from app.pages.decisions import FORM, METHOD, RUNS, TABLE, TRY
from app.pages.decisions_runs import ANALYSIS, ANSWERS, REVIEW, SUMMARY
from app.windows import tab_order

MOST_STOPS = 300


def controls(root: QWidget) -> list[QWidget]:
    """What can be operated: everything that takes the focus of keyboard or mouse, save text to be copied by mouse."""
    return [
        widget
        for widget in root.findChildren(QWidget)
        if widget.isVisible()
        and widget.isEnabled()
        and widget.focusPolicy() != Qt.FocusPolicy.NoFocus
        and widget.focusProxy() is None
        and not widget.objectName().startswith("qt_")
        and not (isinstance(widget, QLabel) and widget.focusPolicy() == Qt.FocusPolicy.ClickFocus)
    ]


def spoken(widget: QWidget) -> str:
    interface = QAccessible.queryAccessibleInterface(widget)
    return str(interface.text(QAccessible.Text.Name)) if interface is not None else ""


def inner(widget: QWidget) -> bool:
    """The field inside a spin or combo box speaks and is reached as the box."""
    return isinstance(widget, QLineEdit) and isinstance(widget.parentWidget(), QAbstractSpinBox | QComboBox)


def by_arrows(widget: QWidget | None) -> set[QWidget]:
    """The other radio buttons of a group, to which the arrow keys go: Tab comes by one of them only."""
    group = widget.group() if isinstance(widget, QRadioButton) else None
    return {each for each in group.buttons() if each.isEnabled()} if group is not None and group.exclusive() else set()


def reached(root: QWidget) -> set[QWidget]:
    """What Tab comes by, once around: in a dialog as Qt has it, on the page as the main window has it."""
    found: set[QWidget] = set()
    focused: QWidget | None = None
    for _ in range(MOST_STOPS):
        if isinstance(root, QDialog):
            QTest.keyClick(root.focusWidget() or root, Qt.Key.Key_Tab)  # of the dialog, even while it is not in front
            focused = root.focusWidget()
            assert focused is not None
        else:
            focused = tab_order.step(root, focused, forward=True)
            assert focused is not None
        if focused in found:
            return found.union(*map(by_arrows, found))
        found.add(focused)
    raise AssertionError("Tab never came back")


def faults(root: QWidget) -> list[str]:
    """Controls without a name, and those that Tab does not come by, with where they are."""
    stops = reached(root)
    found = []
    for widget in controls(root):
        place = f"{type(widget).__name__} {widget.objectName()!r} in {widget.parentWidget().objectName()!r}"
        if inner(widget):
            continue
        if not spoken(widget).strip():
            found.append(f"nameless: {place}")
        if widget not in stops:
            found.append(f"unreachable: {place}")
    return found


async def shown_run(place: Place, tab: int) -> None:
    """A finished run, with one of its tabs in front."""
    place.page.tabs.setCurrentIndex(RUNS)
    await place.page.results.load(make_run(rows=40))
    await place.page.runs.load_runs()
    part = place.page.runs_part
    measured = expect(part.analyses.ready.connect)
    reviewed = expect(part.reviews.shown.connect)
    part.tabs.setCurrentIndex(tab)
    if tab == ANALYSIS:
        await within(measured)
    elif tab == REVIEW:
        await within(reviewed)


async def form(place: Place, question: int) -> None:
    await place.open_example("tickets")
    place.page.tabs.setCurrentIndex(FORM)
    place.page.form_part.list.select(question)


async def step(place: Place, index: int) -> None:
    await place.open_example("tickets")
    place.page.tabs.setCurrentIndex(index)


async def empty(place: Place, index: int) -> None:
    place.page.tabs.setCurrentIndex(index)


async def queue(place: Place) -> None:
    await step(place, RUNS)
    lines = (QueueLine("a", "A", "running"), QueueLine("b", "B", "waiting"), QueueLine("c", "C", "failed", "why"))
    view = place.page.runs_part.queue.view
    for chosen in ("b", "c"):
        view.show_queue(QueueLook(lines))
        view.choose(chosen)
        assert faults(place.page) == []


async def drawer(place: Place) -> None:
    await shown_run(place, ANSWERS)
    detail = expect(place.page.results.detail_ready.connect)
    place.page.results.choose(1)
    await within(detail)


VIEWS: dict[str, Callable[[Place], Awaitable[None]]] = {
    "empty form": lambda place: empty(place, FORM),
    "empty table": lambda place: empty(place, TABLE),
    "empty try": lambda place: empty(place, TRY),
    "empty runs": lambda place: empty(place, RUNS),
    "yes or no": lambda place: form(place, 0),
    "choice": lambda place: form(place, 1),
    "score": lambda place: form(place, 2),
    "table": lambda place: step(place, TABLE),
    "try": lambda place: step(place, TRY),
    "run": lambda place: step(place, RUNS),
    "queue": queue,
    "methods": lambda place: step(place, METHOD),
    "results and drawer": drawer,
    "summary": lambda place: shown_run(place, SUMMARY),
    "review": lambda place: shown_run(place, REVIEW),
    "analysis": lambda place: shown_run(place, ANALYSIS),
}


@pytest.mark.parametrize("view", list(VIEWS))
@leaving
async def test_every_control_is_reached_and_named(place: Place, view: str) -> None:
    await VIEWS[view](place)
    assert faults(place.page) == []


@pytest.mark.parametrize("name", ["export_dialog", "again_dialog"])
@leaving
async def test_every_control_of_a_dialog_is_reached_and_named(place: Place, name: str) -> None:
    await shown_run(place, ANSWERS)
    part = place.page.runs_part
    if name == "export_dialog":
        part.exports.ask(place.page.runs.info(place.page.results.run_id))
    else:
        await part.rounds._ask(place.page.results.run_id, place.page.presenter.document.form)
    (dialog,) = (each for each in place.page.findChildren(QDialog, name) if each.isVisible())
    assert faults(dialog) == []
    dialog.reject()
