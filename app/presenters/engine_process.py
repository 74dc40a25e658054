"""Processes behind the window: of the engine that it has started, and of windows that are gone."""

from __future__ import annotations

import asyncio
from pathlib import Path

import psutil

from app.models.engine_state import EngineState
from engine import paths
from engine.supervise.group import EngineGroup


def log_of(state: EngineState) -> Path | None:
    """The log of the engine that runs, or of its last start; None for a server elsewhere."""
    if state.kind == "url":
        return None
    return state.log or paths.logs_dir() / f"engine-{state.kind}.log"


async def memory_of(group: EngineGroup | None) -> int | None:
    """Resident bytes of all its processes; None where nothing runs."""
    if group is None:
        return None
    return await asyncio.to_thread(lambda: sum(_rss(process) for process in group.members()))


async def pids_of(group: EngineGroup | None) -> frozenset[int]:
    """The numbers of all its processes."""
    if group is None:
        return frozenset()
    return await asyncio.to_thread(lambda: frozenset(process.pid for process in group.members()))


def remove_sockets(folder: Path) -> None:
    """Live channels of windows that are gone: a killed one cannot remove its own."""
    for path in folder.glob("live-*.sock"):
        owner = path.stem.removeprefix("live-")
        if owner.isdecimal() and not psutil.pid_exists(int(owner)):
            path.unlink(missing_ok=True)


def _rss(process: psutil.Process) -> int:
    try:
        return int(process.memory_info().rss)
    except psutil.Error:
        return 0
