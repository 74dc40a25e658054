"""What of a plan lies on the disk: the machine as it is looked at, the engine's environment, the checkpoint."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from engine.checkpoints.manifest import Folder
from engine.checkpoints.verify import index_problems
from engine.domain.hardware import Machine
from engine.domain.plan import LaunchPlan
from engine.hardware.machine import probe_machine
from engine.hardware.record import load_machine
from engine.launch.attention import fitted
from engine.launch.fixes import FixResult, check_fixes
from engine.launch.plugin import with_parts
from engine.launch.proof import InstalledEngine
from engine.runtime.places import Environment, default_places
from engine.runtime.spec import EnvironmentSpec, load_spec
from engine.runtime.status import find_environment

MACHINE_VARIABLE = "DIFFUSION_DESK_MACHINE"  # a recorded machine instead of this one: for tests and pictures
LOCK_VARIABLE = "DIFFUSION_DESK_ENGINE_LOCK"  # another lock than the one that came with the program


@dataclass(frozen=True, slots=True)
class EngineOnDisk:
    """The engine's environment.

    Attributes:
        found: the complete one, or None.
        fixes: what the installed engine proves for the plan; empty without plan or environment.
        plan: as it fits the installed engine; None without plan or environment.
    """

    spec: EnvironmentSpec
    found: Environment | None
    fixes: tuple[FixResult, ...] = ()
    plan: LaunchPlan | None = None

    @property
    def missing(self) -> tuple[FixResult, ...]:
        return tuple(fix for fix in self.fixes if fix.status == "missing")


def look_at_machine() -> Machine:
    """This machine, or the recorded one that ``DIFFUSION_DESK_MACHINE`` names. Blocks for a moment."""
    recorded = os.environ.get(MACHINE_VARIABLE)
    return load_machine(Path(recorded)) if recorded else probe_machine()


def engine_lock() -> Path | None:
    """The lock that ``DIFFUSION_DESK_ENGINE_LOCK`` names; None for the program's own."""
    named = os.environ.get(LOCK_VARIABLE)
    return Path(named) if named else None


def engine_on_disk(lock: Path | None, plan: LaunchPlan | None) -> EngineOnDisk:
    """Look at the engine's environment. Raises UserError when lock or engine cannot be read."""
    spec = load_spec(lock)
    found = find_environment(spec, default_places())
    if found is None or plan is None or plan.checkpoint == "embedded":
        return EngineOnDisk(spec, found)
    engine = InstalledEngine(found.site_packages)
    fit = with_parts(fitted(plan, engine), engine)
    return EngineOnDisk(spec, found, check_fixes(fit, engine), fit)


def checkpoint_complete(folder: Path) -> bool:
    """Every file of the manifest is there with its size and the shards fit together; no byte is hashed again."""
    manifest = Folder(folder).load()
    if manifest is None:
        return False
    finals = ((folder / file.path, file.size) for file in manifest.files)
    whole = all(path.is_file() and path.stat().st_size == size for path, size in finals)
    return whole and not index_problems(folder)
