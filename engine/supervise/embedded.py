"""The embedded engine as a supervised process: ``engine.cli serve`` on a socket that we opened."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from engine.supervise.lifecycle import EngineCommand, SupervisedEngine
from engine.supervise.state import EngineState


def embedded_engine(
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    live_socket: Path | None = None,
    log_path: Path | None = None,
    on_state: Callable[[EngineState], None] | None = None,
) -> SupervisedEngine:
    """The embedded engine, not started yet. Arguments as of :class:`SupervisedEngine`."""
    return SupervisedEngine(
        EngineCommand("embedded", _argv, {}),
        host=host,
        port=port,
        live_socket=live_socket,
        log_path=log_path,
        on_state=on_state,
    )


def _argv(descriptor: int) -> list[str]:
    return [sys.executable, "-m", "engine.cli", "serve", "--engine", "embedded", "--fd", str(descriptor)]
