"""A launch on real cards, walked through: start by a plan, chat, reads, stop, kills; what was seen, as a table.

    python -m tools.card_check plan   --python ENGINE_PYTHON --model DIR [-- VLLM_ARGUMENT ...]
    python -m tools.card_check kills  --python ENGINE_PYTHON --model DIR [-- VLLM_ARGUMENT ...]

``DIR`` may hold a configuration and a tokenizer only, with ``-- --load-format dummy``. More options of
``serve --engine vllm`` (``--machine``, ``--env``, ``--skip-preflight``, ...) are given with ``--serve "..."``.
Everything goes through the program's own command line and client; nothing here knows how vLLM is started.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import queue
import secrets
import shlex
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import psutil

from engine.client.http import EngineClient
from engine.domain.chat import Failed, Finished, Message, Usage
from engine.domain.question import Noul
from engine.domain.reading import Method, Wire
from engine.hardware import nvml
from engine.reads.reader import Reader

READS = 16
IN_FLIGHT = 8
JOINT = 8  # questions on one canvas
SLACK = 1 << 29  # bytes; a driver's own use of a card varies a little
GIB = 1 << 30
VICTIMS = ("api server", "engine core", "worker", "guardian", "command")


def used() -> list[int]:
    """Bytes in use on every card."""
    return [gpu.memory_used or 0 for gpu in nvml.probe().gpus]


def shown(sizes: list[int]) -> str:
    return ", ".join(f"{size / GIB:.2f}" for size in sizes) + " GiB"


class Serve:
    """One ``serve --engine vllm --json``: its events as they come, its process tree, its end."""

    def __init__(self, given: argparse.Namespace) -> None:
        self.key = secrets.token_urlsafe(24)
        self.before = used()
        self._events: queue.Queue[dict[str, Any] | None] = queue.Queue()
        command = [sys.executable, "-m", "engine.cli", "serve", "--engine", "vllm", "--json", "--port", "0"]
        command += ["--python", str(given.python), "--checkpoint", str(given.model), *shlex.split(given.serve)]
        self.process = subprocess.Popen(
            [*command, *(["--", *given.extra] if given.extra else [])],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "DIFFUSION_DESK_API_KEY": self.key},
        )
        self._began = time.monotonic()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._events.put(json.loads(line))
        self._events.put(None)

    def until(self, *names: str, limit_s: float) -> dict[str, Any] | None:
        """Print what comes until one of the events; None when the process or the time ended first."""
        phase = ""
        deadline = time.monotonic() + limit_s
        while (left := deadline - time.monotonic()) > 0:
            try:
                event = self._events.get(timeout=left)
            except queue.Empty:
                break
            if event is None:
                return None
            if event["event"] == "start_progress":
                if event["phase"] != phase:
                    phase = event["phase"]
                    print(f"  {time.monotonic() - self._began:7.1f} s  {phase}", flush=True)
            elif event["event"] in names:
                return event
            else:
                print(f"           {event['event']}: {event.get('text') or event.get('title') or event}", flush=True)
        print(f"           nothing of {', '.join(names)} within {limit_s:g} s")
        return None

    def tree(self) -> dict[str, psutil.Process]:
        """The processes of the engine by what they are; of several workers one."""
        found = {"command": psutil.Process(self.process.pid)}
        for process in found["command"].children(recursive=True):
            try:
                name, line = process.name(), " ".join(process.cmdline())
            except psutil.NoSuchProcess:
                continue
            if "EngineCore" in name:
                found["engine core"] = process
            elif "Worker" in name:
                found["worker"] = process
            elif "guardian" in name:
                found["guardian"] = process
            elif "cli.main" in line or "APIServer" in name:
                found["api server"] = process
        return found

    def stop(self) -> None:
        began = time.monotonic()
        self.process.send_signal(signal.SIGINT)
        end = self.until("stopped", limit_s=90)
        code = self.process.wait(30)
        print(f"  stopped in {time.monotonic() - began:.1f} s, exit status {code}; in use {shown(used())}")
        if end is not None:
            print(f"           memory back: {end['clean']}")


async def work(url: str, key: str) -> None:
    """One chat, reads on both wires one at a time and several at once, one joint canvas."""
    async with EngineClient(url, api_key=key, timeout_s=300.0) as client:
        began, tokens = time.monotonic(), 0
        async for event in client.chat([Message("user", "Tell me about tides.")], max_tokens=256):
            if isinstance(event, Failed):
                print(f"  chat failed: {event.message}")
            elif isinstance(event, Usage):
                tokens = event.completion_tokens
            elif isinstance(event, Finished):
                print(f"  chat: {event.canvases} canvases with text, {tokens} tokens, {time.monotonic() - began:.2f} s")
        for wire in ("canvas", "native"):
            await _reads(client, wire)
        many = tuple(Noul(id=f"q{number}", instructions=f"Is statement {number} true?") for number in range(JOINT))
        reader = await Reader.open(client, many, Method(joint=True, draws=1))
        began = time.monotonic()
        answers = await reader.read("Eight statements about the sea.", row_key="joint")
        print(f"  joint {JOINT}: {time.monotonic() - began:.2f} s, {_statuses(answers)}")


async def _reads(client: EngineClient, wire: Wire) -> None:
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
    print(f"  reads, {wire}: {one:.1f}/s one at a time, {many:.1f}/s with {IN_FLIGHT} in flight, {_statuses(readings)}")


def _statuses(readings: Any) -> str:
    counts: dict[str, int] = {}
    for reading in readings:
        counts[reading.status] = counts.get(reading.status, 0) + 1
    mass = sum(reading.label_mass or 0.0 for reading in readings) / max(len(readings), 1)
    return ", ".join(f"{count} {status}" for status, count in counts.items()) + f", mean label mass {mass:.2g}"


def started(given: argparse.Namespace) -> tuple[Serve, dict[str, Any]] | None:
    """A server that is ready; None, with what it said, when it is not."""
    serve = Serve(given)
    event = serve.until("ready", "engine_failed", "failed", limit_s=given.limit)
    if event is not None and event["event"] == "ready":
        print(f"  ready after {event['seconds']} s; in use {shown(used())}, before {shown(serve.before)}", flush=True)
        return serve, event
    print(f"  not ready: {json.dumps(event)[:2000] if event else 'no word'}")
    serve.process.terminate()
    serve.process.wait(60)
    return None


def walk(given: argparse.Namespace) -> int:
    """Start, work, stop."""
    up = started(given)
    if up is None:
        return 1
    serve, event = up
    for line in Path(event["log"]).read_text(errors="replace").splitlines():
        if any(words in line for words in ("Model loading took", "KV cache", "MoE backend", "padding", "Selected ")):
            print("  log: " + line.split("] ", 1)[-1][:160])
    asyncio.run(work(event["url"], serve.key))
    serve.stop()
    return 0


def kills(given: argparse.Namespace) -> int:
    """SIGKILL each process of the tree in turn, a fresh start each time; nothing may be left."""
    bad = 0
    for victim in given.victims:
        print(f"SIGKILL of the {victim}", flush=True)
        up = started(given)
        if up is None:
            return 1
        serve, _ = up
        tree = serve.tree()
        if victim not in tree:
            print(f"  there is no {victim}: {', '.join(tree)}")
            serve.stop()
            continue
        everything = [process for process in psutil.Process(serve.process.pid).children(recursive=True)]
        tree[victim].kill()
        bad += not _gone([*everything, tree["command"]], serve)
    return 1 if bad else 0


def _gone(everything: list[psutil.Process], serve: Serve) -> bool:
    began = time.monotonic()
    while time.monotonic() - began < 60:
        serve.process.poll()
        alive = [process for process in everything if process.is_running() and process.status() != "zombie"]
        now = used()
        back = all(size <= before + SLACK for size, before in zip(now, serve.before, strict=True))
        if not alive and back:
            print(f"  all gone, memory back after {time.monotonic() - began:.1f} s")
            return True
        time.sleep(0.2)
    print(f"  LEFT after 60 s: {[process.name() for process in alive]}, in use {shown(now)}")
    serve.process.kill()
    return False


def main() -> int:
    """Parse and run; 0 when all was as it should be."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["plan", "kills"])
    parser.add_argument("--python", type=Path, required=True, help="interpreter that has vLLM")
    parser.add_argument("--model", type=Path, required=True, help="folder of the checkpoint")
    parser.add_argument("--serve", default="", help="more options of serve, as one string")
    parser.add_argument("--victims", nargs="+", default=list(VICTIMS), choices=VICTIMS)
    parser.add_argument("--limit", type=float, default=300.0, help="seconds for a start")
    own, _, extra = " ".join(map(shlex.quote, sys.argv[1:])).partition(" -- ")
    given = parser.parse_args(shlex.split(own))
    given.extra = shlex.split(extra)
    return walk(given) if given.what == "plan" else kills(given)


if __name__ == "__main__":
    sys.exit(main())
