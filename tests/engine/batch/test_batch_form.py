"""The form file: every fault is named by file, place, limit and value; what is dumped is read back."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from batch_helpers import CHOICE, NOUL, SCORE, form
from hypothesis import given
from hypothesis import strategies as st

from engine.batch.form import check_columns, dump_form, form_sha256, load_form, parse_form
from engine.domain.form import Form
from engine.domain.question import Choice, Noul, Option, Question, Score
from engine.domain.reading import Method
from engine.errors import InputError

Change = Callable[[dict[str, Any]], object]


def question(at: int, **fields: Any) -> Change:
    return lambda whole: whole["questions"][at].update(fields)


FAULTS: dict[str, tuple[Change, str, str]] = {
    "27 options": (
        question(1, criteria={f"o{n}": "" for n in range(27)}),
        "form.too_many_options",
        "questions[1].criteria: 27 options; allowed are 2 to 26",
    ),
    "1 option": (question(1, criteria=["a"]), "form.too_few_options", "1 options; allowed are 2 to 26"),
    "11 levels": (
        question(2, criteria=[f"l{n}" for n in range(11)]),
        "form.too_many_levels",
        "questions[2].criteria: 11 levels; allowed are 2 to 10",
    ),
    "1 level": (question(2, criteria=["a"]), "form.too_few_levels", "1 levels"),
    "same id": (question(2, id="q"), "form.duplicate_id", 'questions[2].id: the id "q" occurs twice'),
    "id of a column": (question(2, id="q.status"), "form.column_clash", "belongs to question 'q'"),
    "id row_id": (question(0, id="row_id"), "form.column_clash", "the export's own column"),
    "option makes a column twice": (
        lambda whole: whole["questions"].append({**NOUL, "id": "team.p.a"}),
        "form.column_clash",
        "needs the column team.p.a",
    ),
    "empty id": (question(0, id=" "), "form.bad_id", "1 to 100 printable characters"),
    "long id": (question(0, id="x" * 101), "form.bad_id", "(101 characters); an id has 1 to 100 printable"),
    "id with a line break": (question(0, id="a\nb"), "form.bad_id", 'questions[0].id: "a\\nb"'),
    "no instructions": (question(0, instructions=" "), "form.string_pattern_mismatch", "questions[0].instructions"),
    "unknown type": (question(0, type="bool"), "form.union_tag_invalid", "questions[0].type: must be noul, choice"),
    "no type": (lambda w: w["questions"][0].pop("type"), "form.union_tag_not_found", "the field type is missing"),
    "unknown field": (question(0, weight=3), "form.extra_forbidden", "questions[0].weight: this field is unknown"),
    "unknown top field": (lambda w: w.update(sates="x"), "form.extra_forbidden", "sates: this field is unknown"),
    "pictures": (lambda w: w.update(images="photo"), "form.extra_forbidden", '"pictures": {"column":'),
    "a picture": (question(0, image="photo"), "form.extra_forbidden", '"pictures": {"column":'),
    "noul in words": (question(0, criteria={"yes": "x"}), "form.extra_forbidden", "questions[0].criteria.yes"),
    "levels as object": (question(2, criteria={"a": ""}), "form.list_type", "questions[2].criteria: must be a list"),
    "options as numbers": (question(1, criteria=[1, 2]), "form.options", "questions[1].criteria: must be an object"),
    "option twice": (question(1, criteria=["a", "a"]), "form.duplicate_option", 'option "a" occurs twice'),
    "empty option": (question(1, criteria=["a", ""]), "form.bad_option", "option 2 is empty"),
    "option over two lines": (question(1, criteria=["a", "b\n"]), "form.bad_option", "option 2 holds a character"),
    "level twice": (question(2, criteria=["a", "a"]), "form.duplicate_level", 'level "a" occurs twice'),
    "no options": (lambda w: w["questions"][1].pop("criteria"), "form.missing_field", "questions[1].criteria"),
    "no state": (lambda w: w.pop("state"), "form.missing_field", "state: this field is missing"),
    "empty state": (lambda w: w.update(state=""), "form.string_too_short", "state: must not be empty"),
    "other version": (
        lambda w: w.update(version=4),
        "form.version",
        "version is 4; this program reads versions 1 to 3",
    ),
    "version as boolean": (lambda w: w.update(version=True), "form.version", "version is true"),
    "half a character": (question(0, instructions="a\ud800b"), "form.surrogate", "half of a character (U+D800)"),
    "no version": (lambda w: w.pop("version"), "form.version", "version is null"),
    "threshold over 1": (question(0, threshold=1.5), "form.less_than_equal", "questions[0].threshold"),
    "threshold over the levels": (question(2, threshold=2.5), "form.threshold", "2.5 is over the highest level 2"),
    "no steps": (lambda w: w.update(method={"steps": 0}), "form.greater_than_equal", "method.steps"),
    "no questions": (lambda w: w.update(questions=[]), "form.too_short", "questions: needs at least 1"),
    "65 questions": (
        lambda w: w.update(questions=[{**NOUL, "id": str(n)} for n in range(65)]),
        "form.too_many_questions",
        "65 questions; allowed are 1 to 64",
    ),
    "33 draws": (lambda w: w.update(method={"draws": 33}), "form.draws", "method.draws"),
    "draws as text": (lambda w: w.update(method={"draws": "4"}), "form.draws", 'got "4"'),
    "true draws": (lambda w: w.update(method={"draws": True}), "form.draws", "got true"),
    "mass over 1": (lambda w: w.update(method={"min_mass": 1.5}), "form.less_than_equal", "method.min_mass"),
    "unknown wire": (lambda w: w.update(method={"wire": "x"}), "form.literal_error", "method.wire"),
    "question is a number": (lambda w: w["questions"].append(3), "form.model_attributes_type", "questions[3]"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_named_by_file_place_limit_and_value(name: str) -> None:
    change, code, message = FAULTS[name]
    whole = deepcopy(form(NOUL, CHOICE, SCORE))
    change(whole)
    with pytest.raises(InputError) as caught:
        parse_form(whole, "my.json")
    assert caught.value.code == code
    assert message in str(caught.value)
    assert str(caught.value).startswith("my.json: ")


@pytest.mark.parametrize(
    ("text", "code", "message"),
    [
        ('{"version": 1,\n "name": }', "form.not_json", "line 2, column 10"),
        ("", "form.not_json", "line 1, column 1"),
        ("[1]", "form.model_type", "the whole file: must be an object"),
        ('{"version": 1, "version": 1}', "form.duplicate_key", 'the key "version" occurs twice'),
        ("[" * 100_000, "form.too_deep", "nested too deeply"),
        ('{"version": ' + "1" * 5000 + "}", "form.long_number", "a number has more than 4300 digits"),
        (b'{"version": "\xff"}', "form.not_utf8", "byte 13"),
    ],
)
def test_a_file_that_is_no_form_is_refused(tmp_path: Path, text: str | bytes, code: str, message: str) -> None:
    path = tmp_path / "form.json"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(InputError) as caught:
        load_form(path)
    assert caught.value.code == code
    assert message in str(caught.value)
    assert str(path) in str(caught.value)


def test_a_missing_or_huge_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="No such file"):
        load_form(tmp_path / "none.json")
    with pytest.raises(InputError, match="No such file"):
        form_sha256(tmp_path / "none.json")
    huge = tmp_path / "huge.json"
    huge.write_bytes(b" " * (4 * 1024 * 1024 + 1))
    with pytest.raises(InputError, match="has more than 4194304 bytes"):
        load_form(huge)


def test_the_shapes_of_the_criteria(tmp_path: Path) -> None:
    path = tmp_path / "form.json"
    noul = {**NOUL, "criteria": {"true": "it is", "false": "it is not"}, "gold": "g"}
    listed = {**CHOICE, "criteria": ["x", "y"]}
    path.write_bytes(
        b"\xef\xbb\xbf" + json.dumps(form(noul, listed, SCORE, group="k", method={"joint": True})).encode()
    )
    assert load_form(path) == Form(
        "test",
        "{{ text }}",
        (
            Noul("q", "Is it?", "it is", "it is not", "g"),
            Choice("team", "Who?", (Option("x"), Option("y"))),
            Score("size", "How?", ("low", "mid", "high")),
        ),
        "k",
        Method(joint=True),
    )


def test_gold_and_group_must_be_columns() -> None:
    with_gold = parse_form(form({**NOUL, "gold": "label"}, group="kind"), "f.json")
    check_columns(with_gold, ["label", "kind"], "f.json")
    with pytest.raises(InputError, match='did you mean "lable"') as caught:
        check_columns(with_gold, ["lable", "kind"], "f.json")
    assert 'f.json: questions[0].gold: the table has no column "label"' in str(caught.value)
    with pytest.raises(InputError, match=r'f\.json: group: the table has no column "kind"'):
        check_columns(with_gold, ["label", "zzz"], "f.json")


words = st.text(st.characters(categories=["L", "N", "P", "S"]), min_size=1, max_size=12)
texts = st.text(min_size=1, max_size=30).filter(lambda text: text.strip() and text.isprintable())


@st.composite
def questions(draw: st.DrawFn) -> tuple[Question, ...]:
    made: list[Question] = []
    ids = draw(st.lists(words.filter(lambda word: "." not in word), min_size=1, max_size=5, unique=True))
    for qid in ids:
        gold, cut = draw(st.none() | texts), draw(st.none() | st.floats(0, 1))
        names = draw(st.lists(texts, min_size=2, max_size=10, unique=True))
        kind = draw(st.sampled_from(["noul", "choice", "score"]))
        if kind == "noul":
            made.append(Noul(qid, draw(texts), draw(st.text(max_size=9)), draw(st.text(max_size=9)), gold, cut))
        elif kind == "choice":
            made.append(
                Choice(qid, draw(texts), tuple(Option(name, draw(st.text(max_size=9))) for name in names), gold, cut)
            )
        else:
            made.append(Score(qid, draw(texts), tuple(names), gold, cut))
    return tuple(made)


methods = st.builds(
    Method,
    draws=st.just("auto") | st.integers(1, 32),
    joint=st.booleans(),
    wire=st.sampled_from(["canvas", "native"]),
    min_mass=st.floats(0, 1),
    unsure_entropy=st.floats(0, 10),
    canvas_length=st.integers(16, 256),
    seed=st.integers(0, 2**63 - 1),
    steps=st.integers(1, 48),
    rotate=st.booleans(),
)


@given(made=st.builds(Form, texts, texts, questions(), st.none() | texts, methods, st.none() | texts))
def test_what_is_dumped_is_read_back(made: Form) -> None:
    if any(question.id == "row_id" for question in made.questions):
        return
    assert parse_form(json.loads(json.dumps(dump_form(made))), "x") == made


def test_a_form_from_a_pipe_is_read_once(tmp_path: Path) -> None:
    """It can be checked; a run needs the hash of its file, which a pipe has not got any more."""
    end, other = os.pipe()
    os.write(other, json.dumps(form()).encode())
    os.close(other)
    try:
        assert load_form(Path(f"/dev/fd/{end}")).name == "test"
        with pytest.raises(InputError, match="is a pipe or a device"):
            form_sha256(Path(f"/dev/fd/{end}"))
    finally:
        os.close(end)
    with pytest.raises(InputError, match="has more than 4194304 bytes"):
        load_form(Path("/dev/zero"))
