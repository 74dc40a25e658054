"""``bench engine``: how long the embedded engine takes for a read and for a canvas."""

from __future__ import annotations

import time

from engine.bench.result import BenchResult, Figure, middle
from engine.client.http import EngineClient
from engine.domain.chat import Finished, Message
from engine.domain.question import Noul
from engine.domain.reading import Method
from engine.errors import UserError
from engine.reads.prompt import alone_prompt
from engine.reads.reader import Reader
from engine.supervise.embedded import embedded_engine

PROMPTS = (60, 300)  # tokens
READS, CHATS = 30, 5
START_S = 2.0
QUESTION = Noul("late", "Is the parcel late?")


async def measure(reads: int = READS, chats: int = CHATS) -> BenchResult:
    """Reads one after the other, one draw each; then short chats, one after the other.

    Raises:
        UserError: the engine does not start or answer.
    """
    engine = embedded_engine()
    began = time.perf_counter()
    handle = await engine.start()
    figures = {"start": Figure(time.perf_counter() - began, "s", "at most", START_S)}
    try:
        async with EngineClient(handle.base_url, api_key=handle.api_key) as client:
            reader = await Reader.open(client, [QUESTION], Method(draws=1))
            for length in PROMPTS:
                state = await _state_of(client, length)
                figures[f"read_{length}_tokens"] = Figure(middle(await _reads(reader, state, reads)), "ms")
            figures["canvas"] = Figure(middle([await _canvas_seconds(client) for _ in range(chats)]), "s")
    finally:
        await engine.stop()
    return BenchResult("engine", figures)


async def _reads(reader: Reader, state: str, count: int) -> list[float]:
    """Milliseconds of each read; the state differs by its end, so no answer can be remembered."""
    took = []
    for number in range(count):
        began = time.perf_counter()
        await reader.read(f"{state} {number}", row_key=str(number))
        took.append((time.perf_counter() - began) * 1000)
    return took


async def _state_of(client: EngineClient, length: int) -> str:
    """A text with which the whole prompt has at least ``length`` tokens, and hardly more."""
    words = ["The parcel was sent on Monday and has not arrived yet."]
    while len(await client.render([Message("user", alone_prompt(" ".join(words), QUESTION))])) < length:
        words.append("It waits.")
    return " ".join(words)


async def _canvas_seconds(client: EngineClient) -> float:
    """Wall seconds per canvas of one short answer."""
    async for event in client.chat([Message("user", "Write a few sentences about rain.")], max_tokens=128):
        if isinstance(event, Finished) and event.canvases:
            return event.seconds / event.canvases
    raise UserError("bench.no_canvas", "the engine committed no canvas")
