"""What ``bench reads`` sends, counts and compares; and the whole of it on vLLM's CPU build."""

from __future__ import annotations

import asyncio
import math
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from aiohttp import web

from engine.bench import reads, reads_load
from engine.bench.reads_load import QUESTIONS, Prompts, Rate, difference, open_prompts, rate_of
from engine.bench.reads_server import PARTS, Setting
from engine.errors import UserError
from engine.paths import demo_model_dir

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "contract"))
from cpu_server import CPU_ENVIRONMENT, python  # the folder is no package

SETTING = Setting("python", "model", ("--flag",), {"A": "b"}, in_flight=4)


def prompts(tokens: int = 50) -> Prompts:
    return Prompts(range(5, 90), [11, 12], tokens)


def ids(request: tuple[str, Any]) -> list[int]:
    return list(request[1]["token_ids"])


def test_questions_share_a_state_by_24_and_fresh_ones_share_none() -> None:
    made = prompts()
    shared = [ids(made.shared()) for _ in range(2 * QUESTIONS)]
    assert len({tuple(prompt[:50]) for prompt in shared}) == 2
    assert shared[0][:50] == shared[QUESTIONS - 1][:50] != shared[QUESTIONS][:50]
    assert len({tuple(prompt) for prompt in shared}) == len(shared)
    assert len({tuple(ids(made.fresh())[:16]) for _ in range(20)}) == 20


def test_the_ceiling_has_the_same_prompt_and_no_labels() -> None:
    one, other = prompts().fresh()[1], prompts().ceiling()[1]
    assert one["token_ids"] == other["token_ids"]
    assert one["sampling_params"]["logprob_token_ids"] == [11, 12]
    assert "logprobs" not in other["sampling_params"]
    assert other["sampling_params"]["extra_args"]["diffusion_canvas_length"] == 1


def test_mixed_reads_are_the_same_each_time_but_for_the_path() -> None:
    for number in range(30):
        (_, fast), (_, stock) = prompts().mixed(number), prompts().mixed(number, stock=True)
        assert stock["sampling_params"]["extra_args"].pop("desk_stock") == 1
        assert fast == stock
        width = fast["sampling_params"]["extra_args"]["diffusion_canvas_length"]
        assert 2 <= fast["sampling_params"]["max_tokens"] < width + 1
        assert len(set(fast["sampling_params"]["logprob_token_ids"])) == fast["sampling_params"]["logprobs"]
    assert (
        len({prompts().mixed(n)[1]["sampling_params"]["extra_args"]["diffusion_canvas_length"] for n in range(30)}) > 2
    )


def answer(*slots: tuple[int, dict[int, float]]) -> dict[str, Any]:
    content = [
        {"token_id": token, "top_logprobs": [{"token_id": label, "logprob": math.log(p)} for label, p in top.items()]}
        for token, top in slots
    ]
    return {"choices": [{"logprobs": {"content": content}}]}


def test_differences_of_shares_log_probabilities_and_tokens() -> None:
    one = [answer((1, {1: 0.4, 2: 0.4})), answer((3, {3: 0.1, 4: 0.3}), (5, {5: 0.5}))]
    other = [answer((1, {1: 0.2, 2: 0.2})), answer((3, {3: 0.2, 4: 0.2}), (6, {5: 0.5}))]
    found = difference(one, other)
    assert found.share == pytest.approx(0.25)  # 1/4 of both became 1/2; the first pair's shares are equal
    assert found.logprob == pytest.approx(math.log(2))
    assert (found.tokens, found.slots) == (1, 3)
    # Five labels: twice log 2, then log 2, log 1.5 and nothing.
    squares = 3 * math.log(2) ** 2 + math.log(1.5) ** 2
    assert found.usual == pytest.approx(math.sqrt(squares / 5))
    assert difference([], []).usual == 0
    with pytest.raises(UserError, match="answered 2 slots, and 1"):
        difference(one[1:], other[:1])
    with pytest.raises(UserError, match="other labels"):
        difference(one[:1], [answer((1, {1: 0.4, 3: 0.4}))])


def measured(fresh: float, ceiling: float, share: float) -> reads.Measured:
    rates = {name: Rate(100.0, 10.0, 20.0, 5) for name in reads.LOADS}
    rates |= {"fresh": Rate(fresh, 10.0, 20.0, 5), "ceiling": Rate(ceiling, 1.0, 2.0, 5)}
    answers = [answer((1, {1: share, 2: 1 - share}))]
    return reads.Measured(rates, answers, answers, [(answers[0], answer((1, {1: 0.5, 2: 0.5})))])


def test_targets_follow_from_stock_and_the_higher_ceiling() -> None:
    found = reads.result(measured(90.0, 100.0, 0.5), measured(100.0, 120.0, 0.5004), SETTING)
    fresh = found.figures["fresh_ratio"]
    assert fresh.target == pytest.approx(0.8 * 120 / 90)
    assert fresh.value == pytest.approx(100 / 90)
    assert fresh.passed
    assert (
        reads.result(measured(9.0, 1000.0, 0.5), measured(80.0, 0.0, 0.5), SETTING).figures["fresh_ratio"].target == 10
    )
    assert found.figures["fast_joint"].value == 100.0 * QUESTIONS
    assert found.figures["path_share"].value == pytest.approx(0.0004)
    assert found.figures["path_share"].target == 1e-3
    assert found.figures["path_share"].passed
    assert found.figures["stock_under_load_share"].value == pytest.approx(0.0004)
    assert found.figures["stock_under_load_share"].target is None
    assert found.passed
    assert not reads.result(measured(90.0, 1.0, 0.5), measured(90.0, 1.0, 0.502), SETTING).passed
    assert found.machine["flags"] == "--flag"
    assert found.machine["env"] == {"A": "b"}


def test_pairs_alone_need_no_stock_server() -> None:
    found = reads.result(None, measured(1.0, 1.0, 0.502), SETTING)
    assert set(found.figures) == {"path_share", "path_logprob"}
    assert not found.passed
    assert reads.result(None, measured(1.0, 1.0, 0.5004), SETTING).passed


def test_a_load_without_an_answer_fails_its_figure_and_leaves_the_others() -> None:
    stock, fast = measured(90.0, 100.0, 0.5), measured(100.0, 120.0, 0.5)
    fast.rates["shared"] = reads.NOTHING
    found = reads.result(stock, fast, SETTING)
    assert not found.figures["fast_shared"].passed
    assert "shared_ratio" not in found.figures
    assert found.figures["fresh_ratio"].passed
    assert {"joint_ratio", "path_share", "under_load_share"} <= set(found.figures)
    assert not found.passed


async def test_nothing_answered_is_no_end_of_the_measurement_and_a_refusal_is(seen: list[int]) -> None:
    asked = Setting("python", "model", (), {}, in_flight=2, seconds=0.05)
    async with loopback(seen) as url, aiohttp.ClientSession() as client:
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(reads_load, "RAMP_S", 0.05)  # two are in flight, and three are answered together
            assert await reads._rate(client, url, prompts().fresh, asked) == reads.NOTHING
        with pytest.RaisesGroup(pytest.RaisesExc(UserError, match="answered 400"), flatten_subgroups=True):
            await reads._rate(client, url, prompts().native, replace(asked, in_flight=1))


def test_the_words_behind_the_dashes() -> None:
    words = ["--python", "p", "--model", "m", "--flags", "--a 1 --b '{\"c\": 2}'", "--env", "X=y=z", "--what", "pairs"]
    asked = reads.setting([*words, "--pairs-seconds", "9"])
    assert asked.flags == ("--a", "1", "--b", '{"c": 2}')
    assert asked.env == {"X": "y=z"}
    assert (asked.what, asked.pairs_s, asked.pairs, asked.parts) == (("pairs",), 9.0, 500, PARTS)


@asynccontextmanager
async def loopback(seen: list[int]) -> AsyncIterator[str]:
    """Answers reads in groups of three, and notes how many are there at once."""
    free, there = asyncio.Condition(), 0

    async def generate(request: web.Request) -> web.Response:
        nonlocal there
        there += 1
        seen.append(there)
        async with free:
            if there % 3 == 0:
                free.notify_all()
            else:
                await free.wait()
        there -= 1
        return web.json_response({"path": request.path})

    async def tokenize(request: web.Request) -> web.Response:
        return web.json_response({"tokens": [ord(sign) for sign in (await request.json())["prompt"]]})

    async def refuse(_: web.Request) -> web.Response:
        return web.json_response({"error": "no"}, status=400)

    app = web.Application()
    app.add_routes(
        [
            web.post("/inference/v1/generate", generate),
            web.post("/tokenize", tokenize),
            web.post("/v1/systemone", refuse),
        ]
    )
    runner = web.AppRunner(app, handler_cancellation=True)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


@pytest.fixture
def seen() -> list[int]:
    return []


async def test_as_many_are_in_flight_as_was_said(seen: list[int]) -> None:
    async with loopback(seen) as url, aiohttp.ClientSession() as client:
        made = await open_prompts(client, url, 40, 32)
        assert made.labels == [65, 66]
        assert ord("z") in made.vocabulary
        rate = await rate_of(client, url, made.fresh, 3, 0.2)
    assert rate.count > 3
    assert rate.per_s > 0
    assert 0 < rate.middle_ms <= rate.high_ms
    assert max(seen) == 3


async def test_a_refusal_ends_the_measurement_with_its_text(seen: list[int]) -> None:
    async with loopback(seen) as url, aiohttp.ClientSession() as client:
        with pytest.RaisesGroup(pytest.RaisesExc(UserError, match="answered 400"), flatten_subgroups=True):
            await rate_of(client, url, prompts().native, 1, 0.1)


@pytest.mark.slow
@pytest.mark.vllm_cpu
@pytest.mark.timeout(900)
async def test_both_servers_are_measured_and_agree() -> None:
    env = [word for variable in CPU_ENVIRONMENT for word in ("--env", f"{variable.name}={variable.value}")]
    flags = "--max-model-len 2048 --max-num-seqs 4 --enforce-eager --dtype float32"
    sizes = [
        "--in-flight",
        "3",
        "--seconds",
        "6",
        "--reads",
        "6",
        "--pairs",
        "3",
        "--tokens",
        "100",
        "--joint-slots",
        "64",
    ]
    dynamo = ["--env", "TORCHDYNAMO_DISABLE=1"]
    words = ["--python", str(python()), "--model", str(demo_model_dir()), "--flags", flags, *env, *dynamo, *sizes]
    found = await reads.measure_with(words)
    assert {f"{server}_{name}" for server in ("stock", "fast") for name in reads.LOADS} <= set(found.figures)
    for name in ("path", "under_load", "stock_under_load"):
        assert found.figures[f"{name}_share"].value < 1e-5
        assert found.figures[f"{name}_logprob"].value < 1e-4
