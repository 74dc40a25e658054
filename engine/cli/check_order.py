"""``check-order``: what the order of a choice's options does on a table's rows."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import click

from engine.cli.checking import CheckOptions, bar, check_options, opened
from engine.reads.interference import SAMPLE_ROWS
from engine.reads.order import OrderEffect, measure_order


@click.command("check-order")
@check_options
@click.option("--sample", type=click.IntRange(1), default=SAMPLE_ROWS, show_default=True, help="Rows read.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def command(sample: int, as_json: bool, **given: Any) -> None:
    """Read the choices of FORM about some rows of TABLE in every rotation of their options."""
    found = asyncio.run(_measure(CheckOptions(**given), sample))
    if as_json:
        click.echo(json.dumps(found.to_json()))
        return
    click.echo(found.sentence)
    for question in found.questions:
        wins = ", ".join(f"{chr(ord('A') + place)} {share:.0%}" for place, share in enumerate(question.letters))
        click.echo(f"  {question.question_id}: letters won {wins or 'nothing'}; {question.unreadable} rows unreadable")


async def _measure(options: CheckOptions, sample: int) -> OrderEffect:
    async with opened(options, sample) as (engine, form, rows):
        with bar(" rows") as progress:
            return await measure_order(
                engine.client,
                form.questions,
                form.method,
                [(row.key, row.state) for row in rows],
                sample=sample,
                progress=progress,
            )
