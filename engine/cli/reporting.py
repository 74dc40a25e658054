"""What ``decide`` says while it runs: a bar and lines for people, the worker protocol for programs."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Protocol

import click
from tqdm import tqdm

from engine.cli.metrics import metric_lines, metrics_json
from engine.domain.run import Progress, Totals
from engine.errors import UserError
from engine.supervise.protocol import (
    Note,
    QueueEnded,
    RunCancelled,
    RunFailed,
    RunFinished,
    RunPaused,
    RunProgress,
    RunQueued,
    RunResumed,
    RunStarted,
    StatusCounts,
    WorkerEvent,
)

if TYPE_CHECKING:
    from engine.batch.analysis.summary import QuestionSummary


class Reporter(Protocol):
    """Hears of a run. One event, one method; see docs/architecture.md, "Worker protocol"."""

    def started(self, run: str, rows: int, questions: tuple[str, ...], done: int, *, resumed: bool) -> None: ...
    def progress(self, progress: Progress) -> None: ...
    def paused(self, reason: str) -> None: ...
    def resumed(self) -> None: ...
    def note(self, text: str) -> None: ...
    def finished(
        self, run: str, out: str, totals: Mapping[str, Totals], summaries: Sequence[QuestionSummary]
    ) -> None: ...
    def cancelled(self, run: str, done: int, total: int) -> None: ...
    def queued(self, run: str) -> None: ...
    def failed(self, run: str, error: UserError) -> None: ...
    def queue_ended(self, finished: int, failed: int) -> None: ...
    def close(self) -> None: ...


class JsonReporter:
    """One JSON object a line on stdout."""

    def started(self, run: str, rows: int, questions: tuple[str, ...], done: int, *, resumed: bool) -> None:
        total = rows * len(questions)
        self._say(RunStarted(run=run, rows=rows, questions=questions, done=done, total=total, resumed=resumed))

    def progress(self, progress: Progress) -> None:
        counts = _counts(progress.totals).model_dump()
        rate, eta = round(progress.rate, 3), progress.eta_s
        self._say(RunProgress(done=progress.done, total=progress.total, rate=rate, eta_s=eta, **counts))

    def paused(self, reason: str) -> None:
        self._say(RunPaused(reason=reason))

    def resumed(self) -> None:
        self._say(RunResumed())

    def note(self, text: str) -> None:
        self._say(Note(text=text))

    def finished(self, run: str, out: str, totals: Mapping[str, Totals], summaries: Sequence[QuestionSummary]) -> None:
        counts = {question: _counts(each) for question, each in totals.items()}
        self._say(RunFinished(run=run, out=out, totals=counts, metrics=metrics_json(summaries)))

    def cancelled(self, run: str, done: int, total: int) -> None:
        self._say(RunCancelled(run=run, done=done, total=total))

    def queued(self, run: str) -> None:
        self._say(RunQueued(run=run))

    def failed(self, run: str, error: UserError) -> None:
        self._say(RunFailed(code=error.code, message=error.message, remedy=error.remedy, run=run))

    def queue_ended(self, finished: int, failed: int) -> None:
        self._say(QueueEnded(finished=finished, failed=failed))

    def close(self) -> None:
        pass

    def _say(self, event: WorkerEvent) -> None:
        with suppress(BrokenPipeError):  # the window is gone; the end of stdin cancels the run
            print(event.line(), flush=True)


class TerminalReporter:
    """Lines on stderr, a progress bar there when it is a terminal, the totals on stdout."""

    def __init__(self) -> None:
        self._bar: tqdm[Any] | None = None

    def started(self, run: str, rows: int, questions: tuple[str, ...], done: int, *, resumed: bool) -> None:
        total = rows * len(questions)
        if resumed:
            self.note(f"resuming run {run}: {done} of {total} answers are there")
        else:
            self.note(f"run {run}: {rows} rows, {len(questions)} question{'s' * (len(questions) > 1)}")
        # disable=None: no bar where stderr is a file or a pipe
        self._bar = tqdm(total=total, initial=done, unit=" answers", disable=None, dynamic_ncols=True)

    def progress(self, progress: Progress) -> None:
        if self._bar is not None:
            self._bar.set_postfix_str(_short(progress.totals), refresh=False)
            self._bar.update(progress.done - self._bar.n)

    def paused(self, reason: str) -> None:
        self.note(f"paused: {reason}")

    def resumed(self) -> None:
        self.note("resumed")

    def note(self, text: str) -> None:
        with tqdm.external_write_mode(file=sys.stderr):
            click.echo(text, err=True)

    def finished(self, run: str, out: str, totals: Mapping[str, Totals], summaries: Sequence[QuestionSummary]) -> None:
        self.close()
        by_id = {summary.question_id: summary for summary in summaries}
        for question, each in totals.items():
            click.echo(f"{question}: {_totals_line(each)}")
            for line in metric_lines(by_id[question]) if question in by_id else ():
                click.echo(f"  {line}")
        if len(totals) > 1:
            click.echo(f"all: {_totals_line(_sum(totals), 'answers')}")
        click.echo(f"wrote {out}")

    def cancelled(self, run: str, done: int, total: int) -> None:
        self.close()
        self.note(f"stopped: {done} of {total} answers are stored; the same command with --resume {run} goes on")

    def queued(self, run: str) -> None:
        self.note(f"run {run} waits in the queue; `queue work` begins")

    def failed(self, run: str, error: UserError) -> None:
        self.close()
        self.note(f"run {run}: {error}")

    def queue_ended(self, finished: int, failed: int) -> None:
        if not finished + failed:  # else each run has said how it ended
            self.note("nothing waits in the queue; `decide --queue` puts a run there")

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()
            self._bar = None


def _counts(totals: Totals) -> StatusCounts:
    return StatusCounts(ok=totals.ok, unreadable=totals.unreadable, error=totals.error, skipped=totals.skipped)


def _sum(totals: Mapping[str, Totals]) -> Totals:
    every = totals.values()
    return Totals(
        ok=sum(each.ok for each in every),
        unreadable=sum(each.unreadable for each in every),
        error=sum(each.error for each in every),
        skipped=sum(each.skipped for each in every),
    )


def _totals_line(totals: Totals, what: str = "rows") -> str:
    return (
        f"{totals.answers} {what}: {totals.ok} ok, {totals.unreadable} unreadable, "
        f"{totals.error} error, {totals.skipped} skipped"
    )


def _short(totals: Totals) -> str:
    """Only what is not plain success, for the bar."""
    odd = {"unreadable": totals.unreadable, "error": totals.error, "skipped": totals.skipped}
    return ", ".join(f"{count} {status}" for status, count in odd.items() if count)
