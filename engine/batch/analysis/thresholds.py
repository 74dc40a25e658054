"""Choosing a threshold without fooling oneself.

The threshold that is best on some labelled rows is best partly by luck. So the choice is repeated on resampled rows
and measured on the rows that each resample left out (out of bag, Breiman 1996): that is what new rows will give.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from engine.batch.analysis.bootstrap import SEED, Interval, percentile_interval
from engine.batch.analysis.calibration import noise_floor
from engine.batch.analysis.curves import Steps, steps_of

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Goal = Literal["f1", "accuracy", "precision", "recall"]

OUT_OF_BAG = 200  # resamples


@dataclass(frozen=True, slots=True)
class Aim:
    """What a threshold is chosen for; see ``pick_threshold``.

    Raises:
        ValueError: ``precision`` or ``recall`` without ``least``.
    """

    goal: Goal = "f1"
    least: float | None = None

    def __post_init__(self) -> None:
        if self.goal in ("precision", "recall") and self.least is None:
            raise ValueError(f"the goal {self.goal} needs the least {self.goal}")


BEST_F1 = Aim()


@dataclass(frozen=True)
class Table:
    """What each threshold gives when scores at or above it count as yes.

    Attributes:
        threshold: distinct scores, highest first.
        yes_share: share of the rows that count as yes.
        precision, recall, f1, accuracy: 0 to 1.
    """

    threshold: Floats
    yes_share: Floats
    precision: Floats
    recall: Floats
    f1: Floats
    accuracy: Floats


@dataclass(frozen=True, slots=True)
class Cut:
    """What one threshold gives; precision is None when no row reaches it, recall without a positive."""

    threshold: float
    yes_share: float
    precision: float | None
    recall: float | None
    accuracy: float


@dataclass(frozen=True, slots=True)
class Pick:
    """A chosen threshold and how much of it is luck.

    Attributes:
        goal: what was maximised; ``precision`` and ``recall``: the other one among the thresholds that reach ``least``.
        least: the precision or recall that was demanded, or None.
        threshold: scores at or above it count as yes.
        precision, recall, f1, accuracy, yes_share: on the rows that it was chosen on.
        in_bag: the goal's figure on these rows.
        out_of_bag, interval: the same on rows that the choice did not see, mean and middle 95 % over resamples.
        chosen: the middle 95 % of the thresholds that resamples choose.
        rows, positives: labelled rows.
    """

    goal: Goal
    least: float | None
    threshold: float
    precision: float
    recall: float
    f1: float
    accuracy: float
    yes_share: float
    in_bag: float
    out_of_bag: float | None
    interval: Interval | None
    chosen: Interval
    rows: int
    positives: int

    @property
    def noise_floor(self) -> float:
        """The least difference of the goal's figure that is more than luck, from the rows that it is a share of."""
        taken = round(self.yes_share * self.rows)
        base = {"accuracy": self.rows, "recall": self.positives, "precision": taken, "f1": min(taken, self.positives)}
        return noise_floor(self.in_bag, base[self.goal])

    @property
    def sentence(self) -> str:
        """The choice and its noise floor in words."""
        expected = "unknown on new rows" if self.out_of_bag is None else f"about {self.out_of_bag:.2f} on new rows"
        return (
            f"At {self.threshold:.3f} the {self.goal} is {self.in_bag:.2f} on the {self.rows} labelled rows and "
            f"{expected}; {self.yes_share:.1%} of the rows count as yes. Resampled rows choose thresholds from "
            f"{self.chosen.low:.3f} to {self.chosen.high:.3f}. With {self.positives} positives differences under "
            f"{self.noise_floor:.2f} are luck."
        )


def threshold_table(scores: ArrayLike, positive: ArrayLike) -> Table | None:
    """Every threshold that makes a difference; None with one class only."""
    steps = steps_of(scores, positive)
    if not steps.positives.sum() or not steps.negatives.sum():
        return None
    return _table(steps.scores, steps.positives, steps.negatives)


def cut_at(scores: ArrayLike, positive: ArrayLike, threshold: float) -> Cut | None:
    """The figures of a threshold that is given; None without rows."""
    yes, truth = np.asarray(scores, dtype=np.float64) >= threshold, np.asarray(positive, dtype=bool)
    if not truth.size:
        return None
    precision, recall = _figure("precision", yes, truth), _figure("recall", yes, truth)
    return Cut(threshold, float(yes.mean()), precision, recall, float((yes == truth).mean()))


def pick_threshold(
    scores: ArrayLike,
    positive: ArrayLike,
    goal: Goal = "f1",
    least: float | None = None,
    *,
    resamples: int = OUT_OF_BAG,
    seed: int = SEED,
) -> Pick | None:
    """Choose a threshold.

    Args:
        goal: ``f1`` or ``accuracy``: the largest. ``precision``: the largest recall with a precision of at least
            ``least``. ``recall``: the largest precision with a recall of at least ``least``.

    Returns:
        None with one class only, or when no threshold reaches ``least``.

    Raises:
        ValueError: a goal that needs ``least`` came without it.
    """
    Aim(goal, least)
    steps = steps_of(scores, positive)
    if not steps.positives.sum() or not steps.negatives.sum():
        return None
    table = _table(steps.scores, steps.positives, steps.negatives)
    place = _best(table, goal, least)
    if place is None:
        return None
    chosen, outside = _out_of_bag(steps, np.asarray(positive, dtype=bool), goal, least, resamples, seed)
    return Pick(
        goal=goal,
        least=least,
        threshold=float(table.threshold[place]),
        precision=float(table.precision[place]),
        recall=float(table.recall[place]),
        f1=float(table.f1[place]),
        accuracy=float(table.accuracy[place]),
        yes_share=float(table.yes_share[place]),
        in_bag=float(getattr(table, goal)[place]),
        out_of_bag=float(outside.mean()) if outside.size else None,
        interval=percentile_interval(outside, 0.95) if outside.size else None,
        chosen=percentile_interval(chosen, 0.95),
        rows=int(steps.place.size),
        positives=int(steps.positives.sum()),
    )


@dataclass(frozen=True)
class Coverage:
    """What is left to people when only sure answers are taken.

    Attributes:
        least_share: answers whose likeliest label has at least this share are taken; highest first.
        coverage: share of the answers taken.
        accuracy: share of the taken answers that are the gold class.
    """

    least_share: Floats
    coverage: Floats
    accuracy: Floats


def coverage_curve(top_shares: ArrayLike, right: ArrayLike) -> Coverage | None:
    """Coverage and accuracy for every least share; None without rows.

    Args:
        top_shares: largest share of each answer.
        right: whether its label is the gold class.
    """
    steps = steps_of(top_shares, right)
    if not steps.scores.size:
        return None
    taken = steps.true_positives + steps.false_positives
    return Coverage(steps.scores, taken / steps.place.size, steps.true_positives / taken)


def _table(scores: Floats, positives: Ints, negatives: Ints) -> Table:
    """[U] figures; shares of nothing are 0."""
    hits, alarms = np.cumsum(positives), np.cumsum(negatives)
    p, n = int(hits[-1]), int(alarms[-1])
    taken = hits + alarms
    return Table(
        threshold=scores,
        yes_share=taken / max(p + n, 1),
        precision=hits / np.maximum(taken, 1),
        recall=hits / max(p, 1),
        f1=2.0 * hits / np.maximum(taken + p, 1),
        accuracy=(hits + (n - alarms)) / max(p + n, 1),
    )


def _best(table: Table, goal: Goal, least: float | None) -> int | None:
    """The place of the best threshold; of equals the highest, which takes the fewest rows for yes."""
    match goal:
        case "f1" | "accuracy":
            return int(np.argmax(getattr(table, goal)))
        case "precision":
            fit, figure = table.precision >= (least or 0.0), table.recall
        case "recall":
            fit, figure = table.recall >= (least or 0.0), table.precision
    if not fit.any():
        return None
    return int(np.argmax(np.where(fit, figure, -1.0)))


def _out_of_bag(
    steps: Steps, truth: NDArray[np.bool_], goal: Goal, least: float | None, resamples: int, seed: int
) -> tuple[Floats, Floats]:
    """The thresholds that resamples choose, and the goal's figure of each on the rows that it left out."""
    random, rows, bins = np.random.default_rng(seed), steps.place.size, steps.scores.size
    chosen, outside = [], []
    for _ in range(resamples):
        times = np.bincount(random.integers(0, rows, rows), minlength=rows)
        inside = [np.bincount(steps.place[of], weights=times[of], minlength=bins) for of in (truth, ~truth)]
        place = _best(_table(steps.scores, *_whole(inside)), goal, least)
        if place is None:
            continue
        chosen.append(float(steps.scores[place]))
        left = times == 0
        yes = steps.place <= place
        figure = _figure(goal, yes[left], truth[left])
        if figure is not None:
            outside.append(figure)
    return np.array(chosen or [float(steps.scores[0])]), np.array(outside)


def _whole(counts: list[Floats]) -> tuple[Ints, Ints]:
    yes, no = (count.astype(np.int64) for count in counts)
    return yes, no


def _figure(goal: Goal, yes: NDArray[np.bool_], truth: NDArray[np.bool_]) -> float | None:
    hits, taken, p = int((yes & truth).sum()), int(yes.sum()), int(truth.sum())
    match goal:
        case "accuracy":
            return float((yes == truth).mean()) if truth.size else None
        case "f1":
            return 2.0 * hits / (taken + p) if taken + p else None
        case "precision":
            return hits / taken if taken else None
        case "recall":
            return hits / p if p else None
