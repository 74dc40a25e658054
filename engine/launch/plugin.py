"""Our parts inside vLLM (docs/plugin.md): the flag and the variables that bring them in.

``DESK_VLLM_PARTS`` in the plan decides: a value names the parts, None means stock, and where it does not stand there
the parts are ``DEFAULT``. Stock is what remains when the flag is taken away.
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
DEFAULT = "live"
RELEASES = ((0, 32), (0, 33))
"""Of vLLM, whose classes the parts were written against; the parts themselves look again when they are loaded."""

_PATH = "PYTHONPATH"


def on_path() -> Path:
    """The folder that holds nothing but the way to our parts."""
    return Path(vllm_plugin.__file__).parent / "on_path"


def with_parts(plan: LaunchPlan, engine: InstalledEngine) -> LaunchPlan:
    """The plan with our parts in it, or as it is: for the embedded engine, another release, or where it says stock."""
    env = {variable.name: variable for variable in plan.env}
    parts = env[PARTS_VARIABLE].value if PARTS_VARIABLE in env else DEFAULT
    if plan.checkpoint == "embedded" or not parts or engine.version[:2] not in RELEASES:
        return plan
    if any(flag.name == FLAG for flag in plan.flags):
        return plan  # somebody's own class, or ours already
    before = env[_PATH].value if _PATH in env else None
    override = json.dumps({ARCHITECTURE: MODEL_CLASS}, separators=(",", ":"))
    env.setdefault(PARTS_VARIABLE, EnvVar(PARTS_VARIABLE, parts, "live: shows the canvas while it is denoised"))
    env[_PATH] = EnvVar(
        _PATH, os.pathsep.join(filter(None, (str(on_path()), before))), "where the engine finds Diffusion Desk's parts"
    )
    flag = Flag(FLAG, override, "vLLM's own class with Diffusion Desk's parts; without this flag all is stock")
    return replace(plan, flags=(*plan.flags, flag), env=tuple(env.values()))


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
    return replace(plan, flags=flags, env=tuple(env.values()))
