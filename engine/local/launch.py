"""From what the setup has stored to an engine that can be started; for the window and for the command line.

    launch = await asyncio.to_thread(stored_launch)        # Launch, or UserError: the step of the setup that is missing
    engine = launch.engine(on_progress=show)               # VllmEngine, not started
    handle = await engine.start()                          # EngineHandle: base_url, api_key, pid, log_path
    ...
    await engine.stop()

``stored_launch`` reads ``<data>/setup.json`` (wishes, port, checkpoint folder), looks at the machine, plans, and looks
for environment and checkpoint. It asks no network and starts nothing. :func:`engine.local.facts.gather_facts` with
:func:`engine.launch.preflight.preflight` is the look before a start; :mod:`engine.local.kernels` the numeric self-test.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from engine import paths
from engine.domain.hardware import Machine
from engine.domain.plan import LaunchPlan, PlanResult, Refusal
from engine.errors import UserError
from engine.hardware import nvml
from engine.launch.attention import fitted
from engine.launch.command import MODEL_NAME, argv, environment
from engine.launch.fixes import require
from engine.launch.plugin import with_parts, without_parts
from engine.launch.proof import InstalledEngine
from engine.local.disk import EngineOnDisk, checkpoint_complete, engine_lock, engine_on_disk, look_at_machine
from engine.local.stored import load_memory, memory_file
from engine.runtime.places import Environment
from engine.supervise.lifecycle import EngineCommand
from engine.supervise.memory import MemoryWatch
from engine.supervise.start_log import StartProgress
from engine.supervise.state import EngineState
from engine.supervise.timings import StartTimings, start_key
from engine.supervise.vllm import VllmEngine

HOST = "127.0.0.1"
REMEDY = "go through the steps of the page Setup"


@dataclass(frozen=True, slots=True)
class Launch:
    """Everything that a start needs."""

    machine: Machine
    plan: LaunchPlan
    environment: Environment
    checkpoint: Path
    port: int

    def engine(
        self,
        on_progress: Callable[[StartProgress], None] = lambda progress: None,
        *,
        on_state: Callable[[EngineState], None] | None = None,
    ) -> LocalEngine:
        """The engine, not started."""
        made = engine_of(
            self.plan,
            self.environment.python,
            self.checkpoint,
            port=self.port,
            on_progress=on_progress,
            on_state=on_state,
        )
        made.launch = self
        return made

    def fit(self, found: PlanResult) -> PlanResult:
        """Another plan as this engine would be started by it, to be compared with ours. Reads the disk."""
        if isinstance(found, Refusal):
            return found
        installed = InstalledEngine(self.environment.site_packages)
        return with_parts(fitted(found, installed), installed)

    def variables(self) -> dict[str, str]:
        """The whole environment of the engine's processes."""
        return variables_of(self.plan, self.environment.python)


class LocalEngine(VllmEngine):
    """A vLLM of this computer.

    Attributes:
        launch: what it was put together from, for diagnoses and the next try; None where no setup stands behind it.
        plan: that its next start follows.
    """

    launch: Launch | None = None
    plan: LaunchPlan
    command_of: Callable[[LaunchPlan], EngineCommand]

    def without_parts(self) -> LaunchPlan:
        """Its next starts load none of our parts into vLLM; the plan of them."""
        self.plan = without_parts(self.plan, "Diffusion Desk's parts inside vLLM have failed")
        self._command = self.command_of(self.plan)
        if self.launch is not None:
            self.launch = replace(self.launch, plan=self.plan)
        return self.plan


def engine_of(
    plan: LaunchPlan,
    python: Path,
    checkpoint: Path,
    *,
    host: str = HOST,
    port: int = 0,
    api_key: str | None = None,
    extra: Sequence[str] = (),
    on_progress: Callable[[StartProgress], None] = lambda progress: None,
    on_state: Callable[[EngineState], None] | None = None,
) -> LocalEngine:
    """The engine of a plan, not started.

    Args:
        python: an interpreter that has vLLM.
        extra: arguments behind the plan's.
    """

    def command_of(followed: LaunchPlan) -> EngineCommand:
        def line(chosen: int) -> list[str]:
            return argv(followed, python, checkpoint, chosen, host=host, extra=extra)

        return EngineCommand("vllm", line, variables_of(followed, python))

    command = command_of(plan)
    made = LocalEngine(
        command.argv,
        command.env,
        model=MODEL_NAME,
        phases=plan.phases,
        host=host,
        port=port,
        memory=MemoryWatch([card.uuid for card in plan.cards], lambda: nvml.probe().gpus),
        timings=StartTimings(start_key(plan, python, checkpoint)),
        on_state=on_state,
        on_progress=on_progress,
        api_key=api_key,
    )
    made.plan, made.command_of = plan, command_of
    return made


def variables_of(plan: LaunchPlan, python: Path) -> dict[str, str]:
    """The whole environment of an engine's processes."""
    return environment(plan, base=clean_base(os.environ), cache_dir=cache_dir(), bin_dir=python.parent)


def stored_launch(*, port: int | None = None) -> Launch:
    """The launch of what the setup has stored. Blocks while it looks: call it on a thread.

    Args:
        port: instead of the stored one; 0 takes a free one.

    Raises:
        UserError: no plan is possible (``setup.no_plan``), vLLM is not the plan (``setup.embedded``), environment or
            checkpoint is missing (``setup.no_engine``, ``setup.no_checkpoint``), or the engine lacks a fix
            (``launch.fix_missing``).
    """
    memory, machine = load_memory(memory_file()), look_at_machine()
    found = memory.plan(machine)
    if isinstance(found, Refusal):
        way = next(iter(found.ways_out), REMEDY)
        raise UserError("setup.no_plan", "no plan for vLLM: {why}", remedy=way, why=found.reason)
    folder = memory.checkpoint_folder(found) if found.checkpoint != "embedded" else None
    disk = engine_on_disk(engine_lock(), found)
    return launch_of(machine, found, disk, folder, memory.port if port is None else port)


def launch_of(
    machine: Machine | None, plan: LaunchPlan | None, disk: EngineOnDisk | None, checkpoint: Path | None, port: int
) -> Launch:
    """The launch of what was found; None for what nobody has looked at.

    Args:
        checkpoint: its folder; looked at here.

    Raises:
        UserError: as :func:`stored_launch`.
    """
    if machine is None or plan is None:
        raise UserError("setup.no_plan", "there is no plan for vLLM on this computer", remedy=REMEDY)
    if plan.checkpoint == "embedded":
        raise UserError(
            "setup.embedded",
            "vLLM does not run on this computer: the plan is the embedded engine",
            remedy="use the embedded engine, or the address of a server elsewhere",
        )
    if disk is None or disk.found is None:
        raise UserError("setup.no_engine", "vLLM is not installed", remedy="install it: page Setup, step Engine")
    require(disk.fixes)
    if checkpoint is None or not checkpoint_complete(checkpoint):
        raise UserError(
            "setup.no_checkpoint",
            "the checkpoint is not complete in {folder}",
            remedy="fetch it: page Setup, step Checkpoint",
            folder=checkpoint or "the data folder",
        )
    installed = InstalledEngine(disk.found.site_packages)
    return Launch(machine, with_parts(fitted(plan, installed), installed), disk.found, checkpoint, port)


def cache_dir() -> Path:
    """Where the engine keeps compiled kernels."""
    return paths.data_dir() / "cache"


def clean_base(ours: Mapping[str, str]) -> dict[str, str]:
    """Our environment without what is about our own Python and Qt."""
    return {name: value for name, value in ours.items() if not name.startswith(("PYTHON", "QT_", "VIRTUAL_ENV"))}
