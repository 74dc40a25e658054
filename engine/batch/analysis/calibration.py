"""Whether 0.8 means "right in 80 of 100": the reliability diagram, the expected calibration error, the Brier score."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

BINS = 10
Z95 = 1.959963984540054  # the normal distribution's 97.5 % point
FEW_LABELS = 200  # below, a calibration error says more of the sample than of the model

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Reliability:
    """The diagram, over bins of equal width that hold at least one row.

    Attributes:
        low, high: edges of each bin.
        count: rows in it.
        predicted: their mean probability.
        observed: share of them whose gold is yes.
        observed_low, observed_high: 95 % interval of that share (Wilson 1927).
        ece: expected calibration error, the mean of |observed - predicted| weighted by the rows.
        brier: mean squared distance of the probability from 1 or 0.
        rows: in all.
    """

    low: Floats
    high: Floats
    count: Ints
    predicted: Floats
    observed: Floats
    observed_low: Floats
    observed_high: Floats
    ece: float
    brier: float
    rows: int

    @property
    def caution(self) -> str:
        """What a reader must know before believing the diagram; empty when there are labels enough."""
        if self.rows >= FEW_LABELS:
            return ""
        return (
            f"{self.rows} labelled rows are few: under {FEW_LABELS} the error tells more of the sample than the model"
        )


def reliability(
    probabilities: ArrayLike, positive: ArrayLike, bins: int = BINS, *, weights: ArrayLike | None = None
) -> Reliability | None:
    """The diagram of probabilities of yes against gold; None without rows. A bin holds its lower edge.

    Args:
        weights: how many rows each stands for, where the rows are no plain sample; counts and intervals stay those
            of the rows.
    """
    p, truth = np.asarray(probabilities, dtype=np.float64), np.asarray(positive, dtype=np.float64)
    if not p.size:
        return None
    w = np.ones(p.size) if weights is None else np.asarray(weights, dtype=np.float64)
    place = np.minimum((p * bins).astype(np.int64), bins - 1)
    counts = np.bincount(place, minlength=bins)
    used = np.flatnonzero(counts)
    weight = np.bincount(place, weights=w, minlength=bins)[used]
    predicted = np.bincount(place, weights=p * w, minlength=bins)[used] / weight
    observed = np.bincount(place, weights=truth * w, minlength=bins)[used] / weight
    low, high = wilson(observed, counts[used])
    return Reliability(
        low=used / bins,
        high=(used + 1) / bins,
        count=counts[used],
        predicted=predicted,
        observed=observed,
        observed_low=low,
        observed_high=high,
        ece=float((weight * np.abs(observed - predicted)).sum() / w.sum()),
        brier=float((w * (p - truth) ** 2).sum() / w.sum()),
        rows=int(p.size),
    )


def wilson(share: Floats, count: Ints) -> tuple[Floats, Floats]:
    """The 95 % interval of shares of ``count`` rows each (Wilson 1927), which keeps inside 0 and 1."""
    z2 = Z95 * Z95
    middle = (share + z2 / (2 * count)) / (1 + z2 / count)
    half = Z95 / (1 + z2 / count) * np.sqrt(share * (1 - share) / count + z2 / (4.0 * count * count))
    return np.maximum(middle - half, 0.0), np.minimum(middle + half, 1.0)


def noise_floor(share: float, rows: int) -> float:
    """The least difference of a share over ``rows`` rows that is more than luck, 0 to 1.

    The half width of its 95 % interval, and never less than two rows: one or two rows that change are no finding.
    """
    if rows == 0:
        return 1.0
    return min(1.0, max(Z95 * math.sqrt(share * (1.0 - share) / rows), 2.0 / rows))
