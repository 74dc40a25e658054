"""The measures against scikit-learn and scipy, ties and edges included."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats
from sklearn import metrics

from engine.batch.analysis.measures import accuracy, auc, brier, largest_share, mean_absolute_error, ranks, spearman

# Few distinct values, so that ties are the rule.
coarse = st.integers(0, 6).map(lambda number: number / 6)
pairs = st.lists(st.tuples(coarse, st.booleans()), min_size=1, max_size=60)


@given(pairs)
def test_auc_is_scikit_learns(cases: list[tuple[float, bool]]) -> None:
    scores, truth = zip(*cases, strict=True)
    if len(set(truth)) < 2:
        assert auc(scores, truth) is None
    else:
        assert auc(scores, truth) == pytest.approx(metrics.roc_auc_score(truth, scores), abs=1e-12)


@given(pairs)
def test_brier_is_scikit_learns(cases: list[tuple[float, bool]]) -> None:
    scores, truth = zip(*cases, strict=True)
    assert brier(scores, truth) == pytest.approx(metrics.brier_score_loss(truth, scores, labels=[False, True]))


@given(st.lists(st.tuples(coarse, st.integers(0, 4)), min_size=2, max_size=60))
def test_spearman_is_scipys(cases: list[tuple[float, int]]) -> None:
    left, right = zip(*cases, strict=True)
    if len(set(left)) < 2 or len(set(right)) < 2:
        assert spearman(left, right) is None
    else:
        assert spearman(left, right) == pytest.approx(stats.spearmanr(left, right).statistic, abs=1e-12)


@given(st.lists(coarse, min_size=1, max_size=60))
def test_ranks_are_scipys(values: list[float]) -> None:
    assert ranks(values).tolist() == stats.rankdata(values).tolist()


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=60))
def test_accuracy_and_distance_are_scikit_learns(cases: list[tuple[int, int]]) -> None:
    answers, gold = zip(*cases, strict=True)
    assert accuracy(answers, gold) == pytest.approx(metrics.accuracy_score(gold, answers))
    assert mean_absolute_error(answers, gold) == pytest.approx(metrics.mean_absolute_error(gold, answers))
    assert largest_share(gold) == pytest.approx(max(map(gold.count, gold)) / len(gold))


@given(st.lists(st.tuples(st.floats(-1e6, 1e6), st.booleans()), min_size=2, max_size=40))
def test_auc_counts_pairs_in_the_right_order_and_ties_half(cases: list[tuple[float, bool]]) -> None:
    """The definition itself, and its symmetry."""
    yes = [score for score, truth in cases if truth]
    no = [score for score, truth in cases if not truth]
    assume(yes and no)
    won = math.fsum((a > b) + 0.5 * (a == b) for a in yes for b in no) / (len(yes) * len(no))
    scores, truth = map(np.array, zip(*cases, strict=True))
    assert auc(scores, truth) == pytest.approx(won, abs=1e-12)
    assert auc(-scores, truth) == pytest.approx(1 - won, abs=1e-12)


def test_nothing_to_measure_gives_none() -> None:
    assert auc([], []) is None
    assert accuracy([], []) is None
    assert largest_share([]) is None
    assert spearman([], []) is None
    assert spearman([1.0], [2.0]) is None
    assert mean_absolute_error([], []) is None
    assert brier([], []) is None
