"""How well a run did, per question: counts by status and group, measures against gold, and the simpler readers.

Only answers of status ok are measured; the rest are counted, never averaged. The simpler readers are measured on the
same rows.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.batch.analysis.baseline import WordReader, expected_level
from engine.batch.analysis.gold import parse_gold
from engine.batch.analysis.measures import accuracy, auc, brier, largest_share, mean_absolute_error, spearman
from engine.batch.prepare import form_of, states_of
from engine.domain.question import Choice, Noul, Question, Score
from engine.domain.reading import STATUSES, Reading
from engine.domain.run import Totals
from engine.errors import UserError
from engine.store.runs import RunView

MAX_GROUPS = 1000
OTHER_GROUPS = "(other groups)"

Values = NDArray[np.float64]

_NAMES = {"noul": ("auc", "brier"), "choice": ("accuracy", "largest_class"), "score": ("spearman", "mae")}


@dataclass(frozen=True, slots=True)
class Metric:
    """A figure, or why there is none.

    Attributes:
        name: auc, brier, accuracy, largest_class, spearman or mae.
    """

    name: str
    value: float | None
    why_not: str = ""


@dataclass(frozen=True, slots=True)
class QuestionSummary:
    """One question of a run.

    Attributes:
        gold: its gold column, or None.
        measured: answers of status ok in rows with gold.
        left_out: rows with gold whose answer is not ok, by status.
        without_gold: rows whose gold cell is empty.
        bad_gold: rows whose gold cell names no answer; ``first_bad`` says where the first is.
        metrics: of the model, empty without gold.
        readers: the same of simpler readers: constant, words.
        groups: answers by status for each value of the form's group column.
    """

    question_id: str
    type: str
    totals: Totals
    gold: str | None = None
    measured: int = 0
    left_out: Mapping[str, int] = field(default_factory=dict)
    without_gold: int = 0
    bad_gold: int = 0
    first_bad: str = ""
    metrics: tuple[Metric, ...] = ()
    readers: Mapping[str, tuple[Metric, ...]] = field(default_factory=dict)
    groups: Mapping[str, Totals] = field(default_factory=dict)


def summarise(view: RunView, words: Mapping[str, WordReader] | None = None) -> tuple[QuestionSummary, ...]:
    """Measure a run. One pass over its rows, numbers only in memory.

    Args:
        words: the word readers by question id (``baseline.load_baseline``).
    """
    form = form_of(view)
    columns = {column: at for at, column in enumerate(view.spec.columns)}
    group = columns[form.group] if form.group is not None else None
    collectors = [_Collector(question, columns, (words or {}).get(question.id)) for question in form.questions]
    render = _renderer(view) if words else None
    for stored in view.iter_rows():
        if not stored.readings:
            continue
        state = render(stored.cells) if render is not None else ""
        name = stored.cells[group] if group is not None else None
        for collector, reading in zip(collectors, stored.readings, strict=True):
            collector.add(stored.row, stored.cells, reading, name, state)
    return tuple(collector.summary() for collector in collectors)


def measure(question: Question, gold: NDArray[np.int64], answers: Values) -> tuple[Metric, ...]:
    """The measures of a question's type.

    Args:
        gold: places in ``question.answers``.
        answers: noul: p(yes); choice: place of the option; score: expected level.
    """
    if not gold.size:
        return tuple(Metric(name, None, "no answer to measure") for name in _NAMES[question.type])
    match question:
        case Noul():
            yes = gold == 0
            return (_metric("auc", auc(answers, yes), "gold has one class only"), _metric("brier", brier(answers, yes)))
        case Choice():
            return (_metric("accuracy", accuracy(answers, gold)), _metric("largest_class", largest_share(gold)))
        case Score():
            flat = "gold has one level only" if np.unique(gold).size < 2 else "all answers are equal"
            return (
                _metric("spearman", spearman(answers, gold), flat),
                _metric("mae", mean_absolute_error(answers, gold)),
            )


def constant_answers(question: Question, gold: NDArray[np.int64]) -> Values:
    """The best that always saying the same can do: the mean of yes, the commonest option, the median level."""
    match question:
        case Noul():
            best = float((gold == 0).mean())
        case Choice():
            best = float(np.bincount(gold).argmax())
        case Score():
            best = float(np.median(gold))
    return np.full(gold.size, best)


def _metric(name: str, value: float | None, why_not: str = "") -> Metric:
    return Metric(name, value, why_not if value is None else "")


class _Collector:
    """Gathers one question's answers during the pass."""

    def __init__(self, question: Question, columns: Mapping[str, int], words: WordReader | None) -> None:
        self.question, self.words = question, words
        self.gold_at = columns[question.gold] if question.gold is not None else None
        self.options = {name: at for at, name in enumerate(question.answers)}
        self.gold, self.answers, self.by_words = array("q"), array("d"), array("d")
        self.statuses: Counter[str] = Counter()
        self.left_out: Counter[str] = Counter()
        self.groups: dict[str, Counter[str]] = {}
        self.without_gold = self.bad_gold = 0
        self.first_bad = ""

    def add(self, row: int, cells: tuple[str, ...], reading: Reading, group: str | None, state: str) -> None:
        """One row's answer."""
        self.statuses[reading.status] += 1
        if group is not None:
            name = group if group in self.groups or len(self.groups) < MAX_GROUPS else OTHER_GROUPS
            self.groups.setdefault(name, Counter())[reading.status] += 1
        if self.gold_at is None:
            return
        cell = cells[self.gold_at]
        if not cell.strip():
            self.without_gold += 1
            return
        gold = parse_gold(cell, self.question)
        if gold is None:
            self.bad_gold += 1
            self.first_bad = self.first_bad or f"row {row}, column {self.question.gold}: {cell[:60]!r}"
        elif reading.status != "ok" or reading.value is None:
            self.left_out[reading.status] += 1
        else:
            self.gold.append(gold)
            self.answers.append(self._number(reading.value))
            if self.words is not None:
                self.by_words.append(self._answer_of(self.words.shares(state)))

    def summary(self) -> QuestionSummary:
        """What was gathered."""
        gold = np.array(self.gold, dtype=np.int64)
        measured = self.gold_at is not None and gold.size > 0
        readers = {}
        if measured:
            readers["constant"] = measure(self.question, gold, constant_answers(self.question, gold))
            if self.words is not None:
                readers["words"] = measure(self.question, gold, np.array(self.by_words))
        return QuestionSummary(
            question_id=self.question.id,
            type=self.question.type,
            totals=_totals(self.statuses),
            gold=self.question.gold,
            measured=int(gold.size),
            left_out=dict(self.left_out),
            without_gold=self.without_gold,
            bad_gold=self.bad_gold,
            first_bad=self.first_bad,
            metrics=measure(self.question, gold, np.array(self.answers)) if self.gold_at is not None else (),
            readers=readers,
            groups={name: _totals(counts) for name, counts in sorted(self.groups.items())},
        )

    def _number(self, value: float | str) -> float:
        return float(self.options[value]) if isinstance(value, str) else float(value)

    def _answer_of(self, shares: Values) -> float:
        match self.question:
            case Noul():
                return float(shares[0])
            case Choice():
                return float(shares.argmax())
            case Score():
                return expected_level(shares)


def _totals(counts: Mapping[str, int]) -> Totals:
    return Totals(**{status: counts.get(status, 0) for status in STATUSES})


def _renderer(view: RunView) -> Callable[[tuple[str, ...]], str]:
    template, columns = states_of(view).template, view.spec.columns

    def render(cells: tuple[str, ...]) -> str:
        try:
            return template.render(dict(zip(columns, cells, strict=True)))
        except UserError:  # the row has no state; its answer is an error and is not measured
            return ""

    return render


def as_json(summary: QuestionSummary) -> dict[str, Any]:
    """The figures alone, by name, for machines: null where there is none."""
    figures: dict[str, Any] = {metric.name: metric.value for metric in summary.metrics}
    for reader, metrics in summary.readers.items():
        figures[reader] = {metric.name: metric.value for metric in metrics}
    return {**figures, "measured": summary.measured, "bad_gold": summary.bad_gold} if figures else {}
