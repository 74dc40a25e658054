"""``doctor``: what this machine and this installation can do, and what to do about the rest."""

from __future__ import annotations

import json
import os
import platform
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click

from engine import paths
from engine.cli.machine_checks import Check, machine_checks
from engine.cli.main import BAD_INPUT, OK
from engine.cli.version import version
from engine.domain.hardware import Machine
from engine.hardware.findings import find_findings
from engine.hardware.machine import cards_named, probe_machine
from engine.hardware.record import load_machine, save_machine

DEMO_FILES = ("encode.onnx", "denoise.onnx", "config.json", "tokenizer.json", "chat_template.jinja")
MIN_FREE_BYTES = 500_000_000  # a run over a million rows takes a few hundred megabytes


@click.command("doctor")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
@click.option(
    "--machine",
    "recorded",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Look at a recorded machine instead of this one.",
)
@click.option(
    "--record",
    "target",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write this machine to a file, without what identifies you.",
)
def command(as_json: bool, recorded: Path | None, target: Path | None) -> int:
    """Look at this machine: cards, driver, system, display, folders, the embedded engine, leftovers."""
    if recorded is not None and target is not None:
        raise click.UsageError("--machine reads a recorded machine, --record writes this one: give one of them")
    machine = load_machine(recorded) if recorded else probe_machine()
    if target is not None:
        save_machine(machine, target)
    checks = list(machine_checks(machine))
    if recorded is None:
        checks = [*_installation(), _display(), *checks, *_visible_devices(machine), *_folders()]
    if as_json:
        print(json.dumps({"checks": [asdict(check) for check in checks], **_fields(machine)}))
    else:
        _print(checks)
        if target is not None:
            click.echo(f"recorded in {target}")
    return BAD_INPUT if any(check.status == "bad" for check in checks) else OK


def _print(checks: list[Check]) -> None:
    colours = {"ok": "green", "note": "cyan", "warn": "yellow", "bad": "red"}
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


def _visible_devices(machine: Machine) -> Iterator[Check]:
    named = os.environ.get("CUDA_VISIBLE_DEVICES")
    if named is None or not machine.gpus:
        return
    cards = ", ".join(str(gpu.index) for gpu in cards_named(machine, named)) or "none"
    yield Check(
        "CUDA_VISIBLE_DEVICES",
        "note",
        f"is set to {named!r}, which names cards: {cards}; all cards are shown here, and a plan names its own",
    )


def _fields(machine: Machine) -> dict[str, Any]:
    cards = [asdict(gpu) for gpu in machine.gpus]
    return {
        "gpus": {"status": machine.driver.status, "driver": machine.driver.version, "cards": cards},
        "machine": asdict(machine),
        "findings": [asdict(finding) for finding in find_findings(machine)],
    }


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
