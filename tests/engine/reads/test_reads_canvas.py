"""Canvases alone and joint, and how questions are spread over canvases."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.reads.canvas import CANVAS_STEP, Specials, alone_canvas, even_runs, fits, joint_canvas

SPECIALS = Specials(thought=(50, 51), end=6, pad=0)
PREFIXES = st.lists(st.lists(st.integers(10, 40), min_size=1, max_size=4), min_size=1, max_size=12)


def test_alone() -> None:
    canvas = alone_canvas(SPECIALS, 16)
    assert canvas.seeded([99]) == (99, 6, *(0,) * 14)
    assert (canvas.width, canvas.slots, canvas.pinned) == (16, (0,), tuple(range(1, 16)))


def test_joint_by_hand() -> None:
    canvas = joint_canvas([(11, 12), (13, 12)], 9, SPECIALS, served=64)
    assert canvas.seeded([70, 71]) == (11, 12, 70, 9, 13, 12, 71, 9, 6, *(0,) * 7)
    assert canvas.slots == (2, 6)
    assert canvas.pinned == (0, 1, 3, 4, 5, 7, 8, *range(9, 16))


@given(PREFIXES, st.integers(16, 256))
def test_a_joint_canvas_holds_every_line_an_end_and_a_pad(prefixes: list[list[int]], served: int) -> None:
    if not fits([len(prefix) for prefix in prefixes], served):
        return
    canvas = joint_canvas(prefixes, 9, SPECIALS, served)
    seeded = canvas.seeded([99] * len(prefixes))
    lines = [token for prefix in prefixes for token in (*prefix, 99, 9)]
    assert seeded[: len(lines)] == tuple(lines)
    assert seeded[len(lines)] == SPECIALS.end
    assert len(seeded) > len(lines) + 1
    assert set(seeded[len(lines) + 1 :]) == {SPECIALS.pad}
    assert canvas.width <= served
    assert canvas.width % CANVAS_STEP == 0 or canvas.width == served
    assert sorted((*canvas.slots, *canvas.pinned)) == list(range(canvas.width))


def test_noise_must_match_the_slots() -> None:
    canvas = alone_canvas(SPECIALS, 2)
    with pytest.raises(ValueError, match="more noise"):
        canvas.seeded([1, 2])


@given(st.integers(1, 64), st.integers(1, 64))
def test_the_fewest_even_runs(count: int, most: int) -> None:
    runs = even_runs(count, lambda start, stop: stop - start <= most)
    sizes = [stop - start for start, stop in runs]
    assert [place for start, stop in runs for place in range(start, stop)] == list(range(count))
    assert max(sizes) <= most
    assert max(sizes) - min(sizes) <= 1
    assert sizes == sorted(sizes, reverse=True)
    assert len(runs) == -(-count // most)


def test_nothing_fits() -> None:
    assert even_runs(3, lambda start, stop: False) == [(0, 1), (1, 2), (2, 3)]
    assert not fits([3], 6)
    assert fits([3], 7)
