"""``bench chat``: what the chat costs the window while answers stream, and what it keeps of a thousand of them."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from engine.bench.result import BenchResult, Figure, percentile
from engine.bench.startup import ask_window
from engine.supervise.group import EngineGroup
from engine.supervise.ports import bind_port

UPDATE_4K_MS, UPDATE_64K_MS = 5.0, 20.0
OPEN_MS = 300.0
TICK_MS = 33.0
GROWTH_MB = 20.0
FRAMES = 100
TIMEOUT_S = 1200.0  # a thousand answers take half a minute on an idle machine
URL_VARIABLE, LIVE_VARIABLE = "DIFFUSION_DESK_BENCH_URL", "DIFFUSION_DESK_BENCH_LIVE"
SHARE_VARIABLE = "DIFFUSION_DESK_BENCH_SHARE"


async def measure(share: float = 1.0) -> BenchResult:
    """One window beside a stand-in engine that streams 1,100 tokens a second with the frames of its canvases.

    The window prints ``{"update_4k_ms": [...], "update_64k_ms": [...], "open_ms": [...], "tick_ms": [...],
    "growth_mb": x, "answers": n, "frames": n}``.

    Args:
        share: of the answers, messages and seconds; less of them is for tests.

    Raises:
        UserError: the window gave no figures.
    """
    with tempfile.TemporaryDirectory(prefix="desk") as folder:
        async with _stand_in(Path(folder)) as environment:
            told = await ask_window("chat", TIMEOUT_S, environment | {SHARE_VARIABLE: str(share)})
    return BenchResult(
        "chat",
        {
            "update_p95_4k": Figure(percentile(told["update_4k_ms"], 0.95), "ms", "at most", UPDATE_4K_MS),
            "update_p95_64k": Figure(percentile(told["update_64k_ms"], 0.95), "ms", "at most", UPDATE_64K_MS),
            "open_5000_messages": Figure(max(told["open_ms"]), "ms", "at most", OPEN_MS, "to the first paint"),
            "tick_p99_streaming": Figure(percentile(told["tick_ms"], 0.99), "ms", "at most", TICK_MS, "of 16 ms"),
            "memory_growth": Figure(told["growth_mb"], "MB", "at most", GROWTH_MB, f"{told['answers']} answers"),
            "frames_shown": Figure(told["frames"], "", "at least", FRAMES * share, "while the ticks were counted"),
        },
    )


@asynccontextmanager
async def _stand_in(home: Path) -> AsyncIterator[dict[str, str]]:
    """A running stand-in; gives what the window's environment has to say about it."""
    live = home / "live.sock"
    with bind_port() as listener:
        port = listener.getsockname()[1]
        group = EngineGroup.launch(
            [sys.executable, "-m", "engine.bench.stand_in_chat", str(listener.fileno()), str(live)],
            log_path=home / "stand_in.log",
            pid_dir=home,
            port=port,
            pass_fds=[listener.fileno()],
        )
    try:
        yield {URL_VARIABLE: f"http://127.0.0.1:{port}", LIVE_VARIABLE: str(live)}
    finally:
        await group.stop()
