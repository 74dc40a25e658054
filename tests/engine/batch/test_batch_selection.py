"""Filters and samples: the right rows, the same every time, and faults named before anything is asked."""

from __future__ import annotations

from pathlib import Path

import pytest
from batch_helpers import write_table
from hypothesis import given
from hypothesis import strategies as st

from engine.batch.selection import (
    FILTERED,
    UNSAMPLED,
    Operator,
    Selection,
    check_filter,
    condition,
    preview_selection,
    select,
)
from engine.batch.tables import Table, open_table
from engine.domain.run import LeftOut
from engine.errors import InputError

ROWS = [(str(number), "DE" if number % 2 else "FR", "Refund me" if number % 3 == 0 else "") for number in range(1, 13)]


@pytest.fixture
def table(tmp_path: Path) -> Table:
    return open_table(write_table(tmp_path / "t.csv", ("n", "the land", "text"), ROWS))


def taken(table: Table, selection: Selection) -> list[int]:
    rows = list(select(table, selection))
    assert len(rows) == len(ROWS)
    return [number for number, row in enumerate(rows, start=1) if not isinstance(row, LeftOut)]


@pytest.mark.parametrize(
    ("where", "numbers"),
    [
        ("", list(range(1, 13))),
        ('row["the land"] == "DE"', [1, 3, 5, 7, 9, 11]),
        ('row["the land"] == "DE" and "refund" in text.lower()', [3, 9]),
        ("n|int > 10 or not text", [1, 2, 4, 5, 7, 8, 10, 11, 12]),
        ("text.strip()", [3, 6, 9, 12]),
        ("loop is defined or n == '4'", [4]),
    ],
)
def test_a_filter_takes_the_rows_for_which_it_is_true(table: Table, where: str, numbers: list[int]) -> None:
    if "loop" in where:
        with pytest.raises(InputError, match="loop"):
            taken(table, Selection(where=where))
        return
    assert taken(table, Selection(where=where)) == numbers


def test_every_row_comes_through_in_order_with_the_reason(table: Table) -> None:
    rows = list(select(table, Selection(where="n|int > 2", first=2)))
    assert [row.cells if isinstance(row, LeftOut) else row for row in rows] == ROWS
    reasons = [row.why if isinstance(row, LeftOut) else "" for row in rows]
    assert reasons == [FILTERED] * 2 + [""] * 2 + [UNSAMPLED] * 8
    assert preview_selection(table, Selection(where="n|int > 2"), 2) == [(3, ROWS[2]), (4, ROWS[3])]


@given(seed=st.integers(0, 2**40), size=st.integers(1, 20))
def test_a_sample_has_its_size_passes_the_filter_and_is_the_same_again(
    tmp_path_factory: pytest.TempPathFactory, seed: int, size: int
) -> None:
    table = open_table(write_table(tmp_path_factory.mktemp("s") / "t.csv", ("n", "land", "text"), ROWS))
    selection = Selection(where='land == "FR"', sample=size, seed=seed)
    numbers = taken(table, selection)
    assert len(numbers) == min(size, 6)
    assert all(number % 2 == 0 for number in numbers)
    assert taken(table, selection) == numbers


def test_seeds_give_different_samples(table: Table) -> None:
    assert len({tuple(taken(table, Selection(sample=4, seed=seed))) for seed in range(20)}) > 10


@pytest.mark.parametrize(
    ("where", "code"),
    [
        ("nothing == 1", "form.unknown_column"),
        ("n ==", "template.syntax"),
        ("n }} {{ text", "selection.syntax"),
        ("n %}a{% endif %}{% if text", "template.syntax"),
        ("n ** 2", "template.not_allowed"),
        ("n|attr('x')", "template.syntax"),
        ('n == "1" and n in "999"', "selection.none"),
        ("12 / (n|int - 5) > 0", "selection.row"),
        (
            "range(10000)|sort and range(10000)|sort and range(10000)|sort" + " and range(10000)|sort" * 60,
            "selection.row",
        ),
    ],
)
def test_faulty_filters_are_named(table: Table, where: str, code: str) -> None:
    with pytest.raises(InputError) as caught:
        list(select(table, Selection(where=where)))
    assert caught.value.code == code


def test_the_row_at_which_a_filter_fails_is_named(table: Table) -> None:
    with pytest.raises(InputError, match=r"row 5: the filter fails: .*division by zero"):
        list(select(table, Selection(where="12 / (n|int - 5) < 100")))


def test_counts_that_select_nothing_are_refused() -> None:
    for selection in ({"first": 0}, {"sample": -1}, {"first": 1, "sample": 1}):
        with pytest.raises(InputError):
            Selection(**selection)  # type: ignore[arg-type]
    assert not Selection()
    assert Selection(first=3).as_json() == {"first": 3}
    assert Selection("a", sample=3, seed=4).as_json() == {"where": "a", "sample": 3, "seed": 4}


@pytest.mark.parametrize(
    ("column", "operator", "value", "numbers"),
    [
        ("the land", "equals", "DE", [1, 3, 5, 7, 9, 11]),
        ("the land", "differs", "DE", [2, 4, 6, 8, 10, 12]),
        ("text", "contains", "REFUND", [3, 6, 9, 12]),
        ("text", "lacks", "refund", [1, 2, 4, 5, 7, 8, 10, 11]),
        ("text", "empty", "", [1, 2, 4, 5, 7, 8, 10, 11]),
        ("text", "filled", "", [3, 6, 9, 12]),
        ("n", "below", "3", [1, 2]),
        ("n", "above", "10.5", [11, 12]),
    ],
)
def test_conditions_of_one_column(
    table: Table, column: str, operator: Operator, value: str, numbers: list[int]
) -> None:
    assert taken(table, Selection(where=condition(column, operator, value))) == numbers


@given(value=st.text(max_size=8))
def test_a_condition_holds_any_value_as_text(value: str) -> None:
    where = condition("odd {{ name }}", "equals", value)
    template = check_filter(where, ["odd {{ name }}"])
    assert template.render({"odd {{ name }}": value}) == "1"
    assert template.render({"odd {{ name }}": value + "x"}) == ""


def test_a_number_is_wanted_where_numbers_are_compared() -> None:
    with pytest.raises(InputError, match='"x" is no number'):
        condition("n", "below", "x")
