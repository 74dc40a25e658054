"""What a server must answer before it counts as ready: its model, one chat, one read."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from aiohttp import web
from fakes.wire_server import WireServer, delta, sse, streaming

from engine.client.http import EngineClient
from engine.errors import EngineRefused, EngineUnreachable
from engine.supervise.vllm import check_server

CHAT = "/v1/chat/completions"
READ = {
    "answers": {"probe": {"type": "noul", "probabilities": {"yes": 0.5, "no": 0.5}}},
    "diagnostics": {"probe": {"label_mass": 0.9, "argmax_is_label": True}},
}


async def _read(_request: web.Request) -> web.Response:
    return web.json_response(READ)


@pytest.fixture
async def server() -> AsyncIterator[WireServer]:
    async with WireServer() as made:
        made.handlers["/v1/systemone"] = _read
        yield made


@pytest.mark.parametrize(
    "chunks",
    [
        (delta("Hello."), delta(finish="stop")),
        (delta(""), delta(finish="stop")),  # random weights write tokens that are not shown: seen on a real card
        (delta(finish="length"),),
        (delta(reasoning="A greeting."), delta(finish="length")),
    ],
    ids=["text", "nothing shown", "no delta at all", "thought alone"],
)
async def test_a_chat_that_ends_in_order_is_enough(server: WireServer, chunks: tuple[dict[str, object], ...]) -> None:
    server.handlers[CHAT] = streaming(sse(*chunks, "[DONE]"))
    async with EngineClient(server.url) as client:
        await check_server(client, "toy")
    assert [path for path, _ in server.requests] == [CHAT, "/v1/systemone"]


async def test_a_chat_that_breaks_off_is_not(server: WireServer) -> None:
    server.handlers[CHAT] = streaming(sse(delta("Hel")))
    async with EngineClient(server.url) as client:
        with pytest.raises(EngineUnreachable, match="the first chat failed: the answer broke off"):
            await check_server(client, "toy")


async def test_nor_is_a_server_of_another_model(server: WireServer) -> None:
    async with EngineClient(server.url) as client:
        with pytest.raises(EngineRefused, match="serves toy, not diffusiongemma"):
            await check_server(client, "diffusiongemma")
