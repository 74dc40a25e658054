"""The setup's long work as data: how workers are started, and what they say in words for the page."""

from __future__ import annotations

import sys
from pathlib import Path

from app.models.setup import Work
from engine.checkpoints.catalogue import CatalogueEntry, entry
from engine.checkpoints.target import check_target
from engine.checkpoints.transport import parse_endpoint
from engine.domain.plan import LaunchPlan
from engine.errors import InputError
from engine.launch.command import shell_line
from engine.local.stored import Memory
from engine.runtime.places import Environment
from engine.supervise.protocol import DownloadProgress, DownloadStarted, EnvironmentProgress, WorkerEvent
from engine.supervise.vllm import StartProgress

ENVIRONMENT_PHASES = {
    "checks": "Looking at the system and the disk",
    "uv": "Looking for uv",
    "python": "Looking for Python",
    "fetch": "Fetching and unpacking packages",
    "install": "Installing packages",
    "files": "Comparing files",
    "verify": "Importing the engine once",
}


def install_argv(lock: Path | None, wheels: Path | None) -> list[str]:
    """The worker that makes the environment, or goes on with one that was begun."""
    argv = [sys.executable, "-m", "engine.cli", "engine-env", "install", "--worker"]
    argv += [] if lock is None else ["--lock", str(lock)]
    return argv + ([] if wheels is None else ["--wheels", str(wheels)])


def checkpoint_entry(plan: LaunchPlan) -> CatalogueEntry:
    """The checkpoint that a plan needs."""
    return entry(plan.checkpoint)


def download_argv(plan: LaunchPlan | None, memory: Memory, adopted: str = "") -> list[str]:
    """The worker that brings a plan's checkpoint, from the hub or out of a folder of this machine."""
    kind = plan.checkpoint if plan is not None else "fp8"
    argv = [sys.executable, "-m", "engine.cli", "download", "--checkpoint", kind, "--worker"]
    argv += ["--to", memory.folders[kind]] if memory.folders.get(kind) else []
    if adopted:
        return [*argv, "--adopt", adopted]
    return argv + (["--endpoint", memory.endpoint] if memory.endpoint else [])


def source_problems(endpoint: str, folder: str) -> tuple[str, str]:
    """What is wrong with the address of a mirror and with a folder for the checkpoint; empty where nothing is."""
    problems = ["", ""]
    try:
        if endpoint:
            parse_endpoint(endpoint)
    except InputError as error:
        problems[0] = str(error)
    try:
        if folder:
            check_target(Path(folder))
    except InputError as error:
        problems[1] = str(error)
    return problems[0], problems[1]


def command_line(plan: LaunchPlan, found: Environment | None, checkpoint: Path, port: int) -> str:
    """The line to copy; paths as they will be where nothing is there yet. Empty for the embedded engine."""
    if plan.checkpoint == "embedded":
        return ""
    return shell_line(plan, found.python if found else "python", checkpoint, port)


def work_of(event: WorkerEvent) -> Work | None:
    """What a worker is doing; None for events that say nothing about it."""
    match event:
        case DownloadStarted():
            return Work(
                "Asking the hub",
                event.done_bytes,
                event.total_bytes,
                fraction=_share(event.done_bytes, event.total_bytes),
            )
        case DownloadProgress():
            checking = event.rate == 0 and event.checked_bytes > 0
            return Work(
                "Checking what is there" if checking else "Fetching",
                event.done_bytes,
                event.total_bytes,
                event.rate,
                event.eta_s,
                _share(event.done_bytes, event.total_bytes),
                f"{event.files_done} of {event.files} files",
            )
        case EnvironmentProgress():
            moving = event.phase in ("fetch", "install")
            return Work(
                ENVIRONMENT_PHASES.get(event.phase, event.phase),
                event.bytes_done,
                event.bytes_total,
                event.rate if moving else 0.0,
                event.eta_s if moving else None,
                _share(event.bytes_done, event.bytes_total) if moving else None,
                f"{event.packages_done} of {event.packages} packages" if moving else "",
            )
        case _:
            return None


def start_work(progress: StartProgress, before: int = 0) -> Work:
    """A start as a bar over its phases; a phase that says how far it is fills its part.

    Args:
        before: phases that come before those of the engine.
    """
    share = (before + progress.number + (progress.fraction or 0.0)) / max(before + progress.count, 1)
    return Work(progress.phase, fraction=share, detail=progress.detail)


def _share(done: int, total: int | None) -> float | None:
    return done / total if total else None
