"""``queue``: runs that wait for each other; one worker takes them in turn."""

from __future__ import annotations

import asyncio
import json
import os
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path

import click

from engine import paths
from engine.batch.export import check_target
from engine.batch.prepare import has_pictures
from engine.cli.decide import NICENESS
from engine.cli.deciding import Ending, go_on
from engine.cli.engines import open_engine
from engine.cli.main import INTERRUPTED, OK, UNFINISHED
from engine.cli.reporting import JsonReporter, Reporter, TerminalReporter
from engine.cli.steering import check_stdin
from engine.errors import InputError, UserError
from engine.store.run_queue import QueueEntry, RunQueue
from engine.store.runs import RunView, busy, run_path
from engine.supervise.lifecycle import KEY_VARIABLE


@click.group("queue")
def command() -> None:
    """Runs that wait for each other. `decide --queue ...` puts one at the end."""


@command.command("list")
@click.option("--json", "as_json", is_flag=True, help="One JSON array.")
def show(as_json: bool) -> None:
    """List what is in the queue, in order."""
    with RunQueue(paths.queue_file()) as queue:
        entries = queue.entries()
    if as_json:
        print(json.dumps([asdict(entry) for entry in entries]))
        return
    for entry in entries:
        note = f"  {entry.note}" if entry.note else ""
        click.echo(f"{entry.run}  {entry.state:8}  {entry.options.get('out', '')}{note}")
    if not entries:
        click.echo("the queue is empty")


@command.command("remove")
@click.argument("run")
def remove(run: str) -> None:
    """Take RUN out of the queue; the run and its answers stay."""
    with RunQueue(paths.queue_file()) as queue:
        queue.remove(run)


@command.command("move")
@click.argument("run")
@click.argument("place", type=click.IntRange(min=1))
def move(run: str, place: int) -> None:
    """Let RUN be number PLACE of those that wait; 1 is next."""
    with RunQueue(paths.queue_file()) as queue:
        waiting = [entry.run for entry in queue.entries() if entry.state == "waiting"]
        if run not in waiting:
            message = "run {run} does not wait in the queue"
            raise InputError("queue.not_waiting", message, remedy="`queue list` says what does", run=run)
        waiting.remove(run)
        waiting.insert(place - 1, run)
        queue.arrange(waiting)


@command.command("retry")
@click.argument("run")
def retry(run: str) -> None:
    """Let RUN, which failed in the queue, wait once more, at the end."""
    with RunQueue(paths.queue_file()) as queue:
        entry = next((each for each in queue.entries() if each.run == run and each.state == "failed"), None)
        if entry is None:
            message = "run {run} is not in the queue as one that failed"
            raise InputError("queue.not_failed", message, remedy="`queue list` says what is", run=run)
        queue.add(run, entry.options)


@command.command("work")
@click.option("--api-key", envvar=KEY_VARIABLE, show_envvar=True, help="Of servers given by their URL.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line; see docs/architecture.md.")
@click.option("--worker", is_flag=True, hidden=True, help="As --json, with commands on stdin; its end cancels.")
def work(api_key: str | None, as_json: bool, worker: bool) -> int:
    """Work off the queue, one run after the other, until nothing waits.

    A run that fails is noted, and the next one begins. Ctrl-C ends the worker; the run goes on where it was.
    """
    if worker:
        check_stdin()
        os.nice(NICENESS)
    with RunQueue(paths.queue_file()) as queue:
        queue.take_worker()
        codes: list[int] = []
        while (entry := queue.next()) is not None:
            codes.append(_work_on(queue, entry, api_key, worker, _reporter(as_json or worker)))
            if codes[-1] == INTERRUPTED:
                return INTERRUPTED
        _reporter(as_json or worker).queue_ended(codes.count(OK), len(codes) - codes.count(OK))
    return next((code for code in codes if code != OK), OK)


def _reporter(as_json: bool) -> Reporter:
    return JsonReporter() if as_json else TerminalReporter()


def _work_on(queue: RunQueue, entry: QueueEntry, api_key: str | None, worker: bool, reporter: Reporter) -> int:
    try:
        ended = asyncio.run(_run(entry, api_key, worker, reporter))
    except UserError as error:
        queue.note(entry, "failed", str(error))
        reporter.failed(entry.run, error)
        return UNFINISHED
    except BaseException:
        with suppress(UserError):
            queue.note(entry, "waiting")
        raise
    finally:
        reporter.close()
    queue.note(entry, "done" if ended == OK else "waiting")
    return ended


async def _run(entry: QueueEntry, api_key: str | None, worker: bool, reporter: Reporter) -> int:
    options = entry.options
    ending = Ending(
        out=Path(options["out"]),
        overwrite=options["overwrite"],
        raw=options["raw"],
        bom=options["bom"],
        form=Path(options["form"]),
        engine=options["engine"],
        concurrency=options["concurrency"],
        worker=worker,
    )
    path = run_path(paths.runs_dir(), entry.run)
    await asyncio.to_thread(_check, path, ending)
    pictured = await asyncio.to_thread(has_pictures, path)
    async with open_engine(options["engine"], api_key, reporter.note, sees=pictured) as engine:
        return await go_on(path, engine, ending, reporter)


def _check(path: Path, ending: Ending) -> None:
    """What may have changed since the run was put into the queue; before an engine is started for it.

    Raises:
        InputError: its file can no longer be written.
        UserError: ``run.busy``: another process works on it.
    """
    with RunView(path) as view:
        table, worker = Path(view.spec.table_path), view.info().worker
    if worker is not None:
        raise busy(view.id, worker)
    check_target(ending.out, overwrite=ending.overwrite, table=table, forms=(ending.form,))
