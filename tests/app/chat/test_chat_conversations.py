"""Conversations: kept, branched, searched, renamed, deleted and brought back, out of a file and into one."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from chat_driver import Answer, Reopen, Room
from desk_driver import expect, until, within
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractButton, QLabel, QLineEdit, QPlainTextEdit, QPushButton
from pytestqt.qtbot import QtBot

from app.models.chat_list import ITEM_ROLE
from app.widgets.transcript import SHOWN
from engine.domain.conversation import AnswerFigures, ConversationInfo, StoredMessage
from engine.store.chats_exchange import as_json
from engine.store.chats_read import PAGE, ChatReader


def titles(room: Room) -> list[str]:
    model = room.page.chats.model
    return [str(model.index(row, 0).data()) for row in range(model.rowCount())]


def button(room: Room, place: int, name: str) -> QAbstractButton:
    found = room.page.transcript.messages[place].findChild(QAbstractButton, name)
    assert found is not None
    return found


async def test_two_conversations_are_kept_and_come_back_as_they_were(room: Room, rooms: Reopen) -> None:
    room.say(Answer(["one"]), Answer(["two"]), Answer(["three"]))
    await room.ask("First?")
    first = room.chat.current
    room.chat.open(None)
    await room.ask("Second?")
    await room.ask("And?")
    assert titles(room) == ["Second?", "First?"]
    again = await rooms()
    assert again.shown() == ["Second?", "two", "And?", "three"]  # what was open is open
    assert titles(again) == ["Second?", "First?"]
    again.page.chats.opened.emit(first)
    assert again.shown() == ["First?", "one"]


async def test_a_question_is_edited_and_its_versions_are_switched(room: Room, qtbot: QtBot) -> None:
    room.say(Answer(["1"]), Answer(["2"]), Answer(["2 edited"]))
    await room.ask("one")
    await room.ask("two")
    button(room, 2, "message.edit").click()
    editor = room.page.transcript.messages[2].findChild(QPlainTextEdit, "message.editor.text")
    assert editor is not None
    assert editor.toPlainText() == "two"
    editor.setPlainText("two, better")
    await room.ended(lambda: qtbot.keyClick(editor, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier))
    assert room.shown() == ["one", "1", "two, better", "2 edited"]
    assert [message["content"] for message in room.asked()[-1]] == ["one", "1", "two, better"]
    label = room.page.transcript.messages[2].findChild(QLabel, "message.version")
    assert label is not None
    assert label.text() == "2 of 2"
    button(room, 2, "message.version.before").click()
    assert room.shown() == ["one", "1", "two", "2"]
    button(room, 2, "message.version.after").click()
    assert room.shown() == ["one", "1", "two, better", "2 edited"]


async def test_an_edit_that_is_cancelled_changes_nothing(room: Room, qtbot: QtBot) -> None:
    await room.ask("one")
    button(room, 0, "message.edit").click()
    editor = room.page.transcript.messages[0].findChild(QPlainTextEdit, "message.editor.text")
    assert editor is not None
    qtbot.keyClick(editor, Qt.Key.Key_Escape)
    await until(lambda: room.page.transcript.messages[0].findChild(QPlainTextEdit, "message.editor.text") is None)
    assert room.shown() == ["one", "An answer."]
    assert len(room.bodies()) == 1


async def test_another_answer_keeps_the_first_one(room: Room) -> None:
    room.say(Answer(["first"]), Answer(["second"]))
    await room.ask("q")
    await room.ended(button(room, 1, "message.again").click)
    assert room.shown() == ["q", "second"]
    assert [message["content"] for message in room.asked()[-1]] == ["q"]
    button(room, 1, "message.version.before").click()
    assert room.shown() == ["q", "first"]


async def test_an_answer_in_another_conversation_goes_on_and_is_found_there(room: Room) -> None:
    room.say(Answer(["half ", "whole"], hold_after=1), Answer(["other"]))
    grown = expect(room.chat.text_changed.connect)
    assert room.chat.send("long")
    await within(grown)
    first = room.chat.current
    room.chat.open(None)
    assert not room.chat.answering
    await room.ask("short")
    assert room.shown() == ["short", "other"]
    assert room.script.running == 1
    room.chat.open(first)
    assert room.chat.answering
    await until(lambda: room.shown() == ["long", "half "])
    await room.ended(room.chat.stop)
    assert room.path()[-1].state == "stopped"


async def test_a_conversation_is_renamed_in_the_list(room: Room, qtbot: QtBot) -> None:
    await room.ask("First?")
    view = room.page.chats.view
    view.setFocus()
    view.edit(view.currentIndex())
    editor = view.findChild(QLineEdit, "chats.rename")
    assert editor is not None
    editor.setText("Mine")
    qtbot.keyClick(editor, Qt.Key.Key_Return)
    await until(lambda: titles(room) == ["Mine"])
    assert room.chat.store.conversations()[0].title == "Mine"


async def test_pinned_ones_stand_first(room: Room) -> None:
    await room.ask("First?")
    first = room.chat.current
    room.chat.open(None)
    await room.ask("Second?")
    assert titles(room) == ["Second?", "First?"]
    room.page.chats.pinned.emit(first, True)
    assert titles(room) == ["First?", "Second?"]
    info = room.page.chats.model.index(0, 0).data(ITEM_ROLE)
    assert isinstance(info, ConversationInfo)
    assert info.pinned


async def test_deleting_stops_the_answer_and_can_be_undone(room: Room, qtbot: QtBot) -> None:
    room.say(Answer(["half"], hold_after=1))
    grown = expect(room.chat.text_changed.connect)
    assert room.chat.send("gone?")
    await within(grown)
    number = room.chat.current
    gone = expect(room.room.library.deleted.connect)
    room.page.chats.view.setFocus()
    qtbot.keyClick(room.page.chats.view, Qt.Key.Key_Delete)
    await within(gone)
    await until(lambda: room.script.running == 0)
    assert titles(room) == []
    assert room.chat.current is None
    assert room.page.empty.isVisible()
    notice = room.notices[-1]
    assert "gone?" in notice.text
    assert notice.run is not None
    notice.run()
    assert titles(room) == ["gone?"]
    assert room.chat.current == number
    assert room.shown() == ["gone?", "half"]


async def test_search_finds_and_opens_the_place_in_a_version_that_is_not_shown(room: Room, qtbot: QtBot) -> None:
    room.say(Answer(["the needle"]), Answer(["hay"]), Answer(["more hay"]))
    await room.ask("q")
    await room.ended(button(room, 1, "message.again").click)
    room.chat.open(None)
    await room.ask("other")
    chats = room.page.chats
    found = expect(room.room.library.found.connect, lambda text, _hits: text == "need")
    chats.search.setText("need")
    await within(found)
    assert chats.hits.rowCount() == 1
    qtbot.keyClick(chats.search, Qt.Key.Key_Return)
    assert room.shown() == []  # the path is read off this thread, and nothing of another conversation can be edited
    await until(lambda: room.shown() == ["q", "the needle"])
    ended = expect(room.room.library.found.connect, lambda text, _hits: not text)
    chats.search.setFocus()
    qtbot.keyClick(chats.search, Qt.Key.Key_Escape)
    await within(ended)
    assert chats.view.model() is chats.model


async def test_export_and_import_give_the_same_conversation(room: Room, tmp_path: Path) -> None:
    room.say(Answer(["1"], thought="secret"), Answer(["2"]))
    await room.ask("one")
    await room.ended(button(room, 1, "message.again").click)
    number = room.chat.current
    assert number is not None
    before = as_json(room.chat.store, [number])
    for name in ("chat.json", "chat.md"):
        told = expect(room.room.library.told.connect)
        room.room.library.export([number], tmp_path / name)
        await within(told)
        assert "secret" not in (tmp_path / name).read_text(encoding="utf-8")
    told = expect(room.room.library.told.connect)
    room.room.library.import_file(tmp_path / "chat.json")
    await within(told)
    assert room.chat.current not in (None, number)
    assert room.shown() == ["one", "2"]
    assert as_json(room.chat.store, [room.chat.current or 0]) == before
    failed = expect(room.room.library.failed.connect)
    room.room.library.import_file(tmp_path / "chat.md")
    await within(failed)
    assert "Markdown" in room.notices[-1].remedy


async def test_five_thousand_messages_open_with_the_newest_hundred(room: Room, rooms: Reopen) -> None:
    room.script.window = 100_000
    room = await rooms()
    store = room.chat.store
    number, last = store.create(), None
    for place in range(2500):
        row = store.ask(number, last, f"q{place}")
        store.finish(row.id, f"a{place}", "done", AnswerFigures())
        last = row.id
    room.chat.open(number)
    transcript = room.page.transcript
    await until(lambda: len(transcript.messages) == SHOWN)
    assert room.shown()[-1] == "a2499"
    assert room.shown()[0] == "q2450"
    more = room.page.findChild(QPushButton, "transcript.earlier")
    assert more is not None
    await until(more.isVisible)
    more.click()
    await until(lambda: len(transcript.messages) == 2 * SHOWN)
    assert room.shown()[0] == "q2400"
    assert room.shown()[-1] == "a2499"
    deep = store.search("q7")[-1].message
    assert deep is not None
    room.chat.open(number, deep)
    await until(lambda: transcript.view(deep) is not None)
    assert len(transcript.messages) <= SHOWN
    newest = room.page.findChild(QPushButton, "transcript.newest")
    assert newest is not None
    newest.click()
    await until(lambda: room.shown()[-1:] == ["a2499"])
    await room.ask("still quick?")
    assert len(room.asked()[-1]) == 5001
    assert len(transcript.messages) <= SHOWN


async def test_a_place_is_found_off_the_windows_thread_and_only_the_last_one_wanted_is_shown(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    await room.ask("one")
    await room.ask("two")
    first, read = room.path()[0].id, ChatReader.page
    threads: list[threading.Thread] = []

    def page(reader: ChatReader, last: int | None, limit: int = PAGE) -> list[StoredMessage]:
        if limit > PAGE:
            threads.append(threading.current_thread())
        return read(reader, last, limit)

    monkeypatch.setattr(ChatReader, "page", page)
    conversation, places = room.chat.current, list[int]()
    room.chat.found.connect(places.append)
    room.chat.open(conversation, room.chat.tip)
    room.chat.open(conversation, first)
    await until(lambda: places == [first])
    room.chat.reveal(first)
    room.chat.open(None)
    assert room.shown() == []
    room.chat.open(conversation, first)
    await until(lambda: places == [first, first])
    assert room.shown() == room.texts()
    assert threads
    assert threading.main_thread() not in threads
