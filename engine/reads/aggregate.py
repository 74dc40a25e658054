"""Draws folded into a reading. Every formula is in docs/decisions-method.md."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from engine.domain.question import Choice, Noul, Question, Score
from engine.domain.reading import Draw, Method, Reading


def reading_of(question: Question, draws: Sequence[Draw], method: Method, *, name: str, note: str = "") -> Reading:
    """The reading that the draws of one question amount to.

    A draw counts when it is readable. With fewer than half of the draws readable the reading is ``unreadable``: no
    value and no shares, but all diagnostics. Otherwise the shares are the mean over the readable draws.

    Args:
        draws: at least one, draw 0 first.
        name: how it was read (``alone/canvas``, ...).
        note: kept in ``error`` although the read went well (it had to be repeated).
    """
    readable = [draw for draw in draws if draw.readable(method.min_mass)]
    ok = 2 * len(readable) >= len(draws)
    shares = _mean_shares(readable) if ok else ()
    first = draws[0]
    return Reading(
        question_id=question.id,
        status="ok" if ok else "unreadable",
        value=_value(question, shares) if ok else None,
        shares=shares,
        label_mass=min(first.label_mass, 1.0),
        argmax_is_label=first.argmax_is_label,
        entropy=first.entropy,
        mean_mass=min(math.fsum(draw.label_mass for draw in draws) / len(draws), 1.0),
        draws=len(draws),
        stderr=_stderr([_spread_of(question, draw.shares, shares) for draw in readable]) if ok else None,
        agreement=_agreement(readable) if ok else None,
        method=name,
        error=note,
    )


def failed(question: Question, reason: str, *, name: str) -> Reading:
    """The reading of a question whose read the engine refused."""
    return Reading(question_id=question.id, status="error", method=name, error=reason)


def _mean_shares(draws: Sequence[Draw]) -> tuple[float, ...]:
    columns = zip(*(draw.shares for draw in draws), strict=True)
    means = [math.fsum(column) / len(draws) for column in columns]
    total = math.fsum(means)  # one but for rounding
    return tuple(mean / total for mean in means)


def _value(question: Question, shares: Sequence[float]) -> float | str:
    match question:
        case Noul():
            return shares[0]
        case Choice():
            return question.answers[_top(shares)]
        case Score():
            return _expected(shares)


def _spread_of(question: Question, draw: Sequence[float], mean: Sequence[float]) -> float:
    """The number of one draw whose scatter the standard error describes."""
    match question:
        case Noul():
            return draw[0]
        case Choice():
            return draw[_top(mean)]
        case Score():
            return _expected(draw)


def _expected(shares: Sequence[float]) -> float:
    return math.fsum(level * share for level, share in enumerate(shares))


def _top(shares: Sequence[float]) -> int:
    return max(range(len(shares)), key=shares.__getitem__)


def _stderr(values: Sequence[float]) -> float | None:
    """Standard error of the mean, sqrt(sum (x - mean)^2 / (n - 1) / n); None for fewer than two values."""
    count = len(values)
    if count < 2:
        return None
    mean = math.fsum(values) / count
    return math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (count - 1) / count)


def _agreement(draws: Sequence[Draw]) -> float | None:
    if len(draws) < 2:
        return None
    return max(Counter(draw.argmax for draw in draws).values()) / len(draws)
