"""Pictures of messages: kept once, shared by branches, gone with the last that shows them, carried by exports."""

from __future__ import annotations

import base64
import json
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from chats_clock import Clock
from fakes.seeing_engine import png

from engine.domain.chat import Message
from engine.domain.conversation import AnswerFigures, ChatOptions, sent_messages
from engine.domain.picture import Picture, Sight
from engine.errors import InputError
from engine.pictures import picture_of
from engine.store.attachments import Attachment, picture_refused, read_given
from engine.store.chats import ChatStore
from engine.store.chats_exchange import as_json, as_markdown, import_json
from engine.store.chats_schema import CHATS_SCHEMA
from engine.store.migrations import backup_path

RED, BLUE = picture_of(png("red"), "red.png"), picture_of(png("blue"), "blue.png")


def answered(store: ChatStore, text: str, *pictures: Picture) -> tuple[int, int]:
    """A conversation with one question and its answer: their numbers."""
    conversation, answer = store.ask_first(text, ChatOptions(), pictures=pictures)
    store.finish(answer.id, "an answer", "done", AnswerFigures(), finish="stop")
    return conversation, answer.id


def kept(store: ChatStore) -> int:
    with closing(sqlite3.connect(store.path)) as connection:
        return int(connection.execute("SELECT count(*) FROM picture").fetchone()[0])


def test_a_question_keeps_its_pictures_in_order(store: ChatStore) -> None:
    conversation, answer = answered(store, "Which colours?", RED, BLUE, RED)
    question, reply = store.page(answer)
    assert [each.name for each in question.pictures] == ["red.png", "blue.png", "red.png"]
    assert [store.picture(each) for each in question.pictures] == [RED, BLUE, RED]
    assert reply.pictures == ()
    assert kept(store) == 2
    assert question.pictures[0].size == len(RED.data)
    assert store.conversation(conversation).info.title == "Which colours?"


def test_a_question_may_be_pictures_alone(store: ChatStore) -> None:
    conversation, answer = answered(store, "", BLUE)
    assert store.conversation(conversation).info.title == "blue.png"
    assert sent_messages(store.context(answer), ChatOptions(), store.picture)[0] == Message("user", "", (BLUE,))


def test_a_branch_shows_the_same_bytes(store: ChatStore) -> None:
    conversation, answer = answered(store, "Which?", RED)
    question = store.page(answer)[0]
    edited = store.ask(conversation, None, "Which colour?", pictures=(*question.pictures, BLUE))
    branch = store.page(edited.id)[0]
    assert [store.picture(each) for each in branch.pictures] == [RED, BLUE]
    assert kept(store) == 2
    assert [each.pictures for each in store.tree(conversation) if each.role == "user"] == [
        question.pictures,
        branch.pictures,
    ]


def test_what_the_engine_is_sent(store: ChatStore) -> None:
    conversation, answer = answered(store, "Which?", RED)
    more = store.ask(conversation, answer, "And this?", pictures=(BLUE,))
    path = store.context(more.id)
    assert sent_messages(path, ChatOptions(), store.picture) == [
        Message("user", "Which?", (RED,)),
        Message("assistant", "an answer"),
        Message("user", "And this?", (BLUE,)),
    ]
    blind = sent_messages(path, ChatOptions())
    assert [message.pictures for message in blind] == [(), (), ()]
    assert blind[0].content == "[The picture red.png was here. You cannot see it.]\n\nWhich?"


def test_pictures_stay_while_a_conversation_can_be_restored(store: ChatStore, clock: Clock) -> None:
    conversation, answer = answered(store, "Which?", RED)
    other, _ = answered(store, "Other", BLUE, RED)
    store.delete(conversation)
    store.purge()
    store.restore(conversation)
    assert store.picture(store.page(answer)[0].pictures[0]) == RED
    store.delete(other)
    clock.now += 40 * 24 * 3600.0
    store.purge()
    assert kept(store) == 1  # red is still shown by the one that was restored
    store.delete(conversation)
    clock.now += 40 * 24 * 3600.0
    store.purge()
    assert kept(store) == 0


def test_a_draft_keeps_its_pictures_until_it_is_sent(store: ChatStore) -> None:
    store.set_draft_pictures(None, (RED,))
    conversation, answer = answered(store, "Hello")
    assert store.draft_pictures(None) == ()
    store.set_draft_pictures(conversation, (RED, BLUE))
    store.set_draft_pictures(conversation, (BLUE,))
    store.set_draft_pictures(None, (RED,))
    store.purge()  # what a draft shows is in use
    assert [store.picture(each) for each in store.draft_pictures(conversation)] == [BLUE]
    assert [each.name for each in store.draft_pictures(None)] == ["red.png"]
    store.ask(conversation, answer, "Which?", pictures=store.draft_pictures(conversation))
    assert store.draft_pictures(conversation) == ()
    assert [each.name for each in store.draft_pictures(None)] == ["red.png"]
    store.set_draft_pictures(None, ())
    store.purge()
    assert kept(store) == 1


def test_too_many_pictures_or_an_unknown_one_leave_nothing_behind(store: ChatStore) -> None:
    with pytest.raises(InputError, match="17 pictures"):
        store.ask_first("Which?", ChatOptions(), pictures=(RED,) * 17)
    conversation, answer = answered(store, "Which?", RED)
    foreign = replace(store.page(answer)[0].pictures[0], sha256="0" * 64)
    with pytest.raises(InputError, match=r"no picture red\.png any more"):
        store.ask(conversation, answer, "Again", pictures=(foreign,))
    assert len(store.conversations()) == 1
    assert len(store.tree(conversation)) == 2
    with pytest.raises(InputError, match="any more"):
        store.picture(foreign)


def test_an_export_comes_back_equal(store: ChatStore, tmp_path: Path) -> None:
    conversation, answer = answered(store, "Which?", RED, BLUE)
    store.ask(conversation, None, "Which colour?", pictures=(RED,))
    store.set_draft_pictures(conversation, (BLUE,))
    whole = as_json(store, [conversation])
    with ChatStore(tmp_path / "other.sqlite") as other:
        (number,) = import_json(other, whole.encode(), "chats.json")
        assert as_json(other, [number]) == whole
        first = next(each for each in other.tree(number) if each.role == "user")
        assert [other.picture(each) for each in first.pictures] == [RED, BLUE]
    found = json.loads(whole)
    assert found["version"] == 2
    assert sorted(found["pictures"]) == sorted([RED.sha256, BLUE.sha256])
    store.set_tip(conversation, answer)
    assert "*Picture: red.png (png, 8 x 8)*\n\n*Picture: blue.png" in as_markdown(store, [conversation])


def test_an_export_without_pictures_is_read_by_older_programs(store: ChatStore) -> None:
    conversation, _ = answered(store, "Hello")
    found = json.loads(as_json(store, [conversation]))
    assert found["version"] == 1
    assert "pictures" not in found
    assert all("pictures" not in message for message in found["conversations"][0]["messages"])


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda found: found["pictures"][RED.sha256].update(base64="?"), "is no base64"),
        (lambda found: found["pictures"][RED.sha256].update(base64="aGVsbG8="), "no picture that can be sent"),
        (
            lambda found: found["pictures"][RED.sha256].update(base64=base64.b64encode(BLUE.data).decode()),
            "have another SHA-256",
        ),
        (lambda found: found["pictures"].clear(), r"picture red\.png is named, but not in the file"),
        (lambda found: found.update(pictures=3), "pictures"),
        (lambda found: found.update(version=3), "version 3"),
    ],
)
def test_a_faulty_file_adds_nothing(store: ChatStore, change: Any, words: str) -> None:
    conversation, _ = answered(store, "Which?", RED)
    found = json.loads(as_json(store, [conversation]))
    change(found)
    with pytest.raises(InputError, match=words):
        import_json(store, json.dumps(found).encode(), "chats.json")
    assert [each.id for each in store.conversations()] == [conversation]


def test_a_file_of_the_first_version_is_upgraded_after_a_backup(tmp_path: Path) -> None:
    path = tmp_path / "chats.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        CHATS_SCHEMA.steps[0].apply(connection)
        connection.execute("INSERT INTO conversation (title, created, updated) VALUES ('Old', 1.0, 1.0)")
        connection.execute(
            "INSERT INTO message (conversation, depth, role, text, state, created) "
            "VALUES (1, 1, 'user', 'Hi', 'done', 1.0)"
        )
        connection.execute("UPDATE conversation SET tip = 1")
        connection.execute("PRAGMA user_version = 1")
        connection.execute(f"PRAGMA application_id = {CHATS_SCHEMA.application_id}")
        connection.commit()
    with ChatStore(path) as store:
        (message,) = store.page(1)
        assert (message.text, message.pictures) == ("Hi", ())
        store.ask(1, None, "Which?", pictures=(RED,))
    assert backup_path(path, 1).is_file()


def test_a_given_file_is_a_text_or_a_picture_where_the_engine_sees(tmp_path: Path) -> None:
    seen, blind, unknown = Sight("yes"), Sight("no", "it is a toy"), Sight("unknown", "nobody knows")
    text, picture, bitmap = tmp_path / "a.txt", tmp_path / "photo", tmp_path / "a.bmp"
    text.write_text("Hello")
    picture.write_bytes(RED.data)
    bitmap.write_bytes(b"BM....")
    for sight in (seen, blind, unknown):
        assert read_given(text, sight) == Attachment("a.txt", "Hello")
    assert read_given(picture, seen) == read_given(picture, unknown) == replace(RED, name="photo")
    with pytest.raises(InputError, match=r"photo was not taken: the engine sees no pictures: it is a toy") as caught:
        read_given(picture, blind)
    assert caught.value.code == "attachment.picture"
    with pytest.raises(InputError, match="PNG, JPEG, WebP and GIF"):
        read_given(bitmap, seen)
    assert "it is a toy" in str(picture_refused("the picture", blind))
