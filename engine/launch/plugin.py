"""Our parts inside vLLM (docs/plugin.md): the flag and the variables that bring them in.

``DESK_VLLM_PARTS`` in the plan decides: a value names the parts, None means stock, and where it does not stand there
the parts are ``DEFAULT``. Stock is what remains when the flag is taken away.

Several requests at once over several cards need the part ``tiles``: a plan that gets along without it takes one.
"""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

from engine import vllm_plugin
from engine.domain.plan import EnvVar, Flag, LaunchPlan
from engine.launch.proof import InstalledEngine
from engine.vllm_plugin.protocol import ARCHITECTURE, MODEL_CLASS, PARTS_VARIABLE

FLAG = "--model-class-overrides"
DEFAULT = "tiles,reads,live"
TILES = "tiles"
RELEASES = ((0, 32), (0, 33))
"""Of vLLM, whose classes the parts were written against; the parts themselves look again when they are loaded."""

_PATH = "PYTHONPATH"
_WHAT = (
    "tiles: cards that share the model cut a step alike; reads: reads that share a step cost little more than one; "
    "live: shows the canvas while it is denoised"
)


def on_path() -> Path:
    """The folder that holds nothing but the way to our parts."""
    return Path(vllm_plugin.__file__).parent / "on_path"


def with_parts(plan: LaunchPlan, engine: InstalledEngine) -> LaunchPlan:
    """The plan with our parts in it, or as it is: for the embedded engine, another release, or where it says stock.

    Without the part ``tiles`` it takes one request at a time over several cards.
    """
    if plan.checkpoint == "embedded":
        return plan
    named = next((variable for variable in plan.env if variable.name == PARTS_VARIABLE), None)
    parts = DEFAULT if named is None else named.value
    loaded = bool(parts) and engine.version[:2] in RELEASES
    if loaded and not any(flag.name == FLAG for flag in plan.flags):  # else somebody's own class, or ours already
        plan = _loading(plan, parts or "")
    return plan if loaded and has_tiles(plan) else one_at_a_time(plan)


def _loading(plan: LaunchPlan, parts: str) -> LaunchPlan:
    """With the flag and the variables; a variable that names the parts stays as it is."""
    env = {variable.name: variable for variable in plan.env}
    before = env[_PATH].value if _PATH in env else None
    override = json.dumps({ARCHITECTURE: MODEL_CLASS}, separators=(",", ":"))
    env.setdefault(PARTS_VARIABLE, EnvVar(PARTS_VARIABLE, parts, _WHAT))
    env[_PATH] = EnvVar(
        _PATH, os.pathsep.join(filter(None, (str(on_path()), before))), "where the engine finds Diffusion Desk's parts"
    )
    flag = Flag(FLAG, override, "vLLM's own class with Diffusion Desk's parts; without this flag all is stock")
    return replace(plan, flags=(*plan.flags, flag), env=tuple(env.values()))


def has_tiles(plan: LaunchPlan) -> bool:
    """Whether all ranks of the plan cut a step alike: the part ``tiles`` is loaded with our class."""
    ours = any(flag.name == FLAG and MODEL_CLASS in (flag.value or "") for flag in plan.flags)
    parts = next((variable.value for variable in plan.env if variable.name == PARTS_VARIABLE), None)
    return ours and TILES in [part.strip() for part in (parts or "").split(",")]


def one_at_a_time(plan: LaunchPlan) -> LaunchPlan:
    """Over several cards that share the model, with one request at a time; any other plan as it is."""
    if plan.tensor_parallel == 1 or plan.sequences == 1:
        return plan
    reason = (
        "without Diffusion Desk's parts ranks size their work by their own free memory; with two canvases they hang"
    )
    flags = tuple(Flag(flag.name, "1", reason) if flag.name == "--max-num-seqs" else flag for flag in plan.flags)
    return replace(plan, sequences=1, flags=flags)


def without_parts(plan: LaunchPlan, reason: str) -> LaunchPlan:
    """The plan as :func:`with_parts` found it, and saying stock; somebody's own model class stays."""
    env = {variable.name: variable for variable in plan.env}
    env[PARTS_VARIABLE] = EnvVar(PARTS_VARIABLE, None, reason)
    if _PATH in env:
        kept = [part for part in (env[_PATH].value or "").split(os.pathsep) if part and part != str(on_path())]
        env[_PATH] = replace(env[_PATH], value=os.pathsep.join(kept))
        if not kept:
            del env[_PATH]
    flags = tuple(flag for flag in plan.flags if flag.name != FLAG or MODEL_CLASS not in (flag.value or ""))
    return one_at_a_time(replace(plan, flags=flags, env=tuple(env.values())))
