"""A mixture of requests that nobody would send: chats and reads, half of them with frames, some broken off, while the
listener dies, stalls and comes back. Whatever happens to the frames, no request and no token may be lost.

Used by the contract tests, and by :mod:`tools.live_check` against a server on a GPU.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
import socket
import time
from collections import Counter, defaultdict
from collections.abc import Coroutine, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp

from engine.client.live import LiveChannel
from engine.domain.chat import CanvasFrame

CANCELLED, OPTED_IN, READS = 0.2, 0.5, 0.4  # shares
LABELS = (5, 9, 17, 33)


@dataclass
class Tally:
    """What the requests have come to.

    Attributes:
        lost: what went wrong, in words; empty when nothing did.
        frames, ends: that arrived; ends are those that say converged.
        matched: ends that are a canvas of their request, among those of requests that ran to their end.
        worst: largest difference of a read's log-probability from the first read's.
    """

    counts: Counter[str] = field(default_factory=Counter)
    lost: list[str] = field(default_factory=list)
    frames: int = 0
    ends: int = 0
    matched: int = 0
    worst: float = 0.0


class Stress:
    """One mixture against one server.

    Args:
        live: the socket that the server was started with.
        canvas, vocabulary: of the served model.
        prompt: token ids of a rendered prompt, for the reads.
        tolerance: of a read's log-probabilities; what else is in the batch moves their last digits.
    """

    def __init__(
        self,
        session: aiohttp.ClientSession,
        url: str,
        headers: dict[str, str],
        live: Path,
        *,
        canvas: int,
        vocabulary: int,
        prompt: Sequence[int],
        seed: int = 0,
        tolerance: float = 1e-4,
    ) -> None:
        self.tally = Tally()
        self._session, self._url, self._headers, self._live = session, url, headers, live
        self._canvas, self._vocabulary, self._prompt = canvas, vocabulary, list(prompt)
        self._random, self._tolerance = random.Random(seed), tolerance
        self._noise = [self._random.randrange(vocabulary) for _ in range(16)]
        self._expected: list[float] = []
        self._ends: dict[str, list[CanvasFrame]] = defaultdict(list)
        self._canvases: dict[str, list[list[int]]] = {}

    async def run(self, count: int, at_once: int, *, limit_s: float = 1e9) -> Tally:
        """Sends ``count`` requests, ``at_once`` in flight; after ``limit_s`` seconds no new ones."""
        self._expected = await self._read({})
        numbers, end = iter(range(count)), time.monotonic() + limit_s
        async with asyncio.TaskGroup() as group:
            listener = group.create_task(self._listen())
            async with asyncio.TaskGroup() as senders:
                for _ in range(at_once):
                    senders.create_task(self._send(numbers, end))
            listener.cancel()
        self._match()
        return self.tally

    async def _send(self, numbers: Iterator[int], end: float) -> None:
        for number in numbers:
            if time.monotonic() > end:
                return
            name = f"r{number}"
            extra: dict[str, Any] = {"dg_live": name} if self._random.random() < OPTED_IN else {}
            work = self._look(extra) if self._random.random() < READS else self._chat(name, extra)
            if self._random.random() < CANCELLED:
                await self._broken_off(work)
            else:
                try:
                    self.tally.counts[await work] += 1
                except (aiohttp.ClientError, TimeoutError, AssertionError, KeyError, IndexError) as error:
                    self.tally.lost.append(f"{name}: {type(error).__name__} {error}"[:200])

    async def _broken_off(self, work: Coroutine[Any, Any, str]) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._random.choice((0.0, 0.01, 0.05, 0.2))):
                await work
        self.tally.counts["cancelled"] += 1

    async def _chat(self, name: str, extra: dict[str, Any]) -> str:
        steps, tokens = self._random.randint(1, 4), self._random.randint(1, 2 * self._canvas)
        body = {
            "messages": [{"role": "user", "content": f"Hello! {name}"}],
            "max_tokens": tokens,
            "ignore_eos": True,
            "stream": True,
            "return_token_ids": True,
            "vllm_xargs": {**extra, "diffusion_max_steps": steps},
        }
        canvases: list[list[int]] = []
        reason, done = None, False
        async with self._session.post(f"{self._url}/v1/chat/completions", json=body, headers=self._headers) as answer:
            assert answer.status == 200, await answer.text()
            async for line in answer.content:
                if line.startswith(b"data: [DONE]"):
                    done = True
                elif line.startswith(b"data: "):
                    for choice in json.loads(line[6:]).get("choices", ()):
                        reason = choice.get("finish_reason") or reason
                        if choice.get("token_ids"):
                            canvases.append(choice["token_ids"])
        got = sum(map(len, canvases))
        assert (got, reason, done) == (tokens, "length", True), f"{got} of {tokens} tokens, {reason}, done {done}"
        self._canvases[name] = canvases
        return "chats"

    async def _look(self, extra: dict[str, Any]) -> str:
        found = await self._read(extra)
        worst = max(abs(one - other) for one, other in zip(found, self._expected, strict=True))
        self.tally.worst = max(self.tally.worst, worst)
        assert worst <= self._tolerance, f"a read differs by {worst}"
        return "reads"

    async def _read(self, extra: dict[str, Any]) -> list[float]:
        """Log-probabilities of the labels in the first slot of a seeded canvas."""
        body = {
            "token_ids": self._prompt,
            "sampling_params": {
                "max_tokens": 1,
                "logprobs": len(LABELS),
                "logprob_token_ids": list(LABELS),
                "extra_args": {
                    **extra,
                    "diffusion_seed_canvas": self._noise,
                    "diffusion_canvas_length": len(self._noise),
                    "diffusion_max_steps": 1,
                    "diffusion_read_only": 1,
                },
            },
        }
        async with self._session.post(f"{self._url}/inference/v1/generate", json=body, headers=self._headers) as answer:
            assert answer.status == 200, await answer.text()
            top = (await answer.json())["choices"][0]["logprobs"]["content"][0]["top_logprobs"]
        found = {entry["token_id"]: entry["logprob"] for entry in top}
        # 0.32 leaves one of the labels out when the argmax is none of them.
        return [found[label] for label in LABELS if label in found]

    async def _listen(self) -> None:
        """Listens for a while, stalls for a while, is away for a while."""
        while True:
            async with LiveChannel(self._live) as channel:
                channel._hand_out = self._take  # type: ignore[method-assign]  # of every request, whatever its name
                await asyncio.sleep(self._random.uniform(0.2, 1.0))
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as deaf:
                deaf.bind(str(self._live))
                await asyncio.sleep(self._random.uniform(0.0, 0.3))
            await asyncio.sleep(self._random.uniform(0.0, 0.3))  # its file is left behind

    def _take(self, data: bytes) -> None:
        told = json.loads(data)
        frame = CanvasFrame(
            *(told["id"], told["n"], told["step"], told["converged"], tuple(told["argmax"]), tuple(told["accepted"]))
        )
        self.tally.frames += 1
        if frame.converged:
            self._ends[frame.request].append(frame)

    def _match(self) -> None:
        for name, ends in self._ends.items():
            self.tally.ends += len(ends)
            canvases = self._canvases.get(name)
            for end in ends if canvases else ():
                if any(list(end.argmax[: len(canvas)]) == canvas for canvas in canvases or ()):
                    self.tally.matched += 1
                else:
                    self.tally.lost.append(f"{name}: the end of frame {end.number} is none of its canvases")
