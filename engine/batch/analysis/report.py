"""Everything that can be said about a question's answers, as numbers: what the plots of the window are drawn from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from engine.batch.analysis.agreement import Confusion, confusion, weighted_kappa
from engine.batch.analysis.bootstrap import Interval, auc_interval, mean_interval
from engine.batch.analysis.calibration import Reliability, noise_floor, reliability
from engine.batch.analysis.caution import cautions
from engine.batch.analysis.curves import (
    Histogram,
    PositiveRanks,
    PrecisionRecall,
    Roc,
    histogram,
    positive_ranks,
    precision_recall,
    recall_at,
    recall_in_top,
    roc,
)
from engine.batch.analysis.gather import BAD_GOLD, NO_GOLD, Answers, gather
from engine.batch.analysis.groups import GroupTest, standing_out
from engine.batch.analysis.measures import accuracy, auc, mean_absolute_error, spearman
from engine.batch.analysis.thresholds import (
    BEST_F1,
    Aim,
    Coverage,
    Cut,
    Pick,
    Table,
    coverage_curve,
    cut_at,
    pick_threshold,
    threshold_table,
)
from engine.domain.question import Choice, Noul, Question, Score
from engine.domain.run import Totals
from engine.store.runs import RunView

RECALL_THRESHOLDS = (0.1, 0.3, 0.5, 0.7, 0.9)
TOP_SHARES = (0.01, 0.05, 0.10, 0.20)


@dataclass(frozen=True)
class YesNo:
    """A noul against gold.

    Attributes:
        positives: measured rows whose gold is yes.
        recall_above: recall by threshold, of scores above it.
        recall_top: recall by the share of the rows that score highest.
        pick: the threshold of the aim; None when none reaches it.
        at_threshold: what the form's own threshold gives, or None.
    """

    positives: int
    auc: float | None
    auc_interval: Interval | None
    roc: Roc | None
    precision_recall: PrecisionRecall | None
    reliability: Reliability | None
    recall_above: Mapping[float, float | None]
    recall_top: Mapping[float, float | None]
    ranks: PositiveRanks | None
    table: Table | None
    pick: Pick | None
    at_threshold: Cut | None = None


@dataclass(frozen=True)
class Choices:
    """A choice against gold."""

    accuracy: float | None
    accuracy_interval: Interval | None
    confusion: Confusion | None


@dataclass(frozen=True)
class Levels:
    """A score against gold. ``kappa``: weighted by squared distances, expected levels rounded."""

    mae: float | None
    mae_interval: Interval | None
    kappa: float | None
    spearman: float | None
    confusion: Confusion | None


@dataclass(frozen=True)
class GroupFigures:
    """One value of the form's group column.

    Attributes:
        test: whether its unreadable answers stand out.
        measured, positives: of a noul with gold.
        auc, recall_030, recall_top5, median_rank: of a noul with gold, within the group.
    """

    name: str
    totals: Totals
    test: GroupTest
    measured: int = 0
    positives: int = 0
    auc: float | None = None
    recall_030: float | None = None
    recall_top5: float | None = None
    median_rank: float | None = None


@dataclass(frozen=True)
class Analysis:
    """One question of a run.

    Attributes:
        measured: rows with an ok answer and gold; all figures against gold are over these.
        without_gold, bad_gold: rows whose gold cell is empty or names no answer.
        histogram: of the numbers (p(yes), expected level); of the likeliest option's share for a choice.
        yes_no, choices, levels: the one that fits the type, when there is gold.
        coverage: what is left to people when only sure answers are taken.
        groups: those that stand out first; empty without a group column.
        noise_floor: the least difference of a share over the measured rows that is more than luck.
        cautions: what makes the answers suspect whatever the gold says.
    """

    question: Question
    totals: Totals
    measured: int
    without_gold: int
    bad_gold: int
    first_bad: str
    histogram: Histogram
    yes_no: YesNo | None = None
    choices: Choices | None = None
    levels: Levels | None = None
    coverage: Coverage | None = None
    groups: tuple[GroupFigures, ...] = field(default=())
    noise_floor: float | None = None
    cautions: tuple[str, ...] = ()


def analyse_run(view: RunView, aim: Aim = BEST_F1) -> tuple[Analysis, ...]:
    """Analyse every question of a run; one pass over its rows. Call it off the event loop."""
    return tuple(analyse(answers, aim) for answers in gather(view))


def analyse(answers: Answers, aim: Aim = BEST_F1) -> Analysis:
    """Analyse the answers of one question; ``aim``: what its threshold is chosen for."""
    question, measured = answers.question, answers.measured
    gold, value = answers.gold[measured], answers.value[measured]
    has_gold = bool(measured.any())
    right = answers.best[measured] == gold
    return Analysis(
        question=question,
        totals=answers.totals(),
        measured=int(measured.sum()),
        without_gold=int((answers.gold == NO_GOLD).sum()) if question.gold is not None else 0,
        bad_gold=int((answers.gold == BAD_GOLD).sum()),
        first_bad=answers.first_bad,
        histogram=_histogram(answers),
        yes_no=yes_no(value, gold == 0, question.threshold, aim) if has_gold and isinstance(question, Noul) else None,
        choices=_choices(question, gold, value) if has_gold and isinstance(question, Choice) else None,
        levels=_levels(question, gold, value) if has_gold and isinstance(question, Score) else None,
        coverage=coverage_curve(answers.top[measured], right) if has_gold else None,
        groups=_groups(answers) if answers.groups else (),
        noise_floor=noise_floor(float(right.mean()), int(right.size)) if has_gold else None,
        cautions=cautions(answers),
    )


def yes_no(value: np.ndarray, positive: np.ndarray, threshold: float | None = None, aim: Aim = BEST_F1) -> YesNo:
    """The figures of probabilities of yes against gold, both [N]; ``threshold`` is the form's."""
    return YesNo(
        positives=int(positive.sum()),
        auc=auc(value, positive),
        auc_interval=auc_interval(value, positive),
        roc=roc(value, positive),
        precision_recall=precision_recall(value, positive),
        reliability=reliability(value, positive),
        recall_above={threshold: recall_at(value, positive, threshold) for threshold in RECALL_THRESHOLDS},
        recall_top={share: recall_in_top(value, positive, share) for share in TOP_SHARES},
        ranks=positive_ranks(value, positive),
        table=threshold_table(value, positive),
        pick=pick_threshold(value, positive, aim.goal, aim.least),
        at_threshold=cut_at(value, positive, threshold) if threshold is not None else None,
    )


def _choices(question: Choice, gold: np.ndarray, value: np.ndarray) -> Choices:
    answers = value.astype(np.int64)
    return Choices(accuracy(answers, gold), mean_interval(answers == gold), confusion(gold, answers, question.answers))


def _levels(question: Score, gold: np.ndarray, value: np.ndarray) -> Levels:
    return Levels(
        mae=mean_absolute_error(value, gold),
        mae_interval=mean_interval(np.abs(value - gold)),
        kappa=weighted_kappa(gold, value, len(question.levels)),
        spearman=spearman(value, gold),
        confusion=confusion(gold, np.floor(value + 0.5), question.levels),
    )


def _histogram(answers: Answers) -> Histogram:
    question, ok = answers.question, answers.ok
    gold = answers.gold[ok]
    match question:
        case Noul():
            return histogram(answers.value[ok], np.where(gold < 0, -1, (gold == 0).astype(np.int64)))
        case Choice():
            right = np.where(gold < 0, -1, (answers.best[ok] == gold).astype(np.int64))
            return histogram(answers.top[ok], right)
        case Score():
            none = np.full(gold.size, -1)
            return histogram(answers.value[ok], none, high=float(len(question.levels) - 1))


def _groups(answers: Answers) -> tuple[GroupFigures, ...]:
    order = np.argsort(answers.group, kind="stable")
    cuts = np.searchsorted(answers.group[order], np.arange(len(answers.groups) + 1))
    rows = {name: order[cuts[at] : cuts[at + 1]] for at, name in enumerate(answers.groups)}
    totals = {}
    for name, inside in rows.items():
        within = np.zeros(answers.row.size, dtype=bool)
        within[inside] = True
        totals[name] = answers.totals(within)
    tests = standing_out({name: (each.ok + each.unreadable, each.unreadable) for name, each in totals.items()})
    return tuple(_group(answers, test, totals[test.name], rows[test.name]) for test in tests)


def _group(answers: Answers, test: GroupTest, totals: Totals, rows: np.ndarray) -> GroupFigures:
    measured = rows[answers.measured[rows]]
    if not isinstance(answers.question, Noul) or not measured.size:
        return GroupFigures(test.name, totals, test, measured=int(measured.size))
    value, positive = answers.value[measured], answers.gold[measured] == 0
    ranks = positive_ranks(value, positive)
    return GroupFigures(
        name=test.name,
        totals=totals,
        test=test,
        measured=int(measured.size),
        positives=int(positive.sum()),
        auc=auc(value, positive),
        recall_030=recall_at(value, positive, 0.30),
        recall_top5=recall_in_top(value, positive, 0.05),
        median_rank=ranks.median if ranks else None,
    )
