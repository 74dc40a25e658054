"""One ``serve --engine vllm --json`` as ``card_check`` sees it: events, phases, kernels being compiled, end."""

from __future__ import annotations

import argparse
import json
import os
import queue
import re
import secrets
import shlex
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil

from engine import paths
from engine.hardware import nvml
from engine.local.launch import cache_dir
from engine.supervise.logs import tail
from engine.supervise.processes import title

GIB = 1 << 30
BALLAST = Path(__file__).with_name("ballast.py")
LOOK_S = 0.2  # between two looks at the cards' memory
BEAT_S = 10.0  # between two lines about a phase that goes on
TAIL = 40  # lines of the engine's log, when it is not ready
DRIVER_CACHE = Path.home() / ".nv" / "ComputeCache"  # the driver's own compilations of PTX


def used(cards: str = "") -> list[int]:
    """Bytes in use on each card.

    Args:
        cards: indices with commas between; all where it is empty. What others do on other cards must not count.
    """
    named = {int(part) for part in cards.split(",") if part}
    return [gpu.memory_used or 0 for gpu in nvml.probe().gpus if not named or gpu.index in named]


def shown(sizes: list[int]) -> str:
    """``1.25, 0.00 GiB``."""
    return (", ".join(f"{size / GIB:.2f}" for size in sizes) or "no card,") + " GiB"


class Kernels:
    """What is compiled meanwhile: Triton's kernels by name, the driver's by their size."""

    def __init__(self) -> None:
        self._seen, self._bytes = self._triton(), self._driver()

    def news(self) -> str:
        """What has been compiled since the last call; empty for nothing."""
        now, size = self._triton(), self._driver()
        names = sorted({path.stem for path in now - self._seen})
        grown = size - self._bytes
        self._seen, self._bytes = now, size
        said = [f"Triton: {', '.join(names[:8])}{' ...' if len(names) > 8 else ''}"] if names else []
        said += [f"driver, from PTX: {grown / 1e6:.1f} MB"] if grown > 0 else []
        return "; ".join(said)

    @staticmethod
    def _triton() -> set[Path]:
        found = (cache_dir() / "triton").glob("*/*.json")
        return {path for path in found if not path.name.startswith("__grp__")}

    @staticmethod
    def _driver() -> int:
        total = 0
        for path in DRIVER_CACHE.rglob("*"):
            with suppress(OSError):
                total += path.stat().st_size
        return total


def add_options(parser: argparse.ArgumentParser, *, required: bool = True) -> None:
    """The options that :class:`Serve` needs, for every tool that starts one."""
    parser.add_argument("--python", type=Path, required=required, help="interpreter that has vLLM")
    parser.add_argument("--model", type=Path, required=required, help="folder of the checkpoint")
    parser.add_argument("--serve", default="", help="more options of serve, as one string")
    parser.add_argument("--cards", default="", help="whose memory is looked at, by index: 0,1; all unless given")
    parser.add_argument("--limit", type=float, default=300.0, help="seconds for a start")


def parsed(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> argparse.Namespace:
    """What is given, and behind ``--``, as ``extra``, what vLLM is given."""
    words = list(arguments)
    cut = words.index("--") if "--" in words else len(words)
    given = parser.parse_args(words[:cut])
    given.extra = words[cut + 1 :]
    return given


@contextmanager
def smaller_cards(given: argparse.Namespace) -> Iterator[str]:
    """Holds all but ``given.leave`` GiB of each card meanwhile; says what is free. Nothing for 0.

    Raises:
        RuntimeError: the memory could not be held.
    """
    if not given.leave:
        yield ""
        return
    command = [str(given.python), str(BALLAST), "--leave", str(given.leave), *filter(None, given.cards.split(","))]
    base = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=base) as holding:
        assert holding.stdin is not None
        assert holding.stdout is not None
        said = holding.stdout.readline().strip()
        if not said:
            raise RuntimeError(f"{BALLAST.name} ended with status {holding.wait()}")
        try:
            yield said
        finally:
            holding.stdin.close()


class MostUsed:
    """The most that was in use on each card while the block ran, looked at every ``LOOK_S`` seconds.

    Args:
        serve: whose cards, and what was in use before it.
    """

    def __init__(self, serve: Serve) -> None:
        self._serve, self._over = serve, threading.Event()
        self._most = serve.used()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> MostUsed:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._over.wait(LOOK_S):
            self._most = [max(pair) for pair in zip(self._most, self._serve.used(), strict=True)]

    def shown(self) -> str:
        """Beside what was in use before."""
        return shown([most - before for most, before in zip(self._most, self._serve.before, strict=True)])


class Serve:
    """A running ``serve``; it is ended by :meth:`end` in any case.

    Args:
        given: what :func:`parsed` gives of a parser with :func:`add_options`.
    """

    def __init__(self, given: argparse.Namespace) -> None:
        self.key = secrets.token_urlsafe(24)
        self._cards = given.cards
        self.before = self.used()
        self.phases: dict[str, float] = {}
        """When each phase began, seconds after the start."""
        self._events: queue.Queue[dict[str, Any] | None] = queue.Queue()
        self._kernels = Kernels()
        command = [sys.executable, "-m", "engine.cli", "serve", "--engine", "vllm", "--json"]
        command += ["--port", "0", "--restarts", "0"]  # a kill is to end it, not to begin it again
        command += ["--python", str(given.python), "--checkpoint", str(given.model), *shlex.split(given.serve)]
        self._at, self.began = time.time(), time.monotonic()
        self.process = subprocess.Popen(
            [*command, *(["--", *given.extra] if given.extra else [])],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "DIFFUSION_DESK_API_KEY": self.key},
        )
        threading.Thread(target=self._read, daemon=True).start()

    def used(self) -> list[int]:
        """Bytes in use on each card that it may take."""
        return used(self._cards)

    @property
    def log(self) -> Path:
        return paths.logs_dir() / "engine-vllm.log"

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            try:
                self._events.put(json.loads(line))
            except ValueError:
                self._events.put({"event": "note", "text": line.rstrip()})
        self._events.put(None)

    def until(self, *names: str, limit_s: float, quiet: bool = False) -> dict[str, Any] | None:
        """Print what comes until one of the events; None when the process or the time ended first.

        Args:
            quiet: say nothing about the time running out.
        """
        deadline = time.monotonic() + limit_s
        beat = time.monotonic() + BEAT_S
        while (now := time.monotonic()) < deadline:
            try:
                event = self._events.get(timeout=max(min(deadline, beat) - now, 0.0))
            except queue.Empty:
                beat = self._beat(beat)
                continue
            if event is None:
                self._events.put(None)  # whoever asks next need not wait either
                return None
            if event["event"] == "start_progress":
                if self._phase(event["phase"]):
                    beat = time.monotonic() + BEAT_S
            elif event["event"] in names:
                return event
            else:
                said = event.get("text") or event.get("title") or event.get("message") or event
                self._say(f"{event['event']}: {str(said)[:300]}")
            beat = self._beat(beat)
        if not quiet:
            self._say(f"nothing of {', '.join(names)} within {limit_s:g} s")
        return None

    def _phase(self, phase: str) -> bool:
        if phase in self.phases:
            return False
        self.phases[phase] = time.monotonic() - self.began
        news = self._kernels.news()
        print(f"  {self.phases[phase]:7.1f} s  {phase}" + (f"  (before it: {news})" if news else ""), flush=True)
        return True

    def _beat(self, due: float) -> float:
        """When it is due, a line about a phase that goes on: the end of the log, kernels, memory. The next time."""
        if time.monotonic() < due:
            return due
        lines = tail(self.log, 1).strip().replace("\r", " ")
        news = self._kernels.news()
        self._say(f"... {time.monotonic() - self.began:.0f} s, in use {shown(self.used())}; log: {lines[-150:]}")
        if news:
            self._say(f"    compiled: {news}")
        return time.monotonic() + BEAT_S

    def _say(self, text: str) -> None:
        print(f"             {text}", flush=True)

    def durations(self) -> str:
        """The phases with the seconds that each took, until now."""
        marks = [*self.phases.items(), ("", time.monotonic() - self.began)]
        parts = [f"{name} {marks[place + 1][1] - at:.1f}" for place, (name, at) in enumerate(marks[:-1])]
        before = f"before the first phase {marks[0][1]:.1f}"
        return ", ".join([before, *parts])

    def show_tail(self) -> None:
        """The end of the engine's log, of a start that did not come to its end; an earlier start's says nothing."""
        if not self.log.exists() or self.log.stat().st_mtime < self._at:
            print("  the engine has written no log")
            return
        print(f"  the last {TAIL} lines of {self.log}:")
        for line in tail(self.log, TAIL).splitlines():
            print("  | " + line.replace("\r", " ")[:240])

    def tree(self) -> dict[str, psutil.Process]:
        """The processes of the engine by what they are; ``worker`` is one of several, ``worker 1`` that of rank 1."""
        found = {"command": psutil.Process(self.process.pid)}
        for process in found["command"].children(recursive=True):
            try:
                name, line = process.name(), " ".join(process.cmdline())
            except psutil.Error:
                continue
            named = title(process)
            if "EngineCore" in named:
                found["engine core"] = process
            elif "Worker" in named:
                found["worker"] = process
                if rank := re.search(r"TP_?(\d+)", named):
                    found[f"worker {rank[1]}"] = process
            elif "guardian" in name:
                found["guardian"] = process
            elif "vllm.entrypoints.cli.main" in line or "APIServer" in named:
                found["api server"] = process
        return found

    def stop(self) -> bool:
        """SIGINT, as a user does; whether everything of it is gone and the memory back."""
        began = time.monotonic()
        self.interrupt()
        said = self.until("stopped", limit_s=60)
        code = self.end()
        clean = bool(said and said["clean"])
        seconds = f"{time.monotonic() - began:.1f} s"
        print(f"  stopped in {seconds}, exit status {code}; in use {shown(self.used())}, clean: {clean}", flush=True)
        return clean

    def interrupt(self) -> None:
        """SIGINT, unless it has ended."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)

    def end(self) -> int | None:
        """Make sure that it has ended; its exit status, None when no signal ends it."""
        for number, seconds in ((None, 30.0), (signal.SIGTERM, 15.0), (signal.SIGKILL, 15.0)):
            if number is not None:
                self.process.send_signal(number)
            with suppress(subprocess.TimeoutExpired):
                return self.process.wait(seconds)
        return None
