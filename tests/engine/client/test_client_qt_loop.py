"""The client on qasync's loop, as the window uses it."""

from __future__ import annotations

import json
import socket
from pathlib import Path

import pytest
from aiohttp import web
from fakes.wire_server import WireServer, delta, sse

from engine.client.http import EngineClient
from engine.client.live import LiveChannel
from engine.domain.chat import CanvasCommitted, CanvasFrame, Finished, Message

CHAT = "/v1/chat/completions"


@pytest.mark.usefixtures("qapp")
async def test_chat_with_live_frames(tmp_path: Path) -> None:
    async with WireServer() as server, LiveChannel(tmp_path / "s") as live, EngineClient(server.url) as client:

        async def answer(request: web.Request) -> web.StreamResponse:
            live_id = (await request.json())["vllm_xargs"]["dg_live"]
            response = web.StreamResponse()
            await response.prepare(request)
            frame = {"id": live_id, "n": 1, "step": 1, "converged": True, "argmax": [1], "accepted": [True]}
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as out:
                out.connect(str(live.path))
                out.send(json.dumps(frame).encode())
            await response.write(sse(delta("hello", finish="stop"), "[DONE]"))
            return response

        server.handlers[CHAT] = answer
        seen = [event async for event in client.chat([Message("user", "hi")], live=live)]
        assert [type(event) for event in seen] == [CanvasFrame, CanvasCommitted, Finished]
        subscription = live.subscribe("a")
        await subscription.aclose()
