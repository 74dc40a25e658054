"""``bench demo-model``: its questions are the generators', its checks tell good from bad, its figures are printed."""

from __future__ import annotations

import dataclasses
import functools
import json
import random
import re
from typing import Any

import numpy as np
import pytest

from engine.bench import demo_model
from engine.bench.demo_chat import is_well_formed
from engine.domain.question import Noul
from engine.embedded.reads import LabelRead
from tests.tools.demo_files import DEMO
from tools.train_demo import (
    chat,
    clause_generic,
    evaluate,
    held_out_clauses,
    held_out_set,
    held_out_texts,
    mixture,
    reviews,
    words,
)
from tools.train_demo.clauses import TRAINING
from tools.train_demo.sample import Read


def test_the_shipped_questions_are_those_that_the_generators_write() -> None:
    written = [json.loads(json.dumps(entry)) for entry in held_out_set.entries()]
    assert demo_model.load_entries(DEMO) == written


def test_held_out_topics_parties_and_words_are_not_trained() -> None:
    def frames(book: Any) -> set[str]:
        said = [frame for sides in book.said for side in sides for frame in side]
        return {frame for _, group in book.valued for frame in group} | set(said) | {f for g in book.roles for f in g}

    validation, test = (held_out_set.book(part) for part in ("validation", "test"))
    assert not frames(validation) & frames(test)
    assert not (frames(validation) | frames(test)) & frames(TRAINING)
    known = {*words.COMPANY_FIRST, *words.COMPANY_LAST, *words.PERSON_LAST, *words.ROLES}
    assert not known & {part for name in held_out_clauses.PARTIES for part in name.split()}
    trained = {*words.THINGS, *words.PLACES, *words.CITIES, *words.COUNTRIES, *words.LANGUAGES, *reviews.SUBJECTS}
    for own in held_out_texts.PARTS.values():
        assert not trained & {word for pool in own.pools for word in pool}
        assert not {*reviews.SUBJECTS, *clause_generic.ALL} & set(own.subjects)


def pattern(frame: str) -> re.Pattern[str]:
    """What a frame can become; a slot holds some words of one sentence."""
    return re.compile(re.sub(r"\\\{\w+\\\}", r"[^\\n.?!]{1,40}", re.escape(frame)), re.IGNORECASE)


@functools.cache
def trained_texts() -> tuple[str, str]:
    """The questions and the states of many training samples of the smaller skills."""
    r = random.Random(31)
    asked, states = set(), []
    for number in range(6_000):
        skill = ("sentiment", "mention", "record", "compare", "topic")[number % 5]
        sample = mixture.draw(r, skill=skill, label_noise=0.0)
        assert isinstance(sample, Read)
        asked |= {question.instructions for question in sample.questions}
        states.append(sample.state)
    return "\n".join(asked), "\n".join(states)


@pytest.mark.parametrize("part", held_out_texts.PARTS)
def test_no_held_out_wording_is_trained_and_the_parts_share_none(part: str) -> None:
    own, other = held_out_texts.PARTS[part], held_out_texts.PARTS["test" if part == "validation" else "validation"]
    asked, states = trained_texts()
    groups = ("positive", "negative", "topic", "more", "less", "equals", "mentions", "bigger", "smaller")
    assert [f for group in groups for f in getattr(own, group) if pattern(f).search(asked)] == []
    groups = ("remarks", "denials", "like", "dislike", "reviews", "listed", "compared")
    assert [f for group in groups for f in getattr(own, group) if pattern(f).search(states)] == []
    assert [line for lines in own.news.values() for line in lines if line in states] == []
    for group in (f.name for f in dataclasses.fields(own) if f.name not in ("news", "report", "pools")):
        assert not set(getattr(own, group)) & set(getattr(other, group))
    assert not {w for pool in own.pools for w in pool} & {w for pool in other.pools for w in pool}
    assert not {x for lines in own.news.values() for x in lines} & {x for lines in other.news.values() for x in lines}


def test_no_held_out_sum_is_trained_and_no_difference_is_missing() -> None:
    r = random.Random(32)
    tasks = {chat.draw_sum(r) for _ in range(20_000)}
    assert not any(chat.held_out_sum(*task) for task in tasks)
    differences = {a - b for a, sign, b in tasks if sign == "-"}
    assert set(range(90)) <= differences
    asked = [entry for entry in held_out_set.entries() if entry.get("kind") == "sum"]
    for entry in asked:
        a, sign, b = re.fullmatch(r"(\d+) (\w+) (\d+) is \d+\.", re.sub(r"\\(.)", r"\1", entry["right"])).groups()
        assert chat.held_out_sum(int(a), {"plus": "+", "minus": "-"}[sign], int(b))
    assert len(asked) == held_out_set.CHATS


LIST = {"members": ["oak", "pine", "elm", "ash"], "count": 3}


@pytest.mark.parametrize(
    ("answer", "good"),
    [
        ("1. oak\n2. pine\n3. elm", True),
        ("Three trees are oak, elm and ash.", True),
        ("1. oak\n2. pine\n3. oak", False),
        ("1. oak\n2. pine", False),
        ("1. oak\n3. pine\n2. elm", False),
        ("1. oak\n2. pine\n3. rose", False),
        ("", False),
    ],
)
def test_a_list_has_so_many_different_members(answer: str, good: bool) -> None:
    assert is_well_formed(LIST, answer, {}) is good


def test_a_wrong_sum_is_well_formed_but_not_right() -> None:
    entry = next(entry for entry in held_out_set.entries() if entry.get("kind") == "sum")
    right = re.sub(r"\\(.)", r"\1", entry["right"])
    wrong = right.replace("is ", "is 1")
    assert is_well_formed(entry, right, {})
    assert re.fullmatch(entry["right"], right)
    assert is_well_formed(entry, wrong, {})
    assert not re.fullmatch(entry["right"], wrong)
    assert not is_well_formed(entry, "I like sums.", {})


def test_the_calibration_error_is_that_of_the_training_tool() -> None:
    r = np.random.default_rng(3)
    yes, gold = r.random(300), r.integers(0, 2, 300)
    question = Noul("q", "Is it so?")
    answered = [
        demo_model.Answered("s", question, int(g), LabelRead(question, 0, (float(p), float(1 - p)), 1.0, True))
        for p, g in zip(yes, gold, strict=True)
    ]
    expected = evaluate.calibration_error(np.stack([yes, 1 - yes], axis=1), gold)
    assert demo_model.calibration_error(answered) == pytest.approx(expected)


async def test_the_benchmark_prints_every_figure_of_the_issue() -> None:
    result = (await demo_model.measure(limit=1)).as_json()
    figures = result["figures"]
    targets = {name: figure["target"] for name, figure in figures.items() if figure["target"] is not None}
    assert targets == {
        "contradictions_auc": 0.95, "mention_auc": 0.97, "sentiment_auc": 0.95, "choice_accuracy": 0.9,
        "calibration_error": 0.05,
        "unreadable": 0.01, "chat_well_formed": 0.95, "steps_ratio": 0.6, "canvas": 2.0,
        "read_60_tokens": 30.0, "read_300_tokens": 80.0,
    }  # fmt: skip
    assert {f"chat {kind}" for kind in held_out_set.KINDS} <= set(figures)
    assert {"joint_accuracy", "joint_shift", "urgency_mean_error", "record_auc", "compare_auc"} <= set(figures)
