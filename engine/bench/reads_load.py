"""Reads for a server under load: made-up prompts of a known length, and how many a second are answered."""

from __future__ import annotations

import asyncio
import contextlib
import math
import random
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import aiohttp

from engine.bench.result import percentile
from engine.errors import UserError

GENERATE, NATIVE = "/inference/v1/generate", "/v1/systemone"
ALONE = 16  # canvas slots of a read of one question
ANSWERED = 2  # of them: the label and the end of turn, as vLLM's own reads ask
QUESTIONS = 24  # of a state
QUESTION_TOKENS = 40
JOINT = 128  # slots for 24 answer lines of four tokens, of which three quarters are answered
RAMP_S = 12.0  # at most, before a rate is taken
TEXT = (
    "the sea is calm today and a ship waits near the old harbour while men carry boxes of fruit up the stone steps "
    "under a grey sky with some rain"
)

Request = tuple[str, Any]
"""Path and JSON body."""


@dataclass(frozen=True, slots=True)
class Rate:
    """Answers of a while with a fixed number of requests in flight.

    Attributes:
        per_s: requests a second.
        middle_ms, high_ms: of the latencies, the median and the 99th percentile.
        count: answers that were counted.
    """

    per_s: float
    middle_ms: float
    high_ms: float
    count: int


@dataclass(slots=True)
class Prompts:
    """Requests that no earlier one shares a state with, unless it is said.

    Args:
        vocabulary: token ids that a prompt may hold.
        labels: two of them.
        tokens: of a state.
        joint_slots: of a canvas with all questions; at most the served canvas.
        words: of a text with so many tokens.
    """

    vocabulary: Sequence[int]
    labels: Sequence[int]
    tokens: int = 400
    joint_slots: int = JOINT
    words: int = 400
    _numbers: Iterator[int] = field(default_factory=lambda: iter(range(10**9)))

    def native(self) -> Request:
        """One question about a fresh text, as a foreign client asks."""
        source, words = random.Random(next(self._numbers)), TEXT.split()
        state = " ".join(source.choice(words) for _ in range(self.words))
        question = {"type": "noul", "instructions": "Is the sea calm?"}
        return NATIVE, {"state": state, "questions": {"q": question}}

    def fresh(self, *, read: bool = True) -> Request:
        """One question about a fresh state; not ``read``: the prompt, and next to nothing behind it."""
        return self._request(self._ids(next(self._numbers), self.tokens), read)

    def shared(self, *, read: bool = True) -> Request:
        """One of the 24 questions about a state that follow each other."""
        number = next(self._numbers)
        state = self._ids(number // QUESTIONS * QUESTIONS, self.tokens)
        return self._request(state + self._ids(-1 - number, QUESTION_TOKENS), read)

    def ceiling(self) -> Request:
        return self.fresh(read=False)

    def shared_ceiling(self) -> Request:
        return self.shared(read=False)

    def joint(self) -> Request:
        """All questions about a fresh state on one canvas."""
        ids = self._ids(next(self._numbers), self.tokens + QUESTIONS * QUESTION_TOKENS)
        return GENERATE, generate(ids, ids[: self.joint_slots], self.joint_slots * 3 // 4, self.labels)

    def mixed(self, number: int, *, stock: bool = False, salt: str = "") -> Request:
        """The same read for the same number: any width, answered slots and labels.

        Args:
            stock: it asks not to be taken by the fast path.
            salt: of the prefix cache; a read with another salt than an earlier one computes its whole prompt again.
        """
        source = random.Random(f"mixed {number}")
        width = source.choice((ALONE, ALONE, ALONE, 2 * ALONE, 4 * ALONE, self.joint_slots))
        answered = ANSWERED if width == ALONE else source.randrange(ANSWERED, width)
        labels = source.sample(self.vocabulary, source.choice((2, 2, 3, 5, 10, 26)))
        ids = [source.choice(self.vocabulary) for _ in range(source.randrange(40, self.tokens))]
        seed = [source.choice(self.vocabulary) for _ in range(width)]
        body = generate(ids, seed, answered, labels, **({"desk_stock": 1} if stock else {}))
        return GENERATE, {**body, "cache_salt": salt} if salt else body

    def _ids(self, number: int, count: int) -> list[int]:
        source = random.Random(number)
        return source.choices(self.vocabulary, k=count)

    def _request(self, ids: list[int], read: bool) -> Request:
        if read:
            return GENERATE, generate(ids, ids[:ALONE], ANSWERED, self.labels)
        return GENERATE, generate(ids, ids[:1], 1, ())


def generate(ids: list[int], seed: list[int], answered: int, labels: Sequence[int], **extra: int) -> dict[str, Any]:
    """A read-only look at a seeded canvas.

    Args:
        answered: slots of it that are answered.
        labels: ids whose log-probabilities are wanted; none of any for no ids.
    """
    seeded = {"diffusion_seed_canvas": seed, "diffusion_canvas_length": len(seed)}
    once = {"diffusion_max_steps": 1, "diffusion_read_only": 1}
    sampling: dict[str, Any] = {"max_tokens": answered, "extra_args": {**seeded, **once, **extra}}
    if labels:
        sampling |= {"logprobs": len(labels), "logprob_token_ids": list(labels)}
    return {"token_ids": ids, "sampling_params": sampling}


async def open_prompts(session: aiohttp.ClientSession, url: str, tokens: int, joint_slots: int) -> Prompts:
    """Prompts of ids that the server's own tokenizer gives."""

    async def ids_of(text: str) -> list[int]:
        async with session.post(f"{url}/tokenize", json={"prompt": text, "add_special_tokens": False}) as answer:
            found: list[int] = (await answer.json())["tokens"]
            return found

    words = TEXT.split()
    ids = await ids_of(" ".join(words[at % len(words)] for at in range(tokens)))
    more = await ids_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ abcdefghijklmnopqrstuvwxyz 0123456789")
    labels = [(await ids_of(text))[0] for text in ("A", "B")]
    return Prompts(sorted({*ids, *more}), labels, tokens, joint_slots, max(8, tokens * tokens // len(ids)))


@asynccontextmanager
async def in_flight(
    session: aiohttp.ClientSession, url: str, make: Callable[[], Request], count: int
) -> AsyncIterator[list[tuple[float, float]]]:
    """Keeps so many requests in flight from when as many have been answered, or ``RAMP_S`` have passed, to the end.

    Yields:
        when each was answered, and how long that took, in seconds; it grows.

    Raises:
        UserError: a request is refused.
    """
    done: list[tuple[float, float]] = []
    steady = asyncio.Event()

    async def ask() -> None:
        while True:
            path, body = make()
            began = time.perf_counter()
            await answer_of(session, url, path, body)
            done.append((time.perf_counter(), time.perf_counter() - began))
            if len(done) >= count:
                steady.set()

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(ask()) for _ in range(count)]
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(steady.wait(), RAMP_S)
        yield done
        for task in tasks:
            task.cancel()


async def rate_of(
    session: aiohttp.ClientSession, url: str, make: Callable[[], Request], count: int, seconds: float
) -> Rate:
    """How many are answered while ``count`` requests are in flight.

    Raises:
        UserError: a request is refused, or none is answered.
    """
    async with in_flight(session, url, make, count) as done:
        start = time.perf_counter()
        await asyncio.sleep(seconds)
        end = time.perf_counter()
    took = sorted(1e3 * latency for at, latency in done if start <= at <= end)
    if not took:
        raise UserError("bench.no_answer", "no read was answered within {seconds} s", seconds=round(seconds))
    return Rate(len(took) / (end - start), percentile(took, 0.5), percentile(took, 0.99), len(took))


async def answer_of(session: aiohttp.ClientSession, url: str, path: str, body: Any) -> Any:
    """The JSON of an answer.

    Raises:
        UserError: the server refuses.
    """
    async with session.post(url + path, json=body) as answer:
        if answer.status != 200:
            text = (await answer.text())[:300]
            raise UserError(
                "bench.refused", "{path} answered {status}: {text}", path=path, status=answer.status, text=text
            )
        return await answer.json()


@dataclass(frozen=True, slots=True)
class Difference:
    """Of the same reads, answered twice.

    Attributes:
        share: the largest of a label's share, over the labels of a slot.
        logprob: the largest of a label's log-probability, in nats.
        tokens: slots whose argmax differs.
        slots: that were compared.
        usual: root mean square of the labels' log-probabilities' differences, in nats.
    """

    share: float
    logprob: float
    tokens: int
    slots: int
    usual: float


def difference(one: Sequence[Any], other: Sequence[Any]) -> Difference:
    """Compares answers of ``/inference/v1/generate``, pair by pair.

    Raises:
        UserError: a pair has not the same slots and labels.
    """
    worst: Counter[str] = Counter()
    shares, logprobs = [0.0], [0.0]  # of no answers
    for left, right in zip(one, other, strict=True):
        slots = [answer["choices"][0]["logprobs"]["content"] for answer in (left, right)]
        if len(slots[0]) != len(slots[1]):
            one_slots, other_slots = map(len, slots)
            raise UserError("bench.slots", "a read answered {one} slots, and {other}", one=one_slots, other=other_slots)
        for first, second in zip(*slots, strict=True):
            pair = [{top["token_id"]: top["logprob"] for top in slot["top_logprobs"]} for slot in (first, second)]
            both = sorted(pair[0].keys() & pair[1].keys())
            worst["slots"] += 1
            worst["tokens"] += first["token_id"] != second["token_id"]
            if first["token_id"] == second["token_id"] and pair[0].keys() != pair[1].keys():
                raise UserError("bench.labels", "two answers to one read name other labels")
            logprobs += [abs(pair[0][label] - pair[1][label]) for label in both]
            parts = [_shares([labels[label] for label in both]) for labels in pair]
            shares += [abs(a - b) for a, b in zip(*parts, strict=True)]
    usual = math.sqrt(math.fsum(apart * apart for apart in logprobs) / max(len(logprobs) - 1, 1))
    return Difference(max(shares), max(logprobs), worst["tokens"], worst["slots"], usual)


def _shares(logprobs: Sequence[float]) -> list[float]:
    top = max(logprobs, default=0.0)
    weights = [math.exp(value - top) for value in logprobs]
    return [weight / sum(weights) for weight in weights]
