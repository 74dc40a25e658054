"""The client's requests, errors and repeats, against a server on loopback."""

from __future__ import annotations

import asyncio
import json
import logging
import socket
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest
from aiohttp import web
from fakes.wire_server import Handler, WireServer, abort, error
from pydantic import ValidationError

from engine.client.http import EngineClient
from engine.client.wire import ChatRequest, QuestionSpec, SystemOneRequest
from engine.domain.chat import Message
from engine.errors import EngineRefused, EngineUnreachable, InputError

KEY = "sk-secret-do-not-print"


@pytest.fixture
async def server() -> AsyncIterator[WireServer]:
    async with WireServer() as running:
        yield running


def answering(*answers: web.Response | None) -> Handler:
    """Gives these answers in turn; None resets the connection; the last one stays."""
    left = list(answers)

    async def handle(request: web.Request) -> web.StreamResponse:
        answer = left.pop(0) if len(left) > 1 else left[0]
        if answer is None:
            await abort(request)
            return web.Response()
        return web.Response(body=answer.body, status=answer.status)

    return handle


async def test_models_health_tokens_and_render(server: WireServer) -> None:
    async with EngineClient(server.url) as client:
        assert await client.health()
        (card,) = await client.models()  # the unknown field "later" is tolerated
        assert (card.id, card.max_model_len, card.root) == ("toy", 2048, "/nowhere")
        ids = await client.tokenize("<|turn>yes no")
        assert await client.detokenize(ids) == "<|turn>yes no"
        prompt = await client.render([Message("user", "hello")])
        assert await client.detokenize(prompt) == "<bos><|turn>user\nhello<turn|>\n<|turn>model\n"
        assert server.bodies("/tokenize") == [{"prompt": "<|turn>yes no", "add_special_tokens": False}]


async def test_metrics_are_summed_over_engines_and_absent_ones_are_zero(server: WireServer) -> None:
    async def metrics(request: web.Request) -> web.Response:
        return web.Response(
            text="# HELP vllm:diffusion_num_denoising_steps_total x\n"
            'vllm:diffusion_num_denoising_steps_total{engine="0",model_name="a b"} 12.0\n'
            'vllm:diffusion_num_denoising_steps_total{engine="1",model_name="a b"} 1e1\n'
            "vllm:diffusion_num_committed_tokens_total 512\nother 1\n"
        )

    server.handlers["/metrics"] = metrics
    async with EngineClient(server.url) as client:
        found = await client.metrics()
    assert (found.denoise_steps, found.canvas_positions, found.committed_tokens) == (22, 0, 512)


@pytest.mark.parametrize("first", [None, error(502, "x"), error(503, "full"), error(504, "x"), error(529, "x")])
async def test_a_read_is_repeated_where_that_helps(server: WireServer, first: web.Response | None) -> None:
    server.handlers["/tokenize"] = answering(first, web.json_response({"tokens": [7]}))
    async with EngineClient(server.url) as client:
        assert await client.tokenize("x") == (7,)
    assert len(server.requests) == 2


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422, 429, 500, 501])
async def test_other_refusals_are_not_repeated(server: WireServer, status: int) -> None:
    server.handlers["/tokenize"] = answering(error(status, "because"))
    async with EngineClient(server.url) as client:
        with pytest.raises(EngineRefused, match="because") as caught:
            await client.tokenize("x")
    assert caught.value.status == status
    assert len(server.requests) == 1


async def test_repeats_end(server: WireServer) -> None:
    server.handlers["/tokenize"] = answering(error(503, "full"))
    async with EngineClient(server.url) as client:
        with pytest.raises(EngineRefused, match="full"):
            await client.tokenize("x")
    assert len(server.requests) == 4


async def test_nobody_there() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        async with EngineClient(f"http://127.0.0.1:{taken.getsockname()[1]}") as client:
            assert not await client.health()
            with pytest.raises(EngineUnreachable, match="see whether it is running"):
                await client.tokenize("x")


async def test_silence_is_a_timeout_and_not_repeated(server: WireServer) -> None:
    async def silent(request: web.Request) -> web.Response:
        await asyncio.Event().wait()
        return web.Response()

    server.handlers["/tokenize"] = silent
    async with EngineClient(server.url, timeout_s=1.0) as client:
        with pytest.raises(EngineUnreachable, match="in time") as caught:
            await client.tokenize("x")
    assert caught.value.code == "engine.timeout"
    assert len(server.requests) == 1


@pytest.mark.parametrize("body", [b"", b"<html>", b"[]", b'{"tokens": ["x"]}', b'{"tokens": [1'])
async def test_an_answer_of_another_shape(server: WireServer, body: bytes) -> None:
    server.handlers["/tokenize"] = answering(web.Response(body=body))
    async with EngineClient(server.url) as client:
        with pytest.raises(EngineRefused, match="/tokenize is not in the expected shape"):
            await client.tokenize("x")


async def test_the_key_is_sent_and_never_told(server: WireServer, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    server.handlers["/tokenize"] = answering(None, error(503, f"key {KEY}"), error(401, f"bad key {KEY}"))
    async with EngineClient(server.url, api_key=KEY) as client:
        with pytest.raises(EngineRefused) as caught:
            await client.tokenize("x")
        assert server.headers["Authorization"] == f"Bearer {KEY}"
    told = f"{caught.value} {caught.value.params} {caught.value.__cause__!r} {caught.value.__context__!r} {caplog.text}"
    assert KEY not in told
    assert "check the engine's API key" in str(caught.value)


async def test_a_plain_401_of_vllm(server: WireServer) -> None:
    server.handlers["/tokenize"] = answering(web.json_response({"error": "Unauthorized"}, status=401))
    async with EngineClient(server.url) as client:
        with pytest.raises(EngineRefused, match="401: Unauthorized"):
            await client.tokenize("x")


async def test_a_redirect_is_not_followed(server: WireServer) -> None:
    server.handlers["/tokenize"] = answering(web.Response(status=307))
    async with EngineClient(server.url, api_key=KEY) as client:
        with pytest.raises(EngineRefused, match="307"):
            await client.tokenize("x")


async def test_proxies_of_the_environment_are_not_used(server: WireServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    async with EngineClient(server.url) as client:
        assert await client.health()


async def test_sixty_four_reads_are_under_way_at_once(server: WireServer) -> None:
    everybody = asyncio.Barrier(64)

    async def meet(request: web.Request) -> web.Response:
        async with asyncio.timeout(120):
            await everybody.wait()
        return web.json_response({"tokens": [1]})

    server.handlers["/tokenize"] = meet
    async with EngineClient(server.url) as client, asyncio.TaskGroup() as group:
        tasks = [group.create_task(client.tokenize("x")) for _ in range(64)]
        await asyncio.gather(*tasks)
    assert server.most_under_way == 64


async def test_a_unix_socket(tmp_path: Path) -> None:
    async def health(request: web.Request) -> web.Response:
        return web.Response()

    app = web.Application()
    app.router.add_get("/health", health)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.UnixSite(runner, str(tmp_path / "e.sock")).start()
    async with EngineClient(f"unix:{tmp_path}/e.sock") as client:
        assert await client.health()
    await runner.cleanup()
    async with EngineClient(f"unix:{tmp_path}/e.sock") as client:
        with pytest.raises(EngineUnreachable, match="unix:"):
            await client.models()


@pytest.mark.parametrize("address", ["", "localhost:80", "ftp://x", "unix:relative", "http://", "http://[::"])
def test_addresses_that_are_none(address: str) -> None:
    with pytest.raises(InputError, match="not an engine's address"):
        EngineClient(address)


@pytest.mark.parametrize("key", ["", "a\nb", "schlüssel"])
def test_keys_that_no_header_can_carry(key: str) -> None:
    with pytest.raises(InputError) as caught:
        EngineClient("http://127.0.0.1:1", api_key=key)
    assert caught.value.code == "engine.bad_key"


async def test_credentials_in_the_address_are_not_told() -> None:
    client = EngineClient("http://user:hunter2@127.0.0.1:1/prefix")
    assert client.address == "http://127.0.0.1:1/prefix"
    await client.close()


def test_unknown_fields_are_forbidden_where_we_send() -> None:
    with pytest.raises(ValidationError, match="temperature"):
        ChatRequest.model_validate({"messages": [], "temperature": 0.7})
    with pytest.raises(ValidationError, match="samples"):
        SystemOneRequest.model_validate({"state": "", "questions": {}, "samples": 4})


def test_a_choice_without_description_is_null_on_the_wire() -> None:
    spec = QuestionSpec(type="choice", instructions="?", criteria={"a": None, "b": "text"})
    body = json.loads(SystemOneRequest(state="s", questions={"1": spec}).body())
    assert body == {
        "state": "s",
        "questions": {"1": {"type": "choice", "instructions": "?", "criteria": {"a": None, "b": "text"}}},
    }


def test_aiohttp_ignores_the_environment_unless_told() -> None:
    """The reason why ``trust_env=False`` is enough; a changed default of aiohttp must be seen."""
    assert aiohttp.ClientSession.__init__.__kwdefaults__["trust_env"] is False
