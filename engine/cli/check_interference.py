"""``check-interference``: what joint reading does to a form's questions on a table's rows."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import click

from engine.cli.checking import CheckOptions, bar, check_options, opened
from engine.reads.interference import SAMPLE_ROWS, Interference, measure_interference


@click.command("check-interference")
@check_options
@click.option("--sample", type=click.IntRange(1), default=SAMPLE_ROWS, show_default=True, help="Rows read both ways.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def command(sample: int, as_json: bool, **given: Any) -> None:
    """Read some rows of TABLE alone and jointly, and say how far FORM's questions pull each other."""
    found = asyncio.run(_measure(CheckOptions(**given), sample))
    if as_json:
        click.echo(json.dumps(found.to_json()))
        return
    click.echo(found.sentence)
    for shift in found.questions:
        click.echo(f"  {shift.question_id}: {_words(shift.shift, shift.rank_correlation)}, {shift.flips} changed")
    click.echo(found.advice)


async def _measure(options: CheckOptions, sample: int) -> Interference:
    async with opened(options, sample) as (engine, form, rows):
        with bar(" rows") as progress:
            return await measure_interference(
                engine.client,
                form.questions,
                form.method,
                [(row.key, row.state) for row in rows],
                sample=sample,
                progress=progress,
            )


def _words(shift: float | None, ranking: float | None) -> str:
    if shift is None:
        return "not readable both ways"
    return f"shift {shift:.3f}, ranking " + ("not defined" if ranking is None else f"{ranking:.3f}")
