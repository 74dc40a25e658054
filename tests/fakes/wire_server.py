"""A stand-in engine on loopback that speaks vLLM's wire and misbehaves on request.

It has a small tokenizer of its own (words with their leading space, single digits and signs, Gemma's special tokens),
checks reads as vLLM does, and answers them with whatever distribution the test gives it.
"""

from __future__ import annotations

import asyncio
import json
import math
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from aiohttp import web

SPECIALS = ("<pad>", "<eos>", "<bos>", "<|turn>", "<turn|>", "<|channel>", "<channel|>")
_PIECE = re.compile("|".join(map(re.escape, SPECIALS)) + r"|\n| ?[A-Za-z]+| ?\d| ?[^\sA-Za-z\d]| ")

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
Distribution = Callable[[Sequence[int], Sequence[int], int], Mapping[int, float]]


class ToyTokenizer:
    """Ids are given out as pieces are met; ``split_labels`` are several tokens each."""

    def __init__(self, split_labels: Sequence[str] = ()) -> None:
        self.pieces: list[str] = list(SPECIALS)
        self._split = frozenset(split_labels)

    def encode(self, text: str) -> list[int]:
        return [self.id_of(part) for piece in _PIECE.findall(text) for part in self._parts(piece)]

    def decode(self, ids: Sequence[int]) -> str:
        return "".join(self.pieces[i] if i < len(self.pieces) else f"<{i}>" for i in ids)

    def id_of(self, piece: str) -> int:
        if piece not in self.pieces:
            self.pieces.append(piece)
        return self.pieces.index(piece)

    def _parts(self, piece: str) -> list[str]:
        return [*piece, "~"] if piece.strip() in self._split and piece not in SPECIALS else [piece]


class WireServer:
    """The server. Use as an async context manager.

    Attributes:
        url: where it listens.
        requests: (path, JSON body) of every POST, in order of arrival.
        headers: of the last request.
        handlers: path -> handler that takes over from the built-in one.
        distribution: (prompt ids, canvas, position) -> probability of token ids there; what is left goes to token 0.
        vocab_size, canvas_length, max_logprobs: limits that are enforced with status 400.
        truncates: cuts the logprobs as vLLM 0.32 does.
    """

    def __init__(self, tokenizer: ToyTokenizer | None = None) -> None:
        self.tokenizer = tokenizer or ToyTokenizer()
        self.requests: list[tuple[str, dict[str, Any]]] = []
        self.headers: Mapping[str, str] = {}
        self.handlers: dict[str, Handler] = {}
        self.distribution: Distribution = lambda prompt, canvas, position: {}
        self.vocab_size = 5000
        self.canvas_length = 64
        self.max_logprobs = 128
        self.truncates = False
        self.models: list[dict[str, Any]] = [{"id": "toy", "max_model_len": 2048, "root": "/nowhere", "later": 1}]
        self.under_way = self.most_under_way = 0
        self.url = ""

    async def __aenter__(self) -> WireServer:
        app = web.Application(client_max_size=2**24)
        app.router.add_route("*", "/{path:.*}", self._serve)
        self._runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0.1, access_log=None)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        host, port = self._runner.addresses[0][:2]
        self.url = f"http://{host}:{port}"
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self._runner.cleanup()

    def bodies(self, path: str) -> list[dict[str, Any]]:
        """The bodies that came to one path."""
        return [body for at, body in self.requests if at == path]

    async def _serve(self, request: web.Request) -> web.StreamResponse:
        self.headers = dict(request.headers)
        if request.method == "POST":
            self.requests.append((request.path, await request.json()))
        self.under_way += 1
        self.most_under_way = max(self.most_under_way, self.under_way)
        try:
            if (handler := self.handlers.get(request.path)) is not None:
                return await handler(request)
            return await self._builtin(request)
        finally:
            self.under_way -= 1

    async def _builtin(self, request: web.Request) -> web.StreamResponse:
        body = await request.json() if request.method == "POST" else {}
        match request.path:
            case "/health":
                return web.Response()
            case "/v1/models":
                return web.json_response({"object": "list", "data": self.models})
            case "/tokenize":
                return web.json_response({"tokens": self.tokenizer.encode(body["prompt"]), "count": 0})
            case "/detokenize":
                return web.json_response({"prompt": self.tokenizer.decode(body["tokens"])})
            case "/v1/chat/completions/render":
                return web.json_response({"token_ids": self.prompt_ids(body["messages"]), "request_id": "x"})
            case "/inference/v1/generate":
                await asyncio.sleep(0)
                return self.generate(body)
            case _:
                return error(404, "not found")

    def prompt_ids(self, messages: Sequence[Mapping[str, str]]) -> list[int]:
        turns = "".join(f"<|turn>{m['role']}\n{m['content']}<turn|>\n" for m in messages)
        return self.tokenizer.encode(f"<bos>{turns}<|turn>model\n")

    def generate(self, body: Mapping[str, Any]) -> web.Response:
        """A read, or the refusal that vLLM would give."""
        params, args = body["sampling_params"], body["sampling_params"]["extra_args"]
        canvas, ids = args["diffusion_seed_canvas"], params["logprob_token_ids"]
        checks = {
            "canvas too long": args["diffusion_canvas_length"] <= self.canvas_length,
            "wrong length": len(canvas) == args["diffusion_canvas_length"],
            "seed outside": all(0 <= token < self.vocab_size for token in canvas),
            "label outside": all(0 <= token < self.vocab_size for token in ids),
            "logprobs and ids differ": params["logprobs"] == len(ids),
            f"logprobs: at most {self.max_logprobs}": params["logprobs"] <= self.max_logprobs,
            "pinned outside": all(0 <= slot < len(canvas) for slot in args.get("diffusion_pinned", ())),
        }
        for problem, fine in checks.items():
            if not fine:
                return error(400, problem)
        wanted = min(params["max_tokens"], len(canvas))
        content = [self._slot(body["token_ids"], canvas, position, ids) for position in range(wanted)]
        choice = {"index": 0, "token_ids": [slot["token_id"] for slot in content], "logprobs": {"content": content}}
        return web.json_response({"request_id": "r", "choices": [choice], "output_mode": "tokens"})

    def _slot(self, prompt: Sequence[int], canvas: Sequence[int], position: int, ids: Sequence[int]) -> dict[str, Any]:
        shares = dict(self.distribution(prompt, canvas, position))
        shares[0] = shares.get(0, 0.0) + 1.0 - math.fsum(shares.values())
        best = max(shares, key=lambda token: shares[token])
        found = {token: math.log(max(shares.get(token, 0.0), 1e-30)) for token in dict.fromkeys([best, *ids])}
        entries = [{"token_id": token, "logprob": value} for token, value in found.items()]
        if self.truncates:
            entries = entries[: len(ids)]
        return {"token_id": best, "logprob": found[best], "rank": 1, "top_logprobs": entries}


def error(status: int, message: str) -> web.Response:
    """vLLM's error shape."""
    body = {"error": {"message": message, "type": "BadRequestError", "param": None, "code": status}}
    return web.json_response(body, status=status)


def sse(*chunks: Mapping[str, Any] | str) -> bytes:
    """Chunks as the bytes of an event stream."""
    texts = [chunk if isinstance(chunk, str) else json.dumps(chunk) for chunk in chunks]
    return "".join(f"data: {text}\n\n" for text in texts).encode()


def delta(content: str | None = None, *, finish: str | None = None, **more: Any) -> dict[str, Any]:
    """One chat chunk."""
    fields = {} if content is None else {"content": content}
    return {"choices": [{"index": 0, "delta": fields | more, "finish_reason": finish}]}


def streaming(*pieces: bytes, then: Callable[[web.Request], Awaitable[None]] | None = None) -> Handler:
    """A handler that writes pieces one by one, then does something: aborts the connection, waits for ever."""

    async def handle(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        for piece in pieces:
            await response.write(piece)
        if then is not None:
            await then(request)
        return response

    return handle


async def abort(request: web.Request) -> None:
    """Resets the connection, as a killed process does."""
    assert request.transport is not None
    request.transport.abort()
