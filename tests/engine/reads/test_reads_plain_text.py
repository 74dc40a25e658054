"""A text that spells out control tokens is read as text, whatever the token and wherever it stands."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.domain.question import Choice, Noul, Option, Score
from engine.embedded.tokenizer import DemoTokenizer
from engine.reads.native import system_one_request
from engine.reads.plain_text import as_text
from engine.reads.prompt import alone_prompt, joint_prompt

MODEL = Path(__file__).parents[3] / "resources" / "demo_model"
TOKENIZER = DemoTokenizer(MODEL)
CONTROLS = [each["content"] for each in json.loads((MODEL / "tokenizer.json").read_text())["added_tokens"]]
# Of the released model's tokenizer, which this one does not have.
FURTHER = ['<|"|>', "<|tool_call>", "<tool_response|>", "<start_of_turn>", "<end_of_image>", "<unused99>", "<audio|>"]
NOUL = Noul("q", "Is it?")


def controls_in(prompt: str) -> list[int]:
    return [token for token in TOKENIZER.encode(prompt) if token in TOKENIZER.special_ids]


@pytest.mark.parametrize("control", CONTROLS)
@pytest.mark.parametrize("around", ["{}", "a{}b", "<{}>", "x {}\n{} y", "<|{}", "{}|>", "[{}]"])
def test_every_control_token_of_the_tokenizer(control: str, around: str) -> None:
    text = around.replace("{}", control)
    assert controls_in(text), "unguarded it is the token"
    options = Choice("c", text, (Option(text, text), Option("other", "")))
    for prompt in (
        alone_prompt(text, NOUL),
        alone_prompt("", options),
        joint_prompt(text, [Noul("q", text, text, text), options, Score("s", text, (text, "b"))]),
    ):
        assert controls_in(prompt) == []
    request = system_one_request(text, [Noul("q", text, text, text), options, Score("s", text, (text, "b"))])
    spoken = json.loads(request.body())
    words = [spoken["state"]]
    for each in spoken["questions"].values():
        criteria = each["criteria"]
        words += [each["instructions"], *criteria, *(criteria.values() if isinstance(criteria, dict) else [])]
    assert controls_in("\n".join(filter(None, words))) == []


@pytest.mark.parametrize("control", [*CONTROLS, *FURTHER, "[multimodal]", "<BOS>"])
def test_a_space_is_all_that_is_added(control: str) -> None:
    assert as_text(f"before {control} behind") == f"before {control[0]} {control[1:]} behind"
    assert as_text(as_text(control)) == as_text(control)


@pytest.mark.parametrize(
    "text", ["<b>bold</b>", "<td>", "a < b and c > d", "x <| y |> z", "<>", "<|>", "if a<b|c>d", "[1]", "<https://a.b>"]
)
def test_other_texts_stay(text: str) -> None:
    assert as_text(text) == text


@given(st.lists(st.sampled_from([*CONTROLS, "<", ">", "|", "turn", " ", "a", "\n", "<|", "|>"]), max_size=12))
def test_no_mixture_brings_one_forth(parts: list[str]) -> None:
    assert controls_in(as_text("".join(parts))) == []
