"""Curves, calibration and agreement against scikit-learn and scipy, on scores with and without ties."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats
from sklearn import metrics

from engine.batch.analysis.agreement import confusion, weighted_kappa
from engine.batch.analysis.calibration import noise_floor, reliability
from engine.batch.analysis.curves import (
    histogram,
    positive_ranks,
    precision_recall,
    recall_at,
    recall_in_top,
    roc,
)

SHAPES = [(400, None), (400, 1), (37, 2), (2, None), (5000, 3)]


def sample(rows: int, digits: int | None, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Scores 0 to 1 that say something about the truth; ``digits`` makes ties. Both classes occur."""
    random = np.random.default_rng(seed)
    truth = random.random(rows) < 0.3
    truth[0], truth[1] = True, False
    scores = np.clip(random.normal(0.35 + 0.3 * truth, 0.2), 0.0, 1.0)
    return (scores if digits is None else scores.round(digits)), truth


@pytest.mark.parametrize(("rows", "digits"), SHAPES)
def test_roc_is_scikit_learns(rows: int, digits: int | None) -> None:
    scores, truth = sample(rows, digits)
    ours = roc(scores, truth)
    false, true, threshold = metrics.roc_curve(truth, scores, drop_intermediate=False)
    assert ours is not None
    assert ours.false_positive_rate == pytest.approx(false)
    assert ours.true_positive_rate == pytest.approx(true)
    assert ours.threshold == pytest.approx(threshold)


@pytest.mark.parametrize(("rows", "digits"), SHAPES)
def test_precision_and_recall_are_scikit_learns(rows: int, digits: int | None) -> None:
    scores, truth = sample(rows, digits)
    ours = precision_recall(scores, truth)
    precision, recall, threshold = metrics.precision_recall_curve(truth, scores)
    assert ours is not None
    assert ours.average_precision == pytest.approx(metrics.average_precision_score(truth, scores))
    # scikit-learn goes up from the lowest score and adds a last point without a threshold.
    assert ours.threshold[::-1] == pytest.approx(threshold)
    assert ours.precision[::-1] == pytest.approx(precision[:-1])
    assert ours.recall[::-1] == pytest.approx(recall[:-1])


@pytest.mark.parametrize(("rows", "digits"), SHAPES)
@pytest.mark.parametrize("share", [0.01, 0.05, 0.2, 1.0])
def test_recall_at_the_top_counts_rows(rows: int, digits: int | None, share: float) -> None:
    scores, truth = sample(rows, digits)
    size = math.ceil(round(share * rows, 9))
    # The mean over many orders of equal scores is what the figure promises.
    random = np.random.default_rng(1)
    found = []
    for _ in range(1 if digits is None else 300):
        mixed = random.permutation(rows)
        order = mixed[np.argsort(-scores[mixed], kind="stable")]
        found.append(truth[order][:size].sum() / truth.sum())
    assert recall_in_top(scores, truth, share) == pytest.approx(np.mean(found), abs=0.02 if digits else 1e-12)
    assert recall_at(scores, truth, 0.3) == pytest.approx(metrics.recall_score(truth, scores > 0.3))


def test_the_seeds_arithmetic_of_a_share_is_not_off_by_one() -> None:
    # 0.05 * 480 is a little more than 24 in floating point; the top holds 24 rows, not 25.
    truth = np.zeros(480, dtype=bool)
    truth[24] = True
    scores = -np.arange(480.0)
    assert recall_in_top(scores, truth, 0.05) == 0.0
    truth[23] = True
    assert recall_in_top(scores, truth, 0.05) == 0.5


@pytest.mark.parametrize(("rows", "digits"), SHAPES)
def test_the_ranks_of_positives_are_scipys(rows: int, digits: int | None) -> None:
    scores, truth = sample(rows, digits)
    ours = positive_ranks(scores, truth)
    ranks = stats.rankdata(-scores)[truth] / rows
    assert ours is not None
    assert ours.median == pytest.approx(np.median(ranks))
    assert ours.worst == pytest.approx(ranks.max())


@pytest.mark.parametrize("truth", [[], [True, True], [False, False]])
def test_one_class_has_no_curve(truth: list[bool]) -> None:
    scores = np.linspace(0, 1, len(truth))
    assert roc(scores, truth) is None
    some = any(truth)
    assert (precision_recall(scores, truth) is None) is not some
    assert (recall_at(scores, truth, 0.3) is None) is not some
    assert (recall_in_top(scores, truth, 0.1) is None) is not some
    assert (positive_ranks(scores, truth) is None) is not some


@pytest.mark.parametrize("seed", range(3))
def test_reliability_is_scikit_learns(seed: int) -> None:
    from sklearn.calibration import calibration_curve

    scores, truth = sample(1500, None, seed)
    ours = reliability(scores, truth)
    observed, predicted = calibration_curve(truth, scores, n_bins=10)
    assert ours is not None
    assert ours.observed == pytest.approx(observed)
    assert ours.predicted == pytest.approx(predicted)
    assert ours.brier == pytest.approx(metrics.brier_score_loss(truth, scores))
    assert ours.ece == pytest.approx(np.average(np.abs(observed - predicted), weights=ours.count))
    for low, high, share, count in zip(ours.observed_low, ours.observed_high, ours.observed, ours.count, strict=True):
        exact = stats.binomtest(round(share * count), int(count)).proportion_ci(method="wilson")
        assert (low, high) == pytest.approx((exact.low, exact.high))
    assert ours.caution == ""


def test_certain_probabilities_and_few_labels() -> None:
    found = reliability([0.0, 1.0, 1.0], [False, True, True])
    assert found is not None
    assert found.ece == 0.0
    assert found.count.tolist() == [1, 2]
    assert (found.high[-1], found.low[0]) == (1.0, 0.0)
    assert "3 labelled rows are few" in found.caution
    assert reliability([], []) is None


@pytest.mark.parametrize("classes", [2, 4, 10])
def test_confusion_and_kappa_are_scikit_learns(classes: int) -> None:
    random = np.random.default_rng(classes)
    gold = random.integers(0, classes, 300)
    answers = np.where(random.random(300) < 0.6, gold, random.integers(0, classes, 300))
    ours = confusion(gold, answers, tuple("abcdefghij"[:classes]))
    assert ours is not None
    assert ours.counts.tolist() == metrics.confusion_matrix(gold, answers).tolist()
    assert ours.recall == pytest.approx(metrics.recall_score(gold, answers, average=None))
    assert ours.precision == pytest.approx(metrics.precision_score(gold, answers, average=None))
    expected = metrics.cohen_kappa_score(gold, answers, weights="quadratic")
    assert weighted_kappa(gold, answers, classes) == pytest.approx(expected)
    # An expected level counts as the nearest level.
    assert weighted_kappa(gold, answers + 0.4, classes) == pytest.approx(expected)


def test_agreement_without_spread_or_rows() -> None:
    assert weighted_kappa([1, 1], [1, 1], 3) is None
    assert weighted_kappa([], [], 3) is None
    assert confusion([], [], ("a", "b")) is None
    never = confusion([0, 0], [0, 0], ("a", "b"))
    assert never is not None
    assert math.isnan(never.recall[1])


def test_a_histogram_counts_every_value_once() -> None:
    found = histogram([0.0, 0.05, 0.5, 0.99, 1.0], [1, 0, -1, 1, 1], bins=10)
    assert found.all.tolist() == [2, 0, 0, 0, 0, 1, 0, 0, 0, 2]
    assert found.positive.tolist() == [1, 0, 0, 0, 0, 0, 0, 0, 0, 2]
    assert found.negative.sum() == 1


def test_the_noise_floor_is_two_rows_or_the_interval() -> None:
    assert noise_floor(0.5, 100) == pytest.approx(1.96 * 0.05, abs=1e-4)
    assert noise_floor(1.0, 231) == pytest.approx(2 / 231)
    assert noise_floor(0.9, 0) == 1.0
