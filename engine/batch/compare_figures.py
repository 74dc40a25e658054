"""What a comparison says: figures per cell, differences that are more than luck, and a recommendation in words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.batch.analysis.bootstrap import Interval, figure_interval
from engine.batch.analysis.calibration import reliability
from engine.batch.analysis.measures import accuracy, auc, spearman
from engine.batch.compare import BASE, Cell, CellResult, Comparison
from engine.reads.failures import told

LEVEL = 0.95
RESAMPLES = 2000  # the intervals of many cells reach into the tails
FASTER = 1.2  # so many times as fast is worth a word
QUALITY = {"noul": "AUC", "choice": "accuracy", "score": "rank correlation"}

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class CellFigures:
    """One cell's figures, the first run seed's where seeds are not named.

    Attributes:
        quality: noul: AUC; choice: accuracy; score: Spearman's correlation with gold. Over rows that are ok.
        interval: 95 %, over resampled rows.
        ece: expected calibration error, weighted to the table (noul: of p(yes); choice: of the likeliest share).
        unreadable, failed: shares of all reads, both seeds.
        spread: mean absolute difference between the run seeds, over rows ok in both; choice: share of other answers.
        quality_spread: difference of ``quality`` between the run seeds.
        per_s: answers to the question a second.
        difference, difference_interval: quality minus the base cell's, over rows ok in both; the interval allows for
            the number of cells.
        rows: ok in the first run.
        first_failure: the row and the reason of the first answer that failed; empty when none did.
    """

    cell: Cell
    refusal: str
    rows: int = 0
    quality: float | None = None
    interval: Interval | None = None
    ece: float | None = None
    unreadable: float | None = None
    failed: float | None = None
    spread: float | None = None
    quality_spread: float | None = None
    per_s: float | None = None
    difference: float | None = None
    difference_interval: Interval | None = None
    first_failure: str = ""

    @property
    def better(self) -> bool:
        """Whether it is better than the base by more than luck: of the rows, and of the seeds."""
        found = self.difference_interval
        return found is not None and found.low > (self.quality_spread or 0.0)

    @property
    def worse(self) -> bool:
        found = self.difference_interval
        return found is not None and found.high < 0.0


def figures(comparison: Comparison, base: Cell | None = None) -> tuple[CellFigures, ...]:
    """The figures of every cell that is read, in the order of reading.

    Args:
        base: what the others are held against; else ``BASE`` when it is there, else the first cell that was read.
    """
    ground = base_of(comparison, base)
    read = sum(1 for result in comparison.results if not result.refusal)
    level = 1.0 - (1.0 - LEVEL) / max(read - 1, 1)  # Bonferroni: as many differences as there are other cells
    return tuple(_figures(comparison, result, ground, level) for result in comparison.results)


def base_of(comparison: Comparison, base: Cell | None = None) -> CellResult | None:
    """The cell that the others are held against."""
    read = [result for result in comparison.results if not result.refusal]
    wanted = base or BASE
    return next((result for result in read if result.cell == wanted), read[0] if read else None)


def recommend(comparison: Comparison, base: Cell | None = None) -> str:
    """What to take, in words. A difference inside its interval is never recommended."""
    ground, found = base_of(comparison, base), figures(comparison, base)
    known = [each for each in found if each.quality is not None]
    start = next((each for each in known if ground is not None and each.cell == ground.cell), None)
    if start is None:
        return " ".join(["No cell gives a figure here: there is nothing to recommend.", *_failed(found)])
    name = QUALITY[comparison.kind]
    others = [each for each in known if each is not start and each.difference is not None]
    better = sorted((each for each in others if each.better), key=lambda each: -(each.difference or 0.0))
    parts = [_best(start, better, others, name)]
    chosen = better[0] if better else start
    parts += _fastest(chosen, others, start, name)
    parts += _warnings(found, chosen)
    parts += _failed(found)
    return " ".join(parts)


def as_json(comparison: Comparison, base: Cell | None = None) -> dict[str, Any]:
    """The figures and the recommendation, for machines."""

    def interval(found: Interval | None) -> list[float] | None:
        return None if found is None else [found.low, found.high]

    cells = [
        {
            "name": each.cell.name,
            "draws": each.cell.draws,
            "steps": each.cell.steps,
            "layout": each.cell.layout,
            "state": each.cell.state,
            "refusal": each.refusal,
            "rows": each.rows,
            "quality": each.quality,
            "interval": interval(each.interval),
            "ece": each.ece,
            "unreadable": each.unreadable,
            "failed": each.failed,
            "first_failure": each.first_failure,
            "spread": each.spread,
            "quality_spread": each.quality_spread,
            "per_s": each.per_s,
            "difference": each.difference,
            "difference_interval": interval(each.difference_interval),
            "better": each.better,
            "worse": each.worse,
        }
        for each in figures(comparison, base)
    ]
    return {
        "question": comparison.subject.question,
        "figure": QUALITY[comparison.kind],
        "rows": len(comparison.gold),
        "cells": cells,
        "recommendation": recommend(comparison, base),
    }


def _figures(comparison: Comparison, result: CellResult, ground: CellResult | None, level: float) -> CellFigures:
    if result.refusal:
        return CellFigures(result.cell, result.refusal)
    gold = np.array(comparison.gold)
    ok = [_ok(result, seed) for seed in range(len(result.answers))]
    values = [_values(result, seed) for seed in range(len(result.answers))]
    statuses = [answer.status for seed in result.answers for answer in seed]
    quality = _quality(comparison.kind, values[0][ok[0]], gold[ok[0]])
    both = np.logical_and.reduce(ok)
    again = [_quality(comparison.kind, value[both], gold[both]) for value in values]
    known = [each for each in again if each is not None]
    difference, interval = (None, None)
    if ground is not None and ground.cell != result.cell:
        difference, interval = _difference(comparison, result, ground, level)
    return CellFigures(
        cell=result.cell,
        refusal="",
        rows=int(ok[0].sum()),
        quality=quality,
        interval=_interval(comparison.kind, values[0][ok[0]], gold[ok[0]]),
        ece=_ece(comparison, result, ok[0]),
        unreadable=statuses.count("unreadable") / len(statuses),
        failed=statuses.count("error") / len(statuses),
        spread=_spread(comparison.kind, [value[both] for value in values]),
        quality_spread=max(known) - min(known) if len(known) == len(again) else None,
        per_s=len(statuses) / math.fsum(result.seconds) if math.fsum(result.seconds) > 0.0 else None,
        difference=difference,
        difference_interval=interval,
        first_failure=result.first_failure,
    )


def _quality(kind: str, values: Floats, gold: NDArray[np.int64]) -> float | None:
    match kind:
        case "noul":
            return auc(values, gold == 0)
        case "choice":
            return accuracy(values, gold)
        case _:
            return spearman(values, gold)


def _interval(kind: str, values: Floats, gold: NDArray[np.int64]) -> Interval | None:
    if not values.size:
        return None
    return figure_interval(lambda rows: _quality(kind, values[rows], gold[rows]), gold)


def _difference(
    comparison: Comparison, result: CellResult, ground: CellResult, level: float
) -> tuple[float | None, Interval | None]:
    """Quality minus the base's on the same rows, with its interval from paired resamples."""
    both = _ok(result, 0) & _ok(ground, 0)
    gold = np.array(comparison.gold)[both]
    mine, its = _values(result, 0)[both], _values(ground, 0)[both]

    def difference(rows: NDArray[np.int64]) -> float | None:
        one = _quality(comparison.kind, mine[rows], gold[rows])
        other = _quality(comparison.kind, its[rows], gold[rows])
        return None if one is None or other is None else one - other

    if not gold.size:
        return None, None
    whole = difference(np.arange(gold.size))
    return whole, figure_interval(difference, gold, resamples=RESAMPLES, level=level) if whole is not None else None


def _ece(comparison: Comparison, result: CellResult, ok: Bools) -> float | None:
    gold, weights = np.array(comparison.gold)[ok], np.array(comparison.weights)[ok]
    match comparison.kind:
        case "noul":
            diagram = reliability(_values(result, 0)[ok], gold == 0, weights=weights)
        case "choice":
            top = np.array([answer.top if answer.top is not None else np.nan for answer in result.answers[0]])[ok]
            diagram = reliability(top, _values(result, 0)[ok] == gold, weights=weights)
        case _:
            return None
    return diagram.ece if diagram is not None else None


def _spread(kind: str, values: list[Floats]) -> float | None:
    if len(values) < 2 or not values[0].size:
        return None
    if kind == "choice":
        return float((values[0] != values[1]).mean())
    return float(np.abs(values[0] - values[1]).mean())


def _ok(result: CellResult, seed: int) -> Bools:
    return np.array([answer.status == "ok" for answer in result.answers[seed]])


def _values(result: CellResult, seed: int) -> Floats:
    return np.array([np.nan if answer.value is None else answer.value for answer in result.answers[seed]])


def _best(start: CellFigures, better: list[CellFigures], others: list[CellFigures], name: str) -> str:
    if better:
        best = better[0]
        assert best.difference_interval is not None
        return (
            f"Take {best.cell.name}: its {name} is {best.quality:.3f} against {start.quality:.3f} of "
            f"{start.cell.name}, and the difference of {best.difference:+.3f} ({_range(best.difference_interval)}, "
            "allowing for the number of cells) is more than luck."
        )
    if not others:
        return f"Only {start.cell.name} was read ({name} {start.quality:.3f})."
    top = max(others, key=lambda each: each.difference or -math.inf)
    interval = f" ({_range(top.difference_interval)})" if top.difference_interval is not None else ""
    return (
        f"Stay with {start.cell.name} ({name} {start.quality:.3f}): no other way is better by more than luck. "
        f"The largest difference is {top.difference:+.3f}{interval}, of {top.cell.name}."
    )


def _fastest(chosen: CellFigures, others: list[CellFigures], start: CellFigures, name: str) -> list[str]:
    """A faster way that is not seen to be worse, with the loss that could hide."""
    if chosen.per_s is None:
        return []
    fit = [
        each
        for each in [*others, start]
        if each is not chosen and not each.worse and each.per_s is not None and each.per_s >= FASTER * chosen.per_s
        and (each.unreadable or 0.0) <= (chosen.unreadable or 0.0) + 2.0 / max(each.rows, 1)
    ]  # fmt: skip
    if chosen is not start or not fit:
        return []
    fastest = max(fit, key=lambda each: each.per_s or 0.0)
    hidden = -fastest.difference_interval.low if fastest.difference_interval is not None else None
    loss = f"; a loss of up to {hidden:.3f} could hide in so few rows" if hidden and hidden >= 0.0005 else ""
    again = " Its numbers are others: choose a threshold anew." if fastest.cell.layout != chosen.cell.layout else ""
    times = (fastest.per_s or 0.0) / chosen.per_s
    return [f"{fastest.cell.name.capitalize()} is {times:.1f} times as fast and not seen to be worse{loss}.{again}"]


def _warnings(found: tuple[CellFigures, ...], chosen: CellFigures) -> list[str]:
    worse = [each.cell.name for each in found if each.worse]
    parts = [f"Worse by more than luck: {'; '.join(worse)}."] if worse else []
    if chosen.unreadable:
        parts.append(f"With it {chosen.unreadable:.1%} of the answers are unreadable.")
    if chosen.spread:
        parts.append(f"Another run seed moves its answers by {chosen.spread:.3f} on average.")
    return parts


def _failed(found: Sequence[CellFigures]) -> list[str]:
    """How many answers failed, of all that were read: they are in no figure."""
    read = [each for each in found if not each.refusal]
    shares = [each.failed or 0.0 for each in read]
    if not any(shares):
        return []
    first = next((each.first_failure for each in read if each.first_failure), "")
    what = f"{math.fsum(shares) / len(read):.1%} of the answers failed"
    return [told(what, first) if first else f"{what}."]


def _range(interval: Interval) -> str:
    return f"{interval.low:+.3f} to {interval.high:+.3f}"
