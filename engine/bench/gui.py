"""``bench gui``: does the window stay quick while it streams an answer and watches a wide run."""

from __future__ import annotations

from engine.bench.result import BenchResult, Figure, percentile
from engine.bench.startup import ask_window

EXTRA_LATENESS_MS = 35.0
TIMEOUT_S = 180.0


async def measure() -> BenchResult:
    """Lateness of a 16 ms timer in one window: idle, then with a stream and a 32-wide run.

    The window prints ``{"idle_ms": [...], "busy_ms": [...]}``: how late each tick came.

    Raises:
        UserError: the window gave no figures.
    """
    told = await ask_window("gui", TIMEOUT_S)
    idle, busy = percentile(told["idle_ms"], 0.99), percentile(told["busy_ms"], 0.99)
    return BenchResult(
        "gui",
        {
            "late_p99_idle": Figure(idle, "ms"),
            "late_p99_busy": Figure(busy, "ms"),
            "late_p99_extra": Figure(busy - idle, "ms", "at most", EXTRA_LATENESS_MS),
            "ticks_busy": Figure(len(told["busy_ms"]), "", "at least", 100),
        },
    )
