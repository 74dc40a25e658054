"""Reads of several denoise steps with the template pinned, and reads of several rows on one canvas."""

from __future__ import annotations

from typing import Any

import pytest

from engine.client.http import EngineClient
from engine.domain.question import Choice, Noul, Option, Question
from engine.domain.reading import Method
from engine.reads.reader import Reader
from engine.reads.rows_together import RowsTogether

STATE = "The hall is closed. The meeting was moved to Friday."
QUESTIONS: tuple[Question, ...] = (
    Noul("moved", "Was the meeting moved?"),
    Choice("day", "Which day is it?", (Option("Monday"), Option("Friday"))),
)


@pytest.mark.parametrize("joint", [False, True])
async def test_more_steps_with_a_pinned_template_are_served(served: Any, joint: bool) -> None:
    async with EngineClient(served.url, api_key=served.key) as client:
        seen = []
        for steps in (1, 3):
            method = Method(draws=1, steps=steps, joint=joint, min_mass=0.0)
            reader = await Reader.open(client, QUESTIONS, method)
            seen.append(await reader.previews(STATE))
    for one, more in zip(*seen, strict=True):
        assert more.reading.status in ("ok", "unreadable")
        assert more.canvas == one.canvas  # the same seed canvas, the label slot marked at the same place
        assert more.slot == one.slot
        assert 0.0 < more.draws[0].label_mass <= 1.0 + 1e-6
        assert more.draws[0].masses != pytest.approx(one.draws[0].masses, rel=1e-9)


async def test_rows_share_a_canvas(served: Any) -> None:
    async with EngineClient(served.url, api_key=served.key) as client:
        crowd = await RowsTogether.open(client, QUESTIONS[0], Method(draws=1, min_mass=0.0))
        for count in (1, 3, 8):
            found = await crowd.read([f"{STATE} Row {number}." for number in range(count)], row_key="x")
            assert [reading.question_id for reading in found] == ["moved"] * count
            assert all(reading.status in ("ok", "unreadable") for reading in found)
