"""Large text in a small window: nothing is cut off or lies on something else."""

from __future__ import annotations

import contextlib

import pytest
from desk_driver import answered, close, expect, until, within
from PySide6.QtCore import QRect, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QLabel,
    QLayout,
    QLineEdit,
    QPlainTextEdit,
    QScrollArea,
    QTabBar,
    QWidget,
)

from app.models.notice import Notice
from app.pages.decisions import RUNS, DecisionsPage
from app.widgets.decisions.parts import ElidedLabel
from app.windows.desk import Desk
from engine.batch.selection import Selection

SCALE = 1.5
LONG = "An error of more words than fit on one line of a small window, so that it takes several of them."
ROWS = 3


def squeezed(root: QWidget) -> list[str]:
    """Words and buttons that have less room than their text needs."""
    return [
        f"{type(widget).__name__} {widget.objectName()!r} {widget.text()!r}"
        for kind in (QLabel, QAbstractButton)
        for widget in root.findChildren(kind)
        if widget.isVisible()
        and widget.text()
        and not isinstance(widget, ElidedLabel)
        and not isinstance(widget.parentWidget(), QTabBar)
        and (widget.width() < widget.minimumSizeHint().width() or widget.height() < needed_height(widget))
        and widget.objectName() != "status.engine"  # one line, whole in its tool tip
    ]


def needed_height(widget: QWidget) -> int:
    """Of the text alone: the frame around it may be narrower."""
    wrapped = isinstance(widget, QLabel) and widget.wordWrap()
    return widget.heightForWidth(widget.width()) if wrapped else widget.fontMetrics().height()


def overlapping(root: QWidget) -> list[str]:
    """Widgets of one layout that lie on each other."""
    found = []
    for layout in root.findChildren(QLayout):
        items = [layout.itemAt(place) for place in range(layout.count())]
        widgets = [item.widget() for item in items if item is not None and item.widget() is not None]
        seen: list[QWidget] = [widget for widget in widgets if widget.isVisible()]
        for place, widget in enumerate(seen):
            for other in seen[place + 1 :]:
                shared: QRect = widget.geometry() & other.geometry()
                if widget.parentWidget() is other.parentWidget() and shared.width() > 0 and shared.height() > 0:
                    found.append(f"{widget.objectName()!r} and {other.objectName()!r}")
    return found


def cut_off(root: QWidget) -> list[str]:
    """What is wider than the place that it is scrolled in, where nobody can scroll sideways."""
    return [
        f"{area.objectName()!r} shows {area.viewport().width()} of {area.widget().width()} pixels"
        for area in root.findChildren(QScrollArea)
        if area.isVisible()
        and area.widget() is not None
        and area.horizontalScrollBarPolicy() == Qt.ScrollBarPolicy.ScrollBarAlwaysOff
        and area.widget().width() > area.viewport().width()
    ]


def faults(root: QWidget) -> list[str]:
    return squeezed(root) + overlapping(root) + cut_off(root)


async def has_room(page: QWidget) -> None:
    """Once the layouts have come to rest."""
    with contextlib.suppress(TimeoutError):
        await until(lambda: not faults(page))
    assert faults(page) == []


@pytest.fixture
async def small(desk: Desk) -> Desk:
    assert desk.settings is not None
    assert desk.chat is not None
    await answered(desk.chat, "Write a loop in Python.")
    desk.settings.update(font_scale=SCALE)
    desk.window.resize(desk.window.minimumSize())
    return desk


@pytest.mark.parametrize("name", ["chat", "engine", "settings"])
async def test_a_page_has_room(small: Desk, name: str) -> None:
    small.window.show_page(name)
    page = small.window.page(name)
    await has_room(page)


async def at_the_tickets(desk: Desk) -> DecisionsPage:
    """The Decisions page with the example's form and table."""
    desk.window.show_page("decisions")
    page = desk.window.page("decisions")
    assert isinstance(page, DecisionsPage)
    table = page.presenter.table
    rows = expect(table.changed.connect, lambda: table.facts is not None and table.facts.count is not None)
    page.files.open_example("tickets")
    await within(rows)
    return page


async def test_the_decisions_have_room(small: Desk) -> None:
    page = await at_the_tickets(small)
    for tab in range(page.tabs.count()):
        page.tabs.setCurrentIndex(tab)
        await has_room(page)
    name = page.findChild(QLineEdit, "form_name")
    assert name is not None
    assert name.cursorPosition() == 0
    await close(small)  # here, where the loop still runs: pytest-qt steps what is under way after the test


async def test_a_run_has_room_below_unfolded_notices(small: Desk) -> None:
    page = await at_the_tickets(small)
    part = page.runs_part
    page.tabs.setCurrentIndex(RUNS)
    page.presenter.table.select(Selection("", first=ROWS))
    started, ended = expect(page.runs.started.connect), expect(page.runs.ended.connect)
    await until(part.setup.start.isEnabled)
    assert not part.setup.start.visibleRegion().isEmpty()  # without scrolling
    part.setup.start.click()
    await within(started)
    await within(ended)
    await until(lambda: part.header.isVisible() and not part.setup.isVisible())  # one of them at a time
    for text in ("one", "two", "three"):
        small.window.notices.show_notice(Notice("error", f"{text} {LONG}", LONG))
    more = small.window.notices.findChild(QAbstractButton, "notices.more")
    assert more is not None
    for unfolded in (False, True):
        more.setChecked(unfolded)
        for tab in range(part.tabs.count()):
            part.tabs.setCurrentIndex(tab)
            await has_room(small.window)
            assert part.header.export.height() >= part.header.export.sizeHint().height()
        assert small.window.stack.height() > small.window.height() // 3  # the page keeps its share
    part.header.back.click()
    await until(lambda: part.setup.isVisible() and not part.header.isVisible())
    assert part.list.view.hasFocus()
    QTest.keyClick(part.list.view, Qt.Key.Key_Return)
    await until(lambda: part.header.isVisible() and not part.setup.isVisible())
    await close(small)


async def test_every_notice_is_reached_with_tab_however_low_the_window(small: Desk) -> None:
    notices = small.window.notices
    for number in range(6):
        notices.show_notice(Notice("error", f"{number} {LONG}", LONG))
    more = notices.findChild(QAbstractButton, "notices.more")
    assert more is not None
    more.setChecked(True)
    closers = notices.findChildren(QAbstractButton, "notice.close")
    seen: set[QWidget] = set()
    await until(lambda: not closers[-1].visibleRegion().isEmpty())  # laid out; the newest is the last one made
    closers[-1].setFocus()
    for _step in range(60):
        focused = QApplication.focusWidget()
        assert focused is not None
        if focused in closers and not focused.visibleRegion().isEmpty():
            seen.add(focused)
        QTest.keyClick(focused, Qt.Key.Key_Tab)
    assert seen == set(closers)


async def test_code_grows_with_the_text(small: Desk) -> None:
    code = small.chat_page.findChild(QPlainTextEdit, "code.text")
    assert code is not None
    await until(lambda: code.verticalScrollBar().maximum() == 0)
