"""The canvas while it is denoised: the same frames from the embedded engine and from vLLM with our parts."""

from __future__ import annotations

import asyncio
import socket
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from engine.client.http import EngineClient
from engine.client.live import LiveChannel
from engine.client.vocabulary import Vocabulary
from engine.domain.chat import CanvasCommitted, CanvasFrame, Finished, Message
from engine.paths import demo_model_dir

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from tools.live_stress import Stress  # no installed package

STEPS = 4


@pytest.fixture
async def channel(served: Any) -> AsyncIterator[LiveChannel]:
    if served.live is None:
        pytest.skip("DG_LIVE_SOCK names the socket of the server under test")
    async with LiveChannel(served.live) as channel:
        yield channel


async def chat(served: Any, tokens: int, **extra: Any) -> list[list[int]]:
    """The token ids of each committed canvas."""
    chunks = await served.stream(
        max_tokens=tokens,
        ignore_eos=True,
        return_token_ids=True,
        vllm_xargs={"diffusion_max_steps": STEPS, **extra},
    )
    ids = [choice.get("token_ids") for chunk in chunks for choice in chunk["choices"]]
    return [canvas for canvas in ids if canvas]


async def test_frames_arrive_for_whoever_asks_and_end_in_what_is_committed(served: Any, channel: LiveChannel) -> None:
    width = served.canvas_length
    seen: list[CanvasFrame] = []
    with channel.attached("asks", seen.append):
        _, canvases = await asyncio.gather(chat(served, 3), chat(served, width + 5, dg_live="asks"))
        channel.drain()
    assert [len(canvas) for canvas in canvases] == [width, 5]
    ends = [frame for frame in seen if frame.converged]
    assert [list(end.argmax[: len(canvas)]) for end, canvas in zip(ends, canvases, strict=True)] == canvases
    steps = [frame.step for frame in seen]
    first = ends[0].step
    assert 1 < first <= STEPS
    assert steps == [*range(1, first + 1), *range(1, ends[1].step + 1)]
    assert [frame.number for frame in seen] == list(range(1, len(seen) + 1))
    for frame in seen:
        assert len(frame.argmax) == len(frame.accepted) == len(frame.entropy or ()) == width
        assert sum(frame.accepted) > 0
        assert all(0 <= token < served.vocab_size for token in frame.argmax)
    assert channel.dropped == 0  # a frame that nobody asked for would be


async def test_a_read_has_one_frame_for_a_step(served: Any, channel: LiveChannel) -> None:
    seed = served.seed(16)
    arriving = channel.subscribe("read")
    answer = await served.post(
        "/inference/v1/generate",
        {
            "token_ids": await served.rendered(),
            "sampling_params": {
                "max_tokens": 16,
                "extra_args": {
                    "dg_live": "read",
                    "diffusion_seed_canvas": seed,
                    "diffusion_canvas_length": 16,
                    "diffusion_max_steps": 1,
                    "diffusion_read_only": 1,
                },
            },
        },
    )
    async with asyncio.timeout(240):
        frame = await anext(arriving)
    assert (frame.number, frame.step, frame.converged) == (1, 1, True)
    assert list(frame.argmax) == answer.body["choices"][0]["token_ids"]


async def test_the_client_merges_them_into_a_chat(served: Any, channel: LiveChannel) -> None:
    vocabulary = Vocabulary.from_file(demo_model_dir() / "tokenizer.json")
    async with EngineClient(served.url, api_key=served.key) as client:
        events = [event async for event in client.chat([Message("user", "Hello!")], max_tokens=20, live=channel)]
    assert isinstance(events[-1], Finished)
    frames = [number for number, event in enumerate(events) if isinstance(event, CanvasFrame)]
    committed = next(number for number, event in enumerate(events) if isinstance(event, CanvasCommitted))
    assert frames
    assert frames[-1] < committed
    last, text = events[frames[-1]], events[committed]
    assert last.converged
    assert text.text.strip()
    assert "".join(vocabulary.pieces(last.argmax)).strip().startswith(text.text.strip())


async def test_a_request_that_asks_while_nobody_listens_is_served(served: Any) -> None:
    if served.live is None:
        pytest.skip("DG_LIVE_SOCK names the socket of the server under test")
    assert not served.live.exists()
    (canvas,) = await chat(served, 7, dg_live="nobody")
    assert len(canvas) == 7
    # A socket that nobody reads any more: its file is there, its owner is not.
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as dead:
        dead.bind(str(served.live))
    (canvas,) = await chat(served, 7, dg_live="nobody")
    assert len(canvas) == 7
    served.live.unlink()


@pytest.mark.parametrize("name", ["x" * 65, "", 1.5, ["a", "b"]])
async def test_a_name_that_is_none_is_no_reason_to_refuse(served: Any, channel: LiveChannel, name: Any) -> None:
    assert [len(canvas) for canvas in await chat(served, 3, dg_live=name)] == [3]


async def test_nothing_is_lost_while_frames_are(served: Any, session: aiohttp.ClientSession) -> None:
    if served.live is None:
        pytest.skip("DG_LIVE_SOCK names the socket of the server under test")
    count = 60 if served.embedded else 300
    stress = Stress(
        session,
        served.url,
        served.headers,
        served.live,
        canvas=served.canvas_length,
        vocabulary=served.vocab_size,
        prompt=await served.rendered(),
    )
    tally = await stress.run(count, 6, limit_s=60)  # 5 to 10 a second on a quiet machine
    assert tally.lost == []
    assert min(tally.counts["chats"], tally.counts["reads"], tally.counts["cancelled"]) >= 1
    assert tally.matched > 0
    async with asyncio.timeout(240):
        busy = ("vllm:num_requests_running", "vllm:num_requests_waiting")
        while sum(map((await served.metrics()).get, busy)):  # noqa: ASYNC110  # the cancelled take their step to the end
            await asyncio.sleep(0.05)
    assert (await served.chat()).status == 200
