"""Where the time of reads goes inside vLLM: operations, Python frames and the parts of a step, under steady load.

    python -m tools.profile_reads --python ENGINE/bin/python --model FOLDER [--stock] [--loads fresh,shared]

Starts one server, stock or with our parts, sends one kind of load of ``bench reads`` after the other, and prints tables
of each as soon as they are there. The server's own processes watch themselves (``profile_watch.py``, through a
``sitecustomize`` on PYTHONPATH) while a file says so.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shlex
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from engine.bench.reads import FLAGS, warm
from engine.bench.reads_load import JOINT, in_flight, open_prompts
from engine.bench.reads_server import PARTS, Setting, server, session
from tools.profile_watch import FOLDER, SAMPLE, TRACE

WAITING = ("(idle)", "Runner.run ", "resource_tracker", "sched_yield", "thread.py:")
"""In the frames of a process that has nothing to do."""


COMMON = ("<module>", "spawn", "process.py", "runpy", "runners.py", "entry.py", "profile_watch", "_contextlib")
"""At the root of every stack."""


def say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def report(folder: Path, top: int) -> None:
    """The tables from what the processes wrote, which is taken away."""
    for path in sorted(folder.glob("frames-*.json")):
        found = json.loads(path.read_text())
        path.unlink()
        stacks = [stack for stack in found["stacks"] if not any(word in stack[1] for word in WAITING)]
        busy = sum(count for thread, place, count in stacks if thread == "main")
        if busy > 0.03 * found["samples"]:
            _report_process(found, top)
    for path in sorted(folder.glob("ops-*.json")):
        rows = json.loads(path.read_text())["rows"]
        path.unlink()
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
    env = dict(pair.split("=", 1) for pair in options.env)
    env |= {
        FOLDER: str(folder),
        "PYTHONPATH": os.pathsep.join(filter(None, (str(_site(folder)), env.get("PYTHONPATH")))),
    }
    asked = Setting(options.python, options.model, tuple(shlex.split(options.flags)), env, options.in_flight)
    asked = replace(asked, joint_slots=options.joint_slots)
    async with server(asked, folder, fast=not options.stock) as url, session() as client:
        prompts = await open_prompts(client, url, asked.tokens, asked.joint_slots)
        await warm(client, url, prompts, asked)
        for name in options.loads.split(","):
            async with in_flight(client, url, getattr(prompts, name), options.in_flight) as done:
                before = len(done)
                await asyncio.to_thread(_switched, folder / SAMPLE, options.seconds)
                rate = (len(done) - before) / options.seconds
                say(f"\n#### {name}, {options.in_flight} in flight: {rate:.1f} requests/s while watched")
                await asyncio.to_thread(_switched, folder / TRACE, options.trace)
                await asyncio.to_thread(_await_ops, folder)
            await asyncio.to_thread(report, folder, options.top)


def _site(folder: Path) -> Path:
    """A folder for PYTHONPATH whose ``sitecustomize`` lets the process watch itself."""
    site = folder / "site"
    site.mkdir()
    here = str(Path(__file__).resolve().parent)
    (site / "sitecustomize.py").write_text(
        f"import sys\nsys.path.append({here!r})\nimport profile_watch\nprofile_watch.watch(__file__)\n"
    )
    return site


def _switched(switch: Path, seconds: float) -> None:
    switch.touch()
    time.sleep(seconds)
    switch.unlink()


def _await_ops(folder: Path) -> None:
    """Until the profiler has added up, which takes it longer than the trace."""
    end = time.monotonic() + 40
    while time.monotonic() < end and not list(folder.glob("ops-*.json")):
        time.sleep(0.2)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", required=True, help="the engine's interpreter")
    parser.add_argument("--model", required=True)
    parser.add_argument("--stock", action="store_true", help=f"without our parts ({PARTS})")
    parser.add_argument("--flags", default=FLAGS, help="of the server")
    parser.add_argument("--env", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--loads", default="fresh,shared", help="methods of bench.reads_load.Prompts")
    parser.add_argument("--in-flight", type=int, default=192)
    parser.add_argument("--joint-slots", type=int, default=JOINT, help="of a canvas with 24 questions")
    parser.add_argument("--seconds", type=float, default=5.0, help="that frames are sampled")
    parser.add_argument("--trace", type=float, default=1.0, help="seconds that operations are traced")
    parser.add_argument("--top", type=int, default=25, help="rows of a table")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="profile") as name:
        asyncio.run(measure(options, Path(name)))


if __name__ == "__main__":
    main()
