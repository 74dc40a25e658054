"""Whether an engine sees: asked through /render, else by counting, else unknown."""

from __future__ import annotations

import pytest
from aiohttp import web
from fakes.seeing_engine import png, seeing_engine
from fakes.wire_server import WireServer

from engine.client.http import EngineClient
from engine.client.sight import blind, find_sight, picture_tokens, probe_picture
from engine.domain.chat import CanvasCommitted, Finished, Message
from engine.domain.picture import Sight
from engine.errors import EngineRefused, EngineUnreachable
from engine.pictures import picture_of


def answering(status: int, body: object) -> object:
    async def handler(request: web.Request) -> web.Response:
        return web.json_response(body, status=status)

    return handler


def error(status: int, message: str) -> object:
    return answering(status, {"error": {"message": message, "type": "x", "code": status}})


RENDER, TOKENIZE = "/v1/chat/completions/render", "/tokenize"
PLACES = {"mm_placeholders": {"image": [{"offset": 4, "length": 258}]}, "mm_hashes": {"image": ["a"]}}


async def sight_of(**handlers: object) -> Sight:
    async with WireServer() as server:
        for name, handler in handlers.items():
            server.handlers[RENDER if name == "render" else TOKENIZE] = handler  # type: ignore[assignment]
        async with EngineClient(server.url) as client:
            return await find_sight(client)


async def test_an_engine_that_sees_says_what_a_picture_costs() -> None:
    assert await sight_of(render=answering(200, {"token_ids": [1], "features": PLACES})) == Sight("yes", tokens=258)
    async with seeing_engine() as seeing, EngineClient(seeing.url) as client:
        assert await find_sight(client) == Sight("yes", tokens=5)
        assert seeing.tensors == 0


@pytest.mark.parametrize("features", [None, {}, {"mm_placeholders": {}}, {"mm_placeholders": {"image": []}}])
async def test_an_engine_that_leaves_pictures_out_does_not_see(features: object) -> None:
    found = await sight_of(render=answering(200, {"token_ids": [1], "features": features}))
    assert (found.sees, found.tokens) == ("no", None)
    assert "leaves pictures out" in found.why


async def test_a_refusal_is_told_in_the_engines_words() -> None:
    found = await sight_of(render=error(400, "At most 0 image(s) may be provided in one prompt."))
    assert found == Sight("no", "it says: At most 0 image(s) may be provided in one prompt.")
    assert "At most 0 image" in str(blind(found))


@pytest.mark.parametrize("status", [403, 404, 405, 501])
async def test_without_render_the_engine_is_asked_to_count(status: int) -> None:
    async def counts(request: web.Request) -> web.Response:
        content = (await request.json())["messages"][0]["content"]
        return web.json_response({"count": 9 if isinstance(content, str) else 75, "tokens": []})

    render = error(status, "x")
    assert await sight_of(render=render, tokenize=counts) == Sight("yes", tokens=66)
    assert (await sight_of(render=render, tokenize=answering(200, {"count": 9}))).sees == "no"
    assert (await sight_of(render=render, tokenize=error(400, "no pictures"))).why == "it says: no pictures"
    assert (await sight_of(render=render, tokenize=error(404, "x"))).sees == "unknown"


async def test_a_failing_engine_is_unknown_and_a_wrong_key_an_error() -> None:
    found = await sight_of(render=error(500, "out of memory"))
    assert (found.sees, "out of memory" in found.why) == ("unknown", True)
    with pytest.raises(EngineRefused, match="401"):
        await sight_of(render=answering(401, {"error": "Unauthorized"}))
    async with WireServer() as server:
        url = server.url
    async with EngineClient(url) as client:
        with pytest.raises(EngineUnreachable):
            await find_sight(client)


async def test_a_picture_goes_through_a_chat_and_is_counted() -> None:
    red = picture_of(png("red"), "red.png")
    async with seeing_engine() as seeing, EngineClient(seeing.url) as client:
        assert await picture_tokens(client, red) == 3
        seeing.asked.clear()
        messages = [Message("system", "Be brief."), Message("user", "Which colour?", (red,))]
        events = [event async for event in client.chat(messages, max_tokens=8)]
        assert isinstance(events[-1], Finished)
        assert any(isinstance(event, CanvasCommitted) for event in events)
        ((path, body),) = seeing.asked
        assert path == "/v1/chat/completions"
        assert body["messages"] == [
            {"role": "system", "content": "Be brief."},
            {
                "role": "user",
                "content": [
                    {"type": "image_url", "image_url": {"url": red.data_url}},
                    {"type": "text", "text": "Which colour?"},
                ],
            },
        ]


def test_the_probe_is_a_picture() -> None:
    assert (probe_picture().kind, probe_picture().width, probe_picture().height) == ("png", 64, 64)
