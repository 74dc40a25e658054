"""Measures of answers against gold, in numpy: AUC, accuracy, rank correlation, Brier score.

Each gives None where it is not defined (one class only, no spread); the caller says why.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]


def ranks(values: ArrayLike) -> Floats:
    """Ranks from 1; equal values share the mean of their ranks."""
    array = np.asarray(values, dtype=np.float64)
    _, places, counts = np.unique(array, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    mean: Floats = last - (counts - 1) / 2.0
    return mean[places]


def auc(scores: ArrayLike, positive: ArrayLike) -> float | None:
    """Area under the ROC curve: the chance that a positive scores above a negative, ties counting half.

    By the Mann-Whitney statistic: ``(R - p (p + 1) / 2) / (p n)`` with R the sum of the positives' ranks
    (Hanley and McNeil 1982).

    Args:
        positive: booleans, one per score.
    """
    truth = np.asarray(positive, dtype=bool)
    p = int(truth.sum())
    n = truth.size - p
    if p == 0 or n == 0:
        return None
    rank_sum = float(ranks(scores)[truth].sum())
    return (rank_sum - p * (p + 1) / 2.0) / (p * n)


def accuracy(answers: ArrayLike, gold: ArrayLike) -> float | None:
    """Share of answers that are the gold class."""
    given, true = np.asarray(answers), np.asarray(gold)
    return float((given == true).mean()) if true.size else None


def largest_share(gold: ArrayLike) -> float | None:
    """Share of the commonest gold class: what always giving the same answer reaches."""
    true = np.asarray(gold)
    return float(np.unique(true, return_counts=True)[1].max() / true.size) if true.size else None


def spearman(left: ArrayLike, right: ArrayLike) -> float | None:
    """Rank correlation: Pearson's of the ranks, which is right for ties too."""
    a, b = ranks(left), ranks(right)
    if a.size < 2:
        return None
    a, b = a - a.mean(), b - b.mean()
    norm = float(np.sqrt((a * a).sum() * (b * b).sum()))
    return float((a * b).sum()) / norm if norm > 0.0 else None


def mean_absolute_error(answers: ArrayLike, gold: ArrayLike) -> float | None:
    """Mean distance, in levels."""
    given, true = np.asarray(answers, dtype=np.float64), np.asarray(gold, dtype=np.float64)
    return float(np.abs(given - true).mean()) if true.size else None


def brier(probabilities: ArrayLike, positive: ArrayLike) -> float | None:
    """Mean squared distance of p(yes) from 1 or 0 (Brier 1950, the form for two classes)."""
    p, truth = np.asarray(probabilities, dtype=np.float64), np.asarray(positive, dtype=np.float64)
    return float(((p - truth) ** 2).mean()) if truth.size else None
