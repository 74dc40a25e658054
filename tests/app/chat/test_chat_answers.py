"""Answers: thoughts apart, endings named, gone on with, stopped in the engine, kept when anything dies."""

from __future__ import annotations

import sqlite3

import pytest
from chat_driver import Answer, Reopen, Room
from desk_driver import expect, until, within
from PySide6.QtWidgets import QAbstractButton, QCheckBox, QFrame, QLabel, QSpinBox

from app.widgets.icons import ThemedButton
from engine.domain.conversation import ChatOptions


def part(room: Room, kind: type, name: str) -> object:
    found = room.page.transcript.messages[-1].findChild(kind, name)
    assert found is not None
    return found


def figures(room: Room) -> str:
    label = part(room, QLabel, "message.stats")
    assert isinstance(label, QLabel)
    return label.text()


async def test_a_thought_is_folded_away_and_never_copied(room: Room) -> None:
    room.say(Answer(["The answer."], thought="Let me think."))
    options = room.page.options
    thinking = options.findChild(QCheckBox, "chat.thinking")
    assert thinking is not None
    assert not thinking.isChecked()  # off until the user wants it
    await room.ask("q")
    assert room.bodies()[-1]["chat_template_kwargs"] == {"enable_thinking": False}
    thinking.setChecked(True)
    message = await room.ask("q")
    assert room.bodies()[-1]["chat_template_kwargs"] == {"enable_thinking": True}
    assert (message.text, message.thought) == ("The answer.", "Let me think.")
    view = room.page.transcript.messages[-1]
    assert (view.text, view.thought) == ("The answer.", "Let me think.")
    fold = part(room, ThemedButton, "message.thought.show")
    assert isinstance(fold, ThemedButton)
    assert not fold.isChecked()
    assert "Let me think." not in [message["content"] for message in room.asked()[-1]]


async def test_an_answer_that_ended_by_length_says_so_and_goes_on(room: Room) -> None:
    room.say(Answer(["Once upon"], finish="length"), Answer([" a time."]))
    length = room.page.options.findChild(QSpinBox, "chat.length")
    assert length is not None
    length.setValue(64)
    message = await room.ask("A story")
    assert room.bodies()[-1]["max_tokens"] == 64
    assert message.can_continue
    assert "ended at the length limit" in figures(room)
    go_on = part(room, QAbstractButton, "message.continue")
    assert isinstance(go_on, QAbstractButton)
    message = await room.ended(go_on.click)
    assert message.text == "Once upon a time."
    assert message.finish == "stop"
    assert room.asked()[-1] == [
        {"role": "user", "content": "A story"},
        {"role": "assistant", "content": "Once upon"},
    ]
    assert room.bodies()[-1]["continue_final_message"] is True
    assert room.shown() == ["A story", "Once upon a time."]
    assert message.figures.canvases == 2
    assert message.figures.completion_tokens == 4
    assert not go_on.isVisible()


async def test_no_limit_is_sent_unless_it_is_set(room: Room) -> None:
    await room.ask("q")
    assert "max_tokens" not in room.bodies()[-1]
    # What a diffusion model refuses does not exist in the window.
    assert not room.bodies()[-1].keys() & {"temperature", "seed", "min_p", "logit_bias", "response_format"}


async def test_stop_ends_the_request_and_keeps_what_came(room: Room) -> None:
    room.say(Answer(["half", "whole"], hold_after=1), Answer([" and more"]))
    grown = expect(room.chat.text_changed.connect)
    assert room.chat.send("q")
    await within(grown)
    assert room.script.running == 1
    message = await room.ended(room.chat.stop)
    await until(lambda: room.script.running == 0)
    assert (message.state, message.text) == ("stopped", "half")
    assert "stopped by you" in figures(room)
    message = await room.ended(lambda: room.chat.go_on(message.id))
    assert message.text == "half and more"


async def test_stop_before_the_first_canvas(room: Room) -> None:
    room.say(Answer(["never"], hold_after=0), Answer())
    taken = expect(room.chat.appended.connect)
    assert room.chat.send("q")
    await within(taken)
    await until(lambda: room.script.running == 1)
    message = await room.ended(room.chat.stop)
    assert (message.state, message.text) == ("stopped", "")
    assert not message.can_continue
    await room.ask("again")
    # An empty answer, and the question that got it, are not sent.
    assert [message["content"] for message in room.asked()[-1]] == ["again"]


@pytest.mark.parametrize("canvases", [(), ("half ",)])
async def test_an_engine_that_dies_leaves_what_came_and_a_way_on(room: Room, canvases: tuple[str, ...]) -> None:
    room.say(Answer(canvases, finish=None), Answer(["whole"]))
    message = await room.ask("q")
    assert message.state == "failed"
    assert message.text == "".join(canvases)
    failure = part(room, QFrame, "message.failure")
    assert isinstance(failure, QFrame)
    assert failure.isVisible()
    retry = part(room, QAbstractButton, "message.retry")
    assert isinstance(retry, QAbstractButton)
    message = await room.ended(retry.click)
    assert message.text == "whole"
    assert room.shown() == ["q", "whole"]
    assert message.versions == (2 if canvases else 1)  # an empty answer is replaced, a begun one is kept
    assert not room.page.transcript.messages[-1].findChildren(QFrame, "message.failure") or not failure.isVisible()


async def test_an_engine_that_goes_in_mid_answer_is_seen_again_after_a_restart(room: Room, rooms: Reopen) -> None:
    room.say(Answer(["half "], finish=None))
    await room.ask("q")
    again = await rooms()
    assert again.shown() == ["q", "half "]
    failure = part(again, QFrame, "message.failure")
    assert isinstance(failure, QFrame)
    assert failure.isVisible()


async def test_what_was_streaming_when_the_program_died_is_interrupted_and_goes_on(room: Room, rooms: Reopen) -> None:
    store = room.chat.store
    number = store.create()
    row = store.ask(number, None, "q", model="toy")
    store.save_text(row.id, "half").result()
    store.set_note("open", str(number))
    again = await rooms()
    assert again.shown() == ["q", "half"]
    assert "interrupted" in figures(again)
    again.say(Answer([" whole"]))
    go_on = part(again, QAbstractButton, "message.continue")
    assert isinstance(go_on, QAbstractButton)
    message = await again.ended(go_on.click)
    assert (message.text, message.state) == ("half whole", "done")


async def test_the_options_belong_to_the_conversation(room: Room, rooms: Reopen) -> None:
    room.page.set_system_prompt("Be brief.")
    await room.ask("q")
    first = room.chat.current
    assert room.asked()[-1][0] == {"role": "system", "content": "Be brief."}
    room.chat.open(None)
    assert room.page.options.options == ChatOptions()
    await room.ask("q")
    assert room.asked()[-1][0]["role"] == "user"
    again = await rooms()
    again.chat.open(first)
    assert again.page.options.options == ChatOptions("Be brief.")


async def test_a_full_disk_is_named_and_the_question_stays(room: Room) -> None:
    def fill(connection: sqlite3.Connection) -> None:
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count = {pages}")

    room.chat.store.transact(fill)
    question = "x" * 50_000
    room.page.composer.put(question)
    refused = expect(room.chat.refused.connect)
    idle = expect(room.chat.answering_changed.connect, lambda answering: not answering)
    room.page.composer.text.submitted.emit()
    (why,) = await within(refused)
    await within(idle)
    assert "no space left" in why
    assert room.page.composer.text.toPlainText() == question
    assert room.bodies() == []
    assert room.chat.store.conversations() == []  # no conversation without its first question
    await until(lambda: room.notices)  # the draft is too long as well
    assert "no space left" in room.notices[-1].text
    room.page.composer.put("")
