"""Samples of a table: uniform, repeatable, even over gold classes, and weighted back to the table."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from batch_helpers import CHOICE, NOUL, form, numbered, write_table

from engine.batch.form import parse_form
from engine.batch.row_sample import sample_labelled, sample_rows
from engine.batch.selection import Selection
from engine.batch.tables import open_table
from engine.domain.form import Form
from engine.errors import InputError


def made(**fields: object) -> Form:
    return parse_form(form({**NOUL, "gold": "gold"}, {**CHOICE}, **fields), "f.json")


def test_a_sample_is_in_order_repeatable_and_without_blank_rows(tmp_path: Path) -> None:
    rows = [*numbered(50), ("51", "  ")]
    table = open_table(write_table(tmp_path / "t.csv", ("n", "text"), rows))
    plain = parse_form(form(NOUL), "f")
    found = sample_rows(plain, table, 10, seed=1)
    assert [row.row for row in found] == sorted({row.row for row in found})
    assert len(found) == 10
    assert all(row.state == f"text {row.row}" == row.cells[1] for row in found)
    assert found == sample_rows(plain, table, 10, seed=1) != sample_rows(plain, table, 10, seed=2)
    assert len(sample_rows(plain, table, 1000)) == 50  # the blank row is nothing to ask about


def test_only_rows_that_a_run_reads_are_sampled(tmp_path: Path) -> None:
    table = open_table(write_table(tmp_path / "t.csv", ("n", "text"), numbered(30)))
    plain = parse_form(form(NOUL), "f")
    found = sample_rows(plain, table, 100, selection=Selection(where="n|int > 25"))
    assert [row.row for row in found] == [26, 27, 28, 29, 30]


def test_every_row_is_as_likely_as_any_other(tmp_path: Path) -> None:
    table = open_table(write_table(tmp_path / "t.csv", ("n", "text"), numbered(20)))
    plain = parse_form(form(NOUL), "f")
    seen = Counter(row.row for seed in range(300) for row in sample_rows(plain, table, 5, seed=seed))
    assert all(45 <= seen[row] <= 110 for row in range(1, 21))  # 75 expected, 4 standard deviations


def test_a_rare_class_is_in_the_sample_and_weighted_back(tmp_path: Path) -> None:
    """Five of a thousand rows are yes: all five are taken, and the weights give the table's share back."""
    rows = [(str(n), f"text {n}", "yes" if n % 200 == 0 else "no" if n % 3 else "") for n in range(1, 1001)]
    table = open_table(write_table(tmp_path / "t.csv", ("n", "text", "gold"), rows))
    whole = made()
    found = sample_labelled(whole, whole.questions[0], table, 40, seed=3)
    positives = [row.row for row, gold in zip(found.rows, found.gold, strict=True) if gold == 0]
    assert positives == [200, 400, 600, 800, 1000]
    assert len(found.rows) == 40
    share = sum(w for w, gold in zip(found.weights, found.gold, strict=True) if gold == 0) / sum(found.weights)
    labelled = [row for row in rows if row[2]]
    assert share == pytest.approx(5 / len(labelled))
    late = sample_labelled(whole, whole.questions[0], table, 40, selection=Selection(where="n|int > 500"))
    assert [row.row for row, gold in zip(late.rows, late.gold, strict=True) if gold == 0] == [600, 800, 1000]
    assert min(row.row for row in late.rows) > 500


def test_samples_that_cannot_be_are_refused(tmp_path: Path) -> None:
    table = open_table(write_table(tmp_path / "t.csv", ("n", "text", "gold"), [("1", " ", ""), ("2", "", "")]))
    whole = made()
    with pytest.raises(
        InputError, match=r"nothing to ask about in any of the 2 rows .* first row 1: the state is empty"
    ):
        sample_rows(whole, table, 5)
    with pytest.raises(InputError, match="no row has gold"):
        sample_labelled(whole, whole.questions[0], table, 5)
    blank = open_table(write_table(tmp_path / "b.csv", ("n", "text", "gold"), [("1", "", "yes"), ("2", "x", "")]))
    with pytest.raises(InputError, match=r"in any of the 1 rows .* first row 1: the state is empty"):
        sample_labelled(whole, whole.questions[0], blank, 5)
    with pytest.raises(InputError, match="no rows below its header"):
        sample_rows(whole, open_table(write_table(tmp_path / "e.csv", ("n", "text", "gold"), [])), 5)
    with pytest.raises(InputError, match="has no gold column"):
        sample_labelled(whole, whole.questions[1], table, 5)
    with pytest.raises(InputError, match="no column"):
        sample_rows(whole, open_table(write_table(tmp_path / "u.csv", ("n", "text"), numbered(2))), 5)


def test_rows_that_would_fail_are_left_out_and_told(tmp_path: Path) -> None:
    """A template that fails, or a picture that is not on this computer; a blank row is no failure."""
    rows = [("1", "8", "yes"), ("x", "9", "no"), ("2", "", "no"), ("y", "", "yes")]
    table = open_table(write_table(tmp_path / "t.csv", ("n", "text", "gold"), rows))
    whole = made(state="{{ text }}{% if 1 / n|int > 9 %}{% endif %}")
    said: list[str] = []
    assert [row.row for row in sample_rows(whole, table, 9, note=said.append)] == [1]
    assert said[0].startswith("2 of 4 rows are left out, first row 2: ")
    found = sample_labelled(whole, whole.questions[0], table, 9, note=said.append)
    assert [row.row for row in found.rows] == [1]
    assert said[1].startswith("2 of 4 rows are left out, first row ")
    sample_rows(made(), table, 9, note=said.append)
    assert len(said) == 2
    remote = open_table(write_table(tmp_path / "r.csv", ("n", "text", "gold"), [("1", "http://x/a.png", "yes")]))
    pictured = made(version=3, pictures={"column": "text"})
    with pytest.raises(InputError, match=r"first row 1: .*nothing is loaded from elsewhere"):
        sample_rows(pictured, remote, 9)
