"""The interpreter that has torch and transformers, and a way to run a script of this folder in it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DEMO = ROOT / "resources" / "demo_model"


def reference_python() -> Path:
    """An interpreter with torch and transformers, or a skip that says how to get one."""
    folder = Path(os.environ.get("DESK_VLLM_CPU") or ROOT / ".venv-vllm-cpu")
    path = Path(os.environ.get("DESK_PARITY_PYTHON") or folder / "bin" / "python")
    if not path.exists():
        pytest.skip(
            f"no interpreter with torch and transformers at {path}: packaging/vllm-cpu.sh makes one, "
            "or name one in DESK_PARITY_PYTHON"
        )
    return path


def run_reference(*argv: str | Path, timeout_s: float = 800.0) -> str:
    """The standard output of a Python program that must succeed there."""
    ran = subprocess.run(
        [reference_python(), *argv],
        capture_output=True,
        text=True,
        timeout=timeout_s,
        check=False,
        env={**os.environ, "HF_HUB_OFFLINE": "1"},
    )
    assert ran.returncode == 0, ran.stderr[-3000:]
    return ran.stdout
