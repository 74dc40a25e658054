"""``compare-methods``: which way of reading is best on a form's own gold-labelled rows."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import click
from tqdm import tqdm

from engine.batch.compare import (
    DRAWS,
    LAYOUTS,
    STATES,
    STEPS,
    Comparison,
    Layout,
    StateKind,
    check_place,
    comparison_path,
    grid,
)
from engine.batch.compare_figures import QUALITY, CellFigures, as_json, figures, recommend
from engine.batch.compare_run import SAMPLE, CompareProgress, compare_methods, open_comparison, plan
from engine.batch.export_target import spare_inputs
from engine.batch.form_wire import MAX_DRAWS, MAX_STEPS
from engine.cli.checking import CheckOptions, say, table_options
from engine.cli.engines import check_choice, open_engine
from engine.reads.trial import duration


class _List(click.ParamType[tuple[str, ...]]):
    """Values with commas between them."""

    name = "A,B,..."

    def __init__(self, allowed: Sequence[str]) -> None:
        self._allowed = allowed

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, ...]:
        if isinstance(value, tuple):
            return value
        found = tuple(dict.fromkeys(part.strip() for part in str(value).split(",")))
        for part in found:
            if part not in self._allowed:
                self.fail(f"{part!r} is none of {self._shown()}", param, ctx)
        return found

    def _shown(self) -> str:
        numbers = [each for each in self._allowed if each.isdigit()]
        words = [each for each in self._allowed if not each.isdigit()]
        return ", ".join(words + ([f"{numbers[0]} to {numbers[-1]}"] if numbers else []))


def _texts(values: Sequence[object]) -> tuple[str, ...]:
    return tuple(map(str, values))


@click.command("compare-methods")
@table_options
@click.option("--question", help="Id of the question; else the first one with a gold column.")
@click.option(
    "--sample", type=click.IntRange(2), default=SAMPLE, show_default=True, help="Labelled rows, classes even."
)
@click.option(
    "--draws",
    type=_List(["auto", *map(str, range(1, MAX_DRAWS + 1))]),
    default=_texts(DRAWS),
    show_default=",".join(_texts(DRAWS)),
    help="Looks per question, 1 to 32 or auto.",
)
@click.option(
    "--steps",
    type=_List([*map(str, range(1, MAX_STEPS + 1))]),
    default=_texts(STEPS),
    show_default=",".join(_texts(STEPS)),
    help="Denoise steps; the template stays.",
)
@click.option(
    "--layout", "layouts", type=_List(LAYOUTS), default=LAYOUTS, show_default=",".join(LAYOUTS),
    help="The question alone, with the form's others on its canvas, or several rows on a canvas.",
)  # fmt: skip
@click.option(
    "--state", "states", type=_List(STATES), default=STATES, show_default=",".join(STATES),
    help="The row's text, or the form's document before it.",
)  # fmt: skip
@click.option("--full", is_flag=True, help="Every combination; else one thing is changed at a time.")
@click.option("--out", type=click.Path(path_type=Path), help="The file that keeps it; else one beside the form.")
@click.option("--overwrite", is_flag=True, help="Begin anew, whatever the file holds.")
@click.option("--concurrency", type=click.IntRange(1, 1024), default=16, show_default=True, help="Rows at a time.")
@click.option("--json", "as_json_", is_flag=True, help="One JSON object.")
def command(
    question: str | None,
    sample: int,
    draws: tuple[str, ...],
    steps: tuple[str, ...],
    layouts: tuple[str, ...],
    states: tuple[str, ...],
    full: bool,
    out: Path | None,
    overwrite: bool,
    concurrency: int,
    as_json_: bool,
    **given: Any,
) -> None:
    """Read a gold-labelled sample of TABLE in several ways and say which one is worth it.

    Each way is read with two run seeds. What was read is kept beside the form; the same command goes on with what is
    missing, so Ctrl-C loses one way at most.
    """
    options = CheckOptions(**given)
    cells = grid(
        tuple("auto" if each == "auto" else int(each) for each in draws),
        tuple(map(int, steps)),
        cast("tuple[Layout, ...]", layouts),
        cast("tuple[StateKind, ...]", states),
        full=full,
    )

    async def work() -> Comparison:
        check_choice(options.engine)
        form = options.load()
        check_choice(options.engine, sees=form.pictures is not None)
        planned = await asyncio.to_thread(
            plan,
            options.form,
            options.open_table(),
            question=question,
            sample=sample,
            seed=0,
            selection=options.selection,
            pictures=form.pictures,
            note=say,
        )
        pictured = planned.form.pictures is not None
        path = out or comparison_path(options.form, planned.sample.question.id)
        spare_inputs(path, options.form, options.table)
        check_place(path, overwrite=overwrite)
        async with open_engine(options.engine, options.api_key, say, sees=pictured) as engine:
            begun = open_comparison(path, planned, engine.name, overwrite=overwrite)
            with tqdm(unit=" rows", disable=None, dynamic_ncols=True) as shown:
                return await compare_methods(
                    engine.client, planned, cells, begun, path, progress=_on(shown), rows_at_once=concurrency
                )

    try:
        comparison = asyncio.run(work())
    except KeyboardInterrupt:
        say("stopped; every way that was read to its end is kept, and the same command goes on")
        raise
    if as_json_:
        click.echo(json.dumps(as_json(comparison, cells[0])))
        return
    for line in table_lines(comparison, figures(comparison, cells[0])):
        click.echo(line)
    click.echo(recommend(comparison, cells[0]))
    if any(result.first_failure for result in comparison.results):
        click.echo("What failed is kept as it is; --overwrite reads all of it again.")


def table_lines(comparison: Comparison, found: Sequence[CellFigures]) -> list[str]:
    """The figures as a table."""
    quality = QUALITY[comparison.kind]
    lines: list[tuple[str, ...]] = [
        ("METHOD", quality.upper(), "95 %", "AGAINST BASE", "ECE", "UNREADABLE", "FAILED", "SEED SPREAD", "READS/S")
    ]
    for each in found:
        if each.refusal:
            lines.append((each.cell.name, f"not read: {each.refusal}"))
            continue
        interval, against = each.interval, each.difference_interval
        lines.append(
            (
                each.cell.name,
                _number(each.quality),
                f"{interval.low:.3f}-{interval.high:.3f}" if interval else "",
                f"{each.difference:+.3f} ({against.low:+.3f} to {against.high:+.3f})" if against else "",
                _number(each.ece),
                f"{each.unreadable:.1%}" if each.unreadable is not None else "",
                f"{each.failed:.1%}" if each.failed is not None else "",
                _number(each.spread),
                f"{each.per_s:.1f}" if each.per_s is not None else "",
            )
        )
    whole = [line for line in lines if len(line) == len(lines[0])]
    widths = [max(len(line[at]) for line in whole) for at in range(len(lines[0]))]
    widths[0] = max(len(line[0]) for line in lines)
    return ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=False)).rstrip() for line in lines]


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


def _on(shown: tqdm[Any]) -> Any:
    def progress(now: CompareProgress) -> None:
        shown.total = now.total
        left = "" if now.eta_s is None else f", about {duration(now.eta_s)} left"
        shown.set_postfix_str(f"{now.number}/{now.cells} {now.cell.name}{left}", refresh=False)
        shown.update(now.done - shown.n)

    return progress
