"""Token ids in and out, what is served, and what is counted."""

from __future__ import annotations

import asyncio
import math
from typing import Any

import pytest

THOUGHT = "<|channel>thought\n<channel|>"
STEPS = "vllm:diffusion_num_denoising_steps_total"
POSITIONS = "vllm:diffusion_num_canvas_positions_total"
COMMITTED = "vllm:diffusion_num_committed_tokens_total"


async def test_the_model_card(served: Any) -> None:
    body = (await served.get("/v1/models")).body
    assert body["object"] == "list"
    (card,) = body["data"]
    assert card["object"] == "model"
    assert card["max_model_len"] > served.canvas_length
    assert (await served.chat(model=card["id"])).status == 200
    if served.embedded:
        assert card["owned_by"] == "diffusion-desk-embedded"


async def test_the_embedded_engine_names_itself(only_embedded: Any) -> None:
    async with only_embedded.session.get(f"{only_embedded.url}/health") as answer:
        assert answer.headers["Server"] == "diffusion-desk-embedded"


async def test_text_to_ids_and_back(served: Any) -> None:
    for text in ("yes", "3: yes\n", "Hello, world! \u00fc\u20ac", "<|turn>user\nno<turn|>"):
        ids = await served.tokens(text)
        assert (await served.post("/detokenize", {"tokens": ids})).body["prompt"] == text


async def test_a_text_begins_with_its_special_token_unless_told_otherwise(served: Any) -> None:
    plain = await served.tokens("yes")
    answer = (await served.post("/tokenize", {"prompt": "yes", "return_token_strs": True})).body
    assert answer["tokens"][-len(plain) :] == plain
    assert answer["count"] == len(answer["tokens"]) == len(answer["token_strs"])
    assert answer["max_model_len"] > 0


async def test_a_conversation_is_tokenized_as_it_is_rendered(served: Any) -> None:
    messages = [{"role": "user", "content": "Hello!"}]
    ids = (await served.post("/tokenize", {"messages": messages})).body["tokens"]
    assert ids == await served.rendered(messages)
    text = (await served.post("/detokenize", {"tokens": ids})).body["prompt"]
    assert "Hello!" in text
    assert text.endswith("<|turn>model\n")


async def test_token_ids_past_the_vocabulary(served: Any) -> None:
    answer = await served.post("/detokenize", {"tokens": [-1]})
    assert answer.status == 400
    assert answer.error["param"].startswith("body.tokens")


async def test_a_look_at_a_canvas(served: Any) -> None:
    await served.needs("0.33.0", "complete list of the log-probabilities asked for (the argmax takes a place)")
    prompt = [*await served.rendered(), *await served.tokens(THOUGHT)]
    labels = [(await served.tokens(label))[0] for label in ("yes", "no")]
    answer = (await served.look(prompt, served.seed(16), labels, 2)).body
    (choice,) = answer["choices"]
    assert len(choice["token_ids"]) == 2
    assert choice["finish_reason"] == "length"
    content = choice["logprobs"]["content"]
    for token, row in zip(choice["token_ids"], content, strict=True):
        entries = {entry["token_id"]: entry["logprob"] for entry in row["top_logprobs"]}
        assert set(entries) == {token, *labels}
        assert row["token_id"] == token
        assert row["logprob"] == max(entries.values())
        assert row["top_logprobs"][0]["token_id"] == token
        assert math.fsum(map(math.exp, entries.values())) <= 1.0 + 1e-6
    assert answer["usage"]["prompt_tokens"] == len(prompt)
    assert answer["usage"]["completion_tokens"] == 2


async def test_looks_at_the_same_canvas_agree_whatever_was_read_before(served: Any) -> None:
    prompt = [*await served.rendered(), *await served.tokens(THOUGHT)]
    other = [*await served.rendered([{"role": "user", "content": "Other"}]), *await served.tokens(THOUGHT)]

    async def values() -> list[float]:
        body = (await served.look(prompt, served.seed(16), [10, 11, 12], 1)).body
        return [e["logprob"] for e in body["choices"][0]["logprobs"]["content"][0]["top_logprobs"]]

    first = await values()
    await served.look(other, served.seed(16), [10], 1)
    assert await values() == pytest.approx(first, abs=1e-5)


async def test_pinned_slots_and_more_steps(served: Any) -> None:
    prompt = await served.rendered()
    body = {
        "token_ids": prompt,
        "sampling_params": {
            "max_tokens": 16,
            "extra_args": {
                "diffusion_seed_canvas": served.seed(16),
                "diffusion_canvas_length": 16,
                "diffusion_pinned": [0, 1, 2],
                "diffusion_max_steps": 3,
                "diffusion_read_only": True,
            },
        },
    }
    choice = (await served.post("/inference/v1/generate", body)).body["choices"][0]
    assert len(choice["token_ids"]) == 16
    assert choice["logprobs"] is None


async def test_the_thought_block_is_the_clients_on_this_wire(served: Any) -> None:
    prompt = await served.rendered()
    answers = [
        (await served.look(ids, served.seed(16), [10, 11], 1)).body
        for ids in (prompt, [*prompt, *await served.tokens(THOUGHT)])
    ]
    assert (
        answers[0]["usage"]["prompt_tokens"] + len(await served.tokens(THOUGHT)) == answers[1]["usage"]["prompt_tokens"]
    )
    assert answers[0]["choices"][0]["logprobs"] != answers[1]["choices"][0]["logprobs"]


async def test_counters_of_reads(served: Any) -> None:
    prompt = [*await served.rendered(), *await served.tokens(THOUGHT)]
    before = await served.metrics()
    async with asyncio.TaskGroup() as group:
        for _ in range(5):
            group.create_task(served.look(prompt, served.seed(16), [10, 11], 1))
    after = await served.metrics()
    grown = {name: after[name] - before[name] for name in (STEPS, POSITIONS, COMMITTED)}
    assert grown == {STEPS: 5, POSITIONS: 80, COMMITTED: 80}
    assert after["vllm:prompt_tokens_total"] - before["vllm:prompt_tokens_total"] == 5 * len(prompt)
    assert after["vllm:generation_tokens_total"] - before["vllm:generation_tokens_total"] == 5


async def test_counters_of_a_chat(only_embedded: Any) -> None:
    """Steps as asked, one commit a canvas. (vLLM schedules ahead and may count a pass more.)"""
    served = only_embedded
    width = served.canvas_length
    before = await served.metrics()
    chunks = await served.stream(max_tokens=width + 1, ignore_eos=True, vllm_xargs={"diffusion_max_steps": 2})
    after = await served.metrics()
    grown = {name: after[name] - before[name] for name in (STEPS, POSITIONS, COMMITTED)}
    assert grown == {STEPS: 6, POSITIONS: 6 * width, COMMITTED: 2 * width}
    tokens = after["vllm:generation_tokens_total"] - before["vllm:generation_tokens_total"]
    assert tokens == chunks[-1]["usage"]["completion_tokens"] == width + 1


async def test_nothing_runs_when_nothing_is_asked(served: Any) -> None:
    values = await served.metrics()
    assert values["vllm:num_requests_running"] == values["vllm:num_requests_waiting"] == 0
