"""``check-interference``: what joint reading does to a form's questions on a table's rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

from engine.cli.checking import CheckOptions, check_options, run_check
from engine.reads.interference import SAMPLE_ROWS, Interference, check_interference, measure_interference


@click.command("check-interference")
@check_options
@click.option("--sample", type=click.IntRange(1), default=SAMPLE_ROWS, show_default=True, help="Rows read both ways.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def command(sample: int, as_json: bool, **given: Any) -> None:
    """Read some rows of TABLE alone and jointly, and say how far FORM's questions pull each other."""
    options = CheckOptions(**given)
    run_check(options, sample, measure_interference, check_interference, as_json=as_json, lines=_lines)


def _lines(found: Interference) -> Iterator[str]:
    for shift in found.questions:
        yield f"  {shift.question_id}: {_words(shift.shift, shift.rank_correlation)}, {shift.flips} changed"
    yield found.advice


def _words(shift: float | None, ranking: float | None) -> str:
    if shift is None:
        return "not readable both ways"
    return f"shift {shift:.3f}, ranking " + ("not defined" if ranking is None else f"{ranking:.3f}")
