"""POST /v1/chat/completions, streamed and whole."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest
from aiohttp import web

from engine.embedded.engine import EmbeddedEngine
from engine.embedded.live import LivePublisher
from engine.embedded.server import create_app

HELLO = [{"role": "user", "content": "Hello!"}]


@asynccontextmanager
async def serving(app: web.Application) -> AsyncIterator[str]:
    """An embedded server of the test's own."""
    runner = web.AppRunner(app, handler_cancellation=True)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    host, port = runner.addresses[0][:2]
    yield f"http://{host}:{port}"
    await runner.cleanup()


async def test_a_stream_is_a_role_then_canvases_then_usage(served: Any) -> None:
    length = served.canvas_length
    chunks = await served.stream(
        max_tokens=length + 5, ignore_eos=True, vllm_xargs={"diffusion_max_steps": 2}, return_token_ids=True
    )
    opening, *canvases, usage = chunks
    assert opening["choices"][0]["delta"] == {"role": "assistant", "content": ""}
    assert opening["prompt_token_ids"]
    assert [len(chunk["choices"][0]["token_ids"]) for chunk in canvases] == [length, 5]
    assert [chunk["choices"][0]["finish_reason"] for chunk in canvases] == [None, "length"]
    assert usage["choices"] == []
    assert usage["usage"]["completion_tokens"] == length + 5
    assert usage["usage"]["prompt_tokens"] == len(opening["prompt_token_ids"])
    assert usage["usage"]["total_tokens"] == usage["usage"]["prompt_tokens"] + length + 5
    assert len({chunk["id"] for chunk in chunks}) == 1
    assert {chunk["object"] for chunk in chunks} == {"chat.completion.chunk"}


async def test_whole_and_streamed_say_the_same(served: Any) -> None:
    """From the same seed, at one step, nothing is left to chance."""
    width = served.canvas_length
    extra = {"diffusion_seed_canvas": served.seed(width), "diffusion_max_steps": 1}
    options = {"max_tokens": width, "vllm_xargs": extra, "return_token_ids": True}
    whole = (await served.chat(**options)).body
    chunks = [chunk["choices"][0] for chunk in await served.stream(**options) if chunk["choices"]]
    choice = whole["choices"][0]
    assert "".join(chunk["delta"].get("content") or "" for chunk in chunks) == (choice["message"]["content"] or "")
    assert [i for chunk in chunks for i in chunk.get("token_ids") or []] == choice["token_ids"]
    assert chunks[-1]["finish_reason"] == choice["finish_reason"]
    assert choice["message"]["role"] == "assistant"
    assert whole["object"] == "chat.completion"
    assert whole["usage"]["completion_tokens"] == len(choice["token_ids"])


async def test_the_request_id_of_the_client_is_in_the_answer(served: Any) -> None:
    answer = await served.chat()
    assert answer.body["id"].startswith("chatcmpl-")
    headers = {**served.headers, "X-Request-Id": "mine"}
    answer = await served.post("/v1/chat/completions", {"messages": HELLO, "max_tokens": 4}, headers=headers)
    assert answer.body["id"] == "chatcmpl-mine"


async def test_logprobs_of_named_tokens_through_chat(served: Any) -> None:
    """The wire of seeded noise draws that even a server without --enable-scale-out has."""
    extra = {
        "diffusion_seed_canvas": served.seed(16),
        "diffusion_canvas_length": 16,
        "diffusion_max_steps": 1,
        "diffusion_read_only": 1,
    }
    labels = [10, 11, 12]
    options = {"max_tokens": 1, "vllm_xargs": extra, "logprobs": True, "logprob_token_ids": labels}
    answers = [await served.chat(**options, return_token_ids=True, return_tokens_as_token_ids=True) for _ in range(2)]
    rows = [answer.body["choices"][0]["logprobs"]["content"] for answer in answers]
    assert len(rows[0]) == 1
    committed = answers[0].body["choices"][0]["token_ids"][0]
    named = {entry["token"]: entry["logprob"] for entry in rows[0][0]["top_logprobs"]}
    assert set(named) == {f"token_id:{i}" for i in (committed, *labels)}
    assert rows[0][0]["token"] == f"token_id:{committed}"
    assert rows[0][0]["logprob"] == max(named.values())
    again = {entry["token"]: entry["logprob"] for entry in rows[1][0]["top_logprobs"]}
    assert again == pytest.approx(named, abs=1e-5)


async def test_other_noise_reads_otherwise(served: Any) -> None:
    seen = set()
    for first in (5, 6, 7):
        canvas = [first, *served.seed(16)[1:]]
        extra = {
            "diffusion_seed_canvas": canvas, "diffusion_canvas_length": 16, "diffusion_max_steps": 1,
            "diffusion_read_only": 1,
        }  # fmt: skip
        answer = await served.chat(max_tokens=1, vllm_xargs=extra, logprobs=True, logprob_token_ids=[10, 11])
        seen.add(
            tuple(entry["logprob"] for entry in answer.body["choices"][0]["logprobs"]["content"][0]["top_logprobs"])
        )
    assert len(seen) == 3


async def test_top_logprobs_come_in_order(served: Any) -> None:
    extra = {"diffusion_seed_canvas": served.seed(served.canvas_length), "diffusion_max_steps": 1}
    answer = await served.chat(max_tokens=2, ignore_eos=True, logprobs=True, top_logprobs=3, vllm_xargs=extra)
    content = answer.body["choices"][0]["logprobs"]["content"]
    assert [len(row["top_logprobs"]) for row in content] == [3, 3]
    for row in content:
        values = [entry["logprob"] for entry in row["top_logprobs"]]
        assert values == sorted(values, reverse=True)
        assert row["logprob"] == values[0]


async def test_logprobs_alone_name_the_committed_token(served: Any) -> None:
    answer = await served.chat(max_tokens=2, ignore_eos=True, logprobs=True)
    assert [row["top_logprobs"] for row in answer.body["choices"][0]["logprobs"]["content"]] == [[], []]


async def test_a_stop_token_ends_an_answer(served: Any) -> None:
    """The first committed token of a known canvas is made a stop token."""
    width = served.canvas_length
    extra = {"diffusion_seed_canvas": served.seed(width), "diffusion_max_steps": 1}
    first = (await served.chat(max_tokens=4, ignore_eos=True, vllm_xargs=extra, return_token_ids=True)).body
    token = first["choices"][0]["token_ids"][0]
    options = {"vllm_xargs": extra, "return_token_ids": True, "ignore_eos": True, "stop_token_ids": [token]}
    choice = (await served.chat(max_tokens=4, **options)).body["choices"][0]
    assert choice["token_ids"] == [token]
    assert (choice["finish_reason"], choice["stop_reason"]) == ("stop", token)


async def test_ignored_penalties_are_taken(served: Any) -> None:
    answer = await served.chat(frequency_penalty=0.5, presence_penalty=0.5, user="somebody", temperature=1.0, min_p=0)
    assert answer.status == 200


async def test_unknown_extra_arguments_are_somebody_elses(served: Any) -> None:
    assert (await served.chat(vllm_xargs={"some_plugin": 1})).status == 200


async def test_content_may_come_in_parts(served: Any) -> None:
    parts = [{"role": "user", "content": [{"type": "text", "text": "Hello!"}]}]
    assert await served.rendered(parts) == await served.rendered(HELLO)


async def test_leaving_ends_the_request(served: Any) -> None:
    """A client that closes its connection stops the denoising, whatever was left to say."""
    body = {"messages": HELLO, "stream": True, "ignore_eos": True, "max_tokens": 20 * served.canvas_length}
    url = f"{served.url}/v1/chat/completions"
    async with served.session.post(url, json=body, headers=served.headers) as answer:
        await answer.content.readuntil(b"\n\n")
        running = await served.metrics()
        assert running["vllm:num_requests_running"] + running["vllm:num_requests_waiting"] == 1
        answer.close()
    async with asyncio.timeout(240):
        while (await served.metrics())["vllm:num_requests_running"]:
            pass
    before = await served.metrics()
    assert (await served.chat(max_tokens=1, vllm_xargs={"diffusion_max_steps": 1})).status == 200
    after = await served.metrics()
    steps = "vllm:diffusion_num_denoising_steps_total"
    # The chat itself: a step and a commit, and at most one step of the old answer that was under way.
    assert after[steps] - before[steps] <= 3


async def test_usage_unasked_depends_on_the_server(only_embedded: Any, loaded: Any) -> None:
    """As vLLM with and without --enable-force-include-usage."""
    assert "usage" in (await only_embedded.stream(max_tokens=1))[-1]
    async with serving(create_app(EmbeddedEngine(*loaded), force_usage=False)) as url:
        plain = replace(only_embedded, url=url)
        assert not any("usage" in chunk for chunk in await plain.stream(max_tokens=1))
        asked = await plain.stream(max_tokens=1, stream_options={"include_usage": True})
    assert ["usage" in chunk for chunk in asked] == [False] * (len(asked) - 1) + [True]


async def test_live_frames_and_committed_tokens_agree(
    only_embedded: Any, tmp_path: Any, monkeypatch: pytest.MonkeyPatch, loaded: Any
) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as receiver:
        receiver.bind(str(tmp_path / "live"))
        receiver.setblocking(False)
        monkeypatch.setenv("DG_LIVE_SOCK", str(tmp_path / "live"))
        sent = {"messages": HELLO, "max_tokens": 4, "return_token_ids": True, "ignore_eos": True,
                "vllm_xargs": {"dg_live": "abc", "diffusion_max_steps": 5}}  # fmt: skip
        engine = EmbeddedEngine(*loaded, LivePublisher.from_environment())
        async with serving(create_app(engine)) as url:
            answer = await replace(only_embedded, url=url).post("/v1/chat/completions", sent)
        tokens = answer.body["choices"][0]["token_ids"]
        frames = []
        while True:
            try:
                frames.append(json.loads(receiver.recv(1 << 16)))
            except BlockingIOError:
                break
    assert [frame["n"] for frame in frames] == list(range(1, len(frames) + 1))
    assert [frame["converged"] for frame in frames].index(True) == len(frames) - 1
    assert frames[-1]["argmax"][:4] == tokens
    assert {frame["id"] for frame in frames} == {"abc"}
