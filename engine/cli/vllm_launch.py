"""``serve --engine vllm``: from the setup's stored state, or from what the command line names, to an engine to start.

What is not named comes from the setup: wishes, environment, checkpoint. With ``--python`` and a checkpoint's folder
nothing of it is needed, and no network either.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, get_args

from engine.checkpoints.found import format_of
from engine.cli.wishes import wishes_of
from engine.domain.diagnosis import Retry
from engine.domain.hardware import Finding, Machine
from engine.domain.plan import CheckpointKind, EnvVar, Flag, LaunchPlan, Refusal, Wishes
from engine.errors import InputError, UserError
from engine.hardware.record import load_machine
from engine.launch.attention import fitted
from engine.launch.fixes import FixResult, check_fixes
from engine.launch.plugin import with_parts
from engine.launch.preflight import preflight
from engine.launch.proof import InstalledEngine
from engine.local.disk import checkpoint_complete, engine_lock, engine_on_disk, look_at_machine
from engine.local.facts import gather_facts
from engine.local.launch import HOST, Launch, LocalEngine, engine_of
from engine.local.stored import Memory, load_memory, memory_file
from engine.runtime.places import Environment
from engine.supervise.diagnose_retry import amended
from engine.supervise.program import run_program
from engine.supervise.start_log import StartProgress

ASK_S = 120.0  # an interpreter on a cold disk
_WHERE = (
    "import importlib.util as u, sys; s = u.find_spec('vllm'); "
    "print(s.submodule_search_locations[0] if s else '', *sys.path, sep='\\n')"
)
_GIVEN = "given on the command line"


@dataclass(frozen=True, slots=True)
class VllmOptions:
    """What the command line says.

    Attributes:
        checkpoint: a kind, or a folder; None leaves it to setup and planner.
        variables: ``NAME=VALUE``, or ``NAME`` to remove one.
        extra: arguments for vLLM behind the plan's.
        wished: the parameters of :func:`engine.cli.wishes.wish_options`.
    """

    host: str = HOST
    port: int | None = None
    api_key: str | None = None
    record: Path | None = None
    checkpoint: str | None = None
    python: Path | None = None
    variables: tuple[str, ...] = ()
    extra: tuple[str, ...] = ()
    wished: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Prepared:
    """Everything that a start needs, found and planned.

    Attributes:
        memory: of the setup; what failed starts have taught counts here too.
        installed: the vLLM of that interpreter.
        environment: the setup's; None for an interpreter that the command line names.
        api_key: what clients must send; None makes a random one.
    """

    machine: Machine
    memory: Memory
    wishes: Wishes
    plan: LaunchPlan
    python: Path
    installed: InstalledEngine
    environment: Environment | None
    checkpoint: Path
    host: str
    port: int
    api_key: str | None
    extra: tuple[str, ...]

    def engine(self, on_progress: Callable[[StartProgress], None] = lambda progress: None) -> LocalEngine:
        """The engine, not started."""
        return engine_of(
            self.plan,
            self.python,
            self.checkpoint,
            host=self.host,
            port=self.port,
            api_key=self.api_key,
            extra=self.extra,
            on_progress=on_progress,
        )

    @property
    def launch(self) -> Launch | None:
        """The start as the setup knows it; None for an interpreter that the command line names."""
        if self.environment is None:
            return None
        return Launch(self.machine, self.plan, self.environment, self.checkpoint, self.port)

    def fixes(self) -> tuple[FixResult, ...]:
        """What the installed engine proves for the plan. Raises InputError when it cannot be read."""
        return check_fixes(self.plan, self.installed)

    async def findings(self) -> tuple[Finding, ...]:
        """What stands in the way of this start."""
        facts = await gather_facts(None, self.checkpoint, self.port, self.api_key or "")
        return preflight(self.machine, self.plan, replace(facts, environment=self.installed.site_packages))


async def prepare(options: VllmOptions) -> Prepared:
    """Look, plan and find; starts nothing. Call from the main thread.

    Raises:
        UserError: there is no plan, or environment or checkpoint is missing; says what to name or to set up.
        InputError: what the command line names is not there, or not what it should be.
    """
    machine = load_machine(options.record) if options.record else await asyncio.to_thread(look_at_machine)
    memory = load_memory(memory_file())
    folder, kind = _checkpoint(options.checkpoint)
    wishes = wishes_of(machine, options.wished, memory.wished.as_wishes())
    wishes = replace(wishes, checkpoint=kind) if kind else wishes
    found = _planned(memory, machine, wishes)
    changes = [_variable(text) for text in options.variables]
    found = amended(found, changes)
    given = {variable.name: variable.value for variable in changes}
    python, installed, environment = await _engine(options.python, found, given)
    found = with_parts(await asyncio.to_thread(fitted, found, installed), installed)
    return Prepared(
        machine=machine,
        memory=memory,
        wishes=wishes,
        plan=found,
        python=python,
        installed=installed,
        environment=environment,
        checkpoint=folder or _stored_checkpoint(memory.checkpoint_folder(found)),
        host=options.host,
        port=memory.port if options.port is None else options.port,
        api_key=options.api_key,
        extra=options.extra,
    )


def retry_options(retry: Retry, before: Wishes) -> list[str]:
    """The arguments that make the same command the next try; those for vLLM itself stand behind ``--``."""
    said: list[str] = []
    for name in ("context", "utilisation", "sequences", "canvas", "tensor_parallel", "checkpoint"):
        value = getattr(retry.wishes, name)
        if value != getattr(before, name) and value is not None:
            said += [f"--{name.replace('_', '-')}", str(value)]
    if retry.wishes.cards != before.cards and retry.wishes.cards:
        said += ["--cards", ",".join(retry.wishes.cards)]
    if retry.wishes.text_only and not before.text_only:
        said.append("--text-only")
    said += ["--port", "0"] if retry.new_port else []
    for change in retry.overrides:
        if isinstance(change, EnvVar):
            said += ["--env", change.name if change.value is None else f"{change.name}={change.value}"]
    extra = [part for change in retry.overrides if isinstance(change, Flag) for part in (change.name, change.value)]
    return [*said, *(["--"] if extra else []), *(part for part in extra if part is not None)]


def _planned(memory: Memory, machine: Machine, wishes: Wishes) -> LaunchPlan:
    found = memory.plan(machine, wishes)
    if isinstance(found, Refusal):
        raise InputError(
            "serve.no_plan",
            "no plan for vLLM: {why}",
            remedy="; or ".join(found.ways_out),
            why=found.reason,
        )
    if found.checkpoint == "embedded":
        raise UserError(
            "serve.embedded",
            "vLLM does not run on this machine: {why}",
            remedy="serve --engine embedded serves the toy on the CPU",
            why=found.notes[0] if found.notes else found.title,
        )
    return found


def _checkpoint(given: str | None) -> tuple[Path | None, CheckpointKind | None]:
    """Folder and kind of ``--checkpoint``."""
    kinds: Sequence[CheckpointKind] = get_args(CheckpointKind)
    named = next((kind for kind in kinds if kind == given), None)
    if given is None or named is not None:
        return None, named
    folder = Path(given).expanduser().absolute()
    if not (folder / "config.json").is_file():
        raise InputError(
            "serve.checkpoint",
            "--checkpoint {folder}: there is no config.json in it",
            remedy="name the folder of a checkpoint, or a kind: fp8, int8 or nvfp4",
            folder=folder,
        )
    said = format_of(folder)
    return folder, next((kind for kind in kinds if kind == said), None)


def _stored_checkpoint(folder: Path) -> Path:
    if not checkpoint_complete(folder):
        raise UserError(
            "serve.no_checkpoint",
            "there is no complete checkpoint in {folder}",
            remedy="fetch it with `download`, or name a folder with --checkpoint",
            folder=folder,
        )
    return folder


async def _engine(
    python: Path | None, found: LaunchPlan, given: Mapping[str, str | None]
) -> tuple[Path, InstalledEngine, Environment | None]:
    """Interpreter, its vLLM, and the environment if it is the setup's."""
    if python is not None:
        return python, await _installed(python, given), None
    there = (await asyncio.to_thread(engine_on_disk, engine_lock(), found)).found
    if there is None:
        raise UserError(
            "serve.no_engine",
            "vLLM is not installed",
            remedy="install it with `engine-env install`, or name an interpreter that has it with --python",
        )
    return there.python, InstalledEngine(there.site_packages), there


async def _installed(python: Path, given: Mapping[str, str | None]) -> InstalledEngine:
    """The vLLM that an interpreter finds, asked for in the environment that the engine gets."""
    env = {"PYTHONPATH": given.get("PYTHONPATH") or ""}
    end = await run_program([str(python), "-c", _WHERE], timeout_s=ASK_S, env=env)
    where, *path = end.output.splitlines() or [""]
    if end.code or not where:
        raise InputError(
            "serve.no_vllm",
            "{python} finds no vllm" + (": {why}" if end.code else ""),
            remedy="name the engine's interpreter with --python, its packages with --env PYTHONPATH=FOLDER",
            python=python,
            why=end.errors.strip()[-300:],
        )
    return InstalledEngine(Path(where).parent, [Path(folder) for folder in path if folder])


def _variable(text: str) -> EnvVar:
    name, sign, value = text.partition("=")
    if not name or not name.replace("_", "a").isalnum():
        raise InputError("serve.variable", "--env {text}: not NAME=VALUE, nor the NAME of one to be removed", text=text)
    return EnvVar(name, value if sign else None, _GIVEN)
