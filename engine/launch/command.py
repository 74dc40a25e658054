"""A plan as what is run: the argument list, the environment, and one line to copy into a shell."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

from engine.domain.plan import LaunchPlan
from engine.launch.options import CACHES

MODEL_NAME = "diffusiongemma"


def argv(
    plan: LaunchPlan,
    python: str | Path,
    model_dir: str | Path,
    port: int,
    *,
    host: str = "127.0.0.1",
    uds: str | Path | None = None,
    extra: Sequence[str] = (),
) -> list[str]:
    """The argument list of vLLM's server.

    The server's key is not in it, since every user of a machine can read argument lists: :func:`environment` takes it.

    Args:
        python: interpreter of the engine's environment.
        model_dir: folder of the checkpoint.
        uds: a Unix socket to listen on, instead of host and port.
        extra: arguments behind the plan's.
    """
    if plan.checkpoint == "embedded":
        raise ValueError("the embedded engine is not started with vLLM's command line")
    where = ["--uds", str(uds)] if uds is not None else ["--host", host, "--port", str(port)]
    flags = [part for flag in plan.flags for part in (flag.name, flag.value) if part is not None]
    return [
        str(python),
        *("-m", "vllm.entrypoints.cli.main", "serve"),
        *("--model", str(model_dir), "--served-model-name", MODEL_NAME),
        *where,
        *flags,
        *extra,
    ]


def environment(
    plan: LaunchPlan,
    *,
    base: Mapping[str, str] | None = None,
    cache_dir: Path | None = None,
    bin_dir: Path | None = None,
    api_key: str | None = None,
) -> dict[str, str]:
    """The environment of the engine.

    Args:
        base: what to start from, usually ``os.environ``; variables that the plan removes are not taken over.
        cache_dir: folder for compiled kernels.
        bin_dir: ``bin`` of the engine's environment; it comes first in PATH (Triton looks for its tools there).
        api_key: the key that the server asks for.
    """
    result = dict(base or {})
    for variable in plan.env:
        if variable.value is None:
            result.pop(variable.name, None)
        else:
            result[variable.name] = variable.value
    if cache_dir is not None:
        result |= {name: str(cache_dir / folder) for name, folder in CACHES.items()}
    if bin_dir is not None:
        result["PATH"] = os.pathsep.join(part for part in (str(bin_dir), result.get("PATH", "")) if part)
    if api_key is not None:
        result["VLLM_API_KEY"] = api_key
    return result


def selftest_argv(plan: LaunchPlan, python: str | Path, device: int = 0) -> list[str]:
    """The numeric self-test of one card of the plan, to be run with the plan's :func:`environment`.

    Args:
        python: interpreter of the engine's environment; ``-I`` keeps this program's files off its path.
        device: number of the card in the plan, from 0.
    """
    script = Path(__file__).with_name("selftest.py")
    size = ["--tensor-parallel", str(plan.tensor_parallel)]
    return [str(python), "-I", str(script), *size, "--device", str(device)]


def shell_line(plan: LaunchPlan, python: str | Path, model_dir: str | Path, port: int) -> str:
    """One line for a POSIX shell that starts the same engine; ``env -u`` removes what the plan removes."""
    removed = [part for variable in plan.env if variable.value is None for part in ("-u", variable.name)]
    given = [f"{variable.name}={variable.value}" for variable in plan.env if variable.value is not None]
    return shlex.join(["env", *removed, *given, *argv(plan, python, model_dir, port)])
