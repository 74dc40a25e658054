"""``check-order``: what the order of a choice's options does on a table's rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

from engine.cli.checking import CheckOptions, check_options, run_check
from engine.reads.interference import SAMPLE_ROWS
from engine.reads.order import OrderEffect, choices_of, measure_order


@click.command("check-order")
@check_options
@click.option("--sample", type=click.IntRange(1), default=SAMPLE_ROWS, show_default=True, help="Rows read.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def command(sample: int, as_json: bool, **given: Any) -> None:
    """Read the choices of FORM about some rows of TABLE in every rotation of their options."""
    run_check(CheckOptions(**given), sample, measure_order, choices_of, as_json=as_json, lines=_lines)


def _lines(found: OrderEffect) -> Iterator[str]:
    for question in found.questions:
        wins = ", ".join(f"{chr(ord('A') + place)} {share:.0%}" for place, share in enumerate(question.letters))
        lost = f"{question.unreadable} rows unreadable, {question.failed} failed"
        yield f"  {question.question_id}: letters won {wins or 'nothing'}; {lost}"
