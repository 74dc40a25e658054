"""The figures and the words of a comparison: differences inside their interval are never recommended."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sklearn import metrics

from engine.batch.compare import (
    BASE,
    Answer,
    Cell,
    CellResult,
    Comparison,
    Subject,
    comparison_path,
    grid,
    load_comparison,
    save_comparison,
)
from engine.batch.compare_figures import as_json, figures, recommend
from engine.domain.reading import Method
from engine.errors import InputError, UserError

ROWS = 120
ONE, JOINT, STEPS = Cell(draws=1), Cell(layout="joint"), Cell(steps=4)


def scores(strength: float, seed: int = 0) -> np.ndarray:
    """Probabilities of yes for gold that is yes on even rows: the stronger, the better they rank."""
    random = np.random.default_rng(seed)
    truth = np.arange(ROWS) % 2 == 0
    return np.clip(0.5 + strength * (truth - 0.5) + random.normal(0, 0.25, ROWS), 0.0, 1.0)


def result(cell: Cell, *values: np.ndarray, seconds: float = 10.0, unreadable: int = 0) -> CellResult:
    answers = tuple(
        tuple(
            Answer("unreadable") if row < unreadable else Answer("ok", float(p), float(max(p, 1 - p)))
            for row, p in enumerate(seed)
        )
        for seed in values
    )
    return CellResult(cell, answers, (seconds,) * len(values))


def comparison(*results: CellResult) -> Comparison:
    subject = Subject("f", "t", "q", "embedded: toy", tuple(range(1, ROWS + 1)), (0, 1))
    gold = tuple(row % 2 for row in range(ROWS))
    return Comparison(subject, "noul", gold, (1.0,) * ROWS, "2026-11-29T20:00:00+00:00", results)


def test_the_figures_of_a_cell_are_scikit_learns() -> None:
    values, again = scores(0.5), scores(0.5, 1)
    whole = comparison(result(BASE, values, again, seconds=4.0, unreadable=6))
    (found,) = figures(whole)
    truth = np.arange(ROWS) % 2 == 0
    assert found.quality == pytest.approx(metrics.roc_auc_score(truth[6:], values[6:]))
    assert found.interval is not None
    assert found.interval.low < found.quality < found.interval.high
    assert (found.rows, found.unreadable, found.failed) == (ROWS - 6, 6 / ROWS, 0.0)
    assert found.spread == pytest.approx(np.abs(values[6:] - again[6:]).mean())
    assert found.quality_spread == pytest.approx(abs(found.quality - metrics.roc_auc_score(truth[6:], again[6:])))
    assert found.per_s == pytest.approx(2 * ROWS / 8.0)
    assert (found.difference, found.better) == (None, False)


def test_the_calibration_error_is_that_of_the_table_not_of_the_even_sample() -> None:
    """One yes in ten thousand rows: a sample that is half yes must not call 0.5 well calibrated."""
    half = np.full(ROWS, 0.5)
    even = comparison(result(BASE, half, half))
    assert figures(even)[0].ece == pytest.approx(0.0)
    weights = tuple(1.0 if row % 2 == 0 else 9999.0 for row in range(ROWS))
    assert figures(replace(even, weights=weights))[0].ece == pytest.approx(0.5 - 1e-4)


def test_a_difference_inside_its_interval_is_not_recommended() -> None:
    """The other cell ranks a little better on this sample, by luck."""
    base = scores(0.35, 2)
    other = np.clip(base + np.random.default_rng(4).normal(0, 0.05, ROWS), 0.0, 1.0)
    whole = comparison(result(BASE, base, base), result(ONE, other, other))
    _, found = figures(whole)
    assert found.difference is not None
    assert abs(found.difference) > 0.0
    assert found.difference_interval is not None
    assert found.difference_interval.low < 0.0 < found.difference_interval.high
    assert (found.better, found.worse) == (False, False)
    assert recommend(whole).startswith("Stay with alone, auto draws, 1 step")
    assert "no other way is better by more than luck" in recommend(whole)


def test_a_clear_difference_is_recommended_and_a_clear_loss_named() -> None:
    base, good, bad = scores(0.3), scores(1.2, 1), scores(0.0, 2)
    whole = comparison(result(BASE, base, base), result(STEPS, good, good), result(JOINT, bad, bad, seconds=1.0))
    _, better, worse = figures(whole)
    assert (better.better, worse.worse) == (True, True)
    said = recommend(whole)
    assert said.startswith("Take alone, auto draws, 4 steps: its AUC is")
    assert "Worse by more than luck: questions together, auto draws, 1 step." in said
    assert "times as fast" not in said  # the fast one is worse


def test_a_difference_that_another_seed_undoes_is_not_recommended() -> None:
    """Better by more than the rows' luck, but the two run seeds differ by more than that."""
    base, good, other = scores(0.3), scores(0.9, 1), scores(-0.9, 1)
    _, found = figures(comparison(result(BASE, base, base), result(STEPS, good, other)))
    assert found.difference_interval is not None
    assert found.difference_interval.low > 0.0
    assert not found.better


def test_a_faster_way_that_is_not_worse_is_named_with_what_could_hide() -> None:
    base = scores(0.6)
    whole = comparison(result(BASE, base, base, seconds=8.0), result(JOINT, base * 0.5, base * 0.5, seconds=1.0))
    said = recommend(whole)
    assert "Questions together, auto draws, 1 step is 8.0 times as fast and not seen to be worse" in said
    assert "could hide" not in said, "the same ranking: nothing can"
    assert "choose a threshold anew" in said
    shaken = base + 0.1 * scores(0.3, 7)
    said = recommend(comparison(result(BASE, base, base, seconds=8.0), result(JOINT, shaken, shaken, seconds=1.0)))
    assert re.search(r"not seen to be worse; a loss of up to 0\.0\d\d could hide in so few rows", said)
    unreadable = comparison(
        result(BASE, base, base, seconds=8.0), result(JOINT, base, base, seconds=1.0, unreadable=30)
    )
    assert "times as fast" not in recommend(unreadable)


def test_the_more_cells_the_wider_the_intervals_of_the_differences() -> None:
    base, other = scores(0.4), scores(0.6, 3)
    two = comparison(result(BASE, base, base), result(ONE, other, other))
    many = comparison(*two.results, *(result(Cell(draws=n), base, base) for n in range(2, 20)))
    narrow, wide = figures(two)[1].difference_interval, figures(many)[1].difference_interval
    assert narrow is not None
    assert wide is not None
    assert wide.half_width > narrow.half_width
    assert wide.level == pytest.approx(1 - 0.05 / 19)


@pytest.mark.parametrize("kind", ["choice", "score"])
def test_choices_and_scores_have_their_own_figure(kind: str) -> None:
    gold = tuple(row % 3 for row in range(ROWS))
    right = np.array(gold, dtype=float)
    mixed = np.where(np.arange(ROWS) % 4 == 0, (right + 1) % 3, right)
    whole = replace(comparison(result(BASE, mixed, right)), kind=kind, gold=gold)  # type: ignore[arg-type]
    (found,) = figures(whole)
    if kind == "choice":
        assert found.quality == pytest.approx(0.75)
        assert found.spread == pytest.approx(0.25)
        assert found.ece is not None
    else:
        assert found.quality is not None
        assert 0.3 < found.quality < 1.0
        assert found.ece is None


def test_refused_cells_and_empty_comparisons_say_so() -> None:
    refused = CellResult(JOINT, refusal="no")
    base = scores(0.5)
    whole = comparison(result(BASE, base, base), refused)
    assert [each.refusal for each in figures(whole)] == ["", "no"]
    assert "Only alone, auto draws, 1 step was read" in recommend(whole)
    assert "nothing to recommend" in recommend(comparison(refused))
    nothing = comparison(result(BASE, base, base, unreadable=ROWS))
    assert figures(nothing)[0].quality is None
    assert "nothing to recommend" in recommend(nothing)
    assert json.dumps(as_json(nothing))


def test_answers_that_failed_are_told_with_the_first_reason() -> None:
    """They are no unreadable ones, and in no figure."""
    base = scores(0.5)
    whole = result(BASE, base, base)
    lost = tuple(tuple([Answer("error")] * 30 + list(seed[30:])) for seed in whole.answers)
    some = replace(whole, answers=lost, first_failure="row 3: photo.png: No such file or directory")
    (found,) = figures(comparison(some))
    assert (found.rows, found.unreadable, found.failed) == (ROWS - 30, 0.0, 0.25)
    assert "12.5% of the answers failed, first row 3: photo.png: No such file or directory." in recommend(
        comparison(some, result(JOINT, base, base), CellResult(STEPS, refusal="no"))
    )
    assert as_json(comparison(some))["cells"][0]["first_failure"] == some.first_failure
    every = replace(some, answers=((Answer("error"),) * ROWS,) * 2)
    said = recommend(comparison(every))
    assert said.startswith("No cell gives a figure here")
    assert "100.0% of the answers failed, first row 3: " in said
    assert "25.0% of the answers failed." in recommend(comparison(replace(some, first_failure=""))), "an older file"
    assert "failed" not in recommend(comparison(whole))


def test_the_grid_changes_one_thing_at_a_time_unless_told_otherwise() -> None:
    cells = grid()
    assert cells[0] == BASE
    assert len(cells) == 1 + 3 + 2 + 2 + 1 == len(set(cells))
    for cell in cells[1:]:
        fields = ("draws", "steps", "layout", "state")
        assert sum(getattr(cell, field) != getattr(BASE, field) for field in fields) == 1
    assert len(grid(full=True)) == 4 * 3 * 3 * 2
    assert grid((8,), (2,), ("joint",), ("row",)) == (Cell(8, 2, "joint"),)
    method = Cell(8, 2, "joint").method(Method(wire="native", rotate=True, min_mass=0.3), 7)
    assert method == Method(draws=8, steps=2, joint=True, wire="canvas", min_mass=0.3, seed=7)


def test_a_comparison_is_kept_and_read_again(tmp_path: Path) -> None:
    path = comparison_path(tmp_path / "my.form.json", "a b/ä")
    assert path.name == "my.form.comparison.a_b_ä.json"
    assert load_comparison(path) is None
    base = scores(0.5)
    failed = replace(result(ONE, base, base), first_failure="row 3: gone")
    whole = comparison(result(BASE, base, base, unreadable=1), CellResult(JOINT, refusal="no"), failed)
    save_comparison(path, whole)
    assert load_comparison(path) == whole
    for each in (before := whole.to_json())["results"]:
        del each["first_failure"]
    assert Comparison.from_json(before) == replace(
        whole, results=(*whole.results[:2], replace(failed, first_failure=""))
    )
    assert [each.name for each in tmp_path.iterdir()] == [path.name]
    again = whole.with_result(result(JOINT, base, base))
    assert [each.cell for each in again.results] == [BASE, ONE, JOINT]
    with pytest.raises(UserError, match="--out names another place"):
        save_comparison(tmp_path / "none" / "x.json", whole)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"version": 2}', '{"version": 1}', '{"version": 1, "subject": 3}'])
def test_a_file_that_is_no_comparison_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "c.json"
    path.write_text(text)
    with pytest.raises(InputError, match="is no comparison"):
        load_comparison(path)
