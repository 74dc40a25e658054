"""What the setup remembers over a restart of the program: one small JSON file, replaced in one step.

Only what cannot be seen on the machine or the disk is kept: wishes, folders that the user named, the port, and which
step was under way. Everything else is looked at again.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from engine import paths
from engine.checkpoints.catalogue import entry
from engine.domain.diagnosis import Retry
from engine.domain.hardware import Machine
from engine.domain.plan import CheckpointKind, EnvVar, Flag, LaunchPlan, PlanResult, Profile, Wishes
from engine.domain.setup import SetupStep
from engine.errors import UserError
from engine.launch.planner import plan
from engine.supervise.diagnose_retry import amended

DEFAULT_PORT = 8042


class Wished(BaseModel):
    """The wishes of the plan step; None leaves a value to the planner."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    profile: Profile = "chat"
    checkpoint: CheckpointKind | None = None
    cards: tuple[str, ...] | None = None
    context: int | None = None
    utilisation: float | None = None
    sequences: int | None = None
    canvas: int | None = None
    text_only: bool | None = None
    tensor_parallel: int | None = None

    def as_wishes(self) -> Wishes:
        return Wishes(**self.model_dump())


class Override(BaseModel):
    """A flag (``--name``) or a variable that replaces the plan's, since a start without it has failed here.

    Attributes:
        value: None is a switch, or a variable that is removed.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    value: str | None = None
    reason: str = ""

    def as_change(self) -> Flag | EnvVar:
        kind = Flag if self.name.startswith("--") else EnvVar
        return kind(self.name, self.value, self.reason)


class Memory(BaseModel):
    """The file.

    Attributes:
        step: that was shown last.
        active: a step that was under way; it goes on at the next start.
        wheels: a folder of wheels for the engine's environment, instead of the network.
        endpoint: a mirror of the hub; empty for the hub itself.
        folders: where the user wants a checkpoint, by its kind; else it lies in the data folder.
        overrides: what a failed start has taught.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    schema_version: Literal[1] = 1
    step: SetupStep = "detect"
    active: SetupStep | None = None
    wished: Wished = Wished()
    port: Annotated[int, Field(ge=1024, le=65535)] = DEFAULT_PORT
    wheels: str = ""
    endpoint: str = ""
    folders: dict[CheckpointKind, str] = {}
    overrides: tuple[Override, ...] = ()

    def plan(self, machine: Machine, wishes: Wishes | None = None) -> PlanResult:
        """The plan for a machine, with what failed starts have taught.

        Args:
            wishes: instead of the stored ones.
        """
        found = plan(machine, wishes or self.wished.as_wishes())
        if isinstance(found, LaunchPlan) and found.checkpoint != "embedded":
            return amended(found, [override.as_change() for override in self.overrides])
        return found

    def after(self, retry: Retry) -> Memory:
        """What is to be remembered once the next try is wanted. A new port is not: it depends on the moment."""
        known = {name: getattr(retry.wishes, name) for name in Wished.model_fields}
        new = {change.name: Override(**asdict(change)) for change in retry.overrides}
        kept = [override for override in self.overrides if override.name not in new]
        return self.model_copy(update={"wished": Wished(**known), "overrides": (*kept, *new.values())})

    def checkpoint_folder(self, plan: LaunchPlan) -> Path:
        """Where the checkpoint of a plan lies or is to lie."""
        named = self.folders.get(plan.checkpoint)
        return Path(named) if named else entry(plan.checkpoint).folder


def memory_file() -> Path:
    return paths.data_dir() / "setup.json"


def load_memory(path: Path) -> Memory:
    """What is remembered; a file that cannot be read is set aside, and the setup begins anew (it looks at the disk)."""
    try:
        return Memory.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        return Memory()
    except (OSError, ValidationError):
        with suppress(OSError):
            path.replace(path.with_name(f"{path.name}.damaged"))
        return Memory()


def save_memory(path: Path, memory: Memory) -> None:
    """Replace the file in one step.

    Raises:
        UserError: it cannot be written; the old one stays.
    """
    replace_json(path, memory)


def replace_json(path: Path, value: BaseModel) -> None:
    """Write a small file whole or not at all, and to the disk.

    Raises:
        UserError: it cannot be written; the old one stays.
    """
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with part.open("w", encoding="utf-8") as file:
            json.dump(value.model_dump(mode="json"), file, indent=2)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    except OSError as error:
        raise UserError(
            "setup.unwritable", "cannot write {path}: {why}", path=path, why=error.strerror or str(error)
        ) from error
    finally:
        part.unlink(missing_ok=True)
