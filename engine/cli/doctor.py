"""``doctor``: what this machine and this installation can do, and what to do about the rest."""

from __future__ import annotations

import json
import os
import platform
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from typing import Any, Literal

import click

from engine import paths
from engine.cli.main import BAD_INPUT, OK
from engine.cli.version import version
from engine.domain.hardware import GIB, DriverStatus, Gpu
from engine.hardware.nvml import NvmlAnswer, probe

CheckStatus = Literal["ok", "note", "bad"]
DEMO_FILES = ("encode.onnx", "denoise.onnx", "config.json", "tokenizer.json", "chat_template.jinja")
_DRIVER_REMEDIES: dict[DriverStatus, str] = {
    "ok": "",
    "no_driver": "without a card nothing is missing; with one install the NVIDIA driver and restart the machine",
    "mismatch": "the driver was updated while its old kernel module is loaded: restart the machine",
    "no_permission": "this user may not open /dev/nvidia*: check the permissions of the device files",
    "error": "nvidia-smi may say more",
}
MIN_FREE_BYTES = 500_000_000  # a run over a million rows takes a few hundred megabytes


@dataclass(frozen=True, slots=True)
class Check:
    """One finding. ``bad`` stops the main job; ``note`` does not."""

    name: str
    status: CheckStatus
    detail: str
    remedy: str = ""


@click.command("doctor")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def command(as_json: bool) -> int:
    """Look at this machine: cards, display, folders, the embedded engine, leftovers."""
    report = probe()
    checks = [*_installation(), _display(), _gpus(report), *_folders()]
    if as_json:
        print(json.dumps({"checks": [asdict(check) for check in checks], "gpus": _gpu_fields(report)}))
    else:
        _print(checks)
    return BAD_INPUT if any(check.status == "bad" for check in checks) else OK


def _print(checks: list[Check]) -> None:
    colours = {"ok": "green", "note": "yellow", "bad": "red"}
    for check in checks:
        mark = click.style(f"{check.status:<5}", fg=colours[check.status])
        click.echo(f"{mark}{check.name}: {check.detail}")
        if check.remedy:
            click.echo(f"     {check.remedy}")


def _installation() -> Iterator[Check]:
    host = f"Python {platform.python_version()}, {platform.system()} {platform.release()}, {platform.machine()}"
    yield Check("program", "ok", f"diffusion-desk {version()}; {host}")
    missing = [name for name in ("onnxruntime", "numpy", "tokenizers", "aiohttp") if not _installed(name)]
    files = [name for name in DEMO_FILES if not (paths.demo_model_dir() / name).is_file()]
    if missing or files:
        yield Check(
            "embedded engine", "bad", f"missing: {', '.join(missing + files)}", "install diffusion-desk completely"
        )
    else:
        yield Check("embedded engine", "ok", f"its model is in {paths.demo_model_dir()}; a toy, for trying things out")


def _installed(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ImportError:
        return False


def _folders() -> Iterator[Check]:
    try:
        folder = paths.data_dir()
        with tempfile.TemporaryFile(dir=folder):
            free = shutil.disk_usage(folder).free
    except OSError as error:
        yield Check(
            "data folder",
            "bad",
            f"cannot be used: {error.strerror}: {error.filename or ''}",
            "DIFFUSION_DESK_HOME names another",
        )
        return
    detail = f"{folder}, {free / 1e9:.1f} GB free"
    short = free < MIN_FREE_BYTES
    yield Check("data folder", "note" if short else "ok", detail, "make room before a large run" if short else "")
    yield _leftovers()
    yield _runs()


def _display() -> Check:
    if not _installed("PySide6"):
        return Check("window", "note", "PySide6 is not installed", "the command line works without it")
    shown = os.environ.get("WAYLAND_DISPLAY") or os.environ.get("DISPLAY")
    if not shown:
        return Check("window", "note", "no display", "the command line works without it")
    return Check("window", "ok", f"display {shown}")


def _gpus(answer: NvmlAnswer) -> Check:
    driver = answer.driver
    if driver.status == "ok" and answer.gpus:
        return Check("cards", "ok", f"driver {driver.version}: {'; '.join(map(_card, answer.gpus))}")
    if driver.status == "ok":
        return Check("cards", "note", f"driver {driver.version} sees no card")
    return Check("cards", "note", driver.detail or driver.status, _DRIVER_REMEDIES[driver.status])


def _card(gpu: Gpu) -> str:
    if gpu.memory_used is None or gpu.memory_total is None:
        return gpu.name
    return f"{gpu.name}, {gpu.memory_used / GIB:.1f} of {gpu.memory_total / GIB:.1f} GiB used"


def _gpu_fields(answer: NvmlAnswer) -> dict[str, Any]:
    driver = answer.driver
    return {"status": driver.status, "driver": driver.version, "cards": [asdict(gpu) for gpu in answer.gpus]}


def _leftovers() -> Check:
    from engine.supervise.leftovers import find_leftovers

    found = [leftover for leftover in find_leftovers(paths.runtime_dir()) if leftover.processes]
    if not found:
        return Check("leftovers", "ok", "no engine runs without an owner")
    pids = ", ".join(str(member.pid) for leftover in found for member in leftover.processes)
    return Check("leftovers", "note", f"engine processes without an owner: {pids}", "the next start ends them")


def _runs() -> Check:
    from engine.store.runs import list_runs

    damaged: list[str] = []
    runs = list_runs(paths.runs_dir(), lambda path, _: damaged.append(path.name))
    unfinished = sum(run.state == "unfinished" for run in runs)
    detail = f"{len(runs)} stored, {unfinished} unfinished"
    if damaged:
        return Check("runs", "note", f"{detail}; cannot be read: {', '.join(damaged)}")
    return Check("runs", "ok", detail)
