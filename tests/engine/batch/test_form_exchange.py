"""Forms to requests and back: what both sides have survives, what one has not is named."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from batch_helpers import CHOICE, NOUL, SCORE, form
from hypothesis import given
from hypothesis import strategies as st
from test_batch_form import questions

from engine.batch.form import parse_form
from engine.batch.form_advice import advise, has_unknown
from engine.batch.form_exchange import export_request, import_request
from engine.domain.form import Form
from engine.domain.question import Choice, Noul, Option, Question
from engine.domain.reading import Method
from engine.errors import InputError


def bare(question: Question) -> Question:
    """Without what no request has."""
    return replace(question, gold=None, threshold=None)


@given(made=questions(), joint=st.booleans(), state=st.text(min_size=1))
def test_system_one_gives_back_every_question(made: tuple[Question, ...], joint: bool, state: str) -> None:
    if any(question.id == "row_id" for question in made):
        return
    whole = Form("f", "{{ text }}", made, method=Method(joint=joint))
    body = json.loads(json.dumps(export_request(whole, "system-one", state, model="m").body))
    back = import_request(body, "body.json")
    assert back.form.questions == tuple(bare(question) for question in made)
    assert (back.sample, back.form.method) == (state, Method(joint=joint, wire="native"))
    assert back.left_out == ("model: a form has no such field",)


@given(made=questions(), joint=st.booleans())
def test_decisions_gives_back_every_question_but_what_it_names(made: tuple[Question, ...], joint: bool) -> None:
    if any(question.id == "row_id" for question in made):
        return
    whole = Form("f", "{{ text }}", made, method=Method(joint=joint))
    exported = export_request(whole, "decisions", "a text")
    back = import_request(json.loads(json.dumps(exported.body)), "body.json").form
    assert back.method.joint is joint
    for at, (before, after) in enumerate(zip(made, back.questions, strict=True)):
        if isinstance(before, Noul) and (before.true_means or before.false_means):
            assert any(f"questions[{at}].criteria" in each for each in exported.left_out)
            assert before.true_means in after.instructions
            assert before.false_means in after.instructions
        else:
            assert after == bare(before)


def test_what_a_request_has_not_is_said_by_name() -> None:
    whole = parse_form(
        form(
            {**NOUL, "gold": "g", "threshold": 0.3}, CHOICE, group="k", document="{{ all }}",
            method={"draws": 8, "rotate": True},
        ),
        "f",
    )  # fmt: skip
    left_out = export_request(whole, "system-one", "x").left_out
    places = {each.split(":")[0] for each in left_out}
    assert places == {
        "name", "state", "group", "document", "questions[0].gold", "questions[0].threshold", "method.draws",
        "method.rotate",
    }  # fmt: skip


def test_a_decisions_request_with_everything() -> None:
    body = {
        "model": "gpt", "safety_identifier": "me", "joint": True,
        "input": [
            {"role": "user", "content": "one"}, {"role": "user", "content": [{"type": "input_text", "text": "two"}]},
        ],
        "questions": [
            {"type": "predicate", "instructions": "Is it?", "name": None},
            {"type": "choice", "name": "c", "instructions": "Which?",
             "choices": [{"value": True, "description": "it does"}, {"value": "no"}]},
            {"type": "score", "instructions": "How?",
             "levels": [{"label": "low"}, {"label": "high", "description": "very"}]},
        ],
    }  # fmt: skip
    found = import_request(body, "b")
    assert found.sample == "one\n\ntwo"
    noul, choice, score = found.form.questions
    assert (noul.id, choice.id, score.id) == ("q1", "c", "q3")
    assert isinstance(choice, Choice)
    assert choice.options == (Option("true", "it does"), Option("no"))
    assert score.answers == ("0", "1")
    named = [each.split(":")[0] for each in found.left_out]
    assert named == [
        "model", "safety_identifier", "questions[1].choices[0].value", "questions[2].levels[1].description", "input",
    ]  # fmt: skip


def test_a_system_one_state_that_is_an_object_is_the_text_that_servers_make_of_it() -> None:
    found = import_request(
        {"state": {"a": "ä", "b": [1]}, "questions": {"q": {"type": "noul", "instructions": "?"}}}, "b"
    )
    assert found.sample == '{"a": "ä", "b": [1]}'


QUESTION = {"type": "noul", "instructions": "?"}
CHOOSE = {"type": "choice", "instructions": "?"}


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ([], "no request of System One"),
        ({"state": "x"}, "no request of System One"),
        ({"questions": {}}, "no request of System One"),
        ({"state": "x", "questions": [QUESTION]}, "questions: must be an object"),
        ({"state": "x", "questions": {}}, "needs at least 1"),
        ({"state": "x", "questions": {"q": 3}}, r"questions\.q: must be an object"),
        ({"state": "x", "questions": {"q": {"type": "rank"}}}, r"questions\.q\.type: 'rank' is no type"),
        ({"state": "x", "questions": {"q": {**SCORE, "criteria": ["one"]}}}, "1 levels; allowed are 2 to 10"),
        ({"input": "x", "questions": {}}, "questions: must be a list"),
        ({"input": "x", "questions": [CHOOSE]}, r"questions\[0\]\.choices: must be a list"),
        (
            {"input": "x", "questions": [{**CHOOSE, "choices": [{"value": 3}]}]},
            r"choices\[0\]\.value: 3 is no text",
        ),
        ({"input": 3, "questions": [{"type": "predicate", "instructions": "?"}]}, "input: must be a list"),
        ({"input": "x", "questions": [{"type": "predicate", "instructions": ""}]}, "must not be empty"),
        (
            {"input": "x", "questions": [{**CHOOSE, "choices": [{"value": str(n)} for n in range(27)]}]},
            "27 options; allowed are 2 to 26",
        ),
    ],
)  # fmt: skip
def test_what_no_form_can_ask_is_refused_with_its_place(body: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        import_request(body, "b.json")


def test_the_servers_own_examples_are_read(root: Path) -> None:
    """The body with which the seed checks its server."""
    body = {"model": "jev-latest", "state": {"a": "x"}, "questions": {"q": {"type": "noul", "instructions": "ok?"}}}
    assert import_request(body, "b").form.questions == (Noul("q", "ok?"),)


def test_advice_names_what_is_missing() -> None:
    many = {**CHOICE, "criteria": [f"o{n}" for n in range(12)]}
    told = advise(parse_form(form(NOUL, many, SCORE, method={"joint": True, "wire": "native"}), "f"))
    assert [(each.place, each.code) for each in told] == [
        ("questions[0].criteria", "criteria"),
        ("questions[1].criteria", "unknown"),
        ("questions[1].criteria", "order"),
        ("method.joint", "joint"),
        ("method.draws", "draws"),
        ("questions", "gold"),
    ]
    good = {**CHOICE, "criteria": ["a", "unknown"], "gold": "g"}
    assert advise(parse_form(form({**NOUL, "criteria": {"true": "t"}}, good), "f")) == ()


@pytest.mark.parametrize(
    ("name", "expected"),
    [("unknown", True), ("None of these", True), ("other", True), ("mother", False), ("north", False)],
)
def test_an_option_for_the_rest_is_known_by_its_name(name: str, expected: bool) -> None:
    assert has_unknown(Choice("c", "?", (Option("a"), Option(name)))) is expected
