"""Tab goes through a window as it is laid out, leaves nothing out, and shows where it is."""

from __future__ import annotations

import asyncio

import pytest
from desk_driver import answered, close, expect, until, within
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractButton, QApplication, QWidget
from pytestqt.qtbot import QtBot

from app.models.notice import Notice
from app.pages.decisions import DecisionsPage
from app.windows import tab_order
from app.windows.desk import Desk
from app.windows.main_window import PAGES
from app.windows.tab_order import reveal

MOST_STOPS = 200


def focused() -> QWidget:
    found = QApplication.focusWidget()
    assert found is not None
    return found


def tab_stops(qtbot: QtBot, key: Qt.Key = Qt.Key.Key_Tab) -> list[QWidget]:
    """What Tab reaches from where the focus is, once around."""
    stops: list[QWidget] = []
    for _ in range(MOST_STOPS):
        qtbot.keyClick(focused(), key)
        if focused() in stops:
            return stops
        stops.append(focused())
    raise AssertionError("Tab never came back")


def decisions_page(desk: Desk) -> DecisionsPage:
    page = desk.window.page("decisions")
    assert isinstance(page, DecisionsPage)
    return page


def names(widgets: list[QWidget]) -> list[str]:
    return [widget.objectName() for widget in widgets]


def usable(page: QWidget) -> list[QWidget]:
    """Everything on a page that Qt would let Tab stop at."""
    return [
        widget
        for widget in page.findChildren(QWidget)
        if widget.isVisible()
        and widget.isEnabled()
        and widget.focusPolicy() & Qt.FocusPolicy.TabFocus
        and widget.focusProxy() is None
        and not widget.objectName().startswith("qt_")
    ]


@pytest.mark.parametrize("name", PAGES)
async def test_tab_leaves_nothing_out_and_goes_back_the_same_way(desk: Desk, qtbot: QtBot, name: str) -> None:
    assert desk.chat is not None
    await answered(desk.chat, "Write a loop in Python.")
    desk.window.show_page(name)
    page = desk.window.page(name)
    stops = tab_stops(qtbot)
    assert [widget for widget in usable(page) if widget not in stops] == []
    back = tab_stops(qtbot, Qt.Key.Key_Backtab)
    start = stops.index(back[0])
    assert names(back) == names(stops[start::-1] + stops[:start:-1])


async def test_tab_goes_through_a_conversation_from_top_to_bottom(desk: Desk, qtbot: QtBot) -> None:
    assert desk.chat is not None
    await answered(desk.chat, "Hello!")
    desk.window.show_page("chat")
    assert focused().objectName() == "composer.text"
    stops = names(tab_stops(qtbot))
    assert stops[stops.index("chat.instructions") :] == [
        "chat.instructions",
        "chat.canvas",
        "chat.new",
        "transcript",
        "message.edit",
        "message.copy",
        "message.prose",
        "message.again",
        "message.copy",
        "message.prose",
        "canvas.scroll",
        "canvas.play",
        "canvas.slider",
        "canvas.export",
        "composer.text",
    ]


async def test_rows_that_came_later_have_their_place(desk: Desk, qtbot: QtBot) -> None:
    desk.window.show_page("decisions")
    page = decisions_page(desk)
    page.presenter.document.add("choice")
    options = page.form_part.editor.options
    options.add_button.click()
    assert focused() is options.row(2).name
    page.form_part.editor.instructions.setFocus()
    stops = names(tab_stops(qtbot))
    assert stops[: stops.index("question_id")] == [
        "option_0_name",
        "option_0_note",
        "option_0_down",
        "option_0_remove",
        "option_1_name",
        "option_1_note",
        "option_1_up",
        "option_1_down",
        "option_1_remove",
        "option_2_name",
        "option_2_note",
        "option_2_up",
        "option_2_remove",
        "option_add",
    ]
    await close(desk)  # as below


async def test_the_focus_goes_to_the_next_one_when_its_place_goes(desk: Desk, qtbot: QtBot) -> None:
    desk.window.show_page("engine")
    desk.window.notices.show_notice(Notice("error", "It broke.", "Mend it."))
    dismiss = desk.window.findChild(QAbstractButton, "notice.close")
    assert dismiss is not None
    await until(dismiss.isVisible)
    dismiss.setFocus()
    dismiss.click()
    assert focused() is tab_order.step(desk.window, dismiss, forward=True)
    assert desk.window.page("engine").isAncestorOf(focused())


async def test_the_read_button_gets_the_focus_back(desk: Desk) -> None:
    page = decisions_page(desk)
    await open_tickets(page)
    desk.window.show_page("decisions")
    page.tabs.setCurrentWidget(page.preview)
    read = page.preview.read_button
    assert read.isEnabled()
    read.setFocus()
    answered_once = expect(page.presenter.preview_ready.connect)
    read.click()
    assert not read.isEnabled()
    await within(answered_once)
    assert focused() is read
    await close(desk)  # as below


async def test_tab_scrolls_to_where_it_goes(desk: Desk, qtbot: QtBot) -> None:
    desk.window.resize(desk.window.minimumSize())
    desk.window.show_page("settings")
    for widget in tab_stops(qtbot):
        widget.setFocus()
        qtbot.keyClick(widget, Qt.Key.Key_Tab)
        assert not focused().visibleRegion().isEmpty(), focused().objectName()


async def open_tickets(page: DecisionsPage) -> None:
    table = page.presenter.table
    rows = expect(table.changed.connect, lambda: table.facts is not None and table.facts.count is not None)
    page.files.open_example("tickets")
    await within(rows)


@pytest.mark.parametrize("name", PAGES)
async def test_the_focus_can_be_seen(desk: Desk, qtbot: QtBot, name: str) -> None:
    """A stop looks different with the focus than without."""
    assert desk.chat is not None
    await answered(desk.chat, "Write a loop in Python.")
    await open_tickets(decisions_page(desk))
    desk.window.show_page(name)
    unseen = []
    for widget in tab_stops(qtbot):
        widget.setFocus(Qt.FocusReason.TabFocusReason)
        reveal(widget)  # as Tab does
        with_focus = desk.window.grab().toImage()
        widget.clearFocus()
        if with_focus == desk.window.grab().toImage():
            unseen.append(widget.objectName())
        await asyncio.sleep(0)  # the engine's health is being watched meanwhile
    await close(desk)  # here, where the loop still runs: pytest-qt steps what is under way after the test
    assert unseen == []
