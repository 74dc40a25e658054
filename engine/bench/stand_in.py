"""A stand-in engine that answers at once, or after a fixed time: what remains of a run's time is ours.

    python -m engine.bench.stand_in FD [DELAY_S]

It speaks just enough HTTP/1.1 (keep-alive, Content-Length) on an inherited listening socket, as an asyncio protocol:
a web framework would be slower than what it is to measure.
"""

from __future__ import annotations

import asyncio
import json
import re
import signal
import socket
import sys
from collections.abc import Callable
from functools import lru_cache
from typing import Any

VOCABULARY = 262_144  # the released checkpoint's, which a reader guesses first
CANVAS = 256
_LENGTH = re.compile(rb"content-length:\s*(\d+)", re.IGNORECASE)
_PIECES = re.compile(r"<[^<>\s]*>|\w+|\s|.")
_READS = (b"/v1/chat/completions/render", b"/inference/v1/generate", b"/v1/systemone")
_HEAD_END = b"\r\n\r\n"
_PROMPT = list(range(1000, 1060))  # every prompt is 60 tokens long

_ids: dict[str, int] = {}


def tokens(text: str) -> list[int]:
    """One id for each special token, word, blank and mark; the same text has the same id until the process ends."""
    return [_ids.setdefault(piece, 2000 + len(_ids)) for piece in _PIECES.findall(text)]


@lru_cache(maxsize=1024)
def generated(label_ids: tuple[int, ...], count: int) -> bytes:
    """An answer to a read: the first label is all but sure at every slot."""
    top = [{"token_id": token, "logprob": -0.01 if at == 0 else -6.0} for at, token in enumerate(label_ids)]
    slot = {"token_id": label_ids[0], "logprob": -0.01, "top_logprobs": top}
    choice = {"token_ids": [label_ids[0]] * count, "logprobs": {"content": [slot] * count}}
    return json.dumps({"choices": [choice]}).encode()


@lru_cache(maxsize=1024)
def decided(questions: tuple[str, ...]) -> bytes:
    """An answer to a native read of yes/no questions: all but sure."""
    sure = {"type": "noul", "noul": 0.99, "probabilities": {"yes": 0.99, "no": 0.01}, "confidence": 0.98}
    seen = {"label_mass": 0.99, "argmax_is_label": True}
    usage = {"prompt_tokens": 60, "completion_tokens": 0, "total_tokens": 60}
    answers, diagnostics = dict.fromkeys(questions, sure), dict.fromkeys(questions, seen)
    return json.dumps({"model": "stand-in", "answers": answers, "diagnostics": diagnostics, "usage": usage}).encode()


def answer(path: bytes, body: bytes) -> tuple[int, bytes]:
    """Status and body for a request."""
    match path:
        case b"/inference/v1/generate":
            return _generate(json.loads(body))
        case b"/v1/chat/completions/render":
            return 200, json.dumps({"token_ids": _PROMPT}).encode()
        case b"/v1/systemone":
            return 200, decided(tuple(json.loads(body)["questions"]))
        case b"/tokenize":
            return 200, json.dumps({"tokens": tokens(json.loads(body)["prompt"])}).encode()
        case b"/v1/models":
            return 200, b'{"data": [{"id": "stand-in", "max_model_len": 4096}]}'
        case b"/health":
            return 200, b"{}"
        case _:
            return 404, b'{"error": {"message": "not here", "type": "NotFoundError", "code": 404}}'


def _generate(request: dict[str, Any]) -> tuple[int, bytes]:
    sampling = request["sampling_params"]
    seed = sampling["extra_args"]["diffusion_seed_canvas"]
    if max(seed) >= VOCABULARY or len(seed) > CANVAS:
        return 400, b'{"error": {"message": "out of range", "type": "BadRequestError", "code": 400}}'
    return 200, generated(tuple(sampling["logprob_token_ids"]), sampling["max_tokens"])


Answer = Callable[[bytes, bytes], tuple[int, bytes]]


class Connection(asyncio.Protocol):
    """One client: requests in, answers out, in order.

    Args:
        answer: status and body by path and body.
        delay_s: how long a read takes.
    """

    def __init__(self, answer: Answer = answer, delay_s: float = 0.0) -> None:
        self._asked, self._delay_s = answer, delay_s
        self._buffer = bytearray()
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        while (end := self._buffer.find(_HEAD_END)) >= 0:
            head = bytes(self._buffer[:end])
            found = _LENGTH.search(head)
            size = end + len(_HEAD_END) + (int(found[1]) if found else 0)
            if len(self._buffer) < size:
                return
            body = bytes(self._buffer[end + len(_HEAD_END) : size])
            del self._buffer[:size]
            path = head.split(b" ", 2)[1]
            status, found_body = self._asked(path, body)
            if self._delay_s and path in _READS:
                asyncio.get_running_loop().call_later(self._delay_s, self._answer, status, found_body)
            else:
                self._answer(status, found_body)

    def _answer(self, status: int, body: bytes) -> None:
        assert self._transport is not None
        head = f"HTTP/1.1 {status} -\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        self._transport.write(head.encode() + body)


async def serve(listener: socket.socket, answer: Answer = answer, delay_s: float = 0.0) -> None:
    """Serve until SIGTERM."""
    loop = asyncio.get_running_loop()
    stop = asyncio.Event()
    loop.add_signal_handler(signal.SIGTERM, stop.set)
    async with await loop.create_server(lambda: Connection(answer, delay_s), sock=listener):
        await stop.wait()


if __name__ == "__main__":
    delay = float(sys.argv[2]) if len(sys.argv) > 2 else 0.0
    asyncio.run(serve(socket.socket(fileno=int(sys.argv[1])), delay_s=delay))
