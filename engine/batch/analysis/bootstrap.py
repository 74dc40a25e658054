"""How far a figure could be off for the luck of the sample: percentile intervals over resampled rows.

Rows are drawn again with replacement, positives and negatives apart (so that no resample lacks a class), and the
figure is computed on each resample; the interval holds the middle 95 % (Efron 1979, the percentile form). It speaks of
the choice of rows only, not of the noise of the draws.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from engine.batch.analysis.curves import steps_of

RESAMPLES = 1000
MOST_BINS = 4096
BLOCK = 100  # resamples made at once
SEED = 20261129  # the same run gives the same interval

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Interval:
    """The range that holds ``level`` of the resampled figures."""

    low: float
    high: float
    level: float = 0.95

    @property
    def half_width(self) -> float:
        return (self.high - self.low) / 2.0


def auc_interval(
    scores: ArrayLike, positive: ArrayLike, *, resamples: int = RESAMPLES, level: float = 0.95, seed: int = SEED
) -> Interval | None:
    """The interval of the AUC; None with one class only.

    Drawing rows again and counting them by score is the same as drawing the counts at once, so a resample is one
    multinomial draw per class. Beyond ``MOST_BINS`` distinct scores, neighbours share a bin; what that does to the
    figure (under 1 / ``MOST_BINS``) is taken off again.
    """
    steps = steps_of(scores, positive)
    positives, negatives = steps.positives[::-1], steps.negatives[::-1]  # from the lowest score
    p, n = int(positives.sum()), int(negatives.sum())
    if not p or not n:
        return None
    exact = _auc(positives[None], negatives[None])[0]
    if positives.size > MOST_BINS:
        before = np.cumsum(positives + negatives) - positives - negatives
        bins = before * MOST_BINS // (p + n)
        positives, negatives = (np.bincount(bins, weights=part).astype(np.int64) for part in (positives, negatives))
    shift = exact - _auc(positives[None], negatives[None])[0]
    random, found = np.random.default_rng(seed), []
    for size in [BLOCK] * (resamples // BLOCK) + [resamples % BLOCK]:
        wins = random.multinomial(p, positives / p, size)
        losses = random.multinomial(n, negatives / n, size)
        found.append(_auc(wins, losses))
    return percentile_interval(np.concatenate(found) + shift, level)


def _auc(positives: Ints, negatives: Ints) -> Floats:
    """[S] AUCs of [S, U] counts by score, lowest first: a positive beats those below and half of those beside it."""
    below = np.cumsum(negatives, axis=1) - negatives / 2.0
    wins: Floats = (positives * below).sum(axis=1)
    return wins / (positives.sum(axis=1, dtype=np.float64) * negatives.sum(axis=1))


def mean_interval(values: ArrayLike, *, resamples: int = RESAMPLES, level: float = 0.95, seed: int = SEED) -> Interval:
    """The interval of a mean over rows (accuracy: of hits; mean absolute error: of distances); one row or more."""
    numbers = np.asarray(values, dtype=np.float64)
    random, size = np.random.default_rng(seed), numbers.size
    distinct, counts = np.unique(numbers, return_counts=True)
    if distinct.size <= MOST_BINS:
        means = random.multinomial(size, counts / size, resamples) @ distinct / size
    else:
        means = np.array([numbers[random.integers(0, size, size)].mean() for _ in range(resamples)])
    return percentile_interval(means, level)


def figure_interval(
    figure: Callable[[Ints], float | None],
    strata: ArrayLike,
    *,
    resamples: int = RESAMPLES,
    level: float = 0.95,
    seed: int = SEED,
) -> Interval | None:
    """The interval of any figure over rows, also of a difference of two figures on the same rows.

    Args:
        figure: from row numbers (repeats among them) to the figure, or None where it is not defined.
        strata: [N] classes that keep their sizes in every resample.

    Returns:
        None when the figure is defined on fewer than half of the resamples.
    """
    groups = np.asarray(strata)
    parts = [np.flatnonzero(groups == name) for name in np.unique(groups)]
    random = np.random.default_rng(seed)
    found = []
    for _ in range(resamples):
        rows = np.concatenate([part[random.integers(0, part.size, part.size)] for part in parts])
        value = figure(rows)
        if value is not None:
            found.append(value)
    return percentile_interval(np.array(found), level) if 2 * len(found) >= resamples else None


def percentile_interval(found: Floats, level: float) -> Interval:
    """The middle ``level`` of the resampled figures."""
    low, high = np.quantile(found, [(1.0 - level) / 2.0, (1.0 + level) / 2.0])
    return Interval(float(low), float(high), level)
