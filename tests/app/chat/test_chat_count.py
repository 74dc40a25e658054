"""Long conversations are counted slice by slice: the same tokens, in small requests, and the old ones only once."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from aiohttp import web
from fakes.wire_server import WireServer
from PySide6.QtWidgets import QApplication

from app.presenters.chat_answer import AnswerRun
from app.presenters.chat_count import SLICE, Asked, PathCounter, path_of
from app.tasks import spawn
from engine.client.http import EngineClient
from engine.client.live import LiveChannel
from engine.client.vocabulary import Vocabulary
from engine.domain.conversation import AnswerFigures, ChatOptions, sent_messages
from engine.domain.picture import Picture, StoredPicture
from engine.embedded.engine import EmbeddedEngine
from engine.embedded.server import create_app
from engine.paths import demo_model_dir
from engine.store.chats import ChatStore

FRAME, TURN = 7, 3  # tokens around a conversation, and around a message


async def tokenize(request: web.Request) -> web.Response:
    """A token a word, in a frame as a chat template has one."""
    body = await request.json()
    count = FRAME + sum(TURN + len(message["content"].split()) for message in body["messages"])
    return web.json_response({"tokens": [], "count": count, "max_model_len": 100_000})


@pytest.fixture
def store(tmp_path: Path) -> ChatStore:
    return ChatStore(tmp_path / "chats.sqlite")


def converse(store: ChatStore, turns: int, conversation: int | None = None, tip: int | None = None) -> tuple[int, int]:
    """Answered questions after ``tip``; each tenth got no answer, which leaves both out of what is sent."""
    conversation = store.create() if conversation is None else conversation
    for number in range(turns):
        answer = store.ask(conversation, tip, f"question {number} " + "word " * (number % 5))
        if number % 10 != 9:
            store.finish(answer.id, "an answer " * (1 + number % 3), "done", AnswerFigures())
        else:
            store.finish(answer.id, "", "failed", AnswerFigures(), error="it broke off")
        tip = answer.id
    assert tip is not None
    return conversation, tip


async def no_bytes(picture: StoredPicture) -> Picture:
    raise AssertionError(picture)


def sizes(server: WireServer) -> list[int]:
    """Messages of each request that counted."""
    return [len(body["messages"]) for body in server.bodies("/tokenize")]


async def test_a_long_path_is_counted_as_a_whole_would_be_and_grows_cheaply(store: ChatStore) -> None:
    conversation, tip = converse(store, 4 * SLICE)
    options = ChatOptions(system="be brief")
    async with WireServer() as server, EngineClient(server.url) as client:
        server.handlers["/tokenize"] = tokenize
        path = await path_of(store, tip)
        assert path == store.context(tip)
        counter = PathCounter(client, no_bytes)
        whole = await client.count(sent_messages(path, options))
        server.requests.clear()
        assert await counter.count(path, options) == whole
        assert len(sizes(server)) > 4
        assert max(sizes(server)) <= SLICE + 1  # the system prompt
        _conversation, tip = converse(store, 1, conversation, tip)
        path = await path_of(store, tip)
        whole = await client.count(sent_messages(path, options))
        server.requests.clear()
        assert await counter.count(path, options) == whole
        assert len(sizes(server)) <= 2  # the slice that grew, and the one that was the last before
        assert await counter.count(path, options, Asked("one two")) == whole + TURN + 2
    store.close()


async def test_the_slices_of_a_conversation_add_up_in_the_real_template(store: ChatStore) -> None:
    _conversation, tip = converse(store, 2 * SLICE)
    engine = await asyncio.to_thread(EmbeddedEngine.load, demo_model_dir())
    runner = web.AppRunner(create_app(engine), access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    host, port = runner.addresses[0][:2]
    path = await path_of(store, tip)
    try:
        async with EngineClient(f"http://{host}:{port}") as client:
            for options in (ChatOptions(), ChatOptions(system="Be brief.")):
                whole = await client.count(sent_messages(path, options))
                assert await PathCounter(client, no_bytes).count(path, options) == whole
    finally:
        await runner.cleanup()
        store.close()


async def test_a_question_that_waits_for_its_answer_counts_only_at_the_end(store: ChatStore) -> None:
    conversation, tip = converse(store, SLICE - 1)
    options = ChatOptions()
    async with WireServer() as server, EngineClient(server.url) as client:
        server.handlers["/tokenize"] = tokenize
        waiting = store.ask(conversation, tip, "a question that waits")
        path = await path_of(store, waiting.id)
        assert await PathCounter(client, no_bytes).count(path, options) == await client.count(
            sent_messages(path, options)
        )
    store.close()


async def test_what_stands_above_the_newest_cut_is_not_read(store: ChatStore) -> None:
    _conversation, tip = converse(store, 3 * SLICE)
    path = store.context(tip)
    questions = [message for message in path if message.role == "user"]
    store.cut(questions[10].id)
    store.cut(questions[2 * SLICE].id, summary="They talked.")
    assert await path_of(store, tip) == store.context(tip)
    assert (await path_of(store, tip))[0].summary == "They talked."
    assert await path_of(store, None) == []
    store.close()


async def test_an_answer_is_stopped_while_the_meaning_of_the_frames_is_still_loaded(
    store: ChatStore, tmp_path: Path, qapp: QApplication
) -> None:
    loading = asyncio.Event()

    async def never() -> Vocabulary | None:
        loading.set()
        await asyncio.Event().wait()
        return None

    _conversation, row = store.ask_first("hello", ChatOptions())
    run = AnswerRun(store, row, on_text=lambda _run: None, on_canvas=lambda _run, _picture: None)
    async with WireServer() as server, EngineClient(server.url) as client, LiveChannel(tmp_path / "live.sock") as live:
        task = spawn(qapp, run.stream(client, [], ChatOptions(), live, never), "answer")
        await loading.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert server.requests == []
    assert store.message(row.id).state == "stopped"
    store.close()
