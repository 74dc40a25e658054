"""The setup's long work as data: what workers say, what is on disk already, in words for the page."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from app.models.setup import Work
from engine.checkpoints.catalogue import CatalogueEntry, entry
from engine.checkpoints.manifest import Folder
from engine.checkpoints.verify import index_problems
from engine.domain.plan import LaunchPlan
from engine.launch.fixes import FixResult, check_fixes
from engine.launch.proof import InstalledEngine
from engine.runtime.places import Environment, default_places
from engine.runtime.spec import EnvironmentSpec, load_spec
from engine.runtime.status import find_environment
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


@dataclass(frozen=True, slots=True)
class EngineOnDisk:
    """The engine's environment.

    Attributes:
        found: the complete one, or None.
        fixes: what the installed engine proves for the plan; empty without plan or environment.
    """

    spec: EnvironmentSpec
    found: Environment | None
    fixes: tuple[FixResult, ...] = ()

    @property
    def missing(self) -> tuple[FixResult, ...]:
        return tuple(fix for fix in self.fixes if fix.status == "missing")


def engine_on_disk(lock: Path | None, plan: LaunchPlan | None) -> EngineOnDisk:
    """Look at the engine's environment. Raises UserError when lock or engine cannot be read."""
    spec = load_spec(lock)
    found = find_environment(spec, default_places())
    if found is None or plan is None or plan.checkpoint == "embedded":
        return EngineOnDisk(spec, found)
    return EngineOnDisk(spec, found, check_fixes(plan, InstalledEngine(found.site_packages)))


def install_argv(lock: Path | None, wheels: Path | None) -> list[str]:
    """The worker that makes the environment, or goes on with one that was begun."""
    argv = [sys.executable, "-m", "engine.cli", "engine-env", "install", "--json"]
    argv += [] if lock is None else ["--lock", str(lock)]
    return argv + ([] if wheels is None else ["--wheels", str(wheels)])


def checkpoint_entry(plan: LaunchPlan) -> CatalogueEntry:
    """The checkpoint that a plan needs."""
    return entry(plan.checkpoint)


def download_argv(plan: LaunchPlan | None, adopted: str = "") -> list[str]:
    """The worker that brings a plan's checkpoint, from the hub or out of a folder of this machine."""
    kind = plan.checkpoint if plan is not None else "fp8"
    argv = [sys.executable, "-m", "engine.cli", "download", "--checkpoint", kind, "--worker"]
    return [*argv, "--adopt", adopted] if adopted else argv


def checkpoint_complete(folder: Path) -> bool:
    """Every file of the manifest is there with its size and the shards fit together; no byte is hashed again."""
    manifest = Folder(folder).load()
    if manifest is None:
        return False
    finals = ((folder / file.path, file.size) for file in manifest.files)
    whole = all(path.is_file() and path.stat().st_size == size for path, size in finals)
    return whole and not index_problems(folder)


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


def start_work(progress: StartProgress) -> Work:
    """A start as a bar over its phases; a phase that says how far it is fills its part."""
    share = (progress.number + (progress.fraction or 0.0)) / max(progress.count, 1)
    return Work(progress.phase, fraction=share, detail=progress.detail)


def _share(done: int, total: int | None) -> float | None:
    return done / total if total else None
