"""Draws to readings: hand-computed cases and properties."""

from __future__ import annotations

import math
import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.domain.question import Choice, Noul, Option, Question, Score
from engine.domain.reading import Draw, Method, Reading
from engine.reads.aggregate import failed, reading_of

NOUL = Noul("n", "?")
CHOICE = Choice("c", "?", (Option("red"), Option("green"), Option("blue")))
SCORE = Score("s", "?", ("low", "mid", "high"))
METHOD = Method()


def read(question: Question, *draws: Draw) -> Reading:
    return reading_of(question, draws, METHOD, name="alone/canvas")


def test_one_draw_of_a_noul() -> None:
    reading = read(NOUL, Draw((0.6, 0.2), True))
    assert reading.status == "ok"
    assert reading.value == pytest.approx(0.75)
    assert reading.shares == pytest.approx((0.75, 0.25))
    assert (reading.label_mass, reading.mean_mass) == (pytest.approx(0.8), pytest.approx(0.8))
    assert reading.entropy == pytest.approx(-(0.75 * math.log(0.75) + 0.25 * math.log(0.25)))
    assert (reading.stderr, reading.agreement, reading.draws) == (None, None, 1)


def test_four_draws_of_a_noul_by_hand() -> None:
    draws = [Draw((p * 0.9, (1 - p) * 0.9), True) for p in (0.9, 0.8, 0.7, 0.4)]
    reading = read(NOUL, *draws)
    assert reading.value == pytest.approx(0.7)
    # deviations .2 .1 0 -.3: sum of squares .14; / 3 / 4
    assert reading.stderr == pytest.approx(math.sqrt(0.14 / 3 / 4))
    assert reading.agreement == pytest.approx(0.75)
    assert reading.entropy == pytest.approx(draws[0].entropy)


def test_a_choice_is_named_and_its_error_is_of_the_winner() -> None:
    reading = read(CHOICE, Draw((0.2, 0.5, 0.3), True), Draw((0.1, 0.7, 0.2), True), Draw((0.6, 0.3, 0.1), True))
    assert reading.value == "green"
    assert reading.shares == pytest.approx((0.3, 0.5, 0.2))
    assert reading.stderr == pytest.approx(math.sqrt((0.0 + 0.04 + 0.04) / 2 / 3))
    assert reading.agreement == pytest.approx(2 / 3)


def test_a_score_is_the_expected_level_from_zero() -> None:
    reading = read(SCORE, Draw((0.2, 0.2, 0.6), True), Draw((0.5, 0.5, 0.0), True))
    assert reading.value == pytest.approx((1.4 + 0.5) / 2)
    assert reading.stderr == pytest.approx(math.sqrt((0.45**2 * 2) / 1 / 2))
    assert reading.agreement == 0.5


@pytest.mark.parametrize("draw", [Draw((0.3, 0.1), True), Draw((0.5, 0.45), False), Draw((0.0, 0.0), False)])
def test_an_unreadable_draw_keeps_its_diagnostics_and_gives_no_number(draw: Draw) -> None:
    reading = read(NOUL, draw)
    assert (reading.status, reading.value, reading.shares) == ("unreadable", None, ())
    assert (reading.stderr, reading.agreement) == (None, None)
    assert reading.label_mass == pytest.approx(draw.label_mass)
    assert reading.argmax_is_label is draw.argmax_is_label
    assert reading.entropy == pytest.approx(draw.entropy)
    assert reading.mean_mass == pytest.approx(draw.label_mass)
    assert reading.draws == 1


def test_unreadable_draws_stay_out_of_the_mean_but_not_out_of_the_mass() -> None:
    good, bad = Draw((0.9, 0.1), True), Draw((0.0, 0.02), False)
    half = read(NOUL, good, bad, good, bad)
    assert (half.status, half.value) == ("ok", pytest.approx(0.9))
    assert half.mean_mass == pytest.approx(0.51)
    assert (half.stderr, half.agreement) == (pytest.approx(0.0), 1.0)
    fewer = read(NOUL, good, bad, bad)
    assert fewer.status == "unreadable"
    assert fewer.label_mass == pytest.approx(1.0)  # of draw 0
    one = read(NOUL, bad, good)
    assert (one.status, one.stderr, one.agreement) == ("ok", None, None)
    assert one.argmax_is_label is False


def test_the_limit_of_the_mass_is_the_methods() -> None:
    draw = Draw((0.2, 0.1), True)
    assert reading_of(NOUL, [draw], Method(min_mass=0.3), name="x").status == "ok"
    assert reading_of(NOUL, [draw], Method(min_mass=0.31), name="x").status == "unreadable"


def test_a_failed_read_has_a_reason_and_nothing_else() -> None:
    reading = failed(NOUL, "because", name="joint/canvas")
    assert (reading.status, reading.error, reading.method) == ("error", "because", "joint/canvas")
    assert (reading.value, reading.label_mass, reading.entropy, reading.draws) == (None, None, None, 0)


DRAWS = st.lists(
    st.builds(
        lambda weights, mass, is_label: Draw(tuple(w / max(sum(weights), 1e-9) * mass for w in weights), is_label),
        st.tuples(*[st.floats(0, 1)] * 3),
        st.floats(0, 1),
        st.booleans(),
    ),
    min_size=1,
    max_size=32,
)


@given(DRAWS, st.sampled_from([CHOICE, SCORE]))
def test_properties(draws: list[Draw], question: Question) -> None:
    reading = read(question, *draws)
    readable = [draw for draw in draws if draw.argmax_is_label and draw.label_mass >= 0.5]
    assert (reading.status == "ok") == (len(readable) >= len(draws) / 2)
    assert 0.0 <= reading.label_mass <= 1.0 and 0.0 <= reading.mean_mass <= 1.0  # type: ignore[operator]  # noqa: PT018
    assert 0.0 <= reading.entropy <= math.log(3) + 1e-12  # type: ignore[operator]
    assert reading.draws == len(draws)
    if reading.status != "ok":
        assert reading.shares == ()
        return
    assert sum(reading.shares) == pytest.approx(1.0)
    assert all(0.0 <= share <= 1.0 for share in reading.shares)
    if isinstance(question, Score):
        assert 0.0 <= reading.value <= 2.0 + 1e-12  # type: ignore[operator]
    else:
        assert reading.shares[question.answers.index(str(reading.value))] == max(reading.shares)
    for label in range(3):
        assert min(d.shares[label] for d in readable) - 1e-9 <= reading.shares[label]
        assert reading.shares[label] <= max(d.shares[label] for d in readable) + 1e-9
    if len(readable) > 1:
        assert 1 / 3 <= reading.agreement + 1e-12 <= 1.0 + 1e-12  # type: ignore[operator]
        top = max(range(3), key=reading.shares.__getitem__)
        values = [sum(k * s for k, s in enumerate(d.shares)) for d in readable]
        if not isinstance(question, Score):
            values = [d.shares[top] for d in readable]
        assert reading.stderr == pytest.approx(statistics.stdev(values) / math.sqrt(len(values)), abs=1e-9)
    else:
        assert reading.stderr is None
        assert reading.agreement is None


@given(DRAWS, st.randoms())
def test_the_order_of_later_draws_does_not_matter(draws: list[Draw], source: object) -> None:
    shuffled = draws[1:]
    source.shuffle(shuffled)  # type: ignore[attr-defined]
    one, other = read(SCORE, *draws), read(SCORE, draws[0], *shuffled)
    assert one.shares == pytest.approx(other.shares)
    assert one.agreement == other.agreement
