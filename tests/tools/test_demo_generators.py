"""The generators of training data: right answers, the prompt's own words, and nothing of the bundled examples."""

from __future__ import annotations

import random
import re

import pytest
from tokenizers import Tokenizer

from engine.domain.question import Choice, Noul, Score
from engine.reads.prompt import CHOICE_REPLY, JOINT_REPLY, NOUL_REPLY, SCORE_REPLY
from tests.tools.demo_files import DEMO
from tools.train_demo import chat, clauses, mixture, texts, tickets, words
from tools.train_demo.rendering import Example, prompt_text, to_example
from tools.train_demo.sample import Chat, Read, with_label_noise
from tools.train_demo.tokenizer import EMPTY_THOUGHT, END_OF_TURN, PAD


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return Tokenizer.from_file(str(DEMO / "tokenizer.json"))


def test_the_same_seed_gives_the_same_samples() -> None:
    first = [mixture.draw(random.Random(3)) for _ in range(1)] + [mixture.draw(random.Random(7), easy=0.5)]
    second = [mixture.draw(random.Random(3)) for _ in range(1)] + [mixture.draw(random.Random(7), easy=0.5)]
    assert first == second
    assert mixture.draw(random.Random(4)) != first[0]


@pytest.mark.parametrize("skill", sorted(mixture.SHARES.weights))
def test_answers_are_labels_of_their_questions(skill: str) -> None:
    r = random.Random(skill)
    for _ in range(300):
        sample = mixture.draw(r, skill=skill)
        if isinstance(sample, Chat):
            assert sample.messages[-1][0] == "user"
            assert sample.answer
            continue
        assert len(sample.questions) == len(sample.answers)
        for question, answer in zip(sample.questions, sample.answers, strict=True):
            assert 0 <= answer < len(question.labels)
            assert len(set(question.answers)) == len(question.answers)


def test_prompts_are_those_of_the_application() -> None:
    r = random.Random(1)
    replies = {Noul: NOUL_REPLY, Choice: CHOICE_REPLY, Score: SCORE_REPLY}
    for _ in range(200):
        sample = mixture.draw(r, skill=r.choice(("ticket", "joint", "contradiction")))
        assert isinstance(sample, Read)
        text = prompt_text(sample)
        assert text.startswith(f"<bos><|turn>user\n{sample.state}\n\nQuestion")
        assert text.endswith(f"<turn|>\n<|turn>model\n{EMPTY_THOUGHT}")
        last = JOINT_REPLY if len(sample.questions) > 1 else replies[type(sample.questions[0])]
        assert f"{last}<turn|>" in text


def test_half_of_the_clause_pairs_contradict_and_the_others_are_of_three_kinds() -> None:
    r = random.Random(2)
    pairs = [clauses.draw_pair(r) for _ in range(4000)]
    conflicts = sum(pair.conflict for pair in pairs) / len(pairs)
    same = sum(pair.same for pair in pairs) / len(pairs)
    assert 0.47 < conflicts < 0.53
    assert 0.18 < same < 0.27  # of all: 45 % of the half that does not contradict
    assert not any(pair.conflict and pair.same for pair in pairs)


def test_a_contradicting_pair_shares_its_party_and_differs_in_the_value() -> None:
    r = random.Random(5)
    for _ in range(500):
        parties = (words.party(r), words.party(r))
        fact = clauses.draw_fact(r, parties)
        against = clauses.opposite(r, fact, parties)
        assert (fact.family, fact.topic, fact.party, fact.thing) == (
            against.family,
            against.topic,
            against.party,
            against.thing,
        )
        assert against.value != fact.value or parties[0] == parties[1]


def test_different_values_have_different_keys_and_words() -> None:
    r = random.Random(6)
    for kind in words.KINDS:
        for _ in range(200):
            value = words.KINDS[kind](r)
            other = words.different(r, kind, value)
            assert other.key != value.key
            assert not set(other.forms) & set(value.forms)


def test_a_score_keeps_the_order_of_its_levels_and_a_choice_its_right_option() -> None:
    r = random.Random(8)
    for _ in range(300):
        ticket = tickets.draw(r)
        asked = tickets.ask_team(r, ticket)
        assert isinstance(asked.question, Choice)
        names = tickets.vocabulary.TOPICS[ticket.topic][0]
        assert asked.question.options[asked.answer].name.lower() in [name.lower() for name in names]
    for _ in range(100):
        sample = texts.match(r)
        question = sample.questions[0]
        assert isinstance(question, Choice)
        assert question.options[sample.answers[0]].name in sample.state


def test_label_noise_replaces_its_share_of_answers() -> None:
    r = random.Random(9)
    sample = tickets.triage(r, what="refund")
    flipped = sum(with_label_noise(r, sample, 0.25).answers != sample.answers for _ in range(4000)) / 4000
    assert 0.22 < flipped < 0.28
    assert with_label_noise(r, sample, 0.0).answers == sample.answers


def test_an_alone_read_is_a_label_an_end_and_pads(tokenizer: Tokenizer) -> None:
    r = random.Random(10)
    for _ in range(50):
        sample = tickets.triage(r)
        example = to_example(r, tokenizer, sample)
        label = sample.questions[0].labels[sample.answers[0]]
        assert tokenizer.id_to_token(example.canvas[0]) == label
        assert example.canvas[1] == END_OF_TURN
        assert set(example.canvas[2:]) == {PAD}
        assert len(example.canvas) in (16, 64)
        assert example.labels == (0,)


def test_half_of_the_chat_prompts_lack_the_thought_block(tokenizer: Tokenizer) -> None:
    """vLLM writes a chat prompt without it."""
    r = random.Random(21)
    ends = tuple(tokenizer.encode(EMPTY_THOUGHT, add_special_tokens=False).ids)
    sample = Chat((("user", "Hi"),), "Hello!")
    with_block = sum(to_example(r, tokenizer, sample).prompt[-len(ends) :] == ends for _ in range(2000)) / 2000
    assert 0.45 < with_block < 0.55


def test_a_clause_that_must_show_its_party_or_thing_shows_it() -> None:
    """A pair that differs in the party alone is no contradiction, but only if both clauses name the party."""
    r = random.Random(22)
    differing = 0
    for _ in range(3000):
        parties = ("Alpha Foods", "Beta Rail")
        fact = clauses.draw_fact(r, parties, book=clauses.TRAINING)
        first, second = clauses.elsewhere(r, fact, parties)
        if first.shown == "{p}":
            differing += 1
            assert "Alpha Foods" in clauses.phrase(r, first) or first.party != "Alpha Foods"
            assert "Beta Rail" in clauses.phrase(r, second) or second.party != "Beta Rail"
    assert differing > 100


def test_stories_follow_their_grammar_and_spoiled_ones_do_not() -> None:
    r = random.Random(23)
    pattern = re.compile(chat.story_pattern())
    for _ in range(200):
        text = chat.story(r)
        assert pattern.fullmatch(text)
        words_ = text.split(" ")
        place = r.randrange(1, len(words_) - 1)
        assert not pattern.fullmatch(" ".join([*words_[:place], "fox", *words_[place:]]))


def test_answers_to_sums_are_right() -> None:
    r = random.Random(24)
    for _ in range(500):
        a, sign, b = chat.draw_sum(r)
        assert chat.result_of(a, sign, b) == eval(f"{a}{sign}{b}")
        assert 0 <= chat.result_of(a, sign, b) <= 198


def test_a_joint_read_has_a_line_for_each_question(tokenizer: Tokenizer) -> None:
    r = random.Random(11)
    for _ in range(50):
        sample = tickets.triage_joint(r)
        example = to_example(r, tokenizer, sample)
        lines = _text(tokenizer, example).strip().split("\n")
        expected = [
            f"{k}: {q.labels[a]}"
            for k, (q, a) in enumerate(zip(sample.questions, sample.answers, strict=True), start=1)
        ]
        assert lines == expected
        written = [tokenizer.id_to_token(example.canvas[i]).lstrip("▁") for i in example.labels]
        assert written == [line.split(": ")[1] for line in expected]


def test_a_long_answer_is_cut_into_canvases_that_follow_each_other(tokenizer: Tokenizer) -> None:
    from tools.train_demo.chat import story

    sample = Chat((("user", "Tell me a story."),), story(random.Random(1), long=True))
    seen: dict[int, Example] = {}
    r = random.Random(2)
    asked = tuple(tokenizer.encode(prompt_text(sample), add_special_tokens=False).ids)
    for _ in range(120):
        example = to_example(r, tokenizer, sample)
        if example.prompt[: len(asked)] == asked:  # half of the prompts lack the thought block
            seen[len(example.prompt)] = example
    blocks = [seen[length] for length in sorted(seen)]
    assert len(blocks) >= 2
    assert "".join(_text(tokenizer, block) for block in blocks) == sample.answer
    for block in blocks[:-1]:
        assert END_OF_TURN not in block.canvas
    assert END_OF_TURN in blocks[-1].canvas


def _text(tokenizer: Tokenizer, example: Example) -> str:
    end = example.canvas.index(END_OF_TURN) if END_OF_TURN in example.canvas else len(example.canvas)
    return tokenizer.decode(list(example.canvas[:end]), skip_special_tokens=False)
