"""A launch on real cards, walked through: start by a plan, chat, reads, stop, kills; what was seen, as tables.

    python -m tools.card_check plan    --python ENGINE_PYTHON --model DIR [-- VLLM_ARGUMENT ...]
    python -m tools.card_check graphs  --python ENGINE_PYTHON --model DIR [-- VLLM_ARGUMENT ...]
    python -m tools.card_check kills   --python ENGINE_PYTHON --model DIR [-- VLLM_ARGUMENT ...]

``plan`` starts, chats, reads and stops; ``graphs`` starts, chats and stops, for starts that take minutes; ``kills``
ends each process of the tree in turn by SIGKILL. Every step has its own time, and one that fails does not end the next.
``DIR`` may hold a configuration and a tokenizer only, with ``-- --load-format dummy``. More options of
``serve --engine vllm`` (``--machine``, ``--env``, ``--skip-preflight``, ...) are given with ``--serve "..."``.
Everything goes through the program's own command line and client; nothing here knows how vLLM is started.
"""

from __future__ import annotations

import argparse
import asyncio
import signal
import sys
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from engine.client.http import EngineClient
from engine.domain.chat import Failed, Finished, Message, Usage
from engine.domain.question import Noul
from engine.domain.reading import Method, Wire
from engine.errors import EngineError, UserError
from engine.reads.reader import Reader
from tools.card_server import Serve, add_options, parsed, shown

READS = 16
IN_FLIGHT = 8
JOINT = 8  # questions on one canvas
SLACK = 1 << 29  # bytes; a driver's own use of a card varies a little
LOOK_S = 0.1
GONE_S = 60.0
LOGGED = (
    *("Model loading took", "KV cache", "MoE backend", "padding", "Selected "),
    *("Graph capturing finished", "init engine"),
)
VICTIMS = ("api server", "engine core", "worker", "worker 0", "worker 1", "guardian", "command")
UNLESS_NAMED = ("api server", "engine core", "worker", "guardian", "command")
NOT_STARTED = "not started"
TOLD = ("crashed", "engine_failed", "stopping", "stopped")


@dataclass(frozen=True, slots=True)
class Killed:
    """What one kill came to; seconds after it, None for what was not seen."""

    victim: str
    noticed_s: float | None
    gone_s: float | None
    back_s: float | None
    left: str

    @property
    def well(self) -> bool:
        return not self.left

    def row(self) -> str:
        cells = [self.victim, *map(_seconds, (self.noticed_s, self.gone_s, self.back_s)), self.left or "nothing"]
        return "| " + " | ".join(cells) + " |"


def _seconds(value: float | None) -> str:
    return "-" if value is None else f"{value:.1f}"


@dataclass(frozen=True, slots=True)
class Done:
    """What one kind of request came to, in words."""

    name: str
    said: str
    well: bool = True


async def work(url: str, key: str, limit_s: float, *, reads: bool) -> list[Done]:
    """One chat; reads on both wires one at a time and several at once, one joint canvas. Each is printed too."""
    async with EngineClient(url, api_key=key, timeout_s=limit_s) as client:
        parts: list[tuple[str, Callable[[EngineClient], Awaitable[str]]]] = [("chat", _chat)]
        if reads:
            parts += [("reads, canvas", _canvas), ("reads, native", _native), (f"joint {JOINT}", _joint)]
        done = []
        for name, part in parts:
            try:
                async with asyncio.timeout(limit_s):
                    done.append(Done(name, await part(client)))
            except (EngineError, TimeoutError) as error:  # a finding, and the next part is wanted too
                done.append(Done(name, f"FAILED: {type(error).__name__}: {error}", well=False))
            print(f"  {name}: {done[-1].said}", flush=True)
        return done


async def _chat(client: EngineClient) -> str:
    began, tokens = time.monotonic(), 0
    async for event in client.chat([Message("user", "Tell me about tides.")], max_tokens=256):
        if isinstance(event, Failed):
            raise UserError("check.chat", "the chat failed: {message}", message=event.message)
        if isinstance(event, Usage):
            tokens = event.completion_tokens
        elif isinstance(event, Finished):
            return f"{event.canvases} canvases with text, {tokens} tokens, {time.monotonic() - began:.2f} s"
    raise UserError("check.chat", "the chat did not end")


async def _joint(client: EngineClient) -> str:
    many = tuple(Noul(id=f"q{number}", instructions=f"Is statement {number} true?") for number in range(JOINT))
    reader = await Reader.open(client, many, Method(joint=True, draws=1))
    began = time.monotonic()
    answers = await reader.read("Eight statements about the sea.", row_key="joint")
    return f"{time.monotonic() - began:.2f} s, {_statuses(answers)}"


async def _canvas(client: EngineClient) -> str:
    return await _reads(client, "canvas")


async def _native(client: EngineClient) -> str:
    return await _reads(client, "native")


async def _reads(client: EngineClient, wire: Wire) -> str:
    question = Noul(id="q", instructions="Is water wet?")
    reader = await Reader.open(client, (question,), Method(wire=wire, draws=1))
    await reader.read("A first one, which compiles kernels.", row_key="first")
    began = time.monotonic()
    alone = [await reader.read(f"State {number}. " * 30, row_key=str(number)) for number in range(READS)]
    one = READS / (time.monotonic() - began)
    gate = asyncio.Semaphore(IN_FLIGHT)

    async def ask(number: int) -> tuple[Any, ...]:
        async with gate:
            return await reader.read(f"Another state {number}. " * 30, row_key=f"x{number}")

    began = time.monotonic()
    several = await asyncio.gather(*(ask(number) for number in range(4 * IN_FLIGHT)))
    many = 4 * IN_FLIGHT / (time.monotonic() - began)
    readings = [reading for answers in (*alone, *several) for reading in answers]
    return f"{one:.1f}/s one at a time, {many:.1f}/s with {IN_FLIGHT} in flight, {_statuses(readings)}"


def _statuses(readings: Any) -> str:
    counts: dict[str, int] = {}
    for reading in readings:
        counts[reading.status] = counts.get(reading.status, 0) + 1
    mass = sum(reading.label_mass or 0.0 for reading in readings) / max(len(readings), 1)
    return ", ".join(f"{count} {status}" for status, count in counts.items()) + f", mean label mass {mass:.2g}"


def started(given: argparse.Namespace) -> tuple[Serve, dict[str, Any]] | None:
    """A server that is ready; None, with what it said, when it is not. Then nothing of it runs any more."""
    serve = Serve(given)
    try:
        event = serve.until("ready", "engine_failed", "failed", limit_s=given.limit)
        print(f"  phases, seconds: {serve.durations()}", flush=True)
        if event is not None and event["event"] == "ready":
            print(
                f"  ready after {event['seconds']} s; in use {shown(serve.used())}, before {shown(serve.before)}",
                flush=True,
            )
            return serve, event
        print(f"  NOT READY: {_why(event)}")
        serve.show_tail()
        if event is None:
            serve.interrupt()
    except BaseException:
        serve.interrupt()
        print(f"  phases, seconds: {serve.durations()}")
        serve.show_tail()
        serve.end()
        raise
    print(f"  ended with exit status {serve.end()}; in use {shown(serve.used())}", flush=True)
    return None


def _why(event: dict[str, Any] | None) -> str:
    if event is None:
        return "no word"
    said = f"{event.get('code')}: {event.get('message')}"
    line = (event.get("diagnosis") or {}).get("line")
    return f"{said}; line {line['number']}: {line['text'][:200]}" if line else said


def walk(given: argparse.Namespace, *, reads: bool) -> int:
    """Start, work, stop."""
    up = started(given)
    if up is None:
        return 1
    serve, event = up
    good = False
    try:
        for line in Path(event["log"]).read_text(errors="replace").splitlines():
            if any(words in line for words in LOGGED):
                print("  log: " + line.split("] ", 1)[-1][:160])
        good = all(done.well for done in asyncio.run(work(event["url"], serve.key, given.work_limit, reads=reads)))
    finally:
        clean = serve.stop()
    return 0 if good and clean else 1


def kills(given: argparse.Namespace) -> int:
    """SIGKILL each process of the tree in turn, a fresh start after each; nothing may be left."""
    rows: list[Killed] = []
    missing: list[str] = []
    up: tuple[Serve, dict[str, Any]] | None = None
    try:
        for victim in given.victims:
            print(f"SIGKILL of the {victim}", flush=True)
            failed = [row.left for row in rows[-2:]] == [NOT_STARTED] * 2  # a third try would fail as well
            up = up or (None if failed else started(given))
            if up is None:
                rows.append(Killed(victim, None, None, None, NOT_STARTED))
                continue
            tree = up[0].tree()
            if victim not in tree:
                print(f"  there is none: {', '.join(tree)}", flush=True)
                missing.append(victim)
                continue
            rows.append(kill(up[0], victim, tree))
            up = None
    finally:
        if up is not None:
            up[0].stop()
        print("| SIGKILL of | noticed, s | processes gone, s | memory back, s | left |\n|---|---|---|---|---|")
        for row in rows:
            print(row.row())
        print("".join(f"no {name} in this tree\n" for name in missing), end="", flush=True)
    return 0 if all(row.well for row in rows) else 1


def kill(serve: Serve, victim: str, tree: dict[str, psutil.Process]) -> Killed:
    """Kill one process of the tree and look until all of it is gone, or the time over."""
    everything = [*tree["command"].children(recursive=True), tree["command"]]
    began = time.monotonic()
    tree[victim].kill()
    noticed = gone = back = None
    alive = everything
    while time.monotonic() - began < GONE_S and (gone is None or back is None):
        if noticed is None and victim != "command" and serve.until(*TOLD, limit_s=LOOK_S, quiet=True) is not None:
            noticed = time.monotonic() - began
        serve.process.poll()
        alive = [process for process in everything if _lives(process)]
        if not alive and gone is None:
            gone = time.monotonic() - began
        if all(size <= before + SLACK for size, before in zip(serve.used(), serve.before, strict=False)):
            back = back or time.monotonic() - began
        else:
            back = None
        time.sleep(LOOK_S)
    serve.end()
    left = ", ".join(f"{process.pid} {_name(process)}" for process in alive)
    if back is None:
        left = f"{left}; in use {shown(serve.used())}, before {shown(serve.before)}".removeprefix("; ")
    return Killed(victim, noticed, gone, back, left)


def _lives(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def _name(process: psutil.Process) -> str:
    try:
        return process.name()
    except psutil.Error:
        return "process"


def main() -> int:
    """Parse and run; 0 when all was as it should be."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["plan", "graphs", "kills"])
    add_options(parser)
    parser.add_argument("--victims", nargs="+", default=list(UNLESS_NAMED), choices=VICTIMS)
    parser.add_argument("--work-limit", type=float, default=60.0, help="seconds for the chat and for each kind of read")
    given = parsed(parser, sys.argv[1:])
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # ends what was started, as Ctrl+C does
    try:
        return kills(given) if given.what == "kills" else walk(given, reads=given.what == "plan")
    except KeyboardInterrupt:
        print("  stopped from outside")
        return 130


if __name__ == "__main__":
    sys.exit(main())
