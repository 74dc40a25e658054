"""``bench runner``: our runner, answers stored, against a bare aiohttp loop that only asks.

Both ask a stand-in in its own process, at the same width, with the same two requests a row (render, generate), in
turn: once one that answers at once, where every microsecond of ours counts, and once one that answers after 400 ms with
192 rows in flight, which is what an engine looks like. The bare loop is what a script does: one aiohttp session, bodies
encoded from Python objects, answers decoded, nothing done with them. Ours adds the row's text, the words and the canvas
of a read, the check of the answer, aggregation, errors and pauses, SQLite; what it saves is aiohttp's own way through a
request (``engine.client.posts``).
"""

from __future__ import annotations

import asyncio
import csv
import json
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp

from engine.batch.prepare import PreparedRun, prepare
from engine.batch.runner import run
from engine.bench.result import BenchResult, Figure, middle
from engine.client.http import EngineClient
from engine.client.wire import ChatRequest, DiffusionArgs, GenerateRequest, SamplingParams, WireMessage
from engine.errors import UserError
from engine.reads.prompt import alone_prompt
from engine.reads.reader import Reader
from engine.supervise.group import EngineGroup
from engine.supervise.ports import bind_port

ROWS = 1000
WIDTH = 32
ROUNDS = 9
SLOW_ROWS, SLOW_WIDTH, SLOW_ROUNDS = 2304, 192, 3  # 12 waves
DELAY_S = 0.4
REQUESTS_A_ROW = 2  # one question read alone with one draw: render, generate
RATIO, SLOW_RATIO = 0.6, 0.97
FORM: dict[str, Any] = {
    "version": 1,
    "name": "bench",
    "state": "Ticket {{ number }}: {{ text }}",
    "questions": [{"id": "late", "type": "noul", "instructions": "Is the parcel late?"}],
    "method": {"draws": 1},
}
TEXT = "The parcel was sent on Monday and has not arrived yet."


async def measure(
    rows: int = ROWS, rounds: int = ROUNDS, slow_rows: int = SLOW_ROWS, slow_rounds: int = SLOW_ROUNDS
) -> BenchResult:
    """Requests a second of both, and the middle of the ratios of some rounds, after one that warms both.

    Args:
        rows, slow_rows: of the table that is read in each round, from the quick stand-in and from the slow one.

    Raises:
        UserError: a run did not answer every row.
    """
    quick = await _compare(rows, rounds, WIDTH, 0.0)
    slow = await _compare(slow_rows, slow_rounds, SLOW_WIDTH, DELAY_S)
    offered = SLOW_WIDTH / DELAY_S
    return BenchResult(
        "runner",
        {
            "runner": Figure(quick.ours, "requests/s"),
            "bare_aiohttp": Figure(quick.bare, "requests/s"),
            "ratio": Figure(quick.ratio, "", "at least", RATIO),
            "slow_runner": Figure(slow.ours, "requests/s", detail=f"{offered:g} offered, {SLOW_WIDTH} in flight"),
            "slow_bare_aiohttp": Figure(slow.bare, "requests/s"),
            "slow_ratio": Figure(slow.ratio, "", "at least", SLOW_RATIO),
        },
    )


@dataclass(frozen=True, slots=True)
class _Compared:
    """Middle rates in requests a second, and the middle of the rounds' ratios."""

    ours: float
    bare: float
    ratio: float


async def _compare(rows: int, rounds: int, width: int, delay_s: float) -> _Compared:
    with tempfile.TemporaryDirectory(prefix="desk") as folder:
        home = Path(folder)
        await asyncio.to_thread(write_input, home, rows)
        prepared = await asyncio.to_thread(prepare, home / "form.json", home / "table.csv", engine="stand-in")
        async with stand_in(home, delay_s) as url:
            requests = _requests(prepared)
            ours, bare = [], []
            for number in range(rounds + 1):
                bare.append(await _bare_rate(url, requests, rows, width))
                ours.append(await _our_rate(url, prepared, home / f"runs{number}", width))
    ratios = [our / their for our, their in zip(ours, bare, strict=True)]
    return _Compared(middle(ours[1:]), middle(bare[1:]), middle(ratios[1:]))


def write_input(home: Path, rows: int) -> None:
    """A form with one question, and a table for it."""
    (home / "form.json").write_text(json.dumps(FORM), encoding="utf-8")
    with (home / "table.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["number", "text"])
        writer.writerows([number, TEXT] for number in range(rows))


@asynccontextmanager
async def stand_in(home: Path, delay_s: float = 0.0) -> AsyncIterator[str]:
    """The stand-in in a process of its own; gives its address.

    Args:
        delay_s: how long a read takes.
    """
    with bind_port() as listener:
        port = listener.getsockname()[1]
        group = EngineGroup.launch(
            [sys.executable, "-m", "engine.bench.stand_in", str(listener.fileno()), str(delay_s)],
            log_path=home / "stand_in.log",
            pid_dir=home,
            port=port,
            pass_fds=[listener.fileno()],
        )
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        await group.stop()


def _requests(prepared: PreparedRun) -> list[tuple[str, Any]]:
    """The two requests of one row, as long as our runner's."""
    prompt = alone_prompt(prepared.template.render({"number": "1000", "text": TEXT}), prepared.form.questions[0])
    render = ChatRequest(
        messages=(WireMessage(role="user", content=prompt),), chat_template_kwargs={"enable_thinking": False}
    )
    slots = prepared.form.method.canvas_length
    generate = GenerateRequest(
        token_ids=tuple(range(1000, 1063)),
        sampling_params=SamplingParams(
            max_tokens=2,
            logprobs=2,
            logprob_token_ids=(2001, 2002),
            extra_args=DiffusionArgs(diffusion_seed_canvas=(2003,) * slots, diffusion_canvas_length=slots),
        ),
    )
    sent = {"/v1/chat/completions/render": render, "/inference/v1/generate": generate}
    return [(path, json.loads(request.body())) for path, request in sent.items()]


async def _bare_rate(url: str, requests: Sequence[tuple[str, Any]], count: int, width: int) -> float:
    """Requests a second of a loop that posts JSON and reads JSON, and does nothing with it."""
    rows = iter(range(count))

    async def ask() -> None:
        for _ in rows:
            for path, body in requests:
                async with session.post(url + path, json=body) as response:
                    await response.json()

    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(connector=connector) as session:
        began = time.perf_counter()
        async with asyncio.TaskGroup() as tasks:
            for _ in range(width):
                tasks.create_task(ask())
        return count * len(requests) / (time.perf_counter() - began)


async def _our_rate(url: str, prepared: PreparedRun, folder: Path, width: int) -> float:
    """Requests a second of our runner, from the first row to the last answer on disk."""
    await asyncio.to_thread(folder.mkdir)
    with await asyncio.to_thread(prepared.create, folder) as store:
        async with EngineClient(url) as client:
            reader = await Reader.open(client, prepared.form.questions, prepared.form.method)
            client.leave_busy_to_caller()
            began = time.perf_counter()
            result = await run(store, reader, concurrency=width)
            seconds = time.perf_counter() - began
    answered = result.totals["late"].ok
    if answered != store.rows:
        raise UserError("bench.rows", "{ok} of {rows} rows were read", ok=answered, rows=store.rows)
    return answered * REQUESTS_A_ROW / seconds
