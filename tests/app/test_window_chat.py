"""Chat in the real window against the real embedded engine."""

from __future__ import annotations

from pathlib import Path

from desk_driver import answered, close, expect, kill_engine, make_desk, until_phase, within
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QFrame, QLabel, QPushButton
from pytestqt.qtbot import QtBot

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
        assert page.composer.text.toPlainText() == ""
    assert [view.role for view in page.transcript.messages] == ["user", "assistant"] * 2
    assert page.transcript.messages[2].text == "What is a canvas?"
    stored = chat.store.page(chat.tip)
    assert [message.state for message in stored] == ["done"] * 4
    assert [view.text for view in page.transcript.messages] == [message.text for message in stored]


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


async def test_figures_speak_of_wall_time_and_canvases_and_of_no_decode_rate(desk: Desk) -> None:
    assert desk.chat is not None
    ended = expect(desk.chat.finished.connect)
    await answered(desk.chat, "Hello!")
    (message,) = await within(ended)
    figures = message.figures
    assert figures.canvases >= 1
    assert figures.denoise_steps >= figures.canvases
    assert 0 < figures.first_canvas_s <= figures.seconds
    assert figures.prompt_tokens > 0
    assert figures.completion_tokens > 0
    line = desk.chat_page.transcript.messages[-1].findChild(QLabel, "message.stats")
    assert line is not None
    for words in ("tokens/s wall", "canvas", "denoise steps per canvas", "first canvas after"):
        assert words in line.text()
    whole = desk.chat_page.findChild(QLabel, "chat.figures.words")
    assert whole is not None
    assert whole.text().startswith("1 answer  ·  ")
    assert desk.chat_page.figures.sparkline.values == (figures.tokens_per_second,)


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
    (message,) = await within(ended)
    await within(idle)
    assert message.state == "stopped"
    assert page.transcript.messages[1].text == message.text
    assert not page.composer.stop.isVisible()
    assert desk.engine is not None
    assert desk.engine.client is not None
    assert await desk.engine.client.health()


async def test_a_second_message_while_answering_is_kept_and_refused_kindly(desk: Desk, qtbot: QtBot) -> None:
    chat, page = desk.chat, desk.chat_page
    assert chat is not None
    started = expect(chat.appended.connect)
    ended = expect(chat.answering_changed.connect, lambda answering: not answering)
    assert chat.send(LONG)
    await within(started)
    qtbot.keyClicks(page.composer.text, "And then?")
    qtbot.keyClick(page.composer.text, Qt.Key.Key_Return)
    assert page.composer.text.toPlainText() == "And then?"
    hint = page.findChild(QLabel, "chat.hint")
    assert hint is not None
    assert "still arriving" in hint.text()
    chat.stop()
    await within(ended)
    assert len(page.transcript.messages) == 2


async def test_an_engine_that_dies_in_an_answer_leaves_it_with_a_retry(desk: Desk, qtbot: QtBot) -> None:
    chat, page, engine = desk.chat, desk.chat_page, desk.engine
    assert chat is not None
    assert engine is not None
    started = expect(chat.canvas_changed.connect)
    ended = expect(chat.finished.connect)
    assert chat.send(LONG)
    await within(started)
    kill_engine(desk)
    (message,) = await within(ended)
    assert message.state == "failed"
    assert message.error
    failure = page.transcript.messages[-1].findChild(QFrame, "message.failure")
    assert failure is not None
    assert failure.isVisible()
    await until_phase(engine, "lost")
    engine.restart()
    await until_phase(engine, "ready")
    again = page.transcript.messages[-1].findChild(QPushButton, "message.retry")
    assert again is not None
    ended = expect(chat.finished.connect)
    again.click()
    (message,) = await within(ended)
    assert message.state == "done"
    assert [view.role for view in page.transcript.messages] == ["user", "assistant"]
    assert page.transcript.messages[-1].text == message.text
    assert not failure.isVisible()


async def test_a_new_conversation_begins_empty_while_an_answer_elsewhere_goes_on(desk: Desk, qtbot: QtBot) -> None:
    chat, page = desk.chat, desk.chat_page
    assert chat is not None
    assert page.empty.isVisible()
    started = expect(chat.canvas_changed.connect)
    assert chat.send(LONG)
    await within(started)
    assert not page.empty.isVisible()
    first = chat.current
    ended = expect(chat.finished.connect)
    qtbot.keyClick(page.composer.text, Qt.Key.Key_N, Qt.KeyboardModifier.ControlModifier)
    assert page.empty.isVisible()
    assert page.transcript.messages == []
    assert chat.current is None
    assert not chat.answering
    (message,) = await within(ended)
    assert message.state == "done"
    chat.open(first)
    assert page.transcript.messages[-1].text == message.text


async def test_the_samples_and_shift_enter(desk: Desk, qtbot: QtBot) -> None:
    chat, page = desk.chat, desk.chat_page
    assert chat is not None
    qtbot.keyClicks(page.composer.text, "one")
    qtbot.keyClick(page.composer.text, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    qtbot.keyClicks(page.composer.text, "two")
    assert page.composer.text.toPlainText() == "one\ntwo"
    assert chat.current is None
    ended = expect(chat.answering_changed.connect, lambda answering: not answering)
    page.empty.chosen.emit("What is a diffusion model?")
    await within(ended)
    assert page.transcript.messages[0].text == "What is a diffusion model?"


async def test_without_frames_the_steps_come_from_the_counters(desk: Desk) -> None:
    """As from a server at an address, which sends no frames to us."""
    assert desk.engine is not None
    assert desk.chat is not None
    live, desk.engine.live = desk.engine.live, None
    finished = expect(desk.chat.finished.connect)
    await answered(desk.chat, "Hello!")
    (message,) = await within(finished)
    assert message.figures.steps_per_canvas is not None
    assert message.figures.steps_per_canvas >= 1
    desk.engine.live = live


async def test_the_system_prompt_goes_first(desk: Desk) -> None:
    chat = desk.chat
    assert chat is not None
    finished = expect(chat.finished.connect)
    await answered(chat, "Hello!")
    (plain,) = await within(finished)
    chat.open(None)
    desk.chat_page.set_system_prompt("Be brief.")
    finished = expect(chat.finished.connect)
    await answered(chat, "Hello!")
    (prompted,) = await within(finished)
    assert prompted.figures.prompt_tokens > plain.figures.prompt_tokens
    assert chat.store.conversation(chat.current or 0).options.system == "Be brief."


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
