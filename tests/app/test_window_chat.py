"""Chat in the real window against the real embedded engine."""

from __future__ import annotations

from pathlib import Path

from desk_driver import answered, close, expect, kill_engine, make_desk, until_phase, within
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QFrame, QLabel, QPushButton
from pytestqt.qtbot import QtBot

from app.presenters.chat import ChatPresenter
from app.presenters.engine import EngineChoice, EnginePresenter
from app.widgets.transcript import SHOWN, Transcript
from app.windows.desk import Desk

LONG = "Tell me a long story about the sea."


async def test_two_turns_end_to_end(desk: Desk, qtbot: QtBot) -> None:
    chat, page = desk.chat, desk.chat_page
    assert chat is not None
    for number, question in enumerate(("Hello!", "What is a canvas?"), start=1):
        ended = expect(chat.answering_changed.connect, lambda answering: not answering)
        qtbot.keyClicks(page.composer.text, question)
        qtbot.keyClick(page.composer.text, Qt.Key.Key_Return)
        await within(ended)
        assert len(page.transcript.messages) == 2 * number
    assert [message.role for message in page.transcript.messages] == ["user", "assistant"] * 2
    assert page.transcript.messages[2].text == "What is a canvas?"
    assert [turn.state for turn in chat.turns] == ["done", "done"]
    assert page.transcript.messages[3].text == chat.turns[1].answer
    assert [message.role for message in chat.messages()] == [
        "user",
        *(["assistant", "user"] if chat.turns[0].answer else []),
        *(["assistant"] if chat.turns[1].answer else []),
    ]


async def test_the_canvas_is_shown_and_can_be_replayed(desk: Desk) -> None:
    assert desk.chat is not None
    await answered(desk.chat, "Hello!")
    canvas = desk.chat_page.canvas
    assert canvas.isVisible()
    assert canvas.steps >= 1
    last = canvas.shown
    assert last is not None
    assert last.converged
    canvas.show_step(0)
    assert canvas.shown is not None
    assert (canvas.shown.canvas, canvas.shown.step) == (1, 1)


async def test_stats_speak_of_wall_time_and_canvases_and_of_no_decode_rate(desk: Desk) -> None:
    assert desk.chat is not None
    ended = expect(desk.chat.finished.connect)
    await answered(desk.chat, "Hello!")
    stats, stopped = await within(ended)
    assert not stopped
    assert stats.canvases >= 1
    assert stats.steps_per_canvas >= 1
    assert stats.context_total
    assert stats.context_used > 0
    line = desk.chat_page.transcript.messages[-1].findChild(QLabel, "message.stats")
    assert line is not None
    assert "denoise steps per canvas" in line.text()
    assert "canvas" in line.text()


async def test_escape_stops_and_what_arrived_stays(desk: Desk, qtbot: QtBot) -> None:
    chat, page = desk.chat, desk.chat_page
    assert chat is not None
    started = expect(chat.canvas_changed.connect)
    ended = expect(chat.finished.connect)
    idle = expect(chat.answering_changed.connect, lambda answering: not answering)
    assert chat.send(LONG)
    assert page.composer.stop.isVisible()
    await within(started)
    qtbot.keyClick(page.composer.text, Qt.Key.Key_Escape)
    _stats, stopped = await within(ended)
    await within(idle)
    assert stopped
    assert chat.turns[0].state == "stopped"
    assert page.transcript.messages[1].text == chat.turns[0].answer
    assert not page.composer.stop.isVisible()
    assert desk.engine is not None
    assert desk.engine.client is not None
    assert await desk.engine.client.health()


async def test_a_second_message_while_answering_is_kept_and_refused_kindly(desk: Desk, qtbot: QtBot) -> None:
    chat, page = desk.chat, desk.chat_page
    assert chat is not None
    ended = expect(chat.answering_changed.connect, lambda answering: not answering)
    assert chat.send(LONG)
    qtbot.keyClicks(page.composer.text, "And then?")
    qtbot.keyClick(page.composer.text, Qt.Key.Key_Return)
    assert page.composer.text.toPlainText() == "And then?"
    hint = page.findChild(QLabel, "chat.hint")
    assert hint is not None
    assert "still arriving" in hint.text()
    chat.stop()
    await within(ended)
    assert len(chat.turns) == 1


async def test_an_engine_that_dies_in_an_answer_leaves_it_with_a_retry(desk: Desk, qtbot: QtBot) -> None:
    chat, page, engine = desk.chat, desk.chat_page, desk.engine
    assert chat is not None
    assert engine is not None
    started = expect(chat.canvas_changed.connect)
    failed = expect(chat.failed.connect)
    assert chat.send(LONG)
    await within(started)
    kill_engine(desk)
    message, _remedy = await within(failed)
    assert message
    assert chat.turns[0].state == "failed"
    await until_phase(engine, "lost")
    engine.restart()
    await until_phase(engine, "ready")
    ended = expect(chat.finished.connect)
    page.transcript.retry.emit()
    await within(ended)
    assert [turn.state for turn in chat.turns] == ["done"]
    assert [message.role for message in page.transcript.messages] == ["user", "assistant"]


async def test_a_new_conversation_begins_empty_and_ends_a_running_answer(desk: Desk, qtbot: QtBot) -> None:
    chat, page = desk.chat, desk.chat_page
    assert chat is not None
    assert page.empty.isVisible()
    assert chat.send(LONG)
    assert not page.empty.isVisible()
    cleared = expect(chat.cleared.connect)
    qtbot.keyClick(page.composer.text, Qt.Key.Key_N, Qt.KeyboardModifier.ControlModifier)
    await within(cleared)
    assert chat.turns == []
    assert not chat.answering
    assert page.empty.isVisible()
    assert page.transcript.messages == []


async def test_the_samples_and_shift_enter(desk: Desk, qtbot: QtBot) -> None:
    chat, page = desk.chat, desk.chat_page
    assert chat is not None
    qtbot.keyClicks(page.composer.text, "one")
    qtbot.keyClick(page.composer.text, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    qtbot.keyClicks(page.composer.text, "two")
    assert page.composer.text.toPlainText() == "one\ntwo"
    assert chat.turns == []
    ended = expect(chat.answering_changed.connect, lambda answering: not answering)
    page.empty.chosen.emit("What is a diffusion model?")
    await within(ended)
    assert chat.turns[0].question == "What is a diffusion model?"


async def test_a_question_longer_than_the_context_is_refused_in_words(desk: Desk) -> None:
    chat, page = desk.chat, desk.chat_page
    assert chat is not None
    failed = expect(chat.failed.connect)
    await answered(chat, "word " * 5000)
    message, _remedy = await within(failed)
    assert str(desk.engine.state.context if desk.engine else "") in message
    assert chat.turns[0].state == "failed"
    failure = page.transcript.messages[-1].findChild(QFrame, "message.failure")
    assert failure is not None
    assert failure.isVisible()
    await answered(chat, "Hello!")
    assert chat.turns[-1].state == "done"
    assert [message.content for message in chat.messages()[:1]] == ["Hello!"]


async def test_without_frames_the_steps_come_from_the_counters(desk: Desk) -> None:
    """As from a server at an address, which sends no frames to us."""
    assert desk.engine is not None
    engine = EnginePresenter(EngineChoice("url", desk.engine.url, desk.engine.api_key))
    await engine.start_now()
    chat = ChatPresenter(engine)
    finished = expect(chat.finished.connect)
    await answered(chat, "Hello!")
    stats, _stopped = await within(finished)
    assert stats.steps_per_canvas is not None
    assert stats.steps_per_canvas >= 1
    await chat.close_down()
    await engine.close_down()


def test_only_the_newest_messages_are_built_and_older_ones_come_back(qtbot: QtBot) -> None:
    transcript = Transcript()
    qtbot.addWidget(transcript)
    for number in range(SHOWN + 20):
        transcript.add("user", str(number))
    assert [message.text for message in transcript.messages] == [str(number) for number in range(20, SHOWN + 20)]
    more = transcript.findChild(QPushButton, "transcript.earlier")
    assert more is not None
    more.click()
    assert [message.text for message in transcript.messages] == [str(number) for number in range(SHOWN + 20)]


async def test_the_system_prompt_goes_first(desk: Desk) -> None:
    assert desk.chat is not None
    desk.chat_page.set_system_prompt("Be brief.")
    await answered(desk.chat, "Hello!")
    assert desk.chat.messages()[0].role == "system"
    assert desk.chat.messages()[0].content == "Be brief."


async def test_a_message_sent_too_early_is_kept_and_the_reason_goes_when_it_is_over(
    qapp: QApplication, qtbot: QtBot, desk_home: Path
) -> None:
    desk = make_desk(qapp, desk_home)
    status, hint = (desk.window.findChild(QLabel, name) for name in ("status.engine", "chat.hint"))
    assert status is not None
    assert hint is not None
    assert "stopped" not in status.text()  # nothing is known yet
    usual, loaded = hint.text(), expect(desk.loaded.connect)
    desk.window.show()
    await within(loaded)
    assert desk.engine is not None
    await until_phase(desk.engine, "starting")
    desk.chat_page.composer.put("Hello!")
    desk.chat_page.composer.text.submitted.emit()
    assert "starting" in hint.text()
    assert desk.chat_page.composer.text.toPlainText() == "Hello!"
    await until_phase(desk.engine, "ready")
    assert hint.text() == usual
    await close(desk)
    desk.window.deleteLater()
