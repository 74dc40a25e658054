"""Reads out of a run's file what another round of it could read."""

from __future__ import annotations

from pathlib import Path

from app.models.run_rounds import RoundOffer
from engine.batch.prepare import form_of
from engine.batch.rounds import MORE_DRAWS, extended
from engine.domain.form import Form
from engine.errors import InputError
from engine.store.runs import RunView


def offer_of(path: Path, form: Form) -> RoundOffer:
    """What rounds of a run could read; ``form`` is the one that may hold new questions.

    Raises:
        UserError: the run's file cannot be read.
    """
    with RunView(path) as view:
        old, method, rows, totals = form_of(view), view.spec.method, view.rows, view.totals()
        name = view.spec.name or view.id
    added, refusal = form.questions[:0], ""
    try:
        added = extended(old, form, form.name).questions[len(old.questions) :]
    except InputError as error:
        refusal = error.message
    counts = [totals[question.id] for question in old.questions]
    return RoundOffer(
        name=name,
        method=method,
        questions=old.questions,
        failed=tuple(each.error for each in counts),
        unreadable=tuple(each.unreadable for each in counts),
        added=added,
        added_method=form.method,
        refusal=refusal,
        rows=rows - min((each.skipped for each in counts), default=0),  # left out or empty: nothing is asked
        more_draws=MORE_DRAWS,
    )
