"""Where the time of reads goes inside vLLM: rates by wire and requests in flight, operations, Python frames, steps.

    python tools/profile_reads.py --python ENGINE/bin/python --model FOLDER [--env NAME=VALUE ...] -- FLAG ...

Starts one stock server, sends reads with fresh states of about 400 tokens, and prints short tables. The server's own
processes watch themselves (``profile_watch.py``, through a ``sitecustomize`` on PYTHONPATH) while a file says so.
"""

from __future__ import annotations

import argparse
import asyncio
import collections
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from profile_watch import FOLDER, SAMPLE, TRACE

# --- the server and its load ------------------------------------------------------------------------------------------


class Server:
    """One stock server in a session of its own."""

    def __init__(self, options: argparse.Namespace, folder: Path) -> None:
        site = folder / "site"
        site.mkdir()
        here = Path(__file__).resolve().parent
        (site / "sitecustomize.py").write_text(
            f"import sys\nsys.path.append({str(here)!r})\nimport profile_watch\nprofile_watch.watch(__file__)\n"
        )
        env = {**os.environ, **dict(pair.split("=", 1) for pair in options.env), FOLDER: str(folder)}
        env["PYTHONPATH"] = os.pathsep.join(filter(None, [str(site), env.get("PYTHONPATH", "")]))
        self.url = f"http://127.0.0.1:{options.port}"
        self._log = folder / "server.log"
        argv = [options.python, "-m", "vllm.entrypoints.openai.api_server", "--model", options.model]
        argv += ["--served-model-name", "m", "--host", "127.0.0.1", "--port", str(options.port)]
        argv += ["--max-logprobs", "128", "--enable-scale-out", "--limit-mm-per-prompt", '{"image":0,"video":0}']
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [*argv, *options.flags], stdout=log, stderr=subprocess.STDOUT, env=env, start_new_session=True
            )

    async def ready(self, session: Any, limit_s: float) -> float:
        """Seconds until it answered.

        Raises:
            SystemExit: it ended, or did not answer in time; with the end of its log.
        """
        began = time.monotonic()
        while time.monotonic() - began < limit_s:
            try:
                async with session.get(f"{self.url}/health") as answer:
                    if answer.status == 200:
                        return time.monotonic() - began
            except OSError:
                pass
            if self._process.poll() is not None:
                break
            await asyncio.sleep(0.5)
        lines = self._log.read_text(errors="replace").splitlines()
        errors = [line[:300] for line in lines if "Error" in line][:8]
        raise SystemExit("\n".join(["the server does not answer", *errors, *[line[:300] for line in lines[-12:]]]))

    def stop(self) -> None:
        """Ends the whole session, workers too."""
        for number in (signal.SIGTERM, signal.SIGKILL):
            try:
                os.killpg(self._process.pid, number)
                self._process.wait(15)
            except (ProcessLookupError, subprocess.TimeoutExpired):
                continue

    def log(self, *words: str) -> list[str]:
        """The lines that have one of some words."""
        lines = self._log.read_text(errors="replace").splitlines()
        return [line[:220] for line in lines if any(word in line for word in words)]


WORDS = (
    "the sea is calm today and a ship waits near the old harbour while men carry boxes of fruit up the stone steps "
    "under a grey sky with some rain"
)


class Load:
    """Reads with states that no earlier read had."""

    def __init__(self, session: Any, url: str, tokens: int) -> None:
        self._session, self._url, self._tokens = session, url, tokens
        self._numbers = iter(range(10**9))
        self._words = tokens
        self._vocabulary: list[int] = []
        self.labels: list[int] = []
        self.failed: collections.Counter[str] = collections.Counter()

    async def open(self) -> None:
        """Finds out how long a word is, and which token ids a made-up prompt may hold."""
        text = self.state()
        ids = await self._tokens_of(text)
        self._words = max(8, round(self._tokens * self._tokens / len(ids)))
        self._vocabulary = sorted(set(ids))
        self.labels = [(await self._tokens_of(text))[0] for text in ("A", "B")]

    async def _tokens_of(self, text: str) -> list[int]:
        body = {"prompt": text, "add_special_tokens": False}
        async with self._session.post(f"{self._url}/tokenize", json=body) as answer:
            tokens: list[int] = (await answer.json())["tokens"]
            return tokens

    def state(self) -> str:
        """A text of about the wanted number of tokens."""
        source, words = random.Random(next(self._numbers)), WORDS.split()
        return " ".join(source.choice(words) for _ in range(self._words))

    def native(self) -> tuple[str, Any]:
        question = {"type": "noul", "instructions": "Is the sea calm?"}
        return "/v1/systemone", {"state": self.state(), "questions": {"q": question}}

    def canvas(self) -> tuple[str, Any]:
        return "/inference/v1/generate", self._generate(16, 2, self.labels)

    def prefill(self) -> tuple[str, Any]:
        """A prompt and next to no read: one canvas position, one step, no log-probabilities."""
        return "/inference/v1/generate", self._generate(1, 1, [])

    def _generate(self, width: int, count: int, labels: list[int]) -> Any:
        source = random.Random(next(self._numbers))
        ids = [source.choice(self._vocabulary) for _ in range(self._tokens)]
        extra = {"diffusion_seed_canvas": ids[:width], "diffusion_canvas_length": width, "diffusion_max_steps": 1,
                 "diffusion_read_only": 1}  # fmt: skip
        sampling: dict[str, Any] = {"max_tokens": count, "extra_args": extra}
        if labels:
            sampling |= {"logprobs": len(labels), "logprob_token_ids": labels}
        return {"token_ids": ids, "sampling_params": sampling}

    async def rate(self, make: Any, in_flight: int, seconds: float) -> tuple[float, float, float]:
        """Answers a second from the first one on, and the latencies' middle and 99th percentile in ms.

        Requests that are still under way after ``seconds`` are given up.
        """
        took: list[tuple[float, float]] = []

        async def ask() -> None:
            while True:
                path, body = make()
                start = time.monotonic()
                async with self._session.post(self._url + path, json=body) as answer:
                    text = await answer.text()
                    if answer.status != 200:
                        self.failed[f"{answer.status} {text[:160]}"] += 1
                        await asyncio.sleep(0.05)
                        continue
                took.append((time.monotonic(), time.monotonic() - start))

        end = time.monotonic() + seconds
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(ask()) for _ in range(in_flight)]
            await asyncio.sleep(seconds)
            for task in tasks:
                task.cancel()
        if len(took) < 2:
            return 0.0, 0.0, 0.0
        first = min(at for at, _ in took)
        later = sum(1 for at, _ in took if at > first + 0.02)  # those of the first step began before it
        lasted = sorted(1e3 * latency for _, latency in took)
        return later / (end - first), lasted[len(lasted) // 2], lasted[min(len(lasted) - 1, int(len(lasted) * 0.99))]


# --- the report -------------------------------------------------------------------------------------------------------


WAITING = ("(idle)", "Runner.run ", "resource_tracker", "sched_yield", "thread.py:")
"""In the frames of a process that has nothing to do."""


COMMON = ("<module>", "spawn", "process.py", "runpy", "runners.py", "entry.py", "profile_watch", "_contextlib")
"""At the root of every stack."""


def say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def report(folder: Path, top: int) -> None:
    """The tables from what the processes wrote."""
    for path in sorted(folder.glob("frames-*.json")):
        found = json.loads(path.read_text())
        stacks = [stack for stack in found["stacks"] if not any(word in stack[1] for word in WAITING)]
        busy = sum(count for thread, place, count in stacks if thread == "main")
        if busy > 0.03 * found["samples"]:
            _report_process(found, top)
    for path in sorted(folder.glob("ops-*.json")):
        rows = json.loads(path.read_text())["rows"]
        for at, what in ((2, "self CPU"), (3, "self device")):
            whole = sum(row[at] for row in rows)
            if not whole:
                continue
            say(f"\n== operations by {what} time ({whole / 1e3:.0f} ms in all)")
            for key, count, *times in sorted(rows, key=lambda row: -row[at])[:top]:
                spent = times[at - 2]
                say(f"{spent / 1e3:9.1f} ms {100 * spent / max(whole, 1):5.1f} % {count:8d}x  {key[:90]}")


def _report_process(found: dict[str, Any], top: int) -> None:
    samples, seconds = max(found["samples"], 1), found["seconds"]
    say(f"\n== {found['process']}  ({seconds:.1f} s, {samples} samples)")
    steps = found["steps"]
    if steps:
        count = len(steps)
        requests, tokens, drafts = (sum(step[at] for step in steps) / count for at in range(3))
        say(f"steps {count / seconds:.1f}/s; a step has {requests:.1f} requests, {drafts:.1f} of them canvases, "
            f"{tokens:.0f} tokens")  # fmt: skip
    for name, (count, spent) in sorted(found["parts"].items(), key=lambda item: -item[1][1]):
        share = 100 * spent / seconds
        say(f"{share:6.1f} % of the time {1e3 * spent / count:9.3f} ms each {count / seconds:8.1f}/s  {name}")
    for thread, what in (("main", "own"), ("main+", "with what they call"), ("other", "own, other threads")):
        rows = [(count, place) for name, place, count in found["stacks"] if name == thread]
        rows = [row for row in rows if not any(word in row[1] for word in COMMON)][:top]
        say(f"-- frames, {what}")
        for hits, place in rows:
            if hits > 0.01 * samples:
                say(f"{100 * hits / samples:6.1f} %  {place[:110]}")


async def measure(options: argparse.Namespace, folder: Path) -> None:
    """Starts the server, sends everything, prints everything."""
    import aiohttp

    server = Server(options, folder)
    try:
        connector = aiohttp.TCPConnector(limit=0)
        timeout = aiohttp.ClientTimeout(total=120)
        async with aiohttp.ClientSession(connector=connector, timeout=timeout) as session:
            say(f"ready after {await server.ready(session, options.limit):.0f} s")
            load = Load(session, server.url, options.tokens)
            await load.open()
            await _rates(load, options)
            (folder / SAMPLE).touch()
            rate = await load.rate(load.native, options.watched, options.seconds)
            (folder / SAMPLE).unlink()
            say(f"watched: native at {options.watched} in flight, {rate[0]:.1f}/s")
            await asyncio.sleep(2)
            (folder / TRACE).touch()
            await load.rate(load.native, options.watched, options.seconds)
            (folder / TRACE).unlink()
            await load.rate(load.native, 2, 1.0)  # a step must come for the profiler to end
            await asyncio.to_thread(_await_ops, folder)
        report(folder, options.top)
        for text, count in load.failed.most_common(5):
            say(f"failed {count}x: {text}")
    finally:
        server.stop()
        for line in server.log("max_num_seqs", "KV cache size", "Error", "recompile")[:6]:
            say(line)


def _await_ops(folder: Path) -> None:
    """Until the profiler has added up, which takes it longer than the trace."""
    end = time.monotonic() + 40
    while time.monotonic() < end and not list(folder.glob("ops-*.json")):
        time.sleep(0.2)


async def _rates(load: Load, options: argparse.Namespace) -> None:
    for make in (load.native, load.canvas, load.prefill):
        await load.rate(make, options.in_flight[-2], options.warm)
    say(f"{'':10}{'in flight':>10}{'reads/s':>10}{'p50 ms':>10}{'p99 ms':>10}")
    for make in (load.native, load.canvas, load.prefill):
        for in_flight in options.in_flight if make != load.prefill else options.in_flight[-2:]:
            rate, middle, high = await load.rate(make, in_flight, options.seconds)
            say(f"{make.__name__:10}{in_flight:10d}{rate:10.1f}{middle:10.0f}{high:10.0f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", required=True, help="the engine's interpreter")
    parser.add_argument("--model", required=True)
    parser.add_argument("--env", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--port", type=int, default=8177)
    parser.add_argument("--tokens", type=int, default=400, help="of a state")
    parser.add_argument("--in-flight", type=lambda text: [int(one) for one in text.split(",")], default=[1, 8, 64, 192])
    parser.add_argument("--watched", type=int, default=64, help="in flight while the frames and operations are watched")
    parser.add_argument("--seconds", type=float, default=4.0, help="of each figure")
    parser.add_argument("--warm", type=float, default=2.0, help="seconds before the figures, for each kind of request")
    parser.add_argument("--limit", type=float, default=300.0, help="seconds for the start")
    parser.add_argument("--top", type=int, default=25, help="rows of a table")
    parser.add_argument("flags", nargs="*", help="of the server")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="profile") as name:
        asyncio.run(measure(options, Path(name)))


if __name__ == "__main__":
    main()
