"""Two cards that share one model, against one card: the plan, reads with the same noise, mixtures, kills; one table.

    python -m tools.dual_check plan    --folder DIR
    python -m tools.dual_check whole   --folder DIR --python PYTHON --model DIR [--leave 23.56]  [-- VLLM_ARGUMENT ...]
    python -m tools.dual_check single  --folder DIR --python PYTHON --model SMALL  [-- VLLM_ARGUMENT ...]
    python -m tools.dual_check pair    --folder DIR --python PYTHON --model SMALL --sequences 2 [--p2p] [--victim NAME]
    python -m tools.dual_check kills   --folder DIR --python PYTHON --model SMALL --victims NAME ...

One call is one start (``kills``: one for each victim), so that a call that runs out of time costs only itself. What was
seen lies in ``DIR``: ``dual.json``, and as a table ``dual.md``; each call adds its rows and takes the place of its own
earlier ones. ``plan`` comes first: later steps compare with what it predicted. ``single`` reads on one card and keeps
the answers, ``pair`` reads the same with both and compares. ``SMALL`` needs weights that do not depend on the number of
cards: :mod:`tools.random_checkpoint`. What the two may differ by is the limit, or what one card differs from itself by
when the same reads share their steps with others. Options of ``serve --engine vllm`` are given with ``--serve "..."``;
the machine whose plan is followed with ``--machine``.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import shlex
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from argparse import Namespace
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import aiohttp

from engine.bench.reads_load import JOINT, answer_of, difference, open_prompts
from engine.errors import first_error
from engine.launch.fit import activations
from engine.vllm_plugin.protocol import PART_MODULES, PARTS_VARIABLE, SOCKET_VARIABLE
from tools.card_check import VICTIMS, kill, started, work
from tools.card_server import GIB, MostUsed, Serve, add_options, parsed, shown, smaller_cards
from tools.dual_table import Table
from tools.live_check import Check

MACHINE = "resources/machines/2x3090-pcie.json"
SHARE, NATS = 1e-2, 5e-2  # largest differences between one card and two
DECISIONS = "--profile decisions"
WEIGHTS, CACHE = 0.05, 0.15  # of the predicted sizes
READS, MIXED = 200, 300
TOGETHER = 8  # reads in flight, to see what one card makes of other steps: products round with the number of rows
TOKENS = 400  # of a prompt, at most
NOT_READY = "not ready; see the log"
LOGGED = {
    "weights": r"Model loading took ([\d.]+) *GiB",
    "cache": r"Available KV cache memory: ([\d.]+) *GiB",
    "times": r"Maximum concurrency for [\d,]+ tokens per request: ([\d.]+)x",
}
CHANNEL = r"NCCL INFO Channel \d+(?:/\d+)? : \d+\[\d+\] -> \d+\[\d+\] (?:\[\w+\] )?via (\S+)"


class Dual:
    """One call of the tool.

    Args:
        given: the command line.
    """

    def __init__(self, given: Namespace) -> None:
        self.given = given
        self.table = Table(given.folder, _part(given))

    def plan(self) -> None:
        """What is planned for this machine, and for the one whose plan is followed."""
        here = self._planned()
        self.table.add("`plan` for this machine", "a plan", _plan_text(here), well="plan" in here)
        chosen = self._planned("--machine", self.given.machine)
        self.table.add(f"`plan` for {chosen['machine']}", "a plan", _plan_text(chosen), well="plan" in chosen)
        self.table.keep("plan", chosen.get("plan"))
        self.table.keep("here", here.get("plan"))

    def _planned(self, *more: str) -> dict[str, Any]:
        wishes = [*(["--text-only"] if "--text-only" in self.given.serve else [])]
        wishes += ["--profile", "decisions"] if DECISIONS in self.given.serve else []
        command = [sys.executable, "-m", "engine.cli", "plan", "--json", *more, *wishes]
        ran = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
        try:
            found: dict[str, Any] = json.loads(ran.stdout)
        except ValueError:
            return {"machine": "this machine", "refusal": {"reason": (ran.stdout + ran.stderr)[-300:]}}
        return found

    def whole(self) -> None:
        """The plan with the whole model: phases, memory, chat, reads on both wires, the live canvas, the stop."""

        def walk(serve: Serve, event: dict[str, Any]) -> None:
            self._memory(serve, event)
            for done in asyncio.run(work(event["url"], serve.key, self.given.work_limit, reads=True)):
                self.table.add(done.name, "answered", done.said, well=done.well)
            self._asking(serve, event, self._live)
            if self.given.mixed_whole:
                self._asking(serve, event, self._mixture_of_whole)

        self._served(walk)

    def single(self) -> None:
        """The same reads on one card, one at a time; kept."""

        async def read(check: Check, url: str, session: aiohttp.ClientSession) -> None:
            answers = await self._answers(url, session)
            self.table.keep("answers", answers)
            self.table.add(f"{len(answers)} reads on one card", "answered", "answered", well=bool(answers))
            again = await self._answers(url, session, TOGETHER)
            own = difference(answers, again)
            self.table.keep("own", [own.share, own.logprob])
            said = f"shares {own.share:.2g}, {own.logprob:.2g} nats, usually {own.usual:.2g}"
            self.table.add(f"the same, {TOGETHER} at once: one card differs from itself by", "-", said)

        flags = ("--tensor-parallel-size", "1", "--max-num-seqs", str(TOGETHER))
        self._served(lambda serve, event: self._asking(serve, event, read), *flags)

    def pair(self) -> None:
        """The same reads on two cards; a mixture of requests; a kill, or the stop."""
        given = self.given

        def walk(serve: Serve, event: dict[str, Any]) -> None:
            self._asking(serve, event, self._compare)
            self._asking(serve, event, self._mixture)
            via = sorted(set(re.findall(CHANNEL, _log(event))))
            if via:
                wanted = "P2P" if given.p2p else "SHM"
                well = all(wanted in one for one in via)
                self.table.add("channels between the ranks", wanted, ", ".join(via), well=well)
            if given.victim:
                self._kill(serve, given.victim)

        self._served(walk, "--max-num-seqs", str(given.sequences), stop=not given.victim)

    def kills(self) -> None:
        """SIGKILL of one process after another, each of a fresh start."""
        for victim in self.given.victims:
            self.table.part = f"kills, {victim}"
            self._served(lambda serve, event, victim=victim: self._kill(serve, victim), stop=False)

    def _served(self, walk: Callable[[Serve, dict[str, Any]], None], *flags: str, stop: bool = True) -> None:
        """A start, what is to be done with it, and its end."""
        with tempfile.TemporaryDirectory() as folder, smaller_cards(self.given) as left:
            os.environ[SOCKET_VARIABLE] = str(Path(folder) / "live.sock")
            if left:
                self.table.add("cards made smaller", f"{self.given.leave:.2f} GiB free", left)
            up = started(self._start(flags))
            if up is None:
                self.table.add("start", "ready", NOT_READY, well=False)
                return
            serve, event = up
            try:
                self.table.add("start", "ready", f"ready after {event['seconds']} s: {serve.durations()}")
                with MostUsed(serve) as most:
                    walk(serve, event)
                if serve.process.poll() is None:
                    self.table.add("most in use beside what was there before", self._planned_use(), most.shown())
            finally:
                if serve.process.poll() is None and stop:
                    began, clean = time.monotonic(), serve.stop()
                    seen = (
                        f"{time.monotonic() - began:.1f} s; in use {shown(serve.used())}, before {shown(serve.before)}"
                    )
                    self.table.add("stop", "nothing left, memory back", seen, well=clean)
                elif serve.process.poll() is None:
                    serve.interrupt()
                    serve.end()

    def _planned_use(self) -> str:
        """What the plan takes of a card, for a whole model that follows it."""
        cards = (self.table.kept("plan") or {}).get("cards")
        if self.given.what != "whole" or not cards:
            return "-"
        return f"{cards[0]['needed'] / GIB:.2f} GiB planned"

    def _start(self, flags: Sequence[str]) -> Namespace:
        """The command line of a start: the plan of the machine, all parts, and whether cards may read each other."""
        given = self.given
        options = ["--machine", given.machine, "--env", f"{PARTS_VARIABLE}={','.join(PART_MODULES)}"]
        options += ["--env", "NCCL_DEBUG=INFO", *(["--env", "NCCL_P2P_DISABLE"] if given.p2p else [])]
        serve = f"{shlex.join(options)} {given.serve}"
        return Namespace(**{**vars(given), "serve": serve, "extra": [*given.extra, *flags]})

    def _memory(self, serve: Serve, event: dict[str, Any]) -> None:
        """What the engine says of its memory, beside what was predicted."""
        log, plan = _log(event), self.table.kept("plan") or {}
        cards = plan.get("cards") or []
        more = _more_activations(plan, self.table.kept("here") or {})
        for name, what, key, limit in (
            ("weights", "weights, GiB a card", "weights", WEIGHTS),
            ("cache", "KV cache, GiB a card", "kv_cache", CACHE),
        ):
            predicted = cards[0][key] / GIB if cards else 0.0
            if cards and more and key == "kv_cache":
                what += f" ({predicted:.2f} less {more:.2f}, which this card takes more beside the weights)"
                predicted -= more
            seen = [float(value) for value in re.findall(LOGGED[name], log)]
            well = bool(seen) and (not predicted or all(abs(one / predicted - 1) <= limit for one in seen))
            said = ", ".join(f"{one:.2f}" for one in sorted(set(seen))) or "not logged"
            self.table.add(what, f"{predicted:.2f} within {limit:.0%}" if cards else "-", said, well=well)
        times = re.findall(LOGGED["times"], log)
        expected = f"{plan.get('concurrency', 0):.2f} times {plan.get('context', 0):,} tokens"
        self.table.add("sequences in the cache", expected, ", ".join(sorted(set(times))) or "not logged")
        self.table.add("in use on the cards", "-", f"{shown(serve.used())}, before {shown(serve.before)}")

    def _asking(self, serve: Serve, event: dict[str, Any], ask: Callable[..., Any]) -> None:
        """Requests to the engine, within the time for work; what fails is a row."""

        async def run() -> None:
            headers = {"Authorization": f"Bearer {serve.key}"}
            timeout, url = aiohttp.ClientTimeout(total=self.given.work_limit), event["url"]
            connector = aiohttp.TCPConnector(limit=0)
            async with aiohttp.ClientSession(headers=headers, timeout=timeout, connector=connector) as session:
                check = Check(session, url, serve.key, Path(os.environ[SOCKET_VARIABLE]), self.given.model)
                async with asyncio.timeout(self.given.work_limit):
                    await ask(check, url, session)

        try:
            asyncio.run(run())
        except Exception as error:  # noqa: BLE001  # a finding, whatever it is; the kill behind it is wanted too
            first, name = first_error(error), ask.__name__.strip("_")
            self.table.add(name, "answered", f"{type(first).__name__}: {first}"[:300], well=False)

    async def _live(self, check: Check, url: str, session: aiohttp.ClientSession) -> None:
        frames, ids = await check.watched("dual")
        ends = [list(frame.argmax) for frame in frames if frame.converged]
        said = f"{len(frames)} frames, {len(ends)} ends of {len(ids)} canvases"
        self.table.add("live canvas", "the last frame is what was committed", said, well=bool(ends) and ends == ids)

    async def _answers(self, url: str, session: aiohttp.ClientSession, at_once: int = 1) -> list[Any]:
        """To the mixed reads, in order; each computes its whole prompt."""
        slots = json.loads((self.given.model / "config.json").read_text())["canvas_length"]
        prompts = await open_prompts(session, url, min(TOKENS, self.given.tokens), min(JOINT, slots))
        free = asyncio.Semaphore(at_once)

        async def answer(number: int) -> Any:
            async with free:
                return await answer_of(session, url, *prompts.mixed(number, salt=f"{at_once} at once, {number}"))

        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(answer(number)) for number in range(self.given.reads)]
        return [task.result() for task in tasks]

    async def _compare(self, check: Check, url: str, session: aiohttp.ClientSession) -> None:
        one = self.table.kept("answers")
        other = await self._answers(url, session)
        if not one or len(one) != len(other):
            self.table.add("reads like one card's", "the answers of `single`", "there are none", well=False)
            return
        found, (share, nats) = difference(one, other), self.table.kept("own") or (0.0, 0.0)
        limit = f"within {SHARE} of one card's, or {share:.2g} as that differs from itself"
        self.table.add("label shares", limit, f"{found.share:.2g}", well=found.share <= max(SHARE, share))
        limit = f"within {NATS} nats, or {nats:.2g}"
        said = f"{found.logprob:.2g} nats, usually {found.usual:.2g}, where they spread by {_spread(one):.2g}"
        self.table.add("label log-probabilities", limit, said, well=found.logprob <= max(NATS, nats))
        said = f"{found.tokens} of {found.slots} slots"
        self.table.add("another argmax", "-", f"{said}, {len(other)} reads one at a time")

    async def _mixture_of_whole(self, check: Check, url: str, session: aiohttp.ClientSession) -> None:
        await self._mixture(check, url, session, self.given.mixed_whole)

    async def _mixture(self, check: Check, url: str, session: aiohttp.ClientSession, count: int = 0) -> None:
        count, at_once = count or self.given.mixed, 2 * self.given.sequences + 2
        tally = await check.stress(count, self.given.work_limit - 10, at_once)
        said = f"{dict(tally.counts)}, {at_once} in flight, {tally.frames} frames, {len(tally.lost)} lost"
        done = sum(tally.counts.values())
        well = done == count and not tally.lost
        self.table.add(f"{count} mixed requests", "all answered, no hang", said + f" {tally.lost[:1] or ''}", well=well)

    def _kill(self, serve: Serve, victim: str) -> None:
        tree = serve.tree()
        if victim not in tree:
            self.table.add(f"SIGKILL of the {victim}", "-", f"there is none: {', '.join(tree)}", well=False)
            return
        killed = kill(serve, victim, tree)
        times = (("noticed", killed.noticed_s), ("gone", killed.gone_s), ("memory back", killed.back_s))
        said = ", ".join(f"{name} {seconds:.1f} s" for name, seconds in times if seconds is not None)
        seen = f"{said}; left: {killed.left or 'nothing'}"
        self.table.add(f"SIGKILL of the {victim}", "nothing left, memory back", seen, well=killed.well)


def _spread(answers: list[Any]) -> float:
    """Standard deviation of all labels' log-probabilities: what a difference is to be seen against."""
    slots = [slot for answer in answers for slot in answer["choices"][0]["logprobs"]["content"]]
    # The first of a slot is its argmax, the rest are the labels.
    return statistics.pstdev(top["logprob"] for slot in slots for top in slot["top_logprobs"][1:])


def _more_activations(plan: dict[str, Any], here: dict[str, Any]) -> float:
    """What the profile run takes on a card of this machine beyond what it takes on one of the followed plan, in GiB.

    Workspaces are larger on a larger card.
    """
    sizes = []
    for found in (plan, here):
        if not found.get("cards"):
            return 0.0
        batch = next(int(flag["value"]) for flag in found["flags"] if flag["name"] == "--max-num-batched-tokens")
        sizes.append(found["cards"][0]["activations"] - activations(0, batch))
    return float((sizes[1] - sizes[0]) / GIB)


def _part(given: Namespace) -> str:
    if given.what != "pair":
        profile = ", decisions" if DECISIONS in given.serve else ""
        return f"{given.what}{profile}" + (f", {given.leave:g} GiB a card" if given.leave else "")
    return f"pair, sequences {given.sequences}, P2P {'on' if given.p2p else 'off'}"


def _plan_text(found: dict[str, Any]) -> str:
    if "refusal" in found:
        return f"refused: {found['refusal']['reason']}"
    plan = found["plan"]
    cards = "; ".join(
        f"{card['name']}: weights {card['weights'] / GIB:.2f}, KV {card['kv_cache'] / GIB:.2f} GiB"
        for card in plan["cards"]
    )
    return f"{plan['title']}, utilisation {plan['utilisation']}, {plan['context']:,} tokens; {cards or 'no card'}"


def _log(event: dict[str, Any]) -> str:
    return Path(event["log"]).read_text(errors="replace")


def main(argv: Sequence[str] | None = None) -> int:
    """Parse and run; 0 when all was as expected."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["plan", "whole", "single", "pair", "kills"])
    add_options(parser, required=False)
    parser.add_argument("--folder", type=Path, required=True, help="of what was seen")
    parser.add_argument("--machine", default=MACHINE, help="the recorded machine whose plan is followed")
    parser.add_argument("--sequences", type=int, default=1)
    parser.add_argument("--p2p", action="store_true", help="cards may read each other")
    parser.add_argument("--victim", choices=VICTIMS, help="pair: killed at the end, instead of a stop")
    parser.add_argument("--victims", nargs="+", default=["command", "api server"], choices=VICTIMS)
    parser.add_argument("--reads", type=int, default=READS)
    parser.add_argument("--mixed", type=int, default=MIXED)
    parser.add_argument("--mixed-whole", type=int, default=0, help="whole: mixed requests, for --sequences at once")
    parser.add_argument(
        "--leave", type=float, default=0.0, help="GiB of each card; the rest is held by tools/ballast.py"
    )
    parser.add_argument("--tokens", type=int, default=TOKENS, help="of a prompt, at most")
    parser.add_argument("--work-limit", type=float, default=90.0, help="seconds for each kind of requests")
    given = parsed(parser, sys.argv[1:] if argv is None else argv)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # ends what was started, as Ctrl+C does
    dual = Dual(given)
    try:
        getattr(dual, given.what)()
    except KeyboardInterrupt:
        dual.table.add("the step", "its end", "stopped from outside", well=False)
    print(dual.table.text(), flush=True)
    return 0 if dual.table.well else 1


if __name__ == "__main__":
    sys.exit(main())
