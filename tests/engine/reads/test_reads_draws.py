"""How many draws, and one answer of the engine as a draw."""

from __future__ import annotations

import math
from typing import Any

import pytest

from engine.client.wire import GenerateResponse
from engine.domain.reading import Draw, Method
from engine.errors import EngineRefused, InputError
from engine.reads.draws import check_draws, first_draws, more_draws, slot_draw

SURE, UNSURE = Draw((0.99, 0.001), True), Draw((0.6, 0.4), True)


def answer(*slots: tuple[int, dict[int, float]]) -> GenerateResponse:
    content: list[dict[str, Any]] = []
    for argmax, found in slots:
        entries = [{"token_id": token, "logprob": math.log(p)} for token, p in found.items()]
        content.append({"token_id": argmax, "logprob": -0.1, "top_logprobs": entries})
    return GenerateResponse.model_validate({"choices": [{"logprobs": {"content": content}}]})


def test_auto_draws_three_more_when_any_question_is_unsure() -> None:
    assert first_draws(Method()) == 1
    assert more_draws(Method(), [SURE, SURE]) == 0
    assert more_draws(Method(), [SURE, UNSURE]) == 3
    assert more_draws(Method(unsure_entropy=1.0), [UNSURE]) == 0


def test_a_fixed_number_is_kept() -> None:
    assert first_draws(Method(draws=5)) == 5
    assert more_draws(Method(draws=5), [UNSURE]) == 0


@pytest.mark.parametrize("draws", [0, 33, -1])
def test_numbers_out_of_range(draws: int) -> None:
    with pytest.raises(InputError, match=f"1 to 32, not {draws}"):
        check_draws(Method(draws=draws))


def test_masses_are_raw_probabilities() -> None:
    draw = slot_draw(answer((7, {7: 0.5, 8: 0.25, 1: 0.1})), 0, [(7,), (8,)])
    assert draw.masses == pytest.approx((0.5, 0.25))
    assert draw.argmax_is_label
    assert draw.label_mass == pytest.approx(0.75)


def test_a_label_with_two_tokens_shares_by_the_likelier_and_has_the_mass_of_both() -> None:
    response = answer((1, {1: 0.9}), (3, {7: 0.4, 17: 0.1, 8: 0.2, 18: 0.05}))
    draw = slot_draw(response, 1, [(7, 17), (8, 18)])
    assert draw.shares == pytest.approx((2 / 3, 1 / 3))
    assert draw.label_mass == pytest.approx(0.75)
    assert not draw.argmax_is_label


def test_no_mass_at_all() -> None:
    response = GenerateResponse.model_validate(
        {
            "choices": [
                {
                    "logprobs": {
                        "content": [
                            {
                                "token_id": 1,
                                "logprob": 0.0,
                                "top_logprobs": [
                                    {"token_id": 7, "logprob": -9999.0},
                                    {"token_id": 8, "logprob": -9999.0},
                                ],
                            }
                        ]
                    }
                }
            ]
        }
    )
    draw = slot_draw(response, 0, [(7,), (8,)])
    assert draw.label_mass == 0.0
    assert draw.shares == (0.5, 0.5)


@pytest.mark.parametrize(
    ("response", "missing"),
    [
        (answer((7, {7: 0.5})), "no logprob for token 8"),
        (answer(), "0 canvas positions"),
        (GenerateResponse(), "no logprobs"),
        (GenerateResponse.model_validate({"choices": [{"logprobs": None}]}), "no logprobs"),
    ],
)
def test_an_incomplete_answer_says_what_is_missing(response: GenerateResponse, missing: str) -> None:
    with pytest.raises(EngineRefused, match=missing):
        slot_draw(response, 0, [(7,), (8,)])
