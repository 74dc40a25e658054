"""Which launch values answer most reads a second: one server after the other, a row as soon as it is there.

    python -m tools.decisions_grid --python PYTHON --model DIR --folder OUT [--only NAME ...] [--budget SECONDS]

Every setting is the base with something changed. Each is started with the parts that reads need, warmed, and measured
with fresh states and with 24 questions about one state; then a few reads are asked one at a time and compared with the
first setting's, since no value may change an answer. A setting for which the time is too short is skipped, and said to
be; one that does not start is a row too. ``grid.json`` and ``grid.md`` in the folder grow with each.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import shlex
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

import aiohttp

from engine.bench.reads import warm
from engine.bench.reads_load import JOINT, answer_of, difference, open_prompts, rate_of
from engine.bench.reads_server import PARTS, Setting, server, session
from engine.errors import EngineError, first_error

EAGER: Mapping[str, str | None] = {"--enforce-eager": None}
BASE: Mapping[str, str | None] = {
    "--attention-backend": "TRITON_ATTN",
    "--max-model-len": "8192",
    "--max-num-seqs": "120",
    "--max-num-batched-tokens": "15360",
    "--gpu-memory-utilization": "0.6",
    "--api-server-count": "4",
}
CANVAS = 128
SIZES = [1, 8, 32, 128, 512, 1024, 2048, 4096]
"""Tokens of a step for which graphs are captured, where they are: vLLM's own stop at 512, and reads take steps of
thousands."""
Graphs = Literal["", "captured", "compiled"]
START_S: Mapping[Graphs, float] = {"": 75.0, "captured": 120.0, "compiled": 230.0}
"""What a start takes at most, for the decision to begin one."""
WORK_S = 30.0  # of a measurement
COMPARED = 24
HEAD = (
    "| setting | ready s | fresh/s | p99 ms | shared/s | p99 ms | another argmax | log-probabilities differ by |\n"
    "|---|---|---|---|---|---|---|---|"
)


@dataclass(frozen=True, slots=True)
class Try:
    """One setting.

    Attributes:
        changes: of the base's flags; None as value for a flag without one, ``-`` takes one away.
        canvas: slots that are served.
        graphs: CUDA graphs are captured, of the model as it is or of its compiled layers.
    """

    name: str
    changes: Mapping[str, str | None] = field(default_factory=dict)
    canvas: int = CANVAS
    graphs: Graphs = ""

    def flags(self, more: Sequence[str]) -> tuple[str, ...]:
        """The whole command line behind ``serve``."""
        named = {**BASE, **({} if self.graphs else EAGER), **self.changes}
        words = [word for flag, value in named.items() if value != "-" for word in (flag, value) if word is not None]
        return (*words, "--diffusion-config", json.dumps({"canvas_length": self.canvas}), *more)


def compiled(mode: int, graphs: str) -> dict[str, str]:
    """vLLM's compilation settings: mode 3 compiles the model's layers, 0 leaves them."""
    return {
        "--compilation-config": json.dumps({"mode": mode, "cudagraph_mode": graphs, "cudagraph_capture_sizes": SIZES})
    }


TRIES = (
    Try("base"),
    Try("canvas 16", canvas=16),
    Try("graphs, layers not compiled", compiled(0, "FULL"), graphs="captured"),
    Try("canvas 256", canvas=256),
    Try("sequences 64", {"--max-num-seqs": "64"}),
    Try("tokens 16384", {"--max-num-batched-tokens": "16384"}),
    Try("API servers 1", {"--api-server-count": "1"}),
    Try("canvas 32", canvas=32),
    Try("canvas 64", canvas=64),
    Try("sequences 32", {"--max-num-seqs": "32"}),
    Try("tokens 4096", {"--max-num-batched-tokens": "4096"}),
    Try("API servers 8", {"--api-server-count": "8"}),
    Try("no prefix cache", {"--no-enable-prefix-caching": None}),
    Try("graphs as vLLM has them", graphs="compiled"),
    Try("graphs up to 4,096 tokens", compiled(3, "FULL_AND_PIECEWISE"), graphs="compiled"),
)
"""In the order of how much is expected of each."""


@dataclass(slots=True)
class Row:
    """What one setting came to; None for what was not measured."""

    name: str
    flags: str
    ready_s: float | None = None
    fresh: float | None = None
    fresh_p99_ms: float | None = None
    shared: float | None = None
    shared_p99_ms: float | None = None
    argmax: str = ""
    logprob: float | None = None
    said: str = ""

    def text(self) -> str:
        """A line of the table."""
        if self.said and self.fresh is None:
            return f"| {self.name} | {self.said} | | | | | | |"
        numbers = (self.ready_s, self.fresh, self.fresh_p99_ms, self.shared, self.shared_p99_ms)
        cells = ["-" if number is None else f"{number:.1f}" for number in numbers]
        worst = "-" if self.logprob is None else f"{self.logprob:.2g}"
        return "| " + " | ".join([self.name, *cells, self.argmax or "-", worst + f" {self.said}".rstrip()]) + " |"


class Grid:
    """The settings, one after the other.

    Args:
        given: the command line.
    """

    def __init__(self, given: argparse.Namespace) -> None:
        self.given = given
        self.rows: list[Row] = []
        self._end = time.monotonic() + given.budget
        self._first: list[Any] | None = None

    async def run(self) -> None:
        """All of them, or as many as there is time for."""
        chosen = [one for one in TRIES if not self.given.only or one.name in self.given.only]
        for one in sorted(chosen, key=lambda one: self.given.only.index(one.name) if self.given.only else 0):
            row = Row(one.name, shlex.join(one.flags(self.given.more)))
            self.rows.append(row)
            left = self._end - time.monotonic()
            if left < START_S[one.graphs] * self.given.pace + WORK_S:
                row.said = f"skipped: {left:.0f} s were left"
            else:
                await self._tried(one, row, left)
            print(row.text(), flush=True)
            self._write()

    async def _tried(self, one: Try, row: Row, left: float) -> None:
        try:
            async with asyncio.timeout(left):
                await self._measured(one, row, left)
        except* (EngineError, aiohttp.ClientError, TimeoutError) as errors:
            first = first_error(errors)
            row.said = f"{type(first).__name__}: {str(first)[-200:]}".replace("\n", " ").replace("|", "/")

    async def _measured(self, one: Try, row: Row, left: float) -> None:
        given = self.given
        env = dict(pair.split("=", 1) for pair in given.env)
        if one.graphs == "compiled":
            env = {
                name: value for name, value in env.items() if not name.endswith(("DYNAMO_DISABLE", "COMPILE_DISABLE"))
            }
        asked = Setting(
            *(given.python, str(given.model), one.flags(given.more), env),
            in_flight=given.in_flight,
            seconds=given.seconds,
            tokens=given.tokens,
            limit_s=left,
            parts=given.parts,
            joint_slots=min(JOINT, one.canvas),
        )
        began = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="grid") as folder:
            async with server(asked, Path(folder), fast=True) as url, session() as client:
                row.ready_s = time.monotonic() - began
                prompts = await open_prompts(client, url, asked.tokens, asked.joint_slots)
                await warm(client, url, prompts, asked)
                fresh = await rate_of(client, url, prompts.fresh, asked.in_flight, asked.seconds)
                row.fresh, row.fresh_p99_ms = fresh.per_s, fresh.high_ms
                shared = await rate_of(client, url, prompts.shared, asked.in_flight, asked.seconds)
                row.shared, row.shared_p99_ms = shared.per_s, shared.high_ms
                # Alone and of 16 slots, which every setting serves: the same read for the same number.
                small = await open_prompts(client, url, asked.tokens, 16)
                chosen = [number for number in range(6 * COMPARED) if _slots(small.mixed(number)) <= 16][:COMPARED]
                answers = [await answer_of(client, url, *small.mixed(number)) for number in chosen]
        self._compared(row, answers)

    def _compared(self, row: Row, answers: list[Any]) -> None:
        if self._first is None:
            self._first = self._others() or answers
        found = difference(self._first, answers)
        row.argmax, row.logprob = f"{found.tokens} of {found.slots}", found.logprob

    def _others(self) -> list[Any] | None:
        """The first setting's answers, from a run on another card."""
        path = self.given.folder / "answers.json"
        return json.loads(path.read_text()) if path.exists() else None

    def _write(self) -> None:
        folder: Path = self.given.folder
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "grid.json").write_text(json.dumps([asdict(row) for row in self.rows]))
        (folder / "grid.md").write_text("\n".join([HEAD, *(row.text() for row in self.rows)]) + "\n")
        if self._first is not None and not (folder / "answers.json").exists():
            (folder / "answers.json").write_text(json.dumps(self._first))


def _slots(request: tuple[str, Any]) -> int:
    slots: int = request[1]["sampling_params"]["extra_args"]["diffusion_canvas_length"]
    return slots


def main(argv: Sequence[str] | None = None) -> int:
    """Parse and run; 0 when a setting was measured."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", required=True, help="the engine's interpreter")
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--folder", type=Path, required=True, help="of what was seen")
    parser.add_argument("--only", nargs="+", default=[], choices=[one.name for one in TRIES], help="and in this order")
    parser.add_argument("--more", default="--load-format dummy", help="flags of every setting, as one string")
    parser.add_argument("--env", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--parts", default=PARTS)
    parser.add_argument("--in-flight", type=int, default=192)
    parser.add_argument("--seconds", type=float, default=5.0, help="of each rate")
    parser.add_argument("--tokens", type=int, default=400, help="of a state")
    parser.add_argument("--budget", type=float, default=540.0, help="seconds for everything")
    parser.add_argument("--pace", type=float, default=1.0, help="how many times longer a start takes than on a card")
    given = parser.parse_args(argv)
    given.more = shlex.split(given.more)
    grid = Grid(given)
    try:
        asyncio.run(grid.run())
    finally:
        print("\n".join([HEAD, *(row.text() for row in grid.rows)]), flush=True)
    return 0 if any(row.fresh is not None for row in grid.rows) else 1


if __name__ == "__main__":
    sys.exit(main())
