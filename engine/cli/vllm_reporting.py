"""What ``serve --engine vllm`` says: phases with their times for people, one JSON object a line for programs."""

from __future__ import annotations

import json
import shlex
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Protocol

import click

from engine.cli.key import announce_key
from engine.cli.vllm_launch import Prepared, retry_options
from engine.domain.diagnosis import Diagnosis, Retry
from engine.domain.hardware import Finding
from engine.domain.plan import LaunchPlan
from engine.launch.fixes import FixResult
from engine.local.kernels import KernelProgress
from engine.supervise.diagnose_watch import EngineFailed
from engine.supervise.lifecycle import EngineHandle
from engine.supervise.start_log import StartProgress

TAIL = 12  # lines of an unknown failure


@dataclass(frozen=True, slots=True)
class Restart:
    """A start after a crash: which of how many within ten minutes, and after how long a pause."""

    number: int
    limit: int
    delay_s: float


class ServeReport(Protocol):
    """Hears of a start, its service and its end; one event, one method."""

    def note(self, text: str) -> None: ...
    def planned(self, prepared: Prepared) -> None: ...
    def lacking(self, fix: FixResult) -> None: ...
    def finding(self, finding: Finding) -> None: ...
    def kernels(self, progress: KernelProgress) -> None: ...
    def progress(self, progress: StartProgress) -> None: ...
    def tick(self) -> None: ...
    def hang(self, diagnosis: Diagnosis | None) -> None: ...
    def ready(self, handle: EngineHandle, seconds: float, *, new_key: bool) -> None: ...
    def failed(self, error: EngineFailed, prepared: Prepared, retry: tuple[Retry, LaunchPlan] | None) -> None: ...
    def crashed(self, reason: str) -> None: ...
    def restarting(self, restart: Restart, memory: Sequence[str], clean: bool) -> None: ...
    def stopping(self) -> None: ...
    def stopped(self, memory: Sequence[str], clean: bool) -> None: ...


class JsonServe:
    """One JSON object a line on stdout, key ``event``; see docs/cli.md."""

    def note(self, text: str) -> None:
        _say("note", text=text)

    def planned(self, prepared: Prepared) -> None:
        plan = prepared.plan
        _say(
            "planned",
            title=plan.title,
            context=plan.context,
            utilisation=plan.utilisation,
            sequences=plan.sequences,
            canvas=plan.canvas,
            phases=plan.phases,
            python=str(prepared.python),
            checkpoint=str(prepared.checkpoint),
        )

    def lacking(self, fix: FixResult) -> None:
        _say("fix_missing", **asdict(fix))

    def finding(self, finding: Finding) -> None:
        _say("finding", **{**asdict(finding), "params": {}})

    def kernels(self, progress: KernelProgress) -> None:
        _say("selftest_progress", **asdict(progress))

    def progress(self, progress: StartProgress) -> None:
        _say("start_progress", **asdict(progress))

    def tick(self) -> None:
        pass

    def hang(self, diagnosis: Diagnosis | None) -> None:
        _say("hang", cause=diagnosis.cause if diagnosis else None)

    def ready(self, handle: EngineHandle, seconds: float, *, new_key: bool) -> None:
        _say("ready", url=handle.base_url, pid=handle.pid, log=str(handle.log_path), seconds=round(seconds, 1))

    def failed(self, error: EngineFailed, prepared: Prepared, retry: tuple[Retry, LaunchPlan] | None) -> None:
        found = error.diagnosis
        _say(
            "engine_failed",
            code=error.code,
            during=error.during,
            message=error.message,
            remedy=error.remedy,
            diagnosis={**asdict(found), "params": dict(found.params), "known": found.known},
            retry=_retry_fields(retry, prepared),
        )

    def crashed(self, reason: str) -> None:
        _say("crashed", reason=reason)

    def restarting(self, restart: Restart, memory: Sequence[str], clean: bool) -> None:
        _say("restarting", **asdict(restart), memory=list(memory), clean=clean)

    def stopping(self) -> None:
        _say("stopping")

    def stopped(self, memory: Sequence[str], clean: bool) -> None:
        _say("stopped", memory=list(memory), clean=clean)


class TextServe:
    """Lines on stderr; on a terminal the phase that runs is one line that is rewritten. The address is on stdout."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._live = clock, sys.stderr.isatty()
        self._now: StartProgress | None = None
        self._began = 0.0  # of the phase

    def note(self, text: str) -> None:
        self._clear()
        click.echo(text, err=True)

    def planned(self, prepared: Prepared) -> None:
        plan = prepared.plan
        self.note(click.style(plan.title, bold=True))
        self.note(
            f"{plan.context:,} tokens of context, {plan.sequences} at once, utilisation {plan.utilisation:.2f}, "
            f"canvas {plan.canvas}"
        )
        for note in plan.notes:
            self.note(f"  note: {note}")
        self.note(f"  engine: {prepared.python}\n  checkpoint: {prepared.checkpoint}")

    def lacking(self, fix: FixResult) -> None:
        self.note(f"{click.style('warning:', fg='yellow')} the engine lacks: {fix.title}: {fix.detail}")
        self.note(f"  without it {fix.breaks}")

    def finding(self, finding: Finding) -> None:
        colour = {"blocker": "red", "warning": "yellow", "note": "cyan"}[finding.severity]
        self.note(f"{click.style(finding.severity + ':', fg=colour)} {finding.text}")
        if finding.remedy:
            self.note(f"  {finding.remedy}")

    def kernels(self, progress: KernelProgress) -> None:
        line = f"numeric self-test, card {progress.card + 1} of {progress.cards}"
        if self._live:
            end = "\n" if progress.done == progress.total else ""
            click.echo(f"\r\x1b[K{line}: {progress.done} of {progress.total}{end}", nl=False, err=True)
        elif progress.done == 0:
            click.echo(line, err=True)

    def progress(self, progress: StartProgress) -> None:
        before = self._now
        self._now = progress
        if before is not None and before.number == progress.number:
            self.tick()
            return
        if before is not None:
            self.note(f"  {click.style('✓', fg='green')} {before.phase}  {duration(self._clock() - self._began)}")
        self._began = self._clock()
        if self._live:
            self.tick()
        else:
            click.echo(self._line(), err=True)

    def tick(self) -> None:
        if self._live and self._now is not None:
            click.echo(f"\r\x1b[K{self._line()}", nl=False, err=True)

    def hang(self, diagnosis: Diagnosis | None) -> None:
        if diagnosis is None:
            self.note("it goes on after all")
            return
        self.note(f"{click.style('warning:', fg='yellow')} {diagnosis.cause}")
        for remedy in diagnosis.remedies:
            self.note(f"  - {remedy.text}")

    def ready(self, handle: EngineHandle, seconds: float, *, new_key: bool) -> None:
        if self._now is not None:
            self.note(f"  {click.style('✓', fg='green')} {self._now.phase}  {duration(self._clock() - self._began)}")
        self._now = None
        self.note(f"ready after {duration(seconds)}; its log is {handle.log_path}")
        click.echo(f"vLLM answers at {handle.base_url}")
        if new_key:
            announce_key(handle.api_key)
        sys.stdout.flush()

    def failed(self, error: EngineFailed, prepared: Prepared, retry: tuple[Retry, LaunchPlan] | None) -> None:
        self._now_ends()
        found = error.diagnosis
        what = "did not start" if error.during == "start" else "died"
        self.note(f"{click.style(f'vLLM {what}:', fg='red')} {error.message}")
        if found.line is not None:
            by = f", {found.line.process}" if found.line.process else ""
            self.note(f"  line {found.line.number} of its log{by}: {found.line.text[:300]}")
        for remedy in found.remedies:
            self.note(f"  - {remedy.text}")
        if error.remedy and not (found.known and found.remedies):
            self.note(f"  - {error.remedy}")
        for line in found.tail[-TAIL:]:
            mark = click.style(">", fg="red") if line.likely else " "
            self.note(f"{mark} {line.number:>6} {line.process:<12} {line.text[:200]}")
        if retry is not None:
            self.note("the next try: " + "; ".join(retry[0].changes))
            self.note(f"  the same command with: {shlex.join(retry_options(retry[0], prepared.wishes))}")

    def crashed(self, reason: str) -> None:
        self._now_ends()
        self.note(f"{click.style('vLLM died:', fg='red')} {reason}")

    def restarting(self, restart: Restart, memory: Sequence[str], clean: bool) -> None:
        self._now_ends()
        back = "" if clean else "; not all of its memory is back"
        self.note(f"restart {restart.number} of {restart.limit} in {duration(restart.delay_s)}{back}")
        for line in memory:
            self.note(f"  {line}")

    def stopping(self) -> None:
        self._now_ends()
        self.note("stopping vLLM ...")

    def stopped(self, memory: Sequence[str], clean: bool) -> None:
        self.note("stopped" if clean else "stopped, but not all of its memory is back")
        for line in memory:
            self.note(f"  {line}")

    def _now_ends(self) -> None:
        self._clear()
        self._now = None

    def _line(self) -> str:
        assert self._now is not None
        now = self._now
        parts = [f"[{now.number + 1}/{now.count}] {now.phase}"]
        if now.fraction is not None:
            parts.append(f"{now.fraction:.0%}")
        if self._live:
            parts.append(duration(self._clock() - self._began))
        if now.eta_s:
            parts.append(f"about {duration(now.eta_s)} left")
        return "  ".join(parts)

    def _clear(self) -> None:
        if self._live and self._now is not None:
            click.echo("\r\x1b[K", nl=False, err=True)


def duration(seconds: float) -> str:
    """``42 s``, ``3 min 05 s``."""
    whole = round(seconds)
    return f"{whole} s" if whole < 60 else f"{whole // 60} min {whole % 60:02} s"


def _retry_fields(retry: tuple[Retry, LaunchPlan] | None, prepared: Prepared) -> dict[str, Any] | None:
    if retry is None:
        return None
    made, plan = retry
    return {
        "action": made.action,
        "changes": made.changes,
        "title": plan.title,
        "options": retry_options(made, prepared.wishes),
    }


def _say(event: str, **fields: Any) -> None:
    print(json.dumps({"event": event, **fields}, ensure_ascii=False, default=str), flush=True)
