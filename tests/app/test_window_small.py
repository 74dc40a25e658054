"""Large text in a small window: nothing is cut off or lies on something else."""

from __future__ import annotations

import contextlib

import pytest
from desk_driver import answered, close, expect, until, within
from PySide6.QtCore import QRect
from PySide6.QtWidgets import QAbstractButton, QLabel, QLayout, QLineEdit, QPlainTextEdit, QTabBar, QWidget

from app.pages.decisions import DecisionsPage
from app.widgets.decisions.parts import ElidedLabel
from app.windows.desk import Desk

SIZE = (900, 600)
SCALE = 1.5
DECISION_TABS = 4


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


async def has_room(page: QWidget) -> None:
    """Once the layouts have come to rest."""
    with contextlib.suppress(TimeoutError):
        await until(lambda: not squeezed(page) and not overlapping(page))
    assert squeezed(page) + overlapping(page) == []


@pytest.fixture
async def small(desk: Desk) -> Desk:
    assert desk.settings is not None
    assert desk.chat is not None
    await answered(desk.chat, "Write a loop in Python.")
    desk.settings.update(font_scale=SCALE)
    desk.window.resize(*SIZE)
    return desk


@pytest.mark.parametrize("name", ["chat", "engine", "settings"])
async def test_a_page_has_room(small: Desk, name: str) -> None:
    small.window.show_page(name)
    page = small.window.page(name)
    await has_room(page)


async def test_the_decisions_have_room(small: Desk) -> None:
    small.window.show_page("decisions")
    page = small.window.page("decisions")
    assert isinstance(page, DecisionsPage)
    table = page.presenter.table
    rows = expect(table.changed.connect, lambda: table.facts is not None and table.facts.count is not None)
    page.files.open_example("tickets")
    await within(rows)
    for tab in range(DECISION_TABS):
        page.tabs.setCurrentIndex(tab)
        await has_room(page)
    name = page.findChild(QLineEdit, "form_name")
    assert name is not None
    assert name.cursorPosition() == 0
    await close(small)  # here, where the loop still runs: pytest-qt steps what is under way after the test


async def test_code_grows_with_the_text(small: Desk) -> None:
    code = small.chat_page.findChild(QPlainTextEdit, "code.text")
    assert code is not None
    await until(lambda: code.verticalScrollBar().maximum() == 0)
