"""Fast reads on a real server: the same answers as stock's path, alone and joint, also while chats denoise."""

from __future__ import annotations

import asyncio
import math
import random
from pathlib import Path
from typing import Any

import pytest

NATS = SHARE = 1e-5
CHAT_STEPS = 12


@pytest.fixture
def log(served: Any) -> Path:
    """Of an engine of ours that has the part."""
    if served.embedded or served.live is None:
        pytest.skip("the part is vLLM's, and its log tells whether it is in")
    path: Path = served.live.parent / "engine.log"
    return path


async def reads(served: Any, **extra: int) -> list[Any]:
    """Ten reads at once, the same each time: eight alone with 1 to 8 labels, two of a wide canvas's first 40 slots."""
    prompt, labels = await served.rendered(), await served.tokens("A B C D yes no 1 2 3")
    source = random.Random(8)
    bodies = []
    for number in range(10):
        width, answered = (16, 2) if number < 8 else (48, 40)
        chosen = source.sample(sorted(set(labels)), min(1 + number % 8, len(set(labels))))
        seed = [source.randrange(served.vocab_size) for _ in range(width)]
        args = {"diffusion_seed_canvas": seed, "diffusion_canvas_length": width, "diffusion_max_steps": 1}
        sampling = {"max_tokens": answered, "logprobs": len(chosen) + 1, "logprob_token_ids": [*chosen, 0]}
        bodies.append(
            {
                "token_ids": [*prompt, *source.sample(prompt, number)],
                "sampling_params": {**sampling, "extra_args": {**args, "diffusion_read_only": 1, **extra}},
            }
        )
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(served.post("/inference/v1/generate", body)) for body in bodies]
    answers = [task.result() for task in tasks]
    assert [answer.status for answer in answers] == [200] * len(bodies)
    return [answer.body["choices"][0] for answer in answers]


def shares(top: dict[int, float]) -> dict[int, float]:
    whole = math.fsum(math.exp(value) for value in top.values())
    return {token: math.exp(value) / whole for token, value in top.items()}


def assert_same(stock: list[Any], fast: list[Any]) -> None:
    for one, other in zip(stock, fast, strict=True):
        assert other["token_ids"] == one["token_ids"]
        slots = [choice["logprobs"]["content"] for choice in (one, other)]
        assert len(slots[0]) == len(one["token_ids"])
        for left, right in zip(*slots, strict=True):
            tops = [{top["token_id"]: top["logprob"] for top in slot["top_logprobs"]} for slot in (left, right)]
            assert tops[1] == pytest.approx(tops[0], abs=NATS)
            assert shares(tops[1]) == pytest.approx(shares(tops[0]), abs=SHARE)
            assert right["logprob"] == pytest.approx(left["logprob"], abs=NATS)


async def test_fast_reads_equal_stock_alone_and_joint(served: Any, log: Path) -> None:
    stock = await reads(served, desk_stock=1)
    assert {len(choice["token_ids"]) for choice in stock} == {2, 40}
    assert_same(stock, await reads(served))
    text = await asyncio.to_thread(log.read_text)
    assert "reads (on)" in text
    assert "fast reads: " in text


async def test_fast_reads_equal_stock_while_chats_denoise(served: Any, log: Path) -> None:
    """A batch with a chat in it takes stock's path, the one after it the fast one again."""
    stock = await reads(served, desk_stock=1)

    async def chat() -> Any:
        return await served.chat(max_tokens=served.canvas_length, vllm_xargs={"diffusion_max_steps": CHAT_STEPS})

    async with asyncio.TaskGroup() as group:
        chats = [group.create_task(chat()) for _ in range(2)]
        mixed = group.create_task(reads(served))
    assert [task.result().status for task in chats] == [200, 200]
    assert_same(stock, mixed.result())
    assert_same(stock, await reads(served))


async def test_no_canvas_is_cut_short_however_many_are_read_at_once(served: Any, log: Path) -> None:
    """vLLM cuts a canvas that does not fit into a step, and a label behind the cut is wrong by nats; the step of a plan
    holds all canvases."""
    prompt, labels = await served.rendered(), await served.tokens("yes no")
    source, width = random.Random(9), served.canvas_length
    args = {"diffusion_canvas_length": width, "diffusion_max_steps": 1, "diffusion_read_only": 1}
    sampling = {"max_tokens": width, "logprobs": len(labels), "logprob_token_ids": labels}

    async def read(noise: list[int], length: int) -> Any:
        asked = {**sampling, "extra_args": {**args, "diffusion_seed_canvas": noise}}
        answer = await served.post(
            "/inference/v1/generate", {"token_ids": prompt + prompt[:length], "sampling_params": asked}
        )
        assert answer.status == 200
        return answer.body["choices"][0]

    asked = [([source.randrange(served.vocab_size) for _ in range(width)], number) for number in range(12)]
    alone = [await read(*one) for one in asked]
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(read(*one)) for one in asked]
    together = [task.result() for task in tasks]
    assert {len(choice["logprobs"]["content"]) for choice in together} == {width}
    assert_same(alone, together)
    assert "cuts canvases" not in await asyncio.to_thread(log.read_text)
