"""A stand-in engine for the chat: canvases at a given rate with their denoise frames, or one short answer at once.

    python -m engine.bench.stand_in_chat FD SOCKET

FD is a listening socket; SOCKET is the Unix datagram socket of the live channel. A question that begins with
``stream`` gets canvases until its connection closes; any other gets one canvas without delay.
"""

from __future__ import annotations

import asyncio
import json
import random
import signal
import socket
import sys
from contextlib import suppress
from typing import Any

from aiohttp import web

RATE = 1100  # tokens a second
CANVAS = 256  # tokens
STEPS = 12  # denoise steps a canvas; DiffusionGemma needs about as many
TOY_OWNER = "diffusion-desk-embedded"  # whose vocabulary the window decodes with
VOCABULARY = 4096  # the demo model's, which the window decodes with
SHORT = "A short answer of one canvas, with **some** words and `code`."
WORDS = ("canvas", "noise", "settles", "token", "after", "token", "until", "the", "answer", "stands", "and", "goes")


class StandIn:
    """Answers chats; nothing else is asked of it in earnest."""

    def __init__(self, live: str) -> None:
        self._live = live
        self._random = random.Random(7)
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.setblocking(False)

    def app(self) -> web.Application:
        app = web.Application()
        app.router.add_get("/health", self._health)
        app.router.add_get("/v1/models", self._models)
        app.router.add_post("/v1/chat/completions", self._chat)
        return app

    async def _health(self, _request: web.Request) -> web.Response:
        return web.Response()

    async def _models(self, _request: web.Request) -> web.Response:
        return web.json_response({"data": [{"id": "stand-in", "max_model_len": 262_144, "owned_by": TOY_OWNER}]})

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        if body["messages"][-1]["content"].startswith("stream"):
            await self._stream(response, str((body.get("vllm_xargs") or {}).get("dg_live", "")))
        usage = {"choices": [], "usage": {"prompt_tokens": 10, "completion_tokens": 14}}
        for chunk in (_delta(SHORT), _delta("", "stop"), usage):
            await _send(response, chunk)
        await response.write(b"data: [DONE]\n\n")
        return response

    async def _stream(self, response: web.StreamResponse, live_id: str) -> None:
        """Canvases at ``RATE`` until the reader goes, which ends this coroutine."""
        frames = 0
        pause = CANVAS / RATE / STEPS
        while True:
            tokens = [self._random.randrange(VOCABULARY) for _ in range(CANVAS)]
            for step in range(1, STEPS + 1):
                frames += 1
                self._send_frame(live_id, frames, step, tokens)
                await asyncio.sleep(pause)
            await _send(response, _delta(self._paragraphs()))

    def _send_frame(self, live_id: str, number: int, step: int, tokens: list[int]) -> None:
        settled = CANVAS * step // STEPS
        argmax = [*tokens[:settled], *(self._random.randrange(VOCABULARY) for _ in range(CANVAS - settled))]
        frame = {
            "id": live_id,
            "n": number,
            "step": step,
            "converged": step == STEPS,
            "argmax": argmax,
            "accepted": [place < settled for place in range(CANVAS)],
            "entropy": [round(self._random.random() * 4, 3) for _ in range(CANVAS)],
        }
        with suppress(OSError):  # nobody listens yet, or the buffer is full: a frame is only a view
            self._socket.sendto(json.dumps(frame).encode(), self._live)

    def _paragraphs(self) -> str:
        """About as much text as a canvas holds, in short paragraphs."""
        words = [self._random.choice(WORDS) for _ in range(CANVAS * 3 // 4)]
        parts = [" ".join(words[start : start + 48]) for start in range(0, len(words), 48)]
        return ".\n\n".join(parts) + ".\n\n"


def _delta(text: str, finish: str | None = None) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": finish}]}


async def _send(response: web.StreamResponse, chunk: dict[str, Any]) -> None:
    await response.write(f"data: {json.dumps(chunk)}\n\n".encode())


async def _serve(listener: socket.socket, live: str) -> None:
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    runner = web.AppRunner(StandIn(live).app(), handler_cancellation=True, shutdown_timeout=0.1, access_log=None)
    await runner.setup()
    await web.SockSite(runner, listener).start()
    await stop.wait()
    await runner.cleanup()


if __name__ == "__main__":
    asyncio.run(_serve(socket.socket(fileno=int(sys.argv[1])), sys.argv[2]))
