"""What the live canvas costs a chat on a real card, and that nothing is lost while frames are.

    python -m tools.live_check --python ENGINE_PYTHON --model DIR [--what cost stress] [-- VLLM_ARGUMENT ...]

``cost``: chats of the same length, in turn without frames, with a listener, and asking while nobody listens; the
differences of neighbours in time. ``stress``: :mod:`tools.live_stress`. ``DIR`` may hold a configuration and a
tokenizer only, with ``-- --load-format dummy``. Options of ``serve --engine vllm`` are given with ``--serve "..."``.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, nullcontext
from pathlib import Path
from typing import Any

import aiohttp

from engine.client.live import LiveChannel
from engine.domain.chat import CanvasFrame
from engine.vllm_plugin.protocol import SOCKET_VARIABLE
from tools.card_server import Serve, add_options, parsed
from tools.live_stress import Stress, Tally

ARMS = ("without", "with", "unheard")
TELL_S = 15.0  # between two lines on a mixture that goes on
STEPS = 48  # of a canvas; weights of nothing never agree


class Check:
    """One server, asked over its wire.

    Args:
        live: the socket that it was started with.
    """

    def __init__(self, session: aiohttp.ClientSession, url: str, key: str, live: Path, model: Path) -> None:
        self._session, self._url, self._live = session, url, live
        self._headers = {"Authorization": f"Bearer {key}"}
        config = json.loads((model / "config.json").read_text())
        self._canvas, self._vocabulary = config["canvas_length"], config["text_config"]["vocab_size"]

    async def cost(self, seconds: float, canvases: int) -> None:
        """Rounds of one chat for each arm, in turns of their order, for so many seconds."""
        for arm in ARMS:
            await self._chat(arm, canvases, "warm")
        took: dict[str, list[float]] = {arm: [] for arm in ARMS}
        frames, wrong, missing, end, number = 0, 0, 0, time.monotonic() + seconds, 0
        while time.monotonic() < end:
            for place in range(len(ARMS)):
                arm = ARMS[(number + place) % len(ARMS)]
                spent, seen, ids = await self._chat(arm, canvases, f"{arm}{number}")
                took[arm].append(spent)
                frames += len(seen)
                ends = [list(frame.argmax) for frame in seen if frame.converged]
                wrong += sum(ended not in ids for ended in ends)
                missing += len(ids) - len(ends) if arm == "with" else 0
            number += 1
            last = ", ".join(f"{arm} {took[arm][-1]:.3f}" for arm in ARMS)
            print(f"  round {number}, seconds: {last}", flush=True)  # the time may be over before the table
        self._show(took, canvases)
        wanted = STEPS * canvases * number
        print(
            f"frames {frames} of {wanted}; last frames of a canvas: {wrong} not what was committed, {missing} missing"
        )

    def _show(self, took: dict[str, list[float]], canvases: int) -> None:
        base = statistics.mean(took["without"])
        print(f"chats of {canvases} canvases, {len(took['without'])} rounds, alone on the engine")
        print("| frames | mean s | sd s | more than without, paired |\n|---|---|---|---|")
        for arm in ARMS:
            more = [one - other for one, other in zip(took[arm], took["without"], strict=True)]
            error = statistics.stdev(more) / len(more) ** 0.5 if len(more) > 2 else 0.0
            print(
                f"| {arm} | {statistics.mean(took[arm]):.4f} | {statistics.pstdev(took[arm]):.4f} "
                f"| {100 * statistics.mean(more) / base:+.2f} % (standard error {100 * error / base:.2f}) |"
            )

    async def _chat(self, arm: str, canvases: int, name: str) -> tuple[float, list[CanvasFrame], list[list[int]]]:
        seen: list[CanvasFrame] = []
        extra = {} if arm == "without" else {"dg_live": name}
        # Bound before and unbound after every chat of each arm alike, but for the one that nobody hears.
        async with nullcontext() if arm == "unheard" else LiveChannel(self._live) as channel:
            with channel.attached(name, seen.append) if channel else nullcontext():
                began = time.monotonic()
                ids = await self._stream(canvases * self._canvas, extra)
                spent = time.monotonic() - began
                if channel:
                    await asyncio.sleep(0.05)
                    channel.drain()
        return spent, seen, ids

    async def _stream(self, tokens: int, extra: dict[str, Any]) -> list[list[int]]:
        body = {
            "messages": [{"role": "user", "content": "Tell me a story about a fox."}],
            **{"max_tokens": tokens, "ignore_eos": True, "stream": True, "return_token_ids": True},
            "vllm_xargs": extra or None,
        }
        found: list[list[int]] = []
        async with self._session.post(f"{self._url}/v1/chat/completions", json=body, headers=self._headers) as answer:
            answer.raise_for_status()
            async for line in answer.content:
                if line.startswith(b"data: {"):
                    found += [one["token_ids"] for one in json.loads(line[6:])["choices"] if one.get("token_ids")]
        return found

    async def watched(self, name: str) -> tuple[list[CanvasFrame], list[list[int]]]:
        """One chat of one canvas with a listener: its frames, and the token ids that were committed."""
        _, seen, ids = await self._chat("with", 1, name)
        return seen, ids

    async def stress(self, count: int, seconds: float, at_once: int) -> Tally:
        """At most ``count`` requests and about ``seconds`` seconds."""
        body = {"messages": [{"role": "user", "content": "Hello!"}]}
        url = f"{self._url}/v1/chat/completions/render"
        async with self._session.post(url, json=body, headers=self._headers) as answer:
            prompt = (await answer.json())["token_ids"]
        stress = Stress(
            *(self._session, self._url, self._headers, self._live),
            canvas=self._canvas,
            vocabulary=self._vocabulary,
            prompt=prompt,
            tolerance=1.0,  # nats; FP8 in a batch of others
        )
        began = time.monotonic()
        async with asyncio.TaskGroup() as group:
            told = group.create_task(self._tell(stress.tally, began))
            tally = await stress.run(count, at_once, limit_s=seconds)
            told.cancel()
        spent, done = time.monotonic() - began, sum(tally.counts.values())
        print(f"stress: {done} requests in {spent:.0f} s, {at_once} in flight: {dict(tally.counts)}")
        print(f"  frames {tally.frames}, ends {tally.ends}, of these a canvas of a finished chat {tally.matched}")
        print(f"  reads differ by at most {tally.worst:.4f} nats; lost: {len(tally.lost)}", *tally.lost[:5], sep="\n  ")
        await self._settled()
        return tally

    async def _tell(self, tally: Tally, began: float) -> None:
        while True:
            await asyncio.sleep(TELL_S)
            lost = f"{len(tally.lost)} lost {tally.lost[:1] or ''}"
            print(
                f"  {time.monotonic() - began:.0f} s: {dict(tally.counts)}, {tally.frames} frames, {lost}", flush=True
            )

    async def _settled(self) -> None:
        url = f"{self._url}/metrics"
        for _ in range(100):
            async with self._session.get(url, headers=self._headers) as answer:
                lines = (await answer.text()).splitlines()
            names = ("vllm:num_requests_running", "vllm:num_requests_waiting{")
            left = sum(float(line.rsplit(" ", 1)[1]) for line in lines if line.startswith(names))
            if not left:
                break
            await asyncio.sleep(0.1)
        print(f"  left in the engine: {left:.0f}", flush=True)


@asynccontextmanager
async def started(given: argparse.Namespace, live: Path) -> AsyncIterator[tuple[str, Serve]]:
    """A server with the socket in its environment."""
    os.environ[SOCKET_VARIABLE] = str(live)
    serve = Serve(given)
    try:
        ready = await asyncio.to_thread(serve.until, "ready", limit_s=given.limit)
        if ready is None:
            serve.show_tail()
            raise SystemExit(1)
        print(f"ready after {ready['seconds']} s: {serve.durations()}", flush=True)
        yield ready["url"], serve
    finally:
        log = serve.log.read_text(errors="replace") if serve.log.exists() else ""
        said = [line for line in log.splitlines() if "Diffusion Desk's" in line or "live canvas" in line]
        print(*(f"log: {line[-200:]}" for line in said[-8:]), sep="\n", flush=True)
        await asyncio.to_thread(serve.stop)


async def check(given: argparse.Namespace) -> None:
    """Everything that was asked for."""
    timeout = aiohttp.ClientTimeout(total=300)
    with tempfile.TemporaryDirectory() as folder:
        live = Path(folder) / "live.sock"
        async with (
            started(given, live) as (url, serve),
            aiohttp.ClientSession(timeout=timeout, connector=aiohttp.TCPConnector(limit=0)) as session,
        ):
            asked = Check(session, url, serve.key, live, given.model)
            if "cost" in given.what:
                await asked.cost(given.seconds, given.canvases)
            if "stress" in given.what:
                await asked.stress(given.requests, given.seconds, given.in_flight)


def main(argv: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_options(parser)
    parser.add_argument("--what", nargs="+", choices=("cost", "stress"), default=["cost", "stress"])
    parser.add_argument("--seconds", type=float, default=60.0, help="of each")
    parser.add_argument("--canvases", type=int, default=1, help="of a chat whose time is taken")
    parser.add_argument("--requests", type=int, default=10_000)
    parser.add_argument("--in-flight", type=int, default=48)
    asyncio.run(check(parsed(parser, sys.argv[1:] if argv is None else argv)))


if __name__ == "__main__":
    main()
