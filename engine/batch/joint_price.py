"""The price tag of joint reading: said before a run that reads jointly, and stored with it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from engine.batch.prepare import PreparedRun
from engine.batch.row_sample import sample_rows
from engine.batch.selection import Selection
from engine.client.http import EngineClient
from engine.errors import InputError
from engine.reads.interference import SAMPLE_ROWS, Interference, measure_interference
from engine.store.run_view import RunSpec

FACT = "interference"  # among a run's facts


async def price_of_joint(client: EngineClient, prepared: PreparedRun, say: Callable[[str], None]) -> dict[str, Any]:
    """Read a sample both ways when the run would read jointly, and say what that does.

    Args:
        say: told the finding and what follows from it.

    Returns:
        What belongs to the run's facts: the report under ``FACT``; nothing for a run that reads alone.

    Raises:
        InputError: a faulty row.
        EngineRefused, EngineUnreachable: as a read.
    """
    form = prepared.form
    if not form.method.joint or len(form.questions) < 2:
        return {}
    selection = Selection(**prepared.spec.selection)
    try:
        rows = await asyncio.to_thread(
            sample_rows, form, prepared.table, SAMPLE_ROWS, seed=form.method.seed, selection=selection
        )
    except InputError as error:
        if error.code != "sample.no_rows":
            raise
        say(f"what joint reading does is not looked at: {error.message}")  # other rows may well have a text
        return {}
    say(f"{len(rows)} rows are read alone and jointly first, to see what joint reading does")
    found = await measure_interference(
        client, form.questions, form.method, [(row.key, row.state) for row in rows], sample=len(rows)
    )
    say(found.sentence)
    say(found.advice)
    return {FACT: found.to_json()}


def price_in(spec: RunSpec) -> Interference | None:
    """The report that was stored with a run; None for a run without."""
    values = spec.facts.get(FACT)
    return Interference.from_json(values) if values is not None else None
