"""``again``: another round of a finished run: what failed, what was unreadable, or more questions."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import click

from engine import paths
from engine.batch.export import check_holds, check_target
from engine.batch.prepare import has_pictures
from engine.batch.rounds import MORE_DRAWS, add_questions, check_round, reread, retry
from engine.batch.runner import MAX_CONCURRENCY
from engine.cli.decide import NICENESS
from engine.cli.deciding import MOST, START, Ending, go_on
from engine.cli.draws_option import Draws
from engine.cli.engines import EMBEDDED, HELP, check_choice, open_engine
from engine.cli.reporting import JsonReporter, Reporter, TerminalReporter
from engine.cli.steering import check_stdin
from engine.domain.reading import Method
from engine.domain.run import Round, RoundKind
from engine.store.runs import RunStore, RunView, run_path
from engine.supervise.lifecycle import KEY_VARIABLE

What = Literal["failed", "unreadable", "questions"]
_KINDS: Mapping[What, RoundKind] = {"failed": "retry", "unreadable": "reread", "questions": "questions"}
_PATH = click.Path(path_type=Path)


@click.command("again")
@click.argument("what", type=click.Choice(["failed", "unreadable", "questions"]))
@click.argument("run")
@click.option("--form", type=_PATH, help="Of questions: the form that holds the new ones.")
@click.option("--draws", type=Draws(), help=f"Looks per question; of unreadable {MORE_DRAWS} unless given.")
@click.option("--out", type=_PATH, required=True, help="The file to write: .csv, .xlsx, .parquet, .jsonl ...")
@click.option("--overwrite", is_flag=True, help="Replace an --out that exists.")
@click.option("--raw", is_flag=True, help="Leave input cells as they are, also those that a spreadsheet would run.")
@click.option("--bom", is_flag=True, help="Begin a CSV with a byte order mark, for Excel.")
@click.option("--engine", "choice", default=EMBEDDED, show_default=True, help=HELP)
@click.option("--api-key", envvar=KEY_VARIABLE, show_envvar=True, help="Of a server given by its URL.")
@click.option(
    "--concurrency",
    type=click.IntRange(1, MAX_CONCURRENCY),
    help=f"Rows read at the same time, at most. Unless given, from {START} on as many as help, up to {MOST}.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line; see docs/architecture.md.")
@click.option("--worker", is_flag=True, hidden=True, help="As --json, with commands on stdin; its end cancels.")
def command(
    what: What,
    run: str,
    form: Path | None,
    draws: Literal["auto"] | int | None,
    out: Path,
    overwrite: bool,
    raw: bool,
    bom: bool,
    choice: str,
    api_key: str | None,
    concurrency: int | None,
    as_json: bool,
    worker: bool,
) -> int:
    """Read some of a finished RUN again: what failed, what was unreadable (with more draws), or new questions.

    Answers that are there stay until better ones are, and are kept behind them. Should it be interrupted, the same
    command goes on.
    """
    if (form is None) == (what == "questions"):
        raise click.UsageError("--form goes with questions, and only there")
    if worker:
        check_stdin()
        os.nice(NICENESS)
    path = run_path(paths.runs_dir(), run)
    with RunView(path) as view:
        form_path, table = Path(view.spec.form_path), Path(view.spec.table_path)
    check_target(out, overwrite=overwrite, table=table, forms=(form, form_path))
    check_choice(choice)
    ending = Ending(out, overwrite, raw, bom, form or form_path, choice, concurrency, worker)
    reporter = JsonReporter() if as_json or worker else TerminalReporter()
    try:
        return asyncio.run(_again(path, what, form, draws, choice, api_key, ending, reporter))
    finally:
        reporter.close()


async def _again(
    path: Path,
    what: What,
    form: Path | None,
    draws: Literal["auto"] | int | None,
    choice: str,
    api_key: str | None,
    ending: Ending,
    reporter: Reporter,
) -> int:
    work = _Work(path, what, form, draws)
    await asyncio.to_thread(work.check, ending.out)
    pictured = await asyncio.to_thread(has_pictures, path)
    async with open_engine(choice, api_key, reporter.note, sees=pictured) as engine:
        await asyncio.to_thread(work.begin, engine.name)
        return await go_on(path, engine, ending, reporter)


@dataclass(frozen=True, slots=True)
class _Work:
    """Which round of which run."""

    path: Path
    what: What
    form: Path | None
    draws: Literal["auto"] | int | None

    def check(self, out: Path) -> None:
        """Refuse what cannot be begun, before an engine is started for it."""
        with RunStore.open(self.path) as store:
            check_holds(out, store)
            if not self._begun(store):
                check_round(store, _KINDS[self.what], self._method(store), self.form)

    def begin(self, engine: str) -> Round:
        """Begin the round, unless it is begun already."""
        with RunStore.open(self.path) as store:
            if self._begun(store):
                return store.round
            match self.what:
                case "failed":
                    return retry(store, engine, self._method(store))
                case "unreadable":
                    return reread(store, engine, self._method(store))
                case _:
                    assert self.form is not None
                    return add_questions(store, self.form, engine)

    def _begun(self, store: RunStore) -> bool:
        current = store.round
        return store.info().state != "finished" and current.kind == _KINDS[self.what] and not current.ended

    def _method(self, store: RunStore) -> Method | None:
        return None if self.draws is None else replace(store.spec.method, draws=self.draws)
