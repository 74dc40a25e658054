"""With real processes: stop in mid-canvas, the engine killed in mid-answer, the window killed with SIGKILL."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import aiohttp
import psutil
import pytest
from chat_driver import CHAT, Answer, Script
from desk_driver import WAIT_S, close, expect, kill_engine, load, make_desk, until, until_phase, within
from fakes.wire_server import WireServer
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.presenters.engine import EnginePresenter
from app.windows.desk import Desk
from engine import paths
from engine.errors import UserError
from engine.store.chats_exchange import as_json, import_json
from engine.store.chats_read import ChatReader
from engine.store.settings import Settings, save_settings
from engine.supervise.processes import child_environment

WINDOW = Path(__file__).with_name("chat_window.py")
LONG = "Tell me a long story about the sea."
RUNNING = re.compile(r"^vllm:num_requests_running\{[^}]*\} ([\d.]+)$", re.MULTILINE)


async def running(engine: EnginePresenter) -> float:
    """Requests that the engine is working on, as it says itself."""
    headers = {"Authorization": f"Bearer {engine.api_key}"}
    async with aiohttp.ClientSession(headers=headers) as session, session.get(f"{engine.url}/metrics") as answer:
        found = RUNNING.search(await answer.text())
    assert found is not None
    return float(found[1])


async def until_running(engine: EnginePresenter, count: float) -> None:
    async with asyncio.timeout(WAIT_S):
        while await running(engine) != count:
            pass


@pytest.fixture
def start() -> Iterator[Callable[[str], subprocess.Popen[str]]]:
    """Starts a window process; ended with the test, whatever it did."""
    started: list[subprocess.Popen[str]] = []

    def begin(question: str) -> subprocess.Popen[str]:
        environment = child_environment({"QT_QPA_PLATFORM": "offscreen"})
        command = [sys.executable, str(WINDOW), question]
        started.append(subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment))
        return started[-1]

    yield begin
    for process in started:
        process.kill()
        with process:  # waits, and closes the pipe
            pass


def heard(process: subprocess.Popen[str], event: str) -> dict[str, Any]:
    """What the window says, up to this event."""
    assert process.stdout is not None
    for line in process.stdout:
        said: dict[str, Any] = json.loads(line)
        if said["event"] == event:
            return said
    raise AssertionError(f"the window ended before {event}")


def kill(process: subprocess.Popen[str]) -> None:
    """As the out-of-memory killer would; its engine ends by itself."""
    family = psutil.Process(process.pid).children(recursive=True)
    process.kill()
    process.wait()
    _, alive = psutil.wait_procs(family, timeout=240)
    assert not alive


async def test_a_whole_day(
    start: Callable[[str], subprocess.Popen[str]], desk: Desk, qapp: QApplication, qtbot: QtBot, desk_home: Path
) -> None:
    """Two conversations, edit and branch, another answer, stop, an engine that dies, a window that dies in the midst
    of a third one; then everything is there, search finds it, and export and import give the same."""
    chat, engine = desk.chat, desk.engine
    assert chat is not None
    assert engine is not None
    first = await ended(desk, lambda: chat.send("What is a canvas?"))
    question = first.parent
    assert question is not None
    number = chat.current
    assert number is not None
    await ended(desk, lambda: chat.answer_again(first.id))
    await ended(desk, lambda: chat.edit(question, "What is a wombat?"))
    chat.open(None)
    await stopped_in_mid_canvas(desk)
    other = chat.current
    assert other is not None
    await killed_in_mid_answer(desk)
    before = as_json(chat.store, [number, other])
    chat.open(None)
    await close(desk)
    process = start(LONG)
    heard(process, "step")
    kill(process)
    again = make_desk(qapp, desk_home)
    await load(again)
    assert again.chat is not None
    assert as_json(again.chat.store, [number, other]) == before
    assert {hit.conversation for hit in again.chat.store.search("wombat")} == {number}
    asked, answer = again.chat.store.page(again.chat.tip)
    assert (asked.text, answer.state) == (LONG, "interrupted")
    assert again.chat.current not in (number, other, None)
    copies = import_json(again.chat.store, before.encode(), "x.json")
    assert as_json(again.chat.store, copies) == before
    await close(again)
    again.window.deleteLater()


async def ended(desk: Desk, begin: Callable[[], object]) -> Any:
    """Begins an answer and waits for its end; the message."""
    assert desk.chat is not None
    finished = expect(desk.chat.finished.connect)
    idle = expect(desk.chat.answering_changed.connect, lambda answering: not answering)
    assert begin() is not False
    (message,) = await within(finished)
    await within(idle)
    return message


async def stopped_in_mid_canvas(desk: Desk) -> None:
    chat, engine = desk.chat, desk.engine
    assert chat is not None
    assert engine is not None
    step = expect(chat.canvas_changed.connect)
    assert chat.send(LONG)
    await within(step)
    message = await ended(desk, chat.stop)
    assert message.state == "stopped"
    await until_running(engine, 0)


async def killed_in_mid_answer(desk: Desk) -> None:
    chat, engine = desk.chat, desk.engine
    assert chat is not None
    assert engine is not None
    step = expect(chat.canvas_changed.connect)
    finished = expect(chat.finished.connect)
    assert chat.send(LONG)
    await within(step)
    kill_engine(desk)
    (message,) = await within(finished)
    assert message.state == "failed"
    await until_phase(engine, "lost")
    engine.restart()
    await until_phase(engine, "ready")
    message = await ended(desk, lambda: chat.answer_again(message.id))
    assert message.state == "done"


async def test_a_window_killed_in_mid_canvas_has_the_question(
    start: Callable[[str], subprocess.Popen[str]], qapp: QApplication, qtbot: QtBot, desk_home: Path
) -> None:
    process = start(LONG)
    heard(process, "step")
    kill(process)
    desk = make_desk(qapp, desk_home)
    await load(desk)
    assert desk.chat is not None
    asked, answer = desk.chat.store.page(desk.chat.tip)
    assert asked.text == LONG
    assert answer.state == "interrupted"
    shown = desk.chat_page.transcript.messages
    assert [view.text for view in shown] == [LONG, answer.text]
    message = await ended(desk, lambda: desk.chat.answer_again(answer.id))  # type: ignore[union-attr]
    assert message.state == "done"
    await close(desk)
    desk.window.deleteLater()


async def test_a_window_killed_between_canvases_has_what_came(
    start: Callable[[str], subprocess.Popen[str]], qapp: QApplication, qtbot: QtBot, desk_home: Path
) -> None:
    script = Script([Answer(["The first canvas. ", "never"], hold_after=1), Answer(["The second."])])
    async with WireServer() as server:
        server.handlers[CHAT] = script.chat
        server.handlers["/tokenize"] = script.tokenize
        save_settings(paths.settings_file(), Settings(engine="url", engine_url=server.url))
        process = start(LONG)
        await until(lambda: stored_text() == "The first canvas. ")  # within a second of its arrival
        kill(process)
        await until(lambda: script.running == 0)
        desk = make_desk(qapp, desk_home)
        await load(desk)
        assert desk.chat is not None
        answer = desk.chat.store.page(desk.chat.tip)[-1]
        assert (answer.state, answer.text) == ("interrupted", "The first canvas. ")
        message = await ended(desk, lambda: desk.chat.go_on(answer.id))  # type: ignore[union-attr]
        assert (message.state, message.text) == ("done", "The first canvas. The second.")
        await close(desk)
        desk.window.deleteLater()


def stored_text() -> str:
    """The text of the newest message, as another process sees it."""
    try:
        with ChatReader(paths.chats_file()) as reader:
            found = [message for info in reader.conversations() for message in reader.tree(info.id)]
    except UserError:  # the window is about to make the file
        return ""
    return found[-1].text if found else ""
