"""Which cells a spreadsheet would run (field case F8), and that nothing else is touched."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.batch.formulas import guarded, runs


@pytest.mark.parametrize(
    "cell",
    [
        "=cmd|' /C calc'!A0",
        '=HYPERLINK("http://x","y")',
        "+1",
        "+49 30 1234",
        "-1+1",
        "-2-3",
        "- item",
        "@SUM(1)",
        "\t=1",
        "\tx",
        "\r=1",
        "\n=1",
        " =1",
        "\u200b=1",
        "\ufeff=1",
        "\u2060\u200d @x",
        "\u3164=1",
        "\u00a0=1",
        "＝1+1",
        "＋1",
        "－cmd",
        "＠x",
        "-=1",
        "--1",
        "-0.5=",
        "-0x10",
        "-inf",
        "-٣",  # a digit of another script, which a spreadsheet may not take for a number
    ],
)
def test_a_cell_that_would_run_gets_an_apostrophe(cell: str) -> None:
    assert guarded(cell) == f"'{cell}"


@pytest.mark.parametrize(
    "cell",
    [
        "",
        " ",
        "\t",
        "-0.5",
        "-1",
        " -0.5",
        "-1e-05",
        "-1,234.5",
        "-1.234,5",
        "-.5",
        "-5%",
        "-",
        "+",
        "=",
        "@",
        "0",
        "text",
        "a=b",
        "'=1",
        '"=1"',
        "é=1",
        "(=1)",
        "1-1",
        "\nplain",
        " plain",
        "\u200bplain",
        "−5",  # the typographic minus starts nothing
    ],
)
def test_everything_else_is_equal(cell: str) -> None:
    assert guarded(cell) is cell


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_numbers_are_untouched(number: float) -> None:
    assert not runs(repr(number))


@given(st.text())
def test_a_guarded_cell_is_the_cell_behind_at_most_one_apostrophe(cell: str) -> None:
    safe = guarded(cell)
    assert safe in (cell, f"'{cell}")
    assert guarded(safe) == safe
