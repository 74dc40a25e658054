"""A stand-in that sees, in the shapes of vLLM 0.33: the toy engine behind a front that tells it in words what a
picture's colour is.

It is no vision model. What it checks is the wire: data URLs in content parts and ``images``; a rendered prompt with a
range of places for every picture; token ids that come back with one place and the picture itself for each.
"""

from __future__ import annotations

import base64
import hashlib
import json
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web

from engine.client.sight import square
from engine.embedded.engine import EmbeddedEngine
from engine.embedded.server import create_app
from engine.paths import demo_model_dir

COLOURS = {"red": (255, 0, 0), "green": (0, 160, 0), "blue": (0, 0, 255), "grey": (128, 128, 128)}
PLACE, PLACES = "<|image|>", 3
BEGIN, END = 4093, 4094  # ids of the marks around the places of a picture, as Gemma has them
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


def png(colour: str, side: int = 8) -> bytes:
    """A square of one colour."""
    return square(COLOURS[colour], side)


class _Refused(Exception):
    """What the front answers with status 400."""


class SeeingEngine:
    """The server.

    Attributes:
        url: where it listens.
        asked: (path, body) of every request with pictures, as it came.
        tensors: how often the tensors of pictures were asked for.
        breaks: hashes of pictures that the engine cannot read.
    """

    def __init__(self, engine: EmbeddedEngine) -> None:
        self.url = ""
        self.asked: list[tuple[str, dict[str, Any]]] = []
        self.tensors = 0
        self.breaks: set[str] = set()
        self._engine = engine
        self._place = engine.tokenizer.encode(PLACE)[0]

    @web.middleware
    async def front(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """In front of the toy's own handlers."""
        if request.method != "POST":
            return await handler(request)
        body = json.loads(await request.read())
        changes = {
            "/v1/systemone": self._systemone,
            "/inference/v1/generate": self._generate,
            "/v1/chat/completions": self._chat,
        }
        try:
            if request.path in ("/v1/chat/completions/render", "/tokenize"):
                return await self._render(request, body, handler)
            if request.path in changes:
                changes[request.path](body)
        except _Refused as refused:
            error = {"message": str(refused), "type": "BadRequestError", "param": None, "code": 400}
            return web.json_response({"error": error}, status=400)
        return await handler(_with_body(request, body))

    def _systemone(self, body: dict[str, Any]) -> None:
        if images := body.pop("images", None):
            self._note("/v1/systemone", {**body, "images": images})
            words = " ".join(self._words(self._picture(url)) for url in images)
            body["state"] = f"{words}\n{body['state']}"

    def _chat(self, body: dict[str, Any]) -> None:
        if any(_urls(body)):
            self._note("/v1/chat/completions", json.loads(json.dumps(body)))
        _in_words(body, lambda url: self._words(self._picture(url)))

    async def _render(self, request: web.Request, body: dict[str, Any], handler: Handler) -> web.StreamResponse:
        pictures = [self._picture(url) for url in _urls(body)]
        payload = body.pop("mm_payload", "tensors")
        if pictures:
            self._note(request.path, json.loads(json.dumps(body)))
        _in_words(body, lambda _url: PLACE * PLACES)
        response = await handler(_with_body(request, body))
        if not pictures or not request.path.endswith("/render") or response.status != 200:
            return response
        assert isinstance(response, web.Response)
        assert isinstance(response.body, bytes)
        rendered = json.loads(response.body)
        ids = rendered["token_ids"]
        for at, start in enumerate(list(self._runs(ids))):
            begin = start + 2 * at
            ids[begin : begin + PLACES] = [BEGIN, *ids[begin : begin + PLACES], END]
        starts = [at for at, token in enumerate(ids) if token == BEGIN]
        whole = payload == "tensors"
        self.tensors += whole
        rendered["features"] = {
            "mm_hashes": {"image": [hashlib.sha256(data).hexdigest()[:16] for data in pictures]},
            "mm_placeholders": {"image": [{"offset": start, "length": PLACES + 2} for start in starts]},
            "kwargs_data": {"image": [base64.b64encode(data).decode() for data in pictures]} if whole else None,
            "mm_metadata": None,
        }
        return web.json_response(rendered)

    def _generate(self, body: dict[str, Any]) -> None:
        parts, ids = body.pop("content_parts", None), body["token_ids"]
        if {BEGIN, END} & set(ids) or "features" in body:
            raise _Refused("a prompt that is laid out already, which an engine would die of")
        starts = [at for at, token in enumerate(ids) if token == self._place]
        pictures = [self._picture(part["url"]) for part in parts or () if part["type"] == "image_url"]
        if len(starts) != len(pictures):
            raise _Refused(f"{len(starts)} places in token_ids, and {len(pictures)} pictures")
        if parts:
            self._note("/inference/v1/generate", {"content_parts": parts})
        for start, data in sorted(zip(starts, pictures, strict=True), reverse=True):
            ids[start : start + 1] = self._engine.tokenizer.encode(self._words(data))

    def _runs(self, ids: Sequence[int]) -> Iterator[int]:
        """Where the places of each picture begin."""
        at = 0
        while at < len(ids):
            if ids[at] == self._place:
                yield at
                at += PLACES
            else:
                at += 1

    def _words(self, data: bytes) -> str:
        if hashlib.sha256(data).hexdigest() in self.breaks:
            raise _Refused("cannot identify image file")
        at = data.index(b"IDAT")
        length = int.from_bytes(data[at - 4 : at], "big")
        pixel = tuple(zlib.decompress(data[at + 4 : at + 4 + length])[1:4])
        return next(f"The picture is {name}." for name, colour in COLOURS.items() if colour == pixel)

    @staticmethod
    def _picture(url: str) -> bytes:
        scheme, _, data = url.partition(";base64,")
        if not scheme.startswith("data:image/"):
            raise _Refused(f"{url[:40]} is no data URL: nothing is to be fetched")
        return base64.b64decode(data, validate=True)

    def _note(self, path: str, body: dict[str, Any]) -> None:
        self.asked.append((path, body))


@asynccontextmanager
async def seeing_engine() -> AsyncIterator[SeeingEngine]:
    """The server, listening."""
    engine = EmbeddedEngine.load(demo_model_dir())
    seeing = SeeingEngine(engine)
    app = create_app(engine)
    app.middlewares.insert(0, seeing.front)
    runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=1.0, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    host, port = runner.addresses[0][:2]
    seeing.url = f"http://{host}:{port}"
    try:
        yield seeing
    finally:
        await runner.cleanup()


def _with_body(request: web.Request, body: dict[str, Any]) -> web.Request:
    request._read_bytes = json.dumps(body).encode()
    return request


def _urls(body: dict[str, Any]) -> Iterator[str]:
    for message in body.get("messages") or ():
        if isinstance(message["content"], list):
            yield from (part["image_url"]["url"] for part in message["content"] if part["type"] == "image_url")


def _in_words(body: dict[str, Any], words: Callable[[str], str]) -> None:
    for message in body.get("messages") or ():
        if isinstance(message["content"], list):
            texts = [
                part["text"] if part["type"] == "text" else words(part["image_url"]["url"])
                for part in message["content"]
            ]
            message["content"] = "\n".join(texts)
