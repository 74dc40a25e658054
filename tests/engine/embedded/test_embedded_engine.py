"""Many requests at once: nobody starves, nobody's numbers change, and a request that is given up costs nothing more."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from engine.embedded.engine import EmbeddedEngine
from engine.embedded.fairness import FairQueue
from engine.embedded.generate import Committed, GenerationRequest
from engine.embedded.model import Prefix
from engine.embedded.tokenizer import DemoTokenizer
from engine.errors import BugError, EngineUnreachable


def read_of(number: int) -> GenerationRequest:
    prompt = (2, 5, 300 + number, 301, 302, 6, 270)
    canvas = (number, 6, *[0] * 14)
    return GenerationRequest(
        prompt, 1, 16, seed_canvas=canvas, max_steps=1, read_only=True, ignore_eos=True, logprob_ids=(10, 20, 30)
    )


def chat_of(canvases: int, **options: Any) -> GenerationRequest:
    return GenerationRequest((2, 5, 300), 8 * canvases, 8, ignore_eos=True, random_seed=1, **options)


class GatedModel:
    """A scripted model whose denoise steps wait at a gate: the test says how many may pass."""

    def __init__(self, scripted: Any) -> None:
        self._model = scripted(3, [], max_model_len=4000)
        self.config = self._model.config
        self.gate = threading.Semaphore(0)
        self.arrived = threading.Semaphore(0)
        self.steps = 0

    def encode(self, ids: Any) -> Prefix:
        return self._model.encode(ids)

    def denoise(self, *arguments: Any) -> np.ndarray:
        self.arrived.release()
        assert self.gate.acquire(timeout=240)
        self.steps += 1
        return self._model.denoise(*arguments)

    def open(self) -> None:
        self.gate.release(1_000_000)


@pytest.fixture
def gated(scripted: Any, demo_tokenizer: DemoTokenizer) -> Iterator[tuple[EmbeddedEngine, GatedModel]]:
    model = GatedModel(scripted)
    engine = EmbeddedEngine(model, demo_tokenizer)  # type: ignore[arg-type]
    engine.start()
    yield engine, model
    model.open()
    engine.close()


def test_chats_and_reads_take_turns() -> None:
    queue: FairQueue[str] = FairQueue()
    for name in ("read 1", "read 2"):
        queue.add(name, is_read=True)
    for name in ("chat 1", "chat 2"):
        queue.add(name, is_read=False)
    assert [queue.next() for _ in range(4)] == ["chat 1", "read 1", "chat 1", "read 1"]
    queue.remove("read 1")
    queue.rotate("chat 1")
    assert [queue.next() for _ in range(4)] == ["chat 2", "read 2", "chat 2", "read 2"]
    queue.remove("read 2")
    assert [queue.next() for _ in range(2)] == ["chat 2", "chat 2"]
    queue.remove("chat 2")
    queue.remove("chat 2")
    queue.remove("chat 1")
    assert len(queue) == 0


def test_reads_alone_are_served_in_order() -> None:
    queue: FairQueue[int] = FairQueue()
    for number in range(3):
        queue.add(number, is_read=True)
    served = []
    while len(queue):
        served.append(queue.next())
        queue.remove(served[-1])
    assert served == [0, 1, 2]


async def test_thirty_two_reads_at_once_equal_the_same_reads_singly(demo_engine: EmbeddedEngine) -> None:
    singly = [await demo_engine.collect(read_of(number)) for number in range(32)]
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(demo_engine.collect(read_of(number))) for number in range(32)]
    assert [task.result() for task in tasks] == singly
    assert len({answer.logprobs for answer in singly}) == 32


async def test_a_wide_run_does_not_starve_a_chat(gated: tuple[EmbeddedEngine, GatedModel]) -> None:
    engine, model = gated
    order: list[str] = []

    async def wait_for(name: str, request: GenerationRequest) -> None:
        await engine.collect(request)
        order.append(name)

    async with asyncio.TaskGroup() as group:
        for number in range(32):
            group.create_task(wait_for(f"read {number}", read_of(number)))
        await asyncio.sleep(0)
        group.create_task(wait_for("chat", chat_of(2)))
        await asyncio.sleep(0)
        model.open()
    # The chat needs 6 units (2 canvases, each encoded and seen twice), a read 2: taking turns, 3 or 4 reads pass.
    assert order.index("chat") <= 5


def test_two_chats_take_turns_by_the_canvas(gated: tuple[EmbeddedEngine, GatedModel]) -> None:
    engine, model = gated
    order: list[str] = []
    done = threading.Semaphore(0)

    def follow(name: str) -> None:
        def deliver(outcome: Committed | BaseException) -> None:
            assert isinstance(outcome, Committed)
            order.append(name)
            if outcome.finish_reason is not None:
                done.release()

        engine.submit(chat_of(3), deliver)

    follow("a")
    assert model.arrived.acquire(timeout=240)
    follow("b")
    model.open()
    assert done.acquire(timeout=240)
    assert done.acquire(timeout=240)
    assert order == ["a", "b"] * 3


async def test_leaving_a_stream_ends_the_request(gated: tuple[EmbeddedEngine, GatedModel]) -> None:
    engine, model = gated
    model.gate.release(2)  # the first canvas
    async with contextlib.aclosing(engine.stream(chat_of(400))) as stream:
        await anext(stream)
        assert engine.running == 1
    assert (engine.running, engine.waiting) == (0, 0)
    model.open()
    await engine.collect(read_of(1))
    # One step of the second canvas may have been under way; none came after it.
    assert model.steps <= 2 + 1 + 1


async def test_cancelling_the_reader_ends_a_queued_request(gated: tuple[EmbeddedEngine, GatedModel]) -> None:
    engine, model = gated
    async with asyncio.TaskGroup() as group:
        first = group.create_task(engine.collect(read_of(1)))
        await asyncio.to_thread(model.arrived.acquire)
        second = group.create_task(engine.collect(read_of(2)))
        await asyncio.sleep(0)
        assert (engine.running, engine.waiting) == (1, 1)
        second.cancel()
        await asyncio.wait([second])
        assert (engine.running, engine.waiting) == (1, 0)
        model.open()
    assert first.result().finish_reason == "length"
    assert model.steps == 1


async def test_a_failing_model_fails_one_request(
    gated: tuple[EmbeddedEngine, GatedModel], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    engine, model = gated
    model.open()
    encode = model.encode

    def broken(ids: Any) -> Prefix:
        if 301 in ids:
            raise RuntimeError("out of memory")
        return encode(ids)

    monkeypatch.setattr(model, "encode", broken)
    with pytest.raises(BugError, match="out of memory"):
        await engine.collect(read_of(1))
    assert (await engine.collect(chat_of(1))).finish_reason == "length"
    assert "out of memory" in caplog.text


async def test_closing_ends_what_runs_and_what_waits(gated: tuple[EmbeddedEngine, GatedModel]) -> None:
    engine, model = gated
    failures: list[BaseException] = []

    async def expect_the_end(number: int) -> None:
        with pytest.raises(EngineUnreachable) as caught:
            await engine.collect(read_of(number))
        failures.append(caught.value)

    async with asyncio.TaskGroup() as group:
        waiting = [group.create_task(expect_the_end(number)) for number in range(2)]
        await asyncio.to_thread(model.arrived.acquire)
        closing = group.create_task(asyncio.to_thread(engine.close))
        await asyncio.wait(waiting)
        assert not closing.done(), "the thread still waits at the gate"
        model.open()
    assert len(failures) == 2
    engine.close()
    with pytest.raises(BugError):
        engine.submit(read_of(3), lambda outcome: None)


async def test_counters_add_up(demo_engine: EmbeddedEngine) -> None:
    answers: list[Committed] = [await demo_engine.collect(read_of(number)) for number in range(3)]
    counters = demo_engine.counters
    assert (counters.denoise_steps, counters.canvas_positions, counters.committed_tokens) == (3, 48, 48)
    assert (counters.prompt_tokens, counters.generation_tokens) == (21, sum(len(a.token_ids) for a in answers))
    pieces = [piece async for piece in demo_engine.stream(chat_of(1, max_steps=2))]
    assert len(pieces) == 1
    assert counters.denoise_steps == 3 + 2 + 1
    assert counters.committed_tokens == 48 + 8
