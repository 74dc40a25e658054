"""``bench reads``: reads a second of stock vLLM and of vLLM with our parts, one server after the other, same flags.

    ./desk bench reads [--json] -- --python ENGINE/bin/python --model FOLDER [--flags "..."] [--env NAME=VALUE ...]

Each server is measured with the same load: prompts with next to no read behind them (the ceiling), questions alone
about fresh states, 24 questions that share a state through the prefix cache, and 24 questions on one canvas. Then both
answer the same mixed reads, and the answers are compared. Prompts are made-up token ids and go over the canvas wire, so
that no rendering is measured; what the native wire reaches is told besides.

Two answers to one read differ on a card whenever it shared its steps with other requests: products in bf16 and fp8
round differently with another number of rows. So the two paths are compared with one read in flight, each with its
whole prompt computed anew; what stock's own path makes of the same reads on two servers under load is told beside it.
``--what pairs`` does that comparison alone, on one server, so that it can run beside a measurement on another card.
A start with CUDA graphs takes minutes: with ``--cards 0 1`` both servers start at once, each on a card of its own, and
are then measured one after the other.
"""

from __future__ import annotations

import argparse
import asyncio
import shlex
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp

from engine.bench.reads_load import (
    JOINT,
    QUESTIONS,
    RAMP_S,
    Difference,
    Prompts,
    Rate,
    Request,
    answer_of,
    difference,
    open_prompts,
    rate_of,
)
from engine.bench.reads_server import IN_FLIGHT, PARTS, WHAT, Setting, launched, server, session, tell
from engine.bench.result import BenchResult, Bound, Figure
from engine.errors import UserError, first_error

FLAGS = (
    "--load-format dummy --attention-backend TRITON_ATTN --max-model-len 8192 --max-num-seqs 120 "
    "--max-num-batched-tokens 15360 --gpu-memory-utilization 0.75 --enforce-eager "
    """--diffusion-config '{"canvas_length":128}'"""
)
"""For one card of 80 GB and more; a step holds all canvases. 127 sequences are the most: vLLM takes 128 for its
default, and makes it 8."""
FRESH_TIMES, SHARED_TIMES, OF_CEILING = 10.0, 40.0, 0.8
SHARE, LOGPROB = 1e-3, 1e-2
LOADS = ("ceiling", "fresh", "shared_ceiling", "shared", "joint", "native")
"""Methods of ``Prompts``."""
NOTHING = Rate(0.0, 0.0, 0.0, 0)
TOLD = 50  # pairs between two lines about them


@dataclass(slots=True)
class Measured:
    """Of one server.

    Attributes:
        rates: by name of the load.
        answers: to the mixed reads, under load.
        kept: to the same reads, kept from the fast path.
        alone: pairs of answers to one read, by the fast path and by stock's, with nothing else in flight.
    """

    rates: dict[str, Rate] = field(default_factory=dict)
    answers: list[Any] = field(default_factory=list)
    kept: list[Any] = field(default_factory=list)
    alone: list[tuple[Any, Any]] = field(default_factory=list)


def setting(words: Sequence[str]) -> Setting:
    """From the words behind ``bench reads --``."""
    parser = argparse.ArgumentParser(prog="bench reads --", description=__doc__)
    parser.add_argument("--python", required=True, help="the engine's interpreter")
    parser.add_argument("--model", required=True)
    parser.add_argument("--flags", default=FLAGS, help="of both servers")
    parser.add_argument("--env", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--in-flight", type=int, default=IN_FLIGHT)
    parser.add_argument("--seconds", type=float, default=8.0, help="of each rate")
    parser.add_argument("--reads", type=int, default=500, help="that are compared under load")
    parser.add_argument("--pairs", type=int, default=500, help="that are compared one at a time")
    parser.add_argument("--pairs-seconds", type=float, default=1e9, help="after which no further pair is begun")
    parser.add_argument(
        "--what", nargs="+", choices=WHAT, default=WHAT, help="rates of both servers; pairs on the fast"
    )
    parser.add_argument("--cards", nargs=2, default=(), metavar="CARD", help="of stock and fast, which start at once")
    parser.add_argument("--tokens", type=int, default=400, help="of a state")
    parser.add_argument("--limit", type=float, default=300.0, help="seconds for a start")
    parser.add_argument("--parts", default=PARTS)
    parser.add_argument("--joint-slots", type=int, default=JOINT, help="of a canvas with 24 questions")
    asked = parser.parse_args(list(words))
    env = dict(pair.split("=", 1) for pair in asked.env)
    flags = tuple(shlex.split(asked.flags))
    return Setting(
        *(asked.python, asked.model, flags, env),
        in_flight=asked.in_flight,
        seconds=asked.seconds,
        reads=asked.reads,
        tokens=asked.tokens,
        limit_s=asked.limit,
        parts=asked.parts,
        joint_slots=asked.joint_slots,
        pairs=asked.pairs,
        pairs_s=asked.pairs_seconds,
        what=tuple(asked.what),
        cards=tuple(asked.cards),
    )


async def measure_with(words: Sequence[str]) -> BenchResult:
    """Both servers.

    Raises:
        UserError: a server does not start, or refuses a read.
    """
    asked = setting(words)
    found: dict[str, Measured] = {}
    names = ("stock", "fast") if "rates" in asked.what else ("fast",)
    try:
        with tempfile.TemporaryDirectory(prefix="desk") as folder:
            if asked.cards:
                found = await _side_by_side(asked, names, Path(folder))
            else:
                for name in names:
                    async with server(asked, Path(folder) / name, fast=name == "fast") as url, session() as client:
                        found[name] = await _measured(client, url, asked, compare_paths=name == "fast")
    except* UserError as errors:
        raise first_error(errors) from None
    return result(found.get("stock"), found["fast"], asked)


async def _side_by_side(asked: Setting, names: Sequence[str], folder: Path) -> dict[str, Measured]:
    """Both servers start at once; when both are ready each is measured while the other one is asked nothing."""
    found: dict[str, Measured] = {}
    async with AsyncExitStack() as stack:
        begun = {
            name: await stack.enter_async_context(
                launched(asked, folder / name, fast=name == "fast", card=asked.cards[name == "fast"])
            )
            for name in names
        }
        ready = {name: await start.ready(asked.limit_s) for name, start in begun.items()}
        for name, url in ready.items():
            async with session() as client:
                found[name] = await _measured(client, url, asked, compare_paths=name == "fast")
    return found


async def _measured(session: aiohttp.ClientSession, url: str, asked: Setting, *, compare_paths: bool) -> Measured:
    prompts = await open_prompts(session, url, asked.tokens, asked.joint_slots)
    found = Measured()
    if "rates" in asked.what:
        await warm(session, url, prompts, asked)
        for name in LOADS:
            found.rates[name] = await _rate(session, url, getattr(prompts, name), asked)
            _tell(name, found.rates[name])
        found.answers = await _mixed(session, url, prompts, asked, stock=False)
        if compare_paths:
            found.kept = await _mixed(session, url, prompts, asked, stock=True)
    if compare_paths and "pairs" in asked.what:
        found.alone = await _pairs(session, url, prompts, asked)
    return found


async def _rate(session: aiohttp.ClientSession, url: str, make: Callable[[], Request], asked: Setting) -> Rate:
    """Of one load; one that nothing was answered of fails its figure, and not what the other loads have come to."""
    try:
        return await rate_of(session, url, make, asked.in_flight, asked.seconds)
    except UserError as error:
        if error.code != "bench.no_answer":
            raise
        return NOTHING


async def _pairs(session: aiohttp.ClientSession, url: str, prompts: Prompts, asked: Setting) -> list[tuple[Any, Any]]:
    """As many as there is time for; how they differ is told on the way."""
    pairs: list[tuple[Any, Any]] = []
    end = time.monotonic() + asked.pairs_s
    while len(pairs) < asked.pairs and time.monotonic() < end:
        pairs.append(await _pair(session, url, prompts, len(pairs)))
        if len(pairs) % TOLD == 0 or len(pairs) == asked.pairs:
            so_far = difference(*zip(*pairs, strict=True))
            tell(f"{len(pairs)} pairs: share {so_far.share:.2g}, {so_far.logprob:.2g} nats, {so_far.tokens} argmax")
    return pairs


async def _pair(session: aiohttp.ClientSession, url: str, prompts: Prompts, number: int) -> tuple[Any, Any]:
    """One read by either path, one after the other."""
    fast = await answer_of(session, url, *prompts.mixed(number, salt=f"fast {number}"))
    return fast, await answer_of(session, url, *prompts.mixed(number, stock=True, salt=f"stock {number}"))


async def warm(session: aiohttp.ClientSession, url: str, prompts: Prompts, asked: Setting) -> None:
    """Kernels are compiled with the first request of a kind, and again at another number of them."""
    for count in (1, asked.in_flight // 4 + 1, asked.in_flight):
        async with asyncio.TaskGroup() as group:
            for make in (prompts.fresh, prompts.joint, lambda: prompts.fresh(read=False)):
                group.create_task(_many(session, url, [make() for _ in range(count)]))
        tell(f"warm with {count}")


async def _many(session: aiohttp.ClientSession, url: str, requests: Sequence[Request]) -> None:
    async with asyncio.TaskGroup() as group:
        for request in requests:
            group.create_task(answer_of(session, url, *request))


def _tell(name: str, rate: Rate) -> None:
    """A run takes minutes, and may be cut off."""
    tell(f"{name}: {rate.per_s:.1f}/s, {rate.middle_ms:.0f} and {rate.high_ms:.0f} ms")


async def _mixed(
    session: aiohttp.ClientSession, url: str, prompts: Prompts, asked: Setting, *, stock: bool
) -> list[Any]:
    """Answers to the mixed reads, in order."""
    free = asyncio.Semaphore(asked.in_flight)

    async def answer(number: int) -> Any:
        async with free:
            return await answer_of(session, url, *prompts.mixed(number, stock=stock))

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(answer(number)) for number in range(asked.reads)]
    return [task.result() for task in tasks]


def result(stock: Measured | None, fast: Measured, asked: Setting) -> BenchResult:
    """The figures, with the targets that follow from what stock reached; without it those of the pairs only."""
    figures = _rates(stock, fast) if stock else {}
    figures |= _equality("path", difference(*zip(*fast.alone, strict=True)) if fast.alone else None, bounded=True)
    if stock:
        figures |= _equality("under_load", difference(stock.answers, fast.answers))
        figures |= _equality("stock_under_load", difference(stock.answers, fast.kept))
    given = {
        "flags": " ".join(asked.flags),
        "env": dict(asked.env),
        "in_flight": asked.in_flight,
        **({"cards": list(asked.cards)} if asked.cards else {}),
    }
    plain = BenchResult("reads", figures)
    return BenchResult("reads", figures, {**plain.machine, **given})


def _rates(stock: Measured, fast: Measured) -> dict[str, Figure]:
    figures: dict[str, Figure] = {}
    for whose, measured in (("stock", stock), ("fast", fast)):
        for name, rate in measured.rates.items():
            times = QUESTIONS if name == "joint" else 1
            detail = f"p50 {rate.middle_ms:.0f} ms, p99 {rate.high_ms:.0f} ms, {rate.count} answers"
            unit = "prompts/s" if name.endswith("ceiling") else "questions/s"
            figures[f"{whose}_{name}"] = (
                Figure(rate.per_s * times, unit, detail=detail)
                if rate.count
                else Figure(0.0, unit, "at least", 1 / RAMP_S, "nothing was answered in time")
            )
    both = {name for name in LOADS if stock.rates[name].count and fast.rates[name].count}
    for name, most, ceiling in (("fresh", FRESH_TIMES, "ceiling"), ("shared", SHARED_TIMES, "shared_ceiling")):
        if not {name, ceiling} <= both:
            continue
        highest = max(stock.rates[ceiling].per_s, fast.rates[ceiling].per_s)
        target = min(most, OF_CEILING * highest / stock.rates[name].per_s)
        ratio = fast.rates[name].per_s / stock.rates[name].per_s
        figures[f"{name}_ratio"] = Figure(ratio, "", "at least", target, f"the lesser of {most:g} and 0.8 of ceiling")
        p99 = fast.rates[name].high_ms / stock.rates[name].high_ms
        figures[f"{name}_p99_ratio"] = Figure(p99, "", "at most", 1.0)
    if "joint" in both:
        joint = fast.rates["joint"].per_s / stock.rates["joint"].per_s
        figures["joint_ratio"] = Figure(joint, "", "at least", 1.0)
    return figures


def _equality(name: str, found: Difference | None, *, bounded: bool = False) -> dict[str, Figure]:
    """Figures of a comparison; without a target where other requests were in flight."""
    if found is None:
        return {}
    detail = f"{found.slots} slots, {found.tokens} with another argmax"
    bound: Bound = "at most" if bounded else "none"
    share, logprob = (SHARE, LOGPROB) if bounded else (None, None)
    return {
        f"{name}_share": Figure(found.share, "", bound, share, detail),
        f"{name}_logprob": Figure(found.logprob, "nats", bound, logprob),
    }
