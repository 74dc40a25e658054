"""A conversation that outgrows the window: shown before anything is cut, decided by the user, undone again."""

from __future__ import annotations

import pytest
from chat_driver import WINDOW, Answer, Reopen, Room
from desk_driver import expect, until, within
from PySide6.QtWidgets import QAbstractButton, QFrame, QLabel

from app.models.chat import EXACT_RECALL, ContextUse, Overflow
from app.widgets.chat.meter import ContextMeter
from engine.domain.conversation import SUMMARY_HEAD

LONG = "word " * 500


async def fill(room: Room) -> None:
    """Three turns; the fourth does not fit."""
    for number in range(3):
        await room.ask(f"{number} {LONG}")


async def too_much(room: Room, text: str = f"3 {LONG}") -> Overflow:
    asked = expect(room.chat.overflow.connect)
    idle = expect(room.chat.answering_changed.connect, lambda answering: not answering)
    room.page.composer.put(text)
    room.page.composer.text.submitted.emit()
    (overflow,) = await within(asked)
    await within(idle)
    assert isinstance(overflow, Overflow)
    return overflow


def way(room: Room, name: str) -> QAbstractButton:
    found = room.page.overflow.findChild(QAbstractButton, f"overflow.{name}")
    assert found is not None
    return found


async def test_nothing_is_cut_and_nothing_is_asked_before_the_user_decides(room: Room) -> None:
    await fill(room)
    overflow = await too_much(room)
    assert (overflow.left_out, overflow.kept) == (2, 4)
    assert overflow.needed is not None
    assert overflow.needed + overflow.reserve > overflow.window == WINDOW
    assert overflow.first.startswith("0 word")
    assert overflow.last == "An answer."
    assert room.page.overflow.isVisible()
    assert room.page.composer.text.toPlainText() == f"3 {LONG}"
    assert len(room.bodies()) == 3
    assert len(room.path()) == 6
    way(room, "cancel").click()
    assert not room.page.overflow.isVisible()
    assert not room.chat.resolve("drop")  # there is nothing to decide any more
    assert room.page.composer.text.toPlainText() == f"3 {LONG}"


async def test_the_oldest_are_left_out_and_sent_again(room: Room, rooms: Reopen) -> None:
    await fill(room)
    await too_much(room)
    await room.ended(way(room, "drop").click)
    sent = [message["content"][:1] for message in room.asked()[-1] if message["role"] == "user"]
    assert sent == ["1", "2", "3"]
    assert room.page.composer.text.toPlainText() == ""
    assert len(room.shown()) == 8  # everything stays in the conversation
    mark = room.page.transcript.messages[2].findChild(QFrame, "message.cut")
    assert mark is not None
    assert "2 messages" in mark.accessibleName()
    again = await rooms()
    view = again.page.transcript.messages[2]
    uncut = view.findChild(QAbstractButton, "message.uncut")
    assert uncut is not None
    assert uncut.isVisible()
    uncut.click()
    assert not uncut.isVisible()
    assert (await too_much(again, "more")).left_out > 0


async def test_a_summary_takes_the_place_of_what_is_left_out(room: Room) -> None:
    await fill(room)
    await too_much(room)
    room.say(Answer(["They counted words."]), Answer(["Fine."]))
    working = expect(room.chat.working.connect)
    await room.ended(way(room, "summarise").click)
    assert "Summarising" in (await within(working))[0]
    request, question = room.asked()[-2:]
    assert [message["role"] for message in request] == ["user"]
    assert "Summarise the conversation above" in request[0]["content"]
    assert request[0]["content"].startswith("User: 0 word")
    assert question[0] == {"role": "system", "content": f"{SUMMARY_HEAD}\nThey counted words."}
    assert question[-1]["content"].startswith("3 word")
    assert [message.summary for message in room.path() if message.is_cut] == ["They counted words."]


async def test_a_model_that_gives_no_summary_leaves_the_choice(room: Room) -> None:
    await fill(room)
    await too_much(room)
    room.say(Answer([""]))
    asked = expect(room.chat.overflow.connect)
    way(room, "summarise").click()
    (overflow,) = await within(asked)
    assert "no summary" in overflow.fault
    assert room.page.overflow.isVisible()
    assert len(room.path()) == 6
    room.say(Answer())
    await until(lambda: not room.chat.answering)
    await room.ended(way(room, "drop").click)
    assert len(room.path()) == 8


async def test_a_new_branch_asks_the_question_alone(room: Room) -> None:
    await fill(room)
    await too_much(room)
    await room.ended(way(room, "branch").click)
    assert [message["content"][:1] for message in room.asked()[-1]] == ["3"]
    assert len(room.path()) == 2
    assert (room.path()[0].place, room.path()[0].versions) == (2, 2)
    room.chat.switch_version(room.path()[0].id, -1)
    assert len(room.path()) == 6


async def test_a_question_that_is_too_long_alone_is_told_to_be_shorter(room: Room) -> None:
    await room.ask("short")
    for text in ("word " * (WINDOW + 1), "word " * (5 * WINDOW)):  # counted, and refused by the engine's counter
        overflow = await too_much(room, text)
        assert not overflow.helps
        assert not way(room, "drop").isVisible()
        assert "alone is too long" in room.page.overflow.accessibleName()
        room.page.composer.clear()
    await room.ask("short again")
    assert len(room.path()) == 4


async def test_another_answer_and_a_continuation_are_checked_too(room: Room) -> None:
    await fill(room)
    room.say(Answer([f"long {LONG}"], finish="length"), Answer(["more"]))
    await too_much(room)
    last = await room.ended(way(room, "drop").click)
    asked = expect(room.chat.overflow.connect)
    assert room.chat.go_on(last.id)
    (overflow,) = await within(asked)
    assert overflow.helps
    await until(lambda: not room.chat.answering)
    message = await room.ended(lambda: room.chat.resolve("drop"))
    assert message.text.endswith("more")
    assert room.asked()[-1][-1]["role"] == "assistant"


async def test_a_server_that_does_not_count_is_asked_all_the_same(room: Room, rooms: Reopen) -> None:
    room = await rooms()
    del room.server.handlers["/tokenize"]
    room.server.handlers["/tokenize"] = lambda request: room.server.handlers["/none"](request)

    async def missing(_request: object) -> object:
        from fakes.wire_server import error

        return error(404, "not here")

    room.server.handlers["/none"] = missing  # type: ignore[assignment]
    await fill(room)
    await room.ask(f"3 {LONG}")
    assert len(room.path()) == 8


async def test_the_meter_counts_what_is_sent_next(room: Room) -> None:
    await room.ask("one two three")
    counted = expect(room.room.meter.changed.connect, lambda use: use.used == 3 + 3 + 3 + 2 + 4)
    room.page.composer.put("four more words here")
    await within(counted)
    words = room.page.findChild(QLabel, "chat.meter.words")
    assert words is not None
    assert words.text() == "15 of 2,048 tokens"
    counted = expect(room.room.meter.changed.connect, lambda use: use.used == 11)
    room.page.composer.clear()
    await within(counted)


@pytest.mark.parametrize(
    ("use", "words"),
    [
        (ContextUse(None, None), ""),
        (ContextUse(None, 262_144), "window of 262,144 tokens"),
        (ContextUse(1_000, 262_144), "1,000 of 262,144 tokens"),
        (ContextUse(EXACT_RECALL + 1, 262_144), "30,001 of 262,144 tokens · beyond exact recall"),
        (ContextUse(100, 2_048, 4), "100 of 2,048 tokens · 4 messages not sent"),
    ],
)
def test_the_meter_says_it_in_words(qapp: object, use: ContextUse, words: str) -> None:
    meter = ContextMeter()
    meter.set_use(use)
    label = meter.findChild(QLabel, "chat.meter.words")
    assert label is not None
    assert label.text() == words
    assert ("exact details" in meter.toolTip()) == use.shows_recall_mark
