"""Every page in a pseudo-locale: no word is left in English, none is cut off; from right to left; with names for all.

What is data (names of files and models, addresses, logs, examples' own text) is told by its place.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from desk_driver import open_desk, until
from pseudo import MARK, PseudoTranslator, pseudo
from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QDialog,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QScrollBar,
    QTabBar,
    QTextEdit,
    QTreeWidget,
    QWidget,
)
from pytestqt.qtbot import QtBot
from test_window_shell import spoken_name
from test_window_small import squeezed

from app.pages.decisions import DecisionsPage
from app.pages.setup import SetupPage
from app.windows.desk import Desk
from app.windows.main_window import PAGES

LETTERS = re.compile(r"[^\W\d_]{3,}")
SAME_EVERYWHERE = re.compile(r"Diffusion Desk|https?://\S*|\S*/\S*|GiB|MiB|KiB|tok/s|Ctrl|Shift|Alt")
DATA = (  # objectNames of what shows data, not words of ours
    "fact.",
    "settings.folder",
    "engine.log",
    "setup.detect",
    "run_draws",  # "auto" is the method's name of it, in form files too
    "method_draws.",
    "status.engine",
)


def is_data(widget: QWidget | None) -> bool:
    """Whether the widget, or one that it lies in, shows data."""
    while widget is not None:
        if widget.objectName().startswith(DATA):
            return True
        widget = widget.parentWidget()
    return False


def words_of(root: QWidget) -> Iterator[tuple[str, str]]:
    """(where, text) of what can be read below a widget: texts, tool tips, placeholders, spoken names."""
    for widget in root.findChildren(QWidget):
        name = f"{type(widget).__name__} {widget.objectName()!r}"
        if not widget.isVisible() or is_data(widget):
            continue
        match widget:
            case QLabel() | QAbstractButton():
                yield name, widget.text()
            case QTabBar():
                yield from ((name, widget.tabText(place)) for place in range(widget.count()))
            case QComboBox():
                yield from ((name, widget.itemText(place)) for place in range(widget.count()))
            case QLineEdit() | QPlainTextEdit() | QTextEdit():
                yield name, widget.placeholderText()
            case QTreeWidget():
                yield from ((name, widget.headerItem().text(place)) for place in range(widget.columnCount()))
        if not widget.objectName().startswith("setup.step."):  # how a step stands, in the engine room's words
            yield f"tool tip of {name}", widget.toolTip()
        yield f"spoken name of {name}", widget.accessibleName()


def english(root: QWidget) -> list[str]:
    return [
        f"{where}: {text!r}"
        for where, text in words_of(root)
        if MARK not in text and LETTERS.search(SAME_EVERYWHERE.sub("", text))
    ]


def nameless(root: QWidget) -> list[str]:
    """What Tab can reach and a screen reader has no name for."""
    return [
        f"{type(widget).__name__} {widget.objectName()!r} in {widget.parentWidget().objectName()!r}"
        for widget in root.findChildren(QWidget)
        if widget.isVisible()
        and widget.focusPolicy() & Qt.FocusPolicy.TabFocus
        and widget.focusProxy() is None
        and not isinstance(widget, QScrollBar)
        and not isinstance(widget.parentWidget(), QAbstractSpinBox | QComboBox)
        and not spoken_name(widget)
    ]


async def at_rest() -> None:
    """Layouts are made by posted events; to process them here would step other tasks inside this one."""
    for _ in range(5):
        await asyncio.sleep(0)


async def faces(desk: Desk) -> AsyncIterator[str]:
    """Brings up every page and every tab of it, and the dialogs of the desktop."""
    for name in PAGES:
        desk.window.show_page(name)
        page = desk.window.page(name)
        tabs = page.tabs.count() if isinstance(page, DecisionsPage) else 1
        for tab in range(tabs):
            if isinstance(page, DecisionsPage):
                page.tabs.setCurrentIndex(tab)
            await until(page.isVisible)
            if isinstance(page, SetupPage):  # what it finds here is shown in every run, not only where it is quick
                await until(
                    lambda: desk.setup is not None and desk.setup.steps["detect"].phase not in ("open", "running")
                )
            yield f"{name} {tab}"


def dialogs(desk: Desk) -> Iterator[QDialog]:
    assert desk.desktop is not None
    desk.desktop.open_keys()
    yield desk.desktop.keys
    desk.desktop.keys.reject()
    desk.desktop.open_palette()
    yield desk.desktop.palette
    desk.desktop.palette.reject()


@pytest.fixture
async def strange(qapp: QApplication, qtbot: QtBot, desk_home: Path) -> AsyncIterator[Desk]:
    """A window in the pseudo-locale."""
    translator = PseudoTranslator()
    qapp.installTranslator(translator)
    try:
        async with open_desk(qapp, desk_home) as found:
            yield found
    finally:
        qapp.removeTranslator(translator)
        qapp.setLayoutDirection(Qt.LayoutDirection.LeftToRight)


async def test_every_page_speaks_the_language_and_has_room_for_it(strange: Desk, qapp: QApplication) -> None:
    desk = strange
    left: dict[str, list[str]] = {}
    async for face in faces(desk):
        await at_rest()
        left[face] = english(desk.window) + [f"cut off: {each}" for each in squeezed(desk.window)]
        left[face] += [f"no name: {each}" for each in nameless(desk.window)]
    for dialog in dialogs(desk):
        left[dialog.objectName()] = english(dialog) + [f"no name: {each}" for each in nameless(dialog)]
    assert {face: found for face, found in left.items() if found} == {}
    qapp.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
    await at_rest()
    rail, stack = desk.window.rail, desk.window.stack
    assert rail.geometry().left() > stack.mapTo(desk.window, stack.rect().topLeft()).x()
    async for face in faces(desk):
        await at_rest()
        assert squeezed(desk.window) == [], face


def test_the_strange_language_keeps_what_is_the_programs() -> None:
    assert "{name}" in pseudo("{name} is stopped")
    assert "&T" in pseudo("&Theme")
    assert "(*.json)" in pseudo("Forms (*.json)")
    assert len(pseudo("Regenerate the answer")) >= 1.4 * len("Regenerate the answer")
