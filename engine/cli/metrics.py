"""How well a run did where its form names gold columns, beside readers that do not think."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.batch.prepare import form_of
from engine.domain.run import Totals
from engine.errors import UserError
from engine.store.runs import RunView

if TYPE_CHECKING:
    from engine.batch.analysis.summary import Metric, QuestionSummary

NAMES = {
    "auc": "AUC",
    "brier": "Brier score",
    "accuracy": "accuracy",
    "largest_class": "share of the largest class",
    "spearman": "Spearman correlation",
    "mae": "mean absolute error",
}
READERS = {"constant": "always the same answer", "words": "bag of words"}
GROUPS_SHOWN = 5


def measure_run(path: Path, form_path: Path, note: Callable[[str], None]) -> tuple[QuestionSummary, ...]:
    """The figures of a stored run, one summary per question.

    Args:
        form_path: where its form lies; a word reader may lie beside it.
        note: told when there can be no figures: they are an extra, the answers are stored and exported.
    """
    try:
        from engine.batch.analysis.baseline import load_baseline
        from engine.batch.analysis.summary import summarise
    except ImportError as error:
        note(f"no figures: {error.name} is not installed")
        return ()
    with RunView(path) as view:
        try:
            words = load_baseline(form_path, form_of(view))
        except UserError as error:
            note(f"no bag-of-words figures: {error}")
            words = {}
        return summarise(view, words)


def metrics_json(summaries: Sequence[QuestionSummary]) -> dict[str, dict[str, Any]]:
    """By question id, for those that have a gold column."""
    if not summaries:
        return {}
    from engine.batch.analysis.summary import as_json

    return {summary.question_id: figures for summary in summaries if (figures := as_json(summary))}


def metric_lines(summary: QuestionSummary) -> list[str]:
    """``AUC 0.934 (always the same answer 0.500, bag of words 0.512), 230 rows`` and so on."""
    lines = []
    for metric in summary.metrics:
        name = NAMES.get(metric.name, metric.name)
        if metric.value is None:
            lines.append(f"{name}: none, {metric.why_not}")
            continue
        others = [
            f"{READERS.get(reader, reader)} {found.value:.3f}"
            for reader, metrics in summary.readers.items()
            if (found := _find(metrics, metric.name)) and found.value is not None
        ]
        beside = f" ({', '.join(others)})" if others and metric.name != "largest_class" else ""
        lines.append(f"{name} {metric.value:.3f}{beside}, {summary.measured} rows")
    if summary.bad_gold:
        lines.append(f"{summary.bad_gold} gold cells name no answer, first {summary.first_bad}")
    lines.extend(_group_lines(summary.groups))
    return lines


def _find(metrics: Sequence[Metric], name: str) -> Metric | None:
    return next((metric for metric in metrics if metric.name == name), None)


def _group_lines(groups: Mapping[str, Totals]) -> list[str]:
    """Where the unreadable answers are, the worst groups first."""
    bad = sorted(((each.unreadable, name) for name, each in groups.items() if each.unreadable), reverse=True)
    if not bad:
        return []
    shown = ", ".join(f"{name} {count}" for count, name in bad[:GROUPS_SHOWN])
    more = f" and {len(bad) - GROUPS_SHOWN} groups more" if len(bad) > GROUPS_SHOWN else ""
    return [f"unreadable by group: {shown}{more}"]
