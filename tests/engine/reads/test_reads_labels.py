"""Every label one token at its slot, alone and on every joint line; what is not fails by name."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest
from fakes.wire_server import ToyTokenizer
from tokenizers import Tokenizer

from engine.domain.question import MAX_QUESTIONS, Choice, Noul, Option, Question, Score
from engine.errors import InputError
from engine.paths import demo_model_dir
from engine.reads.labels import JointLines, alone_labels, find_specials

Encode = Callable[[str], Awaitable[tuple[int, ...]]]
NOUL = Noul("clash", "Do they clash?")
CHOICE = Choice("team", "Which team?", tuple(Option(f"team {n}") for n in range(26)))
SCORE = Score("mood", "How angry?", tuple(f"level {n}" for n in range(10)))
ALL: tuple[Question, ...] = (NOUL, CHOICE, SCORE)


def asked(tokenizer: ToyTokenizer) -> Encode:
    async def tokenize(text: str) -> tuple[int, ...]:
        return tuple(tokenizer.encode(text))

    return tokenize


@pytest.fixture
def demo() -> Encode:
    tokenizer = Tokenizer.from_file(str(demo_model_dir() / "tokenizer.json"))

    async def tokenize(text: str) -> tuple[int, ...]:
        return tuple(tokenizer.encode(text, add_special_tokens=False).ids)

    return tokenize


async def test_alone_and_joint_labels_of_a_toy() -> None:
    toy = ToyTokenizer()
    alone = await alone_labels(asked(toy), ALL)
    assert [toy.decode([token]) for token in alone[0]] == ["yes", "no"]
    assert [toy.decode([token]) for token in alone[1]] == list(CHOICE.labels)
    lines = await JointLines.open(asked(toy), ALL)
    line = lines.line(1, NOUL)
    assert toy.decode(line.prefix) == "1:"
    assert [toy.decode([token]) for token in line.labels] == [" yes", " no"]


async def test_the_demo_tokenizer_reads_every_label_at_every_number(demo: Encode) -> None:
    specials = await find_specials(demo)
    assert len(specials.thought) > 2
    assert all(len(set(ids)) == len(ids) for ids in await alone_labels(demo, ALL))
    questions = [Noul(f"q{n}", "?") for n in range(MAX_QUESTIONS - 2)] + [CHOICE, SCORE]
    lines = await JointLines.open(demo, questions)
    for number in range(1, MAX_QUESTIONS + 1):
        for question in ALL[1:]:
            assert len(lines.line(number, question).labels) == len(question.labels)


@pytest.mark.parametrize("label", ["C", "yes", "7"])
async def test_a_label_of_two_tokens_is_named_with_its_question(label: str) -> None:
    tokenize = asked(ToyTokenizer(split_labels=[label]))
    owner = next(question for question in ALL if label in question.labels)
    for find in (alone_labels, JointLines.open):
        with pytest.raises(InputError) as caught:
            await find(tokenize, ALL)
        assert caught.value.code == "reads.label_not_one_token"
        assert caught.value.params["question"] == owner.id
        assert caught.value.params["label"] == label
        assert caught.value.params["tokens"]


async def test_two_labels_that_are_one_token() -> None:
    inner = asked(ToyTokenizer())

    async def blind(text: str) -> tuple[int, ...]:
        return await inner(text.replace("B", "A"))

    for find in (alone_labels, JointLines.open):
        with pytest.raises(InputError, match='"team": the labels "B" and "A" are the same token') as caught:
            await find(blind, ALL)
        assert caught.value.code == "reads.labels_not_distinct"


async def test_a_newline_of_two_tokens_rules_out_joint_reads_only() -> None:
    inner = asked(ToyTokenizer())

    async def crlf(text: str) -> tuple[int, ...]:
        return await inner(text.replace("\n", "\n\n"))

    await alone_labels(crlf, ALL)
    with pytest.raises(InputError, match="read the questions alone") as caught:
        await JointLines.open(crlf, ALL)
    assert caught.value.code == "reads.newline_not_one_token"


async def test_a_newline_that_melts_into_the_label() -> None:
    toy = ToyTokenizer()

    async def melting(text: str) -> tuple[int, ...]:
        return tuple(toy.encode(text.replace("yes\n", "yesyes")))

    with pytest.raises(InputError) as caught:
        await JointLines.open(melting, ALL)
    assert (caught.value.code, caught.value.params["label"]) == ("reads.label_not_one_token", "yes")


async def test_a_model_without_the_special_tokens() -> None:
    async def letters(text: str) -> tuple[int, ...]:
        return tuple(map(ord, text))

    with pytest.raises(InputError, match=r"<turn\|>") as caught:
        await find_specials(letters)
    assert caught.value.code == "reads.no_such_token"
