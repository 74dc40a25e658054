"""Clause pairs about relations: the answers are right by construction, and nothing of what is measured is in them."""

from __future__ import annotations

import functools
import itertools
import random
import re
from collections.abc import Iterator

import pytest

from tests.tools.demo_files import DEMO
from tests.tools.test_demo_held_out import PARTY_NAMES, example_clauses, skeleton
from tools.train_demo import (
    clause_daily,
    clause_generic,
    clause_questions,
    clause_relations,
    clauses,
    data,
    held_out,
    held_out_clauses,
    held_out_pairs,
    held_out_set,
    held_out_texts,
    mixture,
    relation_scenes,
    relation_words,
    synonyms,
    words,
)
from tools.train_demo.amounts import ABOVE, compare
from tools.train_demo.sample import Read

DRAWN = 12_000
PLACEHOLDERS = ("PPP", "PPP")
PLACE_ASKED = r"Is the (?:number on the left|first number|earlier amount|first one) (.+?) the .+\?"

NUMBERS_ASKED = r"Is \d+ (.+?) \d+\?"


@functools.cache
def trained() -> frozenset[tuple[str, ...]]:
    """Skeletons of many sentences about anything and about relations, and of every daily wording."""
    r = random.Random(41)
    found = set()
    for make in (clause_relations.pair, clause_generic.pair):
        for _ in range(DRAWN):
            found.update(map(skeleton, make(r, PLACEHOLDERS)[:2]))
    frames = [f for _, group in clause_daily.VALUED for f in group]
    frames += [f for sides in clause_daily.POLAR for side in sides for f in side]
    frames += [f for group in clause_daily.ROLES for f in group]
    found.update(skeleton(f.format(p="PPP", v="7", x="the hall")) for f in frames)
    return frozenset(found)


def test_no_clause_of_the_examples_is_a_sentence_about_anything_or_about_relations() -> None:
    assert [clause for clause in example_clauses() if skeleton(clause) in trained()] == []


def test_no_far_topic_and_no_whole_pair_is_trained() -> None:
    groups = [group for _, group in held_out_clauses.VALUED] + held_out_clauses.ROLES
    groups += [side for sides in held_out_clauses.POLAR for side in sides]
    far = [frame.format(p="PPP", v="7", x="the hall") for group in groups for frame in group]
    near = [clause for pair in held_out_pairs.pairs() for clause in pair[:2]]
    assert [text for text in (*far, *near) if skeleton(text) in trained()] == []


def variations(frame: str) -> Iterator[str]:
    """All sentences that a wording can become when synonyms replace its words."""
    text, last = frame.format(p="PPP", v="7", x="the hall"), 0
    parts: list[list[str]] = []
    for match in synonyms._PATTERN.finditer(text):
        others = {phrase for group in synonyms._PLACES[match.group()] for phrase in group}
        parts += [[text[last : match.start()]], sorted({match.group(), *others})]
        last = match.end()
    yield from map("".join, itertools.product(*parts, [text[last:]]))


def test_no_wording_with_synonyms_becomes_a_clause_that_is_held_out() -> None:
    book = clauses.TRAINING
    frames = [frame for _, group in book.valued for frame in group] + [f for group in book.roles for f in group]
    frames += [frame for sides in book.said for side in sides for frame in side]
    assert len(frames) > 1500
    near = {clause for pair in held_out_pairs.pairs() for clause in pair[:2]}
    held = {skeleton(clause): clause for clause in (*example_clauses(), *near)}
    assert [held[s] for frame in frames for text in variations(frame) if (s := skeleton(text)) in held] == []


def test_the_whole_pairs_share_no_sentence_and_no_party_with_the_examples() -> None:
    watched = {clause for pair in held_out_pairs.pairs() for clause in pair[:2]}
    assert len(watched) == 3 * 54
    assert not watched & example_clauses()
    assert not [name for name in PARTY_NAMES if any(name in clause for clause in watched)]
    asked = {sample.questions[0].instructions for sample in held_out_pairs.reads()}
    assert len(asked) == 1
    r = random.Random(42)
    drawn = {clauses.contradiction(r).questions[0].instructions for _ in range(4000)}
    assert not asked & drawn


def test_no_held_out_question_about_clauses_is_asked_in_training() -> None:
    asked = {
        *clause_questions.CONFLICT, *clause_questions.CONSISTENT, *clause_questions.SAME,
        *clause_questions.ONLY_ONE, *clause_questions.BOTH,
    }  # fmt: skip
    held = {question for part in held_out_set.QUESTIONS.values() for question in part}
    assert not asked & (held | {held_out_pairs.QUESTION} | held_out.INSTRUCTIONS)
    contradict = {*clause_questions.CONFLICT, *clause_questions.ONLY_ONE}
    assert not contradict & {*clause_questions.CONSISTENT, *clause_questions.BOTH}


def test_half_of_the_whole_pairs_contradict() -> None:
    golds = [sample.answers[0] for sample in held_out_pairs.reads()]
    assert golds.count(0) * 2 == len(golds) == 216


def test_held_out_subjects_and_listed_words_are_no_nouns_of_relations() -> None:
    drawable = {*relation_words.THINGS, *relation_words.MANY, *relation_words.STUFF}
    drawable |= {person.removeprefix("the ") for person in relation_words.PEOPLE}
    held = {word for own in held_out_texts.PARTS.values() for group in (own.subjects, *own.pools) for word in group}
    assert not {word for word in drawable if word in held or word.removesuffix("s") in held}


@pytest.mark.parametrize("line", relation_scenes.VALUED, ids=lambda line: line[2][0][:30])
def test_a_scene_names_its_value_on_one_side_and_none_on_the_other(line: tuple[str, str, list[str], list[str]]) -> None:
    kind, nouns, some, none = line
    assert kind in words.KINDS
    assert nouns in clause_relations.ALONE_POOLS
    assert all("{v}" in frame for frame in some)
    assert not any("{v}" in frame for frame in none)
    assert len(some) >= 4
    assert len(none) >= 2


def test_sides_and_ways_that_exclude_each_other_share_no_wording() -> None:
    for _, first, second in relation_scenes.POLAR:
        assert not set(first) & set(second)
    for group in (*relation_words.WAY_GROUPS, *relation_words.STATE_GROUPS):
        assert len(group) >= 2
        said = [phrase for ways in group for phrase in ways]
        assert len(said) == len(set(said))


def test_half_of_the_pairs_contradict_and_their_sentences_are_whole() -> None:
    r = random.Random(43)
    pairs = [clause_relations.pair(r) for _ in range(4000)]
    assert 0.47 < sum(conflict for _, _, conflict, _ in pairs) / len(pairs) < 0.53
    assert 0.2 < sum(same for *_, same in pairs) / len(pairs) < 0.3
    for a, b, conflict, same in pairs:
        assert not (conflict and same)
        for text in (a, b):
            assert text.endswith(".")
            assert not re.search(r"[{}|]|\bno the\b|\bthe the\b|  ", text), text


def test_a_value_told_from_both_sides_contradicts_only_another_value() -> None:
    """The giver named in one clause, the taker in the other: the same value agrees, another one does not."""
    r = random.Random(44)
    value = re.compile(r"(\d[\d,.]*) ?(\w*(?: (?:per|a) \w+)?)")  # with its unit, or the month behind it
    agreed = differed = 0
    for _ in range(6000):
        conflict = r.random() < 0.5
        pair = clause_relations._valued(r, ("Gogo", "Tata"), conflict, not conflict)
        one_sided = all((party in pair[0]) != (party in pair[1]) for party in ("Gogo", "Tata"))
        found = [value.findall(text.replace("thousand", "000").replace(" 000", "000")) for text in pair]
        if not one_sided or any(len(each) != 1 for each in found):
            continue
        (first, second), units = (float(each[0][0].replace(",", "")) for each in found), {each[0][1] for each in found}
        if conflict:
            differed += 1
            assert first != second or len(units) == 2, pair
        else:
            agreed += 1
            assert first == second, pair
    assert min(agreed, differed) > 200


def test_only_a_thing_of_its_own_keeps_strangers_apart() -> None:
    """Who owns or pays is one party: "X owns it" and "Y owns it" is never shown as free of contradiction."""
    closed = [first[0] for strangers, first, _ in relation_scenes.POLAR if not strangers]
    assert len(closed) == 5
    cast = clause_relations.Cast("Gogo", "Tata", "the oven", relation_words.VERBS[0])
    r = random.Random(45)
    for strangers, first, second in relation_scenes.POLAR:
        others = set()
        for _ in range(60):
            _, _, there = clause_relations._apart(r, cast, first, second, lambda: "the jar", strangers)
            others |= {there.n} if {there.p, there.q} != {"Gogo", "Tata"} else set()
        assert bool(others) == (strangers and any(slot in f for f in first for slot in ("{p}", "{q}")))


def test_verbs_are_inflected() -> None:
    forms = {verb[0]: verb for verb in relation_words.VERBS}
    assert forms["carry"] == ("carry", "carries", "carried", "carrying")
    assert forms["bake"] == ("bake", "bakes", "baked", "baking")
    assert forms["wrap"] == ("wrap", "wraps", "wrapped", "wrapping")
    assert forms["wash"][1] == "washes"
    assert forms["play"] == ("play", "plays", "played", "playing")
    assert all(len(verb) == 4 for verb in relation_words.VERBS)


@pytest.mark.parametrize(("noun", "verb"), [("the jar", "is"), ("jars", "are"), ("milk", "is")])
def test_a_verb_agrees_with_its_noun(noun: str, verb: str) -> None:
    cast = clause_relations.Cast("Gogo", "Tata", noun, relation_words.VERBS[0])
    assert cast.fill("{n} are full.") == f"{noun} {verb} full."
    assert cast.fill("the loss of {n} is made good.") == f"the loss of {noun} is made good."


def test_other_shares_are_those_asked_for_and_a_wrong_name_is_told() -> None:
    assert mixture.parse_shares("") is mixture.SHARES
    assert mixture.parse_shares("chat=1, compare=3").weights == {"chat": 1.0, "compare": 3.0}
    with pytest.raises(ValueError, match="unknown skills poems"):
        mixture.parse_shares("chat=1,poems=2")


def test_a_stream_of_other_shares_repeats_itself() -> None:
    stream = data.Stream(DEMO / "tokenizer.json", 5, 8, 2000, 0, shares="compare=1")
    first, again = ([b.prompts.tobytes() for b in itertools.islice(data.batches(stream), 3)] for _ in range(2))
    assert first == again


def test_comparisons_are_right() -> None:
    """By the numbers in the text where the question says their places, and by those that it says itself."""
    r = random.Random(46)
    kinds = set()
    for _ in range(3000):
        sample = compare(r)
        assert isinstance(sample, Read)
        question = sample.questions[0]
        asked = question.instructions
        found = re.fullmatch(PLACE_ASKED, asked) or re.fullmatch(NUMBERS_ASKED, asked)
        numbers = [int(n) for n in re.findall(r"\d+", asked) or re.findall(r"\d+", sample.state)]
        if not found or len(numbers) != 2 or "first year" in sample.state:
            continue
        more = found.group(1) in ABOVE
        kinds.add((more, found.re.pattern))
        truth = numbers[0] > numbers[1] if more else numbers[0] < numbers[1]
        assert question.answers[sample.answers[0]] == ("yes" if truth else "no")
    assert kinds == {(more, asked) for more in (True, False) for asked in (PLACE_ASKED, NUMBERS_ASKED)}
