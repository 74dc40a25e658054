"""Intervals, out-of-bag thresholds and groups: what luck can do, against scipy and against the truth."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from sklearn import metrics

from engine.batch.analysis.bootstrap import auc_interval, figure_interval, mean_interval
from engine.batch.analysis.groups import fisher_greater, holm, sentence, standing_out
from engine.batch.analysis.measures import auc
from engine.batch.analysis.thresholds import coverage_curve, cut_at, pick_threshold, threshold_table


def sample(rows: int, digits: int | None = None, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    truth = random.random(rows) < 0.3
    truth[0], truth[1] = True, False
    scores = np.clip(random.normal(0.35 + 0.3 * truth, 0.2), 0.0, 1.0)
    return (scores if digits is None else scores.round(digits)), truth


@pytest.mark.parametrize("digits", [None, 1])
def test_the_interval_of_the_auc_is_scipys(digits: int | None) -> None:
    scores, truth = sample(120, digits)
    ours = auc_interval(scores, truth, resamples=2000)
    yes, no = scores[truth], scores[~truth]

    def figure(y: np.ndarray, n: np.ndarray) -> float:
        return float(metrics.roc_auc_score(np.r_[np.ones(y.size), np.zeros(n.size)], np.r_[y, n]))

    theirs = stats.bootstrap(
        (yes, no), figure, vectorized=False, method="percentile", n_resamples=1000, rng=np.random.default_rng(5)
    ).confidence_interval
    assert ours is not None
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), abs=0.015)
    # The same by the general way, which draws the same strata.
    general = figure_interval(lambda rows: auc(scores[rows], truth[rows]), truth, resamples=1000)
    assert general is not None
    assert (general.low, general.high) == pytest.approx((ours.low, ours.high), abs=0.015)
    assert auc_interval(scores, truth) == auc_interval(scores, truth)


def test_a_hundred_thousand_rows_have_an_interval() -> None:
    scores, truth = sample(100_000)
    found, value = auc_interval(scores, truth, resamples=50), auc(scores, truth)
    assert found is not None
    assert value is not None
    assert found.low < value < found.high
    assert found.half_width < 0.01


def test_many_distinct_scores_share_bins_without_moving_the_interval() -> None:
    scores, truth = sample(9000)
    binned = auc_interval(scores, truth, resamples=600)
    general = figure_interval(lambda rows: auc(scores[rows], truth[rows]), truth, resamples=600)
    assert binned is not None
    assert general is not None
    assert (binned.low, binned.high) == pytest.approx((general.low, general.high), abs=0.002)
    middle = (binned.low + binned.high) / 2
    assert middle == pytest.approx(auc(scores, truth), abs=0.001)


def test_no_interval_without_both_classes() -> None:
    assert auc_interval([0.1, 0.2], [True, True]) is None
    assert figure_interval(lambda _: None, [0, 1]) is None


def test_the_interval_of_a_mean_is_about_two_standard_errors() -> None:
    hits = np.arange(400) % 4 > 0
    found = mean_interval(hits)
    assert found.half_width == pytest.approx(1.96 * np.sqrt(0.75 * 0.25 / 400), rel=0.1)
    values = np.random.default_rng(0).random(5000)  # more distinct values than bins
    assert mean_interval(values).half_width == pytest.approx(1.96 * values.std() / np.sqrt(5000), rel=0.1)


@pytest.mark.parametrize("digits", [None, 1])
def test_every_threshold_gives_what_scikit_learn_counts(digits: int | None) -> None:
    scores, truth = sample(80, digits)
    table = threshold_table(scores, truth)
    assert table is not None
    for place, threshold in enumerate(table.threshold):
        yes = scores >= threshold
        assert table.precision[place] == pytest.approx(metrics.precision_score(truth, yes))
        assert table.recall[place] == pytest.approx(metrics.recall_score(truth, yes))
        assert table.f1[place] == pytest.approx(metrics.f1_score(truth, yes))
        assert table.accuracy[place] == pytest.approx(metrics.accuracy_score(truth, yes))
        assert table.yes_share[place] == pytest.approx(yes.mean())
        cut = cut_at(scores, truth, threshold)
        assert cut is not None
        assert (cut.precision, cut.recall) == pytest.approx((table.precision[place], table.recall[place]))
    nothing = cut_at(scores, truth, 2.0)
    assert nothing is not None
    assert (nothing.precision, nothing.recall) == (None, 0.0)


def test_the_best_threshold_is_found_for_each_goal() -> None:
    scores, truth = sample(300, 2)
    table = threshold_table(scores, truth)
    assert table is not None
    for goal in ("f1", "accuracy"):
        pick = pick_threshold(scores, truth, goal)  # type: ignore[arg-type]
        assert pick is not None
        assert pick.in_bag == max(getattr(table, goal))
    precise = pick_threshold(scores, truth, "precision", 0.8)
    assert precise is not None
    assert precise.precision >= 0.8
    assert precise.recall == max(table.recall[table.precision >= 0.8])
    complete = pick_threshold(scores, truth, "recall", 0.95)
    assert complete is not None
    assert complete.recall >= 0.95
    assert complete.precision == max(table.precision[table.recall >= 0.95])
    assert pick_threshold([0.9, 0.1], [False, True], "precision", 0.99) is None
    with pytest.raises(ValueError, match="least"):
        pick_threshold(scores, truth, "recall")


def test_out_of_bag_is_lower_where_there_is_nothing_to_find() -> None:
    """On pure noise the best threshold looks better than it is; the rows left out say so."""
    random = np.random.default_rng(3)
    scores, truth = random.random(60), random.random(60) < 0.5
    pick = pick_threshold(scores, truth, "accuracy")
    assert pick is not None
    assert pick.out_of_bag is not None
    assert pick.in_bag >= 0.55
    assert pick.out_of_bag < pick.in_bag - 0.03
    assert abs(pick.out_of_bag - 0.5) < 0.07
    assert f"{pick.out_of_bag:.2f} on new rows" in pick.sentence
    assert "are luck" in pick.sentence


def test_coverage_falls_from_all_rows_to_the_surest() -> None:
    curve = coverage_curve([0.9, 0.9, 0.6, 0.5], [True, True, False, True])
    assert curve is not None
    assert curve.least_share.tolist() == [0.9, 0.6, 0.5]
    assert curve.coverage.tolist() == [0.5, 0.75, 1.0]
    assert curve.accuracy == pytest.approx([1.0, 2 / 3, 0.75])
    assert coverage_curve([], []) is None


@pytest.mark.parametrize(("bad", "size", "bad_all", "size_all"), [(3, 10, 5, 100), (0, 5, 5, 10), (5, 5, 5, 5)])
def test_fishers_test_is_scipys(bad: int, size: int, bad_all: int, size_all: int) -> None:
    table = [[bad, size - bad], [bad_all - bad, size_all - size - (bad_all - bad)]]
    expected = stats.fisher_exact(table, alternative="greater").pvalue
    assert fisher_greater(bad, size, bad_all, size_all) == pytest.approx(expected)


def test_fishers_test_is_scipys_for_any_group() -> None:
    random = np.random.default_rng(11)
    for _ in range(60):
        size_all = int(random.integers(1, 2000))
        bad_all, size = (int(random.integers(0, size_all + 1)) for _ in range(2))
        bad = int(random.integers(max(0, bad_all + size - size_all), min(bad_all, size) + 1))
        table = [[bad, size - bad], [bad_all - bad, size_all - size - bad_all + bad]]
        expected = stats.fisher_exact(table, alternative="greater").pvalue
        assert fisher_greater(bad, size, bad_all, size_all) == pytest.approx(expected, rel=1e-6, abs=1e-12)


def test_holm_is_scipys_in_order() -> None:
    p = sorted([0.001, 0.02, 0.03, 0.5])
    assert holm(p) == pytest.approx((0.004, 0.06, 0.06, 0.5))


def test_the_seeds_cell_with_all_its_unreadable_answers_stands_out_first() -> None:
    """56 of 1,653 in one cell and none in 35 others: found first, the others not at all."""
    groups = {f"cell {n}": (1653, 0) for n in range(35)} | {"odd": (1653, 56)}
    tests = standing_out(groups)
    assert tests[0].name == "odd"
    assert tests[0].stands_out
    assert not any(test.stands_out for test in tests[1:])
    assert "odd (56 of 1653" in sentence(tests)
    assert "36 groups were tested" in sentence(tests)


def test_luck_among_many_groups_does_not_stand_out() -> None:
    random = np.random.default_rng(1)
    groups = {f"g{n}": (50, int(random.binomial(50, 0.04))) for n in range(200)}
    tests = standing_out(groups)
    assert tests[0].p < 0.05  # alone it would look odd
    assert not any(test.stands_out for test in tests)
    assert "No group" in sentence(tests)
    assert sentence(standing_out({"a": (5, 0), "b": (5, 0)})) == "No answer was unreadable."
    assert standing_out({"empty": (0, 0)})[0].p == 1.0
