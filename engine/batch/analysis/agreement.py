"""Answers against gold where there are more than two classes: the confusion matrix and weighted kappa."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Confusion:
    """Answers by gold.

    Attributes:
        names: of the classes, in the question's order.
        counts: [K, K]; row: gold, column: answer.
        precision, recall: [K] per class; NaN where a class was never answered, or never is gold.
        accuracy: share on the diagonal.
    """

    names: tuple[str, ...]
    counts: Ints
    precision: Floats
    recall: Floats
    accuracy: float


def confusion(gold: ArrayLike, answers: ArrayLike, names: tuple[str, ...]) -> Confusion | None:
    """The matrix of places in ``names``; None without rows."""
    true, given = np.asarray(gold, dtype=np.int64), np.asarray(answers, dtype=np.int64)
    if not true.size:
        return None
    size = len(names)
    counts = np.bincount(true * size + given, minlength=size * size).reshape(size, size)
    right = np.diagonal(counts)
    with np.errstate(invalid="ignore", divide="ignore"):
        precision, recall = right / counts.sum(axis=0), right / counts.sum(axis=1)
    return Confusion(names, counts, precision, recall, float(right.sum() / true.size))


def weighted_kappa(gold: ArrayLike, answers: ArrayLike, levels: int) -> float | None:
    """Cohen's kappa with squared weights (Cohen 1968): 1 is equal, 0 what chance gives; None without any spread.

    Args:
        gold, answers: levels from 0; an expected level is rounded to the nearest one first (halves upwards).
    """
    true = np.asarray(gold, dtype=np.int64)
    given = np.floor(np.asarray(answers, dtype=np.float64) + 0.5).astype(np.int64)
    if not true.size:
        return None
    counts = np.bincount(true * levels + given, minlength=levels * levels).reshape(levels, levels)
    places = np.arange(levels)
    weights = (places[:, None] - places[None, :]) ** 2
    by_chance = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / true.size
    expected = float((weights * by_chance).sum())
    return 1.0 - float((weights * counts).sum()) / expected if expected > 0.0 else None
