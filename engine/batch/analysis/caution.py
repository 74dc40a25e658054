"""What makes the answers of a question suspect before any gold is looked at."""

from __future__ import annotations

import numpy as np

from engine.batch.analysis.gather import BAD_GOLD, Answers
from engine.domain.reading import STATUSES

ENOUGH = 20  # answers from which a pattern is told
_UNREADABLE = STATUSES.index("unreadable")


def cautions(answers: Answers) -> tuple[str, ...]:
    """Sentences, the gravest first; empty when nothing is odd."""
    read = answers.mass[~np.isnan(answers.mass)]
    found = []
    if read.size >= ENOUGH and bool((read == 1.0).all()):
        found.append(
            "Every label mass is exactly 1: the server confines the slot to the labels, so nothing here tells an "
            "unreadable answer from a readable one."
        )
    unreadable = int((answers.status == _UNREADABLE).sum())
    if read.size >= ENOUGH and 2 * unreadable > read.size:
        share = unreadable / read.size
        found.append(
            f"{share:.0%} of the answers are unreadable: the model does not take this as its question; reword it."
        )
    value = answers.value[answers.ok]
    if value.size >= ENOUGH and bool((value == value[0]).all()):
        found.append("All answers are equal: the question does not tell these rows apart.")
    bad = int((answers.gold == BAD_GOLD).sum())
    if bad:
        found.append(f"{bad} gold cells name no answer (first: {answers.first_bad}).")
    return tuple(found)
