"""What joint reading does to answers: the comparison by hand, and measured through an engine."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest
from fakes.wire_server import WireServer

from engine.client.http import EngineClient
from engine.domain.question import Choice, Noul, Option, Question, Score
from engine.domain.reading import Method, Reading
from engine.errors import InputError
from engine.reads.interference import Interference, compare, measure_interference

NOUL = Noul("n", "?")
ONE = Choice("one", "?", (Option("a"), Option("b")))
TWO = Choice("two", "?", (Option("c"), Option("d")))
SCORE = Score("s", "?", ("low", "mid", "high"))


def ok(*shares: float) -> Reading:
    return Reading("q", "ok", shares=shares)


UNREADABLE = Reading("q", "unreadable")


def test_a_noul_by_hand() -> None:
    pairs = [(ok(0.9, 0.1), ok(0.8, 0.2)), (ok(0.4, 0.6), ok(0.6, 0.4)), (ok(0.1, 0.9), UNREADABLE)]
    found = compare([NOUL], [[pair] for pair in pairs])
    (question,) = found.questions
    assert (question.rows, question.flips, question.unreadable_alone, question.unreadable_joint) == (2, 1, 0, 1)
    assert question.shift == pytest.approx(0.15)
    assert question.rank_correlation == pytest.approx(1.0)
    assert (found.rows, found.flips, found.compared, found.letter_copying) == (3, 1, 2, None)
    assert found.sentence == (
        "On 3 rows joint reading moved the answers by 0.15 on average (0 to 1); the ranking agrees at 1.00 (1 is the "
        "same order); 1 of 2 answers changed; 1 more were unreadable."
    )


def test_a_score_is_compared_by_its_expected_level() -> None:
    found = compare([SCORE], [[(ok(1, 0, 0), ok(0, 1, 0))], [(ok(0, 0, 1), ok(0, 0, 1))], [(ok(0, 1, 0), ok(1, 0, 0))]])
    assert found.shift == pytest.approx((0.5 + 0 + 0.5) / 3)
    assert found.rank_correlation == pytest.approx(0.5)
    assert found.flips == 2


def test_letter_copying_is_what_joint_adds() -> None:
    a, b = ok(0.9, 0.1), ok(0.2, 0.8)
    rows = [[(a, a), (b, a)], [(b, b), (a, b)], [(a, a), (a, a)], [(a, a), (b, b)]]
    found = compare([ONE, TWO], rows)
    # Equal letters: 3 of 4 joint, 1 of 4 alone.
    assert found.letter_copying == pytest.approx(0.5)
    assert "the same letter 50% more of the time" in found.sentence
    assert found.flips == 2
    assert found.questions[0].shift == pytest.approx(0.0)
    assert found.questions[1].shift == pytest.approx(0.7 * 2 / 4)


def test_nothing_readable_and_constant_answers() -> None:
    nothing = compare([NOUL], [[(UNREADABLE, ok(0.5, 0.5))]])
    assert (nothing.shift, nothing.rank_correlation, nothing.compared) == (None, None, 0)
    assert "cannot be judged" in nothing.sentence
    constant = compare([NOUL], [[(ok(0.5, 0.5), ok(0.5, 0.5))]] * 3)
    assert (constant.shift, constant.rank_correlation) == (0.0, None)
    assert "ranking" not in constant.sentence


def test_rows_that_failed_are_counted_with_the_first_reason() -> None:
    """Apart from unreadable ones: whichever way failed, and however many of the row's questions."""
    good, lost = ok(0.5, 0.5), Reading("q", "error", error="photo.png: No such file or directory")
    refused = Reading("q", "error", error="the engine refuses.")
    rows = [[(good, UNREADABLE)] * 2, [(good, refused), (good, good)], [(lost, lost)] * 2, [(good, good)] * 2]
    found = compare([NOUL, replace(NOUL, id="m")], rows, ["4", "7", "9", "12"])
    assert (found.rows, found.failed, found.first_failure) == (4, 2, "row 7: the engine refuses.")
    assert found.sentence.endswith(" 2 of 4 rows failed, first row 7: the engine refuses.")
    assert [question.unreadable_joint for question in found.questions] == [1, 1]
    assert Interference.from_json(json.loads(json.dumps(found.to_json()))) == found
    every = compare([NOUL], [[(lost, lost)]] * 2)
    assert every.sentence == (
        "On 2 rows no answer was readable both ways: joint reading cannot be judged here. "
        "2 of 2 rows failed, first row 1: photo.png: No such file or directory."
    )
    assert every.advice.startswith("Mend what failed")
    none = compare([NOUL], [[(good, good)]])
    assert (none.failed, "failed" in none.sentence) == (0, False)
    before = {key: value for key, value in none.to_json().items() if key not in ("failed", "first_failure")}
    assert Interference.from_json(before) == none, "a report of before failures were counted"


async def test_a_sample_is_read_both_ways() -> None:
    questions: tuple[Question, ...] = (NOUL, ONE, TWO)
    async with WireServer() as server, EngineClient(server.url) as client:
        toy = server.tokenizer

        def copying(prompt: Sequence[int], canvas: Sequence[int], position: int) -> Mapping[int, float]:
            if position:  # joint: every choice says B
                return {toy.id_of(" yes"): 0.49, toy.id_of(" no"): 0.01, toy.id_of(" B"): 0.48, toy.id_of(" A"): 0.02}
            letter = "A" if "first" in toy.decode(prompt) else "B"
            return {toy.id_of("yes"): 0.45, toy.id_of("no"): 0.05, toy.id_of(letter): 0.46, toy.id_of("A"): 0.01}

        server.distribution = copying
        method = Method(min_mass=0.0)
        rows = [(str(n), f"row {n}") for n in range(9)]
        found = await measure_interference(client, questions, method, rows, sample=5)
        assert isinstance(found, Interference)
        assert found.rows == 5
        assert await measure_interference(client, questions, method, rows, sample=5) == found
        assert (await measure_interference(client, questions, method, rows[:2])).rows == 2
        for bad_questions, bad_rows in (([NOUL], rows), (questions, [])):
            with pytest.raises(InputError):
                await measure_interference(client, bad_questions, method, bad_rows)
