"""An engine that cannot be reached is told of in words, never by the name of a Python class."""

from __future__ import annotations

import asyncio
import re
import socket

import pytest
from aiohttp import web
from fakes.wire_server import WireServer, abort, delta, sse, streaming

from engine.client.http import EngineClient
from engine.domain.chat import Failed, Message
from engine.errors import EngineUnreachable

CHAT = "/v1/chat/completions"
CLASS = re.compile(r"Client\w+|\w+Error")


async def test_nobody_listens() -> None:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    async with EngineClient(f"http://127.0.0.1:{port}") as client:
        with pytest.raises(EngineUnreachable) as caught:
            await client.models()
    assert caught.value.message == f"no engine answers at http://127.0.0.1:{port}: connection refused"


async def test_a_name_that_is_none() -> None:
    async with EngineClient("http://no-such-host.invalid:8000") as client:
        with pytest.raises(EngineUnreachable, match="its name is not known"):
            await client.models()


async def test_a_socket_that_is_gone(tmp_path: object) -> None:
    async with EngineClient(f"unix:{tmp_path}/gone.sock") as client:
        with pytest.raises(EngineUnreachable, match="no such file or directory"):
            await client.models()


async def test_it_hangs_up_before_an_answer() -> None:
    async with WireServer() as server, EngineClient(server.url) as client:

        async def hang_up(request: web.Request) -> web.StreamResponse:
            await abort(request)
            await asyncio.Event().wait()
            raise AssertionError("never")

        server.handlers["/v1/models"] = hang_up
        with pytest.raises(EngineUnreachable) as caught:
            await client.models()
    assert "hung up" in caught.value.message
    assert not CLASS.search(caught.value.message)


async def test_it_breaks_off_in_the_middle_of_an_answer() -> None:
    async with WireServer() as server, EngineClient(server.url) as client:
        server.handlers[CHAT] = streaming(sse(delta("Once upon")), then=abort)
        events = [event async for event in client.chat([Message("user", "Hello.")])]
    failed = events[-1]
    assert isinstance(failed, Failed)
    assert not CLASS.search(failed.message)
    assert "no engine answers" in failed.message
