"""``bench startup``: how soon the window paints, and what it carries."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Mapping
from typing import Any

from engine.bench.result import BenchResult, Figure, middle
from engine.errors import UserError
from engine.supervise.program import run_program

BENCH_VARIABLE = "DIFFUSION_DESK_BENCH"
RUNS = 5  # measured, after one that warms the file cache
FIRST_PAINT_MS = 1500.0
RSS_MB = 200.0
TIMEOUT_S = 60.0


async def measure(runs: int = RUNS) -> BenchResult:
    """Open and close the real window some times, offscreen, in a data folder of its own.

    Raises:
        UserError: the window did not come up.
    """
    await paint_once()
    looks = [await paint_once() for _ in range(runs)]
    heavy = sorted({module for look in looks for module in look["modules"]})
    return BenchResult(
        "startup",
        {
            "first_paint": Figure(middle([look["first_paint_ms"] for look in looks]), "ms", "at most", FIRST_PAINT_MS),
            "resident_memory": Figure(middle([look["rss_mb"] for look in looks]), "MB", "at most", RSS_MB),
            "heavy_modules": Figure(len(heavy), "", "at most", 0, ", ".join(heavy)),
        },
    )


async def paint_once() -> dict[str, Any]:
    """What one window says of itself: ``first_paint_ms`` since its process began, ``modules``, ``rss_mb``."""
    return await ask_window("first-paint", TIMEOUT_S)


async def ask_window(bench: str, timeout_s: float, env: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Run the window in one of its bench modes (``app/bench_hooks.py``); the last JSON line that it prints.

    Args:
        env: more for its environment.

    Raises:
        UserError: it printed none.
    """
    with tempfile.TemporaryDirectory(prefix="desk") as home:
        end = await run_program(
            [sys.executable, "-m", "app"],
            timeout_s=timeout_s,
            env={
                "QT_QPA_PLATFORM": "offscreen",
                BENCH_VARIABLE: bench,
                "DIFFUSION_DESK_HOME": home,
                **(env or {}),
            },
        )
    for line in reversed(end.output.splitlines()):
        if line.startswith("{"):
            found: dict[str, Any] = json.loads(line)
            if "error" in found:
                raise UserError("bench.window", "the window could not be measured: {why}", why=found["error"])
            return found
    raise UserError(
        "bench.no_figures",
        "the window gave no figures (exit code {status}): {errors}",
        status=end.code,
        errors=end.errors.strip()[-2000:] or "no output",
    )
