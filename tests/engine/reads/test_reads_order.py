"""The option-order check, and reports that travel as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest
from fakes.wire_server import WireServer

from engine.client.http import EngineClient
from engine.domain.question import Choice, Noul, Option
from engine.domain.reading import Method, Reading
from engine.errors import InputError
from engine.reads.interference import Interference, compare
from engine.reads.order import OrderEffect, measure_order

TEAM = Choice("team", "Which team?", (Option("red"), Option("green"), Option("blue")))
PAIR = Choice("pair", "Which of two?", (Option("left"), Option("right")))
NOUL = Noul("clash", "Is it?")
ROWS = [(str(n), f"row {n}") for n in range(7)]


async def test_a_letter_that_wins_whatever_stands_there_is_found() -> None:
    async with WireServer() as server, EngineClient(server.url) as client:
        toy = server.tokenizer

        def loves_b(prompt: Sequence[int], canvas: Sequence[int], position: int) -> Mapping[int, float]:
            return {toy.id_of("B"): 0.6, toy.id_of("A"): 0.2, toy.id_of("C"): 0.15}

        server.distribution = loves_b
        told: list[tuple[int, int]] = []
        found = await measure_order(
            client, [NOUL, TEAM, PAIR], Method(draws=1), ROWS, sample=5, progress=lambda *at: told.append(at)
        )
    team, pair = found.questions
    assert (found.rows, found.reads) == (5, 5 * (3 + 2))
    assert (team.rows, team.flips, team.letters) == (5, 5, (0.0, 1.0, 0.0))
    assert (pair.flips, pair.letters) == (5, (0.0, 1.0))
    # green wins in the form's order with 0.6 / 0.95; elsewhere it gets A's or C's share.
    assert team.spread == pytest.approx((0.6 - 0.15) / 0.95)
    assert "the letter B won 100% of the reads (33% is even)" in found.sentence
    assert "on 5 rows another order of the options changed 5 answers" in found.sentence
    one = replace(found, questions=(replace(team, rows=1, flips=1),))
    assert "on 1 row another order of the options changed 1 answer and" in one.sentence
    assert told[-1] == (5, 5)


async def test_a_model_that_reads_has_no_order_effect() -> None:
    async with WireServer() as server, EngineClient(server.url) as client:
        toy = server.tokenizer

        def finds(prompt: Sequence[int], canvas: Sequence[int], position: int) -> Mapping[int, float]:
            text = toy.decode(prompt)
            letter = next((text[text.find(name) - 1] for name in (". green", ". right") if name in text), "A")
            return {toy.id_of(letter): 0.9}

        server.distribution = finds
        found = await measure_order(client, [TEAM, PAIR], Method(draws=1), ROWS)
    assert [(q.flips, q.spread) for q in found.questions] == [(0, pytest.approx(0)), (0, pytest.approx(0))]
    assert found.questions[0].letters == pytest.approx((1 / 3, 1 / 3, 1 / 3))
    assert "won" not in found.sentence
    assert OrderEffect.from_json(json.loads(json.dumps(found.to_json()))) == found


async def test_what_cannot_be_read_is_counted() -> None:
    async with WireServer() as server, EngineClient(server.url) as client:
        found = await measure_order(client, [TEAM], Method(draws=1), ROWS[:2])
        with pytest.raises(InputError, match="no choice question"):
            await measure_order(client, [NOUL], Method(), ROWS)
        with pytest.raises(InputError, match="no row"):
            await measure_order(client, [TEAM], Method(), [])
    assert (found.questions[0].unreadable, found.questions[0].spread, found.questions[0].letters) == (2, None, ())
    assert "no row was readable in every order" in found.sentence


def ok(question: str, *shares: float) -> Reading:
    return Reading(question, "ok", None, shares, 0.9, True)


@pytest.mark.parametrize(
    ("joint", "advice"),
    [
        ([0.9, 0.5, 0.1], "changes little"),
        ([0.45, 0.25, 0.05], "set no threshold"),  # halved, in the same order: the seed's finding
        ([0.1, 0.9, 0.6], "read the questions alone"),
    ],
)
def test_the_advice_follows_the_finding(joint: list[float], advice: str) -> None:
    rows = [[(ok("clash", p, 1 - p), ok("clash", q, 1 - q))] for p, q in zip([0.9, 0.5, 0.1], joint, strict=True)]
    found = compare([NOUL], rows)
    assert advice in found.advice
    again = Interference.from_json(json.loads(json.dumps(found.to_json())))
    assert again == found
    assert again.sentence == found.to_json()["sentence"]


def test_reports_of_another_kind_are_refused() -> None:
    whole = compare([NOUL], [[(ok("clash", 0.5, 0.5), ok("clash", 0.5, 0.5))]]).to_json()
    for broken in ({}, {**whole, "version": 2}, {"version": 1}, {**whole, "questions": [{"x": 1}]}):
        with pytest.raises(ValueError, match="interference report"):
            Interference.from_json(broken)
    for broken in ({}, {"version": 1, "rows": 1}):
        with pytest.raises(ValueError, match="option-order report"):
            OrderEffect.from_json(broken)
