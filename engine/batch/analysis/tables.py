"""The numbers of every figure as tables, for CSV files and for machines."""

from __future__ import annotations

import csv
import math
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from engine.batch.analysis.agreement import Confusion
from engine.batch.analysis.bootstrap import Interval
from engine.batch.analysis.report import Analysis, YesNo
from engine.errors import InputError, UserError

Table = tuple[tuple[str, ...], Sequence[Sequence[object]]]  # header, rows


def tables_of(analysis: Analysis) -> dict[str, Table]:
    """Every figure that the question has, by name (``roc``, ``reliability``, ``confusion``, ...)."""
    found: dict[str, Table] = {"histogram": _histogram(analysis)}
    if analysis.yes_no is not None:
        found |= _yes_no(analysis.yes_no)
    for part in (analysis.choices, analysis.levels):
        if part is not None and part.confusion is not None:
            found["confusion"] = _confusion(part.confusion)
    if analysis.coverage is not None:
        curve = analysis.coverage
        found["coverage"] = _columns(least_share=curve.least_share, coverage=curve.coverage, accuracy=curve.accuracy)
    if analysis.groups:
        found["groups"] = _groups(analysis)
    return found


def write_tables(analyses: Sequence[Analysis], folder: Path) -> list[Path]:
    """Write ``<place>-<question>-<figure>.csv`` for every figure into a folder that is made when missing.

    Raises:
        UserError: the folder or a file cannot be written.
    """
    written = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _unwritable(folder, error) from error
    for place, analysis in enumerate(analyses, start=1):
        name = "".join(char if char.isalnum() or char in "-_" else "_" for char in analysis.question.id)[:40]
        for figure, table in tables_of(analysis).items():
            path = folder / f"{place}-{name}-{figure}.csv"
            write_table(table, path)
            written.append(path)
    return written


def check_folder(folder: Path) -> None:
    """Refuse a folder that holds figures already: those of two runs side by side would be taken for one's.

    Raises:
        InputError: names one of them.
    """
    for path in sorted(folder.glob("[1-9]*-*-*.csv")):
        raise InputError(
            "analysis.exists",
            "{folder} holds figures already: {name}",
            remedy="choose another folder, or allow to overwrite them (--overwrite)",
            folder=str(folder),
            name=path.name,
        )


def write_table(table: Table, path: Path) -> None:
    """Write the numbers of one figure as CSV; cells without a value are empty.

    Raises:
        UserError: the file cannot be written.
    """
    header, rows = table
    try:
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(header)
            writer.writerows([["" if _none(cell) else cell for cell in row] for row in rows])
    except OSError as error:
        raise _unwritable(path, error) from error


def _unwritable(path: Path, error: OSError) -> UserError:
    return UserError("analysis.unwritable", "{path}: {why}", path=str(error.filename or path), why=str(error.strerror))


def as_json(analysis: Analysis) -> dict[str, Any]:
    """The figures of a question without its curves; null where one is not defined."""
    found: dict[str, Any] = {
        "question": analysis.question.id,
        "type": analysis.question.type,
        "totals": asdict(analysis.totals),
        "measured": analysis.measured,
        "without_gold": analysis.without_gold,
        "bad_gold": analysis.bad_gold,
        "noise_floor": analysis.noise_floor,
        "cautions": list(analysis.cautions),
    }
    if analysis.yes_no is not None:
        found |= _yes_no_json(analysis.yes_no)
    if analysis.choices is not None:
        found |= {
            "accuracy": analysis.choices.accuracy,
            "accuracy_interval": _interval(analysis.choices.accuracy_interval),
        }
    if analysis.levels is not None:
        levels = analysis.levels
        found |= {"mae": levels.mae, "mae_interval": _interval(levels.mae_interval)}
        found |= {"weighted_kappa": levels.kappa, "spearman": levels.spearman}
    if analysis.groups:
        header, rows = _groups(analysis)
        found["groups"] = [dict(zip(header, row, strict=True)) for row in rows]
    return found


def _yes_no_json(found: YesNo) -> dict[str, Any]:
    curve, diagram, ranks, pick = found.precision_recall, found.reliability, found.ranks, found.pick
    return {
        "positives": found.positives,
        "auc": found.auc,
        "auc_interval": _interval(found.auc_interval),
        "average_precision": curve.average_precision if curve else None,
        "brier": diagram.brier if diagram else None,
        "ece": diagram.ece if diagram else None,
        "recall_above": {f"{threshold:g}": value for threshold, value in found.recall_above.items()},
        "recall_top": {f"{share:g}": value for share, value in found.recall_top.items()},
        "median_rank": ranks.median if ranks else None,
        "worst_rank": ranks.worst if ranks else None,
        "at_threshold": asdict(found.at_threshold) if found.at_threshold else None,
        "threshold": {**asdict(pick), "sentence": pick.sentence} if pick else None,
    }


def _yes_no(found: YesNo) -> dict[str, Table]:
    tables: dict[str, Table] = {}
    if found.roc is not None:
        curve = found.roc
        tables["roc"] = _columns(
            threshold=curve.threshold,
            false_positive_rate=curve.false_positive_rate,
            true_positive_rate=curve.true_positive_rate,
        )
    if found.precision_recall is not None:
        pr = found.precision_recall
        tables["precision_recall"] = _columns(threshold=pr.threshold, precision=pr.precision, recall=pr.recall)
    if found.reliability is not None:
        r = found.reliability
        tables["reliability"] = _columns(
            low=r.low, high=r.high, rows=r.count, predicted=r.predicted, observed=r.observed,
            observed_low=r.observed_low, observed_high=r.observed_high,
        )  # fmt: skip
    if found.table is not None:
        t = found.table
        tables["thresholds"] = _columns(
            threshold=t.threshold, yes_share=t.yes_share, precision=t.precision, recall=t.recall, f1=t.f1,
            accuracy=t.accuracy,
        )  # fmt: skip
    recalls = [("above", key, value) for key, value in found.recall_above.items()]
    tops = [("top share", key, value) for key, value in found.recall_top.items()]
    tables["recall"] = (("of", "value", "recall"), [*recalls, *tops])
    return tables


def _histogram(analysis: Analysis) -> Table:
    h = analysis.histogram
    return _columns(low=h.edges[:-1], high=h.edges[1:], all=h.all, positive=h.positive, negative=h.negative)


def _confusion(found: Confusion) -> Table:
    header = ("gold", *found.names, "recall")
    rows: list[list[object]] = [
        [name, *counts.tolist(), float(recall)]
        for name, counts, recall in zip(found.names, found.counts, found.recall, strict=True)
    ]
    return header, [*rows, ["precision", *found.precision.tolist(), found.accuracy]]


def _groups(analysis: Analysis) -> Table:
    header = (
        "group", "ok", "unreadable", "error", "skipped", "unreadable_share", "p", "p_corrected", "stands_out",
        "measured", "positives", "auc", "recall_above_0.3", "recall_top_0.05", "median_rank",
    )  # fmt: skip
    rows = [
        (
            g.name, g.totals.ok, g.totals.unreadable, g.totals.error, g.totals.skipped, g.test.share, g.test.p,
            g.test.corrected, g.test.stands_out, g.measured, g.positives, g.auc, g.recall_030, g.recall_top5,
            g.median_rank,
        )
        for g in analysis.groups
    ]  # fmt: skip
    return header, rows


def _columns(**columns: np.ndarray) -> Table:
    """Arrays of one length, side by side."""
    return tuple(columns), list(zip(*(column.tolist() for column in columns.values()), strict=True))


def _interval(found: Interval | None) -> list[float] | None:
    return None if found is None else [found.low, found.high]


def _none(cell: object) -> bool:
    return cell is None or (isinstance(cell, float) and math.isnan(cell))
