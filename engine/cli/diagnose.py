"""``diagnose``: what the log of an engine says about its failure, and what to do."""

from __future__ import annotations

import json
import time
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

import click

from engine.cli.main import OK
from engine.cli.version import version
from engine.domain.diagnosis import Diagnosis, Retry
from engine.domain.hardware import Machine
from engine.domain.plan import LaunchPlan, Wishes
from engine.errors import InputError
from engine.launch.planner import plan as make_plan
from engine.supervise.diagnose import diagnose_file
from engine.supervise.diagnose_report import write_report
from engine.supervise.diagnose_retry import next_start, offered

_SHOWN = 24  # lines of the tail


@click.command("diagnose")
@click.argument("log", type=click.Path(path_type=Path))
@click.option("--machine", "record", type=click.Path(path_type=Path), help="The recorded machine that it ran on.")
@click.option("--silent-for", type=float, metavar="SECONDS", help="Since the last line. Left out: the file's age.")
@click.option("--report", type=click.Path(path_type=Path), metavar="ZIP", help="Write a report without names or keys.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object with everything.")
def command(log: Path, record: Path | None, silent_for: float | None, report: Path | None, as_json: bool) -> int:
    """Find the first root error in LOG, an engine's log."""
    machine = _machine(record)
    found = make_plan(machine) if machine else None
    plan = found if isinstance(found, LaunchPlan) else None
    diagnosis = diagnose_file(log, machine=machine, plan=plan, silent_s=_silence(log, silent_for))
    if plan is not None:
        diagnosis = replace(diagnosis, remedies=offered(diagnosis, plan, Wishes()))
    retry, changed = _next(diagnosis, machine, plan)
    if report is not None:
        write_report(
            report, log=log, diagnosis=diagnosis, versions={"diffusion-desk": version()}, plan=plan, machine=machine
        )
    if as_json:
        print(json.dumps(_fields(diagnosis, retry, changed, report), ensure_ascii=False))
    else:
        _show(diagnosis, retry, changed, report)
    return OK


def _machine(record: Path | None) -> Machine | None:
    if record is None:
        return None
    from engine.hardware.record import load_machine

    return load_machine(record)


def _silence(log: Path, given: float | None) -> float:
    if given is not None:
        return given
    try:
        return max(0.0, time.time() - log.stat().st_mtime)
    except OSError as error:
        raise InputError(
            "diagnose.unreadable", "cannot read {path}: {why}", path=log, why=error.strerror or error
        ) from error


def _next(
    diagnosis: Diagnosis, machine: Machine | None, plan: LaunchPlan | None
) -> tuple[Retry | None, LaunchPlan | None]:
    """The next try and its plan."""
    if machine is None or plan is None:
        return None, None
    return next_start(diagnosis, plan, Wishes(), partial(make_plan, machine)) or (None, None)


def _fields(
    diagnosis: Diagnosis, retry: Retry | None, changed: LaunchPlan | None, report: Path | None
) -> dict[str, Any]:
    return {
        **asdict(diagnosis),
        "params": dict(diagnosis.params),
        "known": diagnosis.known,
        "retry": asdict(retry) if retry else None,
        "plan": asdict(changed) if changed else None,
        "report": str(report) if report else None,
    }


def _show(diagnosis: Diagnosis, retry: Retry | None, changed: LaunchPlan | None, report: Path | None) -> None:
    colour = "yellow" if diagnosis.kind in ("notice", "request") else "red"
    click.echo(f"{click.style(diagnosis.rule, fg=colour)} (at: {diagnosis.stage}) {diagnosis.cause}")
    if diagnosis.line is not None:
        by = f", {diagnosis.line.process}" if diagnosis.line.process else ""
        click.echo(f"  line {diagnosis.line.number}{by}: {diagnosis.line.text[:300]}")
    for remedy in diagnosis.remedies:
        click.echo(f"  - {remedy.text}")
    if retry is not None:
        click.echo("The next try: " + "; ".join(retry.changes))
    if changed is not None:
        click.echo(f"  {changed.title}, {changed.context:,} tokens, utilisation {changed.utilisation:.2f}")
    if diagnosis.also:
        click.echo("Also in this log: " + ", ".join(diagnosis.also))
    if diagnosis.sources:
        click.echo("See " + ", ".join(diagnosis.sources))
    for line in diagnosis.tail[-_SHOWN:]:
        mark = click.style(">", fg="red") if line.likely else " "
        click.echo(f"{mark} {line.number:>6} {line.process:<12} {line.text[:200]}")
    if report is not None:
        click.echo(f"The report is {report}; read it before you send it")
