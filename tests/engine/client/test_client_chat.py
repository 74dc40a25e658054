"""Chat as typed events, against a server on loopback that behaves and misbehaves."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path

import pytest
from aiohttp import web
from fakes.wire_server import WireServer, abort, delta, error, sse, streaming

from engine.client.http import EngineClient
from engine.client.live import LiveChannel
from engine.domain.chat import (
    CanvasCommitted,
    CanvasFrame,
    ChatEvent,
    Failed,
    Finished,
    Message,
    ThoughtCommitted,
    Usage,
)

CHAT = "/v1/chat/completions"
ASK = [Message("user", "hello")]
ROLE = {"choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}}]}
USAGE = {"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 9, "total_tokens": 12}}


@pytest.fixture
async def server() -> AsyncIterator[WireServer]:
    async with WireServer() as running:
        yield running


async def events(server: WireServer, **options: object) -> list[ChatEvent]:
    async with EngineClient(server.url) as client:
        return [event async for event in client.chat(ASK, **options)]  # type: ignore[arg-type]


def text_of(seen: list[ChatEvent]) -> str:
    return "".join(event.text for event in seen if isinstance(event, CanvasCommitted))


async def test_canvases_usage_and_end(server: WireServer) -> None:
    stream = sse(ROLE, delta("one "), delta("two", finish="stop"), USAGE, "[DONE]")
    server.handlers[CHAT] = streaming(*(stream[i : i + 7] for i in range(0, len(stream), 7)))
    seen = await events(server, max_tokens=20)
    assert seen[:3] == [CanvasCommitted("one ", 0), CanvasCommitted("two", 1), Usage(3, 9)]
    assert isinstance(seen[3], Finished)
    assert (seen[3].reason, seen[3].canvases) == ("stop", 2)
    body = server.bodies(CHAT)[0]
    assert body["stream"] is True
    assert body["max_tokens"] == 20
    assert body["chat_template_kwargs"] == {"enable_thinking": False}
    # What a diffusion model refuses is never sent.
    assert not body.keys() & {"temperature", "seed", "min_p", "logit_bias", "response_format", "prompt_logprobs"}


async def test_length_is_told_and_no_max_tokens_is_sent_unasked(server: WireServer) -> None:
    server.handlers[CHAT] = streaming(sse(delta("cut", finish="length"), "[DONE]"))
    seen = await events(server)
    assert isinstance(seen[-1], Finished)
    assert seen[-1].reason == "length"
    assert "max_tokens" not in server.bodies(CHAT)[0]


async def test_thoughts_stay_out_of_the_answer(server: WireServer) -> None:
    server.handlers[CHAT] = streaming(
        sse(delta(reasoning="hidden"), delta("<|chan"), delta("nel>secret<chan"), delta("nel|>answer <"), delta("b"))
        + sse(delta("", finish="stop"), "[DONE]")
    )
    seen = await events(server, thinking=True)
    assert text_of(seen) == "answer <b"
    # They come as events of their own, to be folded away.
    assert "".join(event.text for event in seen if isinstance(event, ThoughtCommitted)) == "hiddensecret"
    assert server.bodies(CHAT)[0]["chat_template_kwargs"] == {"enable_thinking": True}


async def test_an_answer_goes_on_where_it_ended(server: WireServer) -> None:
    server.handlers[CHAT] = streaming(sse(delta(" more", finish="stop"), "[DONE]"))
    assert text_of(await events(server, continue_last=True)) == " more"
    body = server.bodies(CHAT)[0]
    assert (body["add_generation_prompt"], body["continue_final_message"]) == (False, True)
    await events(server)
    assert not server.bodies(CHAT)[1].keys() & {"add_generation_prompt", "continue_final_message"}


async def test_held_back_text_is_not_lost_at_the_end(server: WireServer) -> None:
    server.handlers[CHAT] = streaming(sse(delta("2 <", finish="stop"), "[DONE]"))
    assert text_of(await events(server)) == "2 <"


async def test_an_engine_that_dies_in_mid_stream(server: WireServer) -> None:
    server.handlers[CHAT] = streaming(sse(ROLE, delta("kept <")), then=abort)
    seen = await events(server)
    assert text_of(seen) == "kept <"
    assert isinstance(seen[-1], Failed)
    assert seen[-1].code == "engine.unreachable"
    assert len(server.bodies(CHAT)) == 1  # a chat is never repeated


async def test_a_stream_that_ends_without_a_reason(server: WireServer) -> None:
    server.handlers[CHAT] = streaming(sse(ROLE, delta("half")))
    seen = await events(server)
    assert text_of(seen) == "half"
    assert isinstance(seen[-1], Failed)
    assert seen[-1].code == "engine.stream_broken"


@pytest.mark.parametrize("garbage", ["{not json", "[]", '"text"', '{"choices": 3}'])
async def test_garbage_is_a_failure_that_says_so(server: WireServer, garbage: str) -> None:
    server.handlers[CHAT] = streaming(sse(delta("kept"), garbage, "[DONE]"))
    seen = await events(server)
    assert text_of(seen) == "kept"
    assert isinstance(seen[-1], Failed)
    assert seen[-1].code == "engine.not_a_chat_stream"


async def test_an_error_in_mid_stream_and_an_odd_finish_reason(server: WireServer) -> None:
    failure = {"error": {"message": "EngineCore died", "type": "InternalServerError", "code": 500}}
    server.handlers[CHAT] = streaming(sse(delta("kept"), failure, "[DONE]"))
    seen = await events(server)
    assert isinstance(seen[-1], Failed)
    assert "EngineCore died" in seen[-1].message
    server.handlers[CHAT] = streaming(sse(delta("kept", finish="abort"), "[DONE]"))
    seen = await events(server)
    assert isinstance(seen[-1], Failed)
    assert "abort" in seen[-1].message


async def test_a_refusal_is_an_event_with_the_engines_words(server: WireServer) -> None:
    async def refuse(request: web.Request) -> web.Response:
        return error(400, "the prompt has 9000 tokens")

    server.handlers[CHAT] = refuse
    seen = await events(server)
    assert isinstance(seen[0], Failed)
    assert "9000 tokens" in seen[0].message
    assert "400" in seen[0].message


async def test_nobody_there_is_an_event() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        async with EngineClient(f"http://127.0.0.1:{taken.getsockname()[1]}") as client:
            seen = [event async for event in client.chat(ASK)]
    assert [type(event) for event in seen] == [Failed]


async def _left(server: WireServer) -> asyncio.Event:
    """An event that is set when the client closes the connection of a chat that never ends."""
    left = asyncio.Event()

    async def wait_for_the_end(request: web.Request) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            left.set()

    server.handlers[CHAT] = streaming(sse(delta("one")), then=wait_for_the_end)
    return left


@pytest.mark.parametrize("live", [False, True])
async def test_closing_the_iterator_closes_the_connection(server: WireServer, tmp_path: Path, live: bool) -> None:
    left = await _left(server)
    async with EngineClient(server.url) as client, LiveChannel(tmp_path / "live.sock") as channel:
        answer = client.chat(ASK, live=channel if live else None)
        assert await anext(answer) == CanvasCommitted("one", 0)
        await answer.aclose()
        async with asyncio.timeout(120):
            await left.wait()


@pytest.mark.parametrize("live", [False, True])
async def test_cancelling_the_reader_closes_the_connection(server: WireServer, tmp_path: Path, live: bool) -> None:
    left = await _left(server)
    started = asyncio.Event()
    async with EngineClient(server.url) as client, LiveChannel(tmp_path / "live.sock") as channel:

        async def consume() -> None:
            async with aclosing(client.chat(ASK, live=channel if live else None)) as answer:
                async for _ in answer:
                    started.set()

        async with asyncio.TaskGroup() as group:
            task = group.create_task(consume())
            await started.wait()
            task.cancel()
        async with asyncio.timeout(120):
            await left.wait()


async def test_frames_and_canvases_come_in_the_order_they_were_sent(server: WireServer, tmp_path: Path) -> None:
    async with EngineClient(server.url) as client, LiveChannel(tmp_path / "live.sock") as channel:

        async def answer(request: web.Request) -> web.StreamResponse:
            live_id = (await request.json())["vllm_xargs"]["dg_live"]
            response = web.StreamResponse()
            await response.prepare(request)
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as out:
                out.connect(str(channel.path))
                for canvas in range(2):
                    for step in range(3):
                        frame = {"id": live_id, "n": canvas * 3 + step + 1, "step": step, "converged": step == 2}
                        out.send(json.dumps(frame | {"argmax": [5, 6], "accepted": [True, False]}).encode())
                    await response.write(sse(delta(f"c{canvas}")))
            await response.write(sse(delta("", finish="stop"), "[DONE]"))
            return response

        server.handlers[CHAT] = answer
        seen = [event async for event in client.chat(ASK, live=channel)]
    kinds = [(event.number if isinstance(event, CanvasFrame) else type(event).__name__) for event in seen]
    assert [kind for kind in kinds if isinstance(kind, int)] == [1, 2, 3, 4, 5, 6]
    # A canvas never comes before the frames that led to it.
    assert kinds.index("CanvasCommitted") > kinds.index(3)
    assert kinds[-2:] == ["CanvasCommitted", "Finished"]
    assert channel.dropped == 0
