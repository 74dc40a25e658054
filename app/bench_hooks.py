"""Measurements that only the window itself can make; started by the environment, see ``DIFFUSION_DESK_BENCH``.

``first-paint``  prints ``{"first_paint_ms", "modules", "rss_mb"}`` once the first paint and the later imports are
    through, and quits.
``gui``  measures how late each tick of a 16 ms timer is, first in an idle window, then with a chat stream and a
    32-wide run active, prints ``{"idle_ms": [...], "busy_ms": [...]}`` and quits.
``chat``  measures what streamed answers, long conversations and many answers cost; see ``app/bench_chat.py``.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, QTimer

from app.tasks import spawn
from engine import paths

if TYPE_CHECKING:
    from app.windows.desk import Desk

WATCHED = ("torch", "vllm", "transformers", "onnxruntime")  # must never be imported by the window
TICK_MS = 16
SECONDS = 5.0
RUN_WIDTH = 32
RUN_DRAWS = 32  # so many that the run lasts longer than the measurement
READY_S = 60.0
ANSWERS_A_CONVERSATION = 5
PROMPT = "Write a long answer."


class _Bench(QObject):
    """Owner of the bench's task."""


def start_bench(name: str, desk: Desk) -> None:
    """Begins a measurement beside the running window.

    Raises:
        ValueError: no bench has this name.
    """
    benches = {"first-paint": _first_paint, "gui": _gui, "chat": _chat}
    if name not in benches:
        raise ValueError(f"DIFFUSION_DESK_BENCH={name}: there are {', '.join(benches)}")
    owner = _Bench(desk)
    painted = asyncio.get_running_loop().create_future()
    desk.window.painted.connect(lambda: painted.set_result(_since_start_ms()))
    spawn(owner, benches[name](desk, painted), f"bench {name}", lambda error: _give_up(desk, error))


async def _first_paint(desk: Desk, painted: asyncio.Future[float]) -> None:
    loaded = _signal(desk.loaded.connect)
    first_paint_ms = await painted
    await loaded
    _print(
        {
            "first_paint_ms": round(first_paint_ms, 1),
            "modules": [module for module in WATCHED if module in sys.modules],
            "rss_mb": round(_rss_bytes() / 2**20, 1),
        }
    )
    desk.request_close()


async def _gui(desk: Desk, _painted: asyncio.Future[float]) -> None:
    await _signal(desk.loaded.connect)
    await _ready(desk)
    idle = await _lateness(SECONDS)
    stream = spawn(desk, _keep_chatting(desk), "bench stream")
    await _start_run(desk)
    busy = await _lateness(SECONDS)
    stream.cancel()
    _print({"idle_ms": idle, "busy_ms": busy})
    desk.request_close()


async def _chat(desk: Desk, _painted: asyncio.Future[float]) -> None:
    from app.bench_chat import measure

    await _signal(desk.loaded.connect)
    await _ready(desk)
    _print(await measure(desk, _lateness, _rss_bytes))
    desk.request_close()


async def _ready(desk: Desk) -> None:
    """Waits until the engine answers."""
    assert desk.engine is not None
    if not desk.engine.state.ready:
        await asyncio.wait_for(_signal(desk.engine.ready.connect), READY_S)


async def _lateness(seconds: float) -> list[float]:
    """How late each tick of a 16 ms timer came, in ms."""
    late: list[float] = []
    last = time.perf_counter()

    def tick() -> None:
        nonlocal last
        now = time.perf_counter()
        late.append(max((now - last) * 1000 - TICK_MS, 0.0))
        last = now

    timer = QTimer()
    timer.setTimerType(Qt.TimerType.PreciseTimer)
    timer.setInterval(TICK_MS)
    timer.timeout.connect(tick)
    timer.start()
    await asyncio.sleep(seconds)
    timer.stop()
    return late


async def _start_run(desk: Desk) -> None:
    """Starts a run of an example as the Decisions page does, long enough for the measurement."""
    from app.pages.decisions import DecisionsPage
    from engine.batch.form import load_form

    page = desk.window.page("decisions")
    assert isinstance(page, DecisionsPage)
    runs = page.runs
    example = paths.resources_dir() / "examples" / "contradictions"
    form = load_form(example / "form.json")
    form = replace(form, method=replace(form.method, draws=RUN_DRAWS))
    moved = _signal(runs.status_changed.connect, lambda: runs.status.progress is not None)
    runs.start(form, example / "table.csv", {}, RUN_WIDTH)
    await asyncio.wait_for(moved, READY_S)


async def _keep_chatting(desk: Desk) -> None:
    """Answers one after the other, shown as always."""
    assert desk.chat is not None
    for number in itertools.count(1):
        desk.window.show_page("chat")
        ended = _signal(desk.chat.answering_changed.connect, lambda answering: not answering)
        if not desk.chat.send(PROMPT):
            return
        await ended
        if number % ANSWERS_A_CONVERSATION == 0:
            await desk.chat.new_conversation()


def _signal(
    connect: Callable[[Callable[..., None]], object], when: Callable[..., bool] | None = None
) -> asyncio.Future[None]:
    """A future that is done with the signal's next emission that ``when`` agrees to."""
    future: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def arrived(*values: object) -> None:
        if not future.done() and (when is None or when(*values)):
            future.set_result(None)

    connect(arrived)
    return future


def _since_start_ms() -> float:
    """Milliseconds since the kernel started this process (proc(5): field 22 of stat, in clock ticks since boot)."""
    fields = Path("/proc/self/stat").read_text().rsplit(")", 1)[1].split()
    started = int(fields[19]) / os.sysconf("SC_CLK_TCK")
    return (time.clock_gettime(time.CLOCK_BOOTTIME) - started) * 1000


def _rss_bytes() -> int:
    """Resident memory of this process (proc(5): second field of statm, in pages)."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def _print(result: dict[str, object]) -> None:
    sys.stdout.write(json.dumps(result) + "\n")
    sys.stdout.flush()


def _give_up(desk: Desk, error: Exception) -> None:
    _print({"error": str(error) or type(error).__name__})
    desk.request_close()
