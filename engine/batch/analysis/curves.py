"""Curves of scores against a yes/no gold: ROC, precision and recall, recall at thresholds and at the top, ranks.

Everything is computed over the distinct scores, highest first: equal scores are one step of a curve, since nothing
tells them apart. ``positive`` holds booleans, one per score. Checked against scikit-learn in the tests.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Steps:
    """Scores gathered by value.

    Attributes:
        scores: [U] distinct scores, highest first.
        positives, negatives: [U] how many rows have that score.
        place: [N] index into ``scores`` of every row.
    """

    scores: Floats
    positives: Ints
    negatives: Ints
    place: Ints

    @property
    def true_positives(self) -> Ints:
        """[U] positives with at least that score."""
        return np.cumsum(self.positives)

    @property
    def false_positives(self) -> Ints:
        """[U] negatives with at least that score."""
        return np.cumsum(self.negatives)


def steps_of(scores: ArrayLike, positive: ArrayLike) -> Steps:
    """Gather the rows by score."""
    values, truth = np.asarray(scores, dtype=np.float64), np.asarray(positive, dtype=bool)
    distinct, place = np.unique(values, return_inverse=True)
    place = distinct.size - 1 - place.reshape(-1)
    return Steps(
        scores=distinct[::-1],
        positives=np.bincount(place[truth], minlength=distinct.size),
        negatives=np.bincount(place[~truth], minlength=distinct.size),
        place=place,
    )


@dataclass(frozen=True)
class Roc:
    """The ROC curve.

    Attributes:
        threshold: scores at or above it count as yes; the first is infinite (nothing does).
        false_positive_rate, true_positive_rate: 0 to 1, both from 0 to 1 along the curve.
    """

    threshold: Floats
    false_positive_rate: Floats
    true_positive_rate: Floats


def roc(scores: ArrayLike, positive: ArrayLike) -> Roc | None:
    """The ROC curve, one point per distinct score; None with one class only."""
    steps = steps_of(scores, positive)
    hits, misses = steps.true_positives, steps.false_positives
    if not steps.scores.size or hits[-1] == 0 or misses[-1] == 0:
        return None
    return Roc(
        np.concatenate(([math.inf], steps.scores)),
        np.concatenate(([0.0], misses / misses[-1])),
        np.concatenate(([0.0], hits / hits[-1])),
    )


@dataclass(frozen=True)
class PrecisionRecall:
    """Precision and recall when scores at or above ``threshold`` (highest first) count as yes.

    Attributes:
        average_precision: sum over the steps of (gain of recall) times precision.
    """

    threshold: Floats
    precision: Floats
    recall: Floats
    average_precision: float


def precision_recall(scores: ArrayLike, positive: ArrayLike) -> PrecisionRecall | None:
    """The precision-recall curve; None without a positive."""
    steps = steps_of(scores, positive)
    hits = steps.true_positives
    if not steps.scores.size or hits[-1] == 0:
        return None
    precision, recall = hits / (hits + steps.false_positives), hits / hits[-1]
    gained = np.diff(recall, prepend=0.0)
    return PrecisionRecall(steps.scores, precision, recall, float((gained * precision).sum()))


def recall_at(scores: ArrayLike, positive: ArrayLike, threshold: float) -> float | None:
    """Share of the positives whose score is above ``threshold``; None without a positive."""
    values, truth = np.asarray(scores, dtype=np.float64), np.asarray(positive, dtype=bool)
    return float((values[truth] > threshold).mean()) if truth.any() else None


def recall_in_top(scores: ArrayLike, positive: ArrayLike, share: float) -> float | None:
    """Share of the positives among the ``share`` of the rows that score highest; None without a positive.

    The top holds ``ceil(share * N)`` rows. Where it cuts through equal scores, each of these counts with the chance
    that it is inside, so the figure does not depend on the order of the rows.
    """
    steps = steps_of(scores, positive)
    total = int(steps.positives.sum())
    if total == 0:
        return None
    sizes = steps.positives + steps.negatives
    size = math.ceil(round(share * steps.place.size, 9))  # 0.05 * 480 is 24.000000000000004
    before = np.cumsum(sizes) - sizes
    inside = np.clip((size - before) / sizes, 0.0, 1.0)
    return float((steps.positives * inside).sum() / total)


@dataclass(frozen=True, slots=True)
class PositiveRanks:
    """Where the positives stand when all rows are sorted by score, as shares of the rows (0 is the very top).

    A row's rank is from 1, equal scores sharing the mean of theirs; its share is rank over the number of rows.
    """

    median: float
    worst: float


def positive_ranks(scores: ArrayLike, positive: ArrayLike) -> PositiveRanks | None:
    """Median and worst rank of the positives; None without one."""
    steps = steps_of(scores, positive)
    sizes = steps.positives + steps.negatives
    last = np.cumsum(sizes)
    ranks = (last - (sizes - 1) / 2.0)[steps.place][np.asarray(positive, dtype=bool)]
    if not ranks.size:
        return None
    shares = ranks / steps.place.size
    return PositiveRanks(float(np.median(shares)), float(shares.max()))


@dataclass(frozen=True)
class Histogram:
    """How many answers have a number in each bin, all and by gold.

    Attributes:
        edges: [B + 1]; the last bin holds its upper edge too.
        all, positive, negative: [B]; the last two count rows with gold only.
    """

    edges: Floats
    all: Ints
    positive: Ints
    negative: Ints


def histogram(values: ArrayLike, gold: ArrayLike, *, low: float = 0.0, high: float = 1.0, bins: int = 20) -> Histogram:
    """Count values in equal bins.

    Args:
        gold: per value 1 (yes), 0 (no) or -1 (no gold).
    """
    numbers, truth = np.asarray(values, dtype=np.float64), np.asarray(gold)
    edges = np.linspace(low, high, bins + 1)
    counts = [np.histogram(part, edges)[0] for part in (numbers, numbers[truth == 1], numbers[truth == 0])]
    return Histogram(edges, counts[0], counts[1], counts[2])
