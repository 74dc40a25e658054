"""Programs of this folder, run with the interpreter that has vLLM's CPU build."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from engine.launch.plugin import on_path

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests" / "contract"))
from cpu_server import CPU_ENVIRONMENT, SITE, python  # noqa: E402  # the folder is no package

START_S = 800.0  # vLLM takes half a minute to import on a quiet machine


def environment() -> dict[str, str]:
    """Of a process with the interpreter that has vLLM, and with our parts on its path."""
    base = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "QT_"))}
    own = {variable.name: variable.value or "" for variable in CPU_ENVIRONMENT}
    path = {"PYTHONPATH": os.pathsep.join((str(on_path()), str(SITE)))}
    fixed = {"TORCHDYNAMO_DISABLE": "1", "VLLM_NO_USAGE_STATS": "1", "HF_HUB_OFFLINE": "1"}
    return {**base, **own, **fixed, **path}


def command(script: str, *argv: str | Path) -> list[str | Path]:
    """Runs a script of this folder; skips the test where there is no vLLM."""
    return [python(), Path(__file__).with_name(script), *argv]


def run_in_engine(script: str, *argv: str | Path, timeout_s: float = START_S) -> Any:
    """The JSON that a script of this folder prints as its last line. It must succeed."""
    ran = subprocess.run(
        command(script, *argv), capture_output=True, text=True, timeout=timeout_s, check=False, env=environment()
    )
    assert ran.returncode == 0, ran.stderr[-4000:]
    return json.loads(ran.stdout.splitlines()[-1])
