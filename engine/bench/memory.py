"""``bench memory``: how much memory the worker needs during a long run, early and late.

A real ``decide`` over a table of a million rows (``DESK_BENCH_ROWS`` for fewer) against the stand-in that answers at
once. The worker is looked at whenever it reports progress; the peak is the kernel's own, export included.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
import tempfile
from pathlib import Path

import psutil

from engine.bench.result import BenchResult, Figure
from engine.bench.runner import stand_in, write_input
from engine.errors import UserError
from engine.supervise import processes

ROWS_VARIABLE = "DESK_BENCH_ROWS"
ROWS = 1_000_000
EARLY, LATE = 0.1, 0.9  # of the rows
PEAK_MB, GROWTH = 300.0, 0.1
MB = 1e6


async def measure(rows: int | None = None) -> BenchResult:
    """Resident memory of the worker.

    Args:
        rows: of the table; None: as the environment says.

    Raises:
        UserError: the run did not end.
    """
    count = rows or int(os.environ.get(ROWS_VARIABLE, ROWS))
    with tempfile.TemporaryDirectory(prefix="desk") as folder:
        home = Path(folder)
        await asyncio.to_thread(write_input, home, count)
        async with stand_in(home) as url:
            seen, seconds, peak = await _run(home, url)
    early, late = _at(seen, EARLY * count), _at(seen, LATE * count)
    figures = {
        "rows": Figure(count, ""),
        "rows_per_s": Figure(count / seconds, "rows/s"),
        "peak": Figure(peak, "MB", "at most", PEAK_MB, "of the whole run with its export"),
        "early": Figure(early, "MB", detail=f"at row {EARLY * count:.0f}"),
        "late": Figure(late, "MB", detail=f"at row {LATE * count:.0f}"),
        "growth": Figure(late / early - 1, "", "at most", GROWTH),
    }
    return BenchResult("memory", figures)


async def _run(home: Path, url: str) -> tuple[list[tuple[int, float]], float, float]:
    """(rows done, MB) at every report, how many seconds the run took, and the most MB that it ever had."""
    command = ["decide", str(home / "form.json"), str(home / "table.csv"), "--out", str(home / "out.csv")]
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "engine.cli", *command, "--engine", url, "--json"),
        stdout=asyncio.subprocess.PIPE,
        env=processes.child_environment({"DIFFUSION_DESK_HOME": str(home / "home")}),
    )
    assert process.stdout is not None
    worker = psutil.Process(process.pid)
    seen: list[tuple[int, float]] = []
    began, peak = loop_time(), 0.0
    async for line in process.stdout:
        event = json.loads(line)
        peak = max(peak, _peak(process.pid))
        match event["event"]:
            case "started":
                began = loop_time()
            case "progress":
                seen.append((event["done"], worker.memory_info().rss / MB))
            case "failed":
                raise UserError("bench.run", "the run failed: {why}", why=event["message"])
    seconds = loop_time() - began
    if await process.wait() != 0 or not seen:
        raise UserError("bench.run", "the run did not end")
    return seen, seconds, max(peak, *(memory for _, memory in seen))


def _peak(pid: int) -> float:
    """The most memory that a process has ever had in MB, as Linux counts it; 0 when it is gone."""
    try:
        status = Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace")
    except OSError:
        return 0.0
    found = re.search(r"^VmHWM:\s+(\d+) kB$", status, re.MULTILINE)
    return int(found[1]) * 1024 / MB if found else 0.0


def loop_time() -> float:
    """Seconds of the loop's clock."""
    return asyncio.get_running_loop().time()


def _at(seen: list[tuple[int, float]], rows: float) -> float:
    """Memory at the first report behind so many rows."""
    return next((memory for done, memory in seen if done >= rows), seen[-1][1])
