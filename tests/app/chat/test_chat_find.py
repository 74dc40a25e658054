"""Find in the conversation: hits in messages that are not built, marks, and one selection over a message."""

from __future__ import annotations

import pytest
from chat_driver import Answer, Reopen, Room
from desk_driver import expect, until, within
from PySide6.QtCore import QCoreApplication, QEvent, QMimeData, QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QPlainTextEdit, QTextEdit
from pytestqt.qtbot import QtBot

from app.presenters.chat_find import occurrences
from app.theme import current_tokens
from app.widgets.message import MessageView
from app.widgets.prose import ProseView
from engine.domain.conversation import AnswerFigures

MANY = 260


@pytest.mark.parametrize(
    ("text", "words", "count"),
    [
        ("A **bold** word", "bold word", 1),
        ("snake_case snake_case", "snake_case", 2),
        ("GROẞ Groß gross", "groß", 3),
        ("nothing", "needle", 0),
        ("aaa", "aa", 1),
    ],
)
def test_words_are_counted_as_they_are_seen(text: str, words: str, count: int) -> None:
    assert occurrences(text, words) == count


def counted(room: Room) -> str:
    label = room.page.find_bar.findChild(QLabel, "chat.find.count")
    assert label is not None
    return label.text()


def marked(view: MessageView) -> list[str]:
    """What is marked in a message: ``!`` before the hit that is looked at."""
    found = []
    for block in [*view.findChildren(QTextEdit), *view.findChildren(QPlainTextEdit)]:
        for selection in block.extraSelections():
            strong = selection.format.background().color().name() == current_tokens().accent
            found.append("!" * strong + selection.cursor.selectedText())
    return found


async def find(room: Room, words: str) -> None:
    placed = expect(room.room.find.placed.connect, lambda _place, hits: hits > 0)
    room.page.find_bar.text.setText(words)
    await within(placed)


async def test_hits_are_counted_marked_and_gone_through(room: Room, qtbot: QtBot) -> None:
    room.say(Answer(["A **needle** in prose\n\n```python\nneedle = 1\n```\n\nand a NEEDLE"]), Answer(["hay"]))
    await room.ask("needle?")
    await room.ask("more")
    room.page.activateWindow()  # shortcuts go to the active window only
    await until(room.page.isActiveWindow)
    qtbot.keyClick(room.page.composer, Qt.Key.Key_F, Qt.KeyboardModifier.ControlModifier)
    await until(room.page.find_bar.isVisible)
    await find(room, "needle")
    assert counted(room) == "4 of 4"
    first, second = room.page.transcript.messages[:2]
    await until(lambda: marked(second) == ["needle", "!NEEDLE", "needle"])
    assert marked(first) == ["needle"]
    line = room.page.find_bar.text
    qtbot.keyClick(line, Qt.Key.Key_Return)  # behind the last comes the first
    assert counted(room) == "1 of 4"
    await until(lambda: marked(first) == ["!needle"])
    qtbot.keyClick(line, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    assert counted(room) == "4 of 4"
    line.setText("nowhere")
    await until(lambda: counted(room) == "not found")
    assert marked(second) == []
    await find(room, "needle")
    qtbot.keyClick(line, Qt.Key.Key_Escape)
    assert not room.page.find_bar.isVisible()
    assert marked(first) == marked(second) == []


async def test_hits_in_messages_that_are_not_built_are_found_and_shown(room: Room, rooms: Reopen) -> None:
    store = room.chat.store
    number = store.create()
    tip = None
    for place in range(MANY):
        row = store.ask(number, tip, f"question {place}")
        store.finish(row.id, "the needle" if place in (3, MANY - 1) else "hay", "done", AnswerFigures(1.0, None, 1))
        tip = row.id
    room.chat.open(number)
    room.page.find_bar.open_bar()
    await find(room, "needle")
    assert counted(room) == "2 of 2"
    assert not any(view.text == "question 3" for view in room.page.transcript.messages)
    room.room.find.move(-1)
    assert counted(room) == "1 of 2"
    await until(lambda: ["!needle"] in [marked(view) for view in room.page.transcript.messages])
    shown = [view for view in room.page.transcript.messages if marked(view) == ["!needle"]]
    assert [view.text for view in shown] == ["the needle"]
    await until(lambda: not shown[0].visibleRegion().isEmpty())
    prose = shown[0].findChild(ProseView)
    restyled = expect(prose.restyled.connect)
    QCoreApplication.sendEvent(prose, QEvent(QEvent.Type.PaletteChange))  # another theme: it is laid out anew
    await within(restyled)
    await until(lambda: marked(shown[0]) == ["!needle"])


SOURCE = "A **first** paragraph\n\n- one\n- two\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```c\nint x;\n```\n\nthe end"


@pytest.fixture
def message(qtbot: QtBot) -> MessageView:
    view = MessageView("assistant", SOURCE)
    qtbot.addWidget(view)
    view.resize(500, 400)
    view.show()
    return view


def copied(view: MessageView, qtbot: QtBot) -> QMimeData:
    QGuiApplication.clipboard().setText("before")
    qtbot.keyClick(view.findChildren(QTextEdit)[0], Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    return QGuiApplication.clipboard().mimeData()


def test_a_whole_message_is_one_selection(message: MessageView, qtbot: QtBot) -> None:
    code = message.findChildren(QPlainTextEdit)[0]
    qtbot.keyClick(code, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    data = copied(message, qtbot)
    assert bytes(data.data("text/markdown").data()).decode() == SOURCE
    for part in ("A first paragraph", "one", "two", "int x;", "the end"):
        assert part in data.text()
    assert "**" not in data.text()


def test_a_selection_is_dragged_over_prose_and_code(message: MessageView, qtbot: QtBot) -> None:
    first, last = message.findChildren(QTextEdit)
    cursor = first.textCursor()
    cursor.setPosition(2)
    start = first.cursorRect(cursor).center()
    QTest.mousePress(first.viewport(), Qt.MouseButton.LeftButton, pos=start)
    cursor = last.textCursor()
    cursor.setPosition(3)
    goal = last.viewport().mapTo(message, last.cursorRect(cursor).center())
    inside = first.viewport().mapFrom(message, goal)
    QTest.mouseMove(first.viewport(), inside)
    QTest.mouseRelease(first.viewport(), Qt.MouseButton.LeftButton, pos=inside)
    data = copied(message, qtbot)
    assert data.text().startswith("first paragraph")
    assert "int x;" in data.text()
    assert data.text().endswith("the")
    assert not data.hasFormat("text/markdown")
    QTest.mouseClick(last.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(2, 2))
    assert copied(message, qtbot).text() == "before"
