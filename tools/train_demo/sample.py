"""What every generator of training data returns: reads (a state with questions and their answers) and chats."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from engine.domain.question import Choice, Noul, Option, Question, Score

T = TypeVar("T")
_ARTICLE = re.compile(r"\b([Aa]) ((?!uni|one|use|eu)[aeiouAEIOU])")
Random = random.Random


@dataclass(frozen=True)
class Read:
    """One state and the questions put to it; several questions share a canvas.

    Attributes:
        state: the user's text.
        questions: at least one.
        answers: for each question the index of the right label.
        skill: the generator's name, for figures per skill.
    """

    state: str
    questions: tuple[Question, ...]
    answers: tuple[int, ...]
    skill: str


@dataclass(frozen=True)
class Chat:
    """A conversation that ends with the model's answer.

    Attributes:
        messages: (role, content) pairs, the last one from the user.
        answer: what the model shall write.
        skill: the generator's name.
    """

    messages: tuple[tuple[str, str], ...]
    answer: str
    skill: str = "chat"


Sample = Read | Chat
Generator = Callable[[Random], Sample]


@dataclass(frozen=True)
class Asked:
    """A question with the index of its right label, before reads are put together."""

    question: Question
    answer: int


def noul(instructions: str, truth: bool, true_means: str = "", false_means: str = "") -> Asked:
    """A yes/no question and its answer."""
    return Asked(Noul("q", instructions, true_means, false_means), 0 if truth else 1)


def choice(r: Random, instructions: str, options: Sequence[tuple[str, str]], right: int) -> Asked:
    """A choice whose options are shuffled; ``options`` are (name, description) pairs, ``right`` an index into them."""
    order = list(range(len(options)))
    r.shuffle(order)
    shown = tuple(Option(*options[i]) for i in order)
    return Asked(Choice("q", instructions, shown), order.index(right))


def score(instructions: str, levels: Sequence[str], right: int) -> Asked:
    """A question for one of the ordered ``levels``."""
    return Asked(Score("q", instructions, tuple(levels)), right)


def read(state: str, asked: Sequence[Asked], skill: str) -> Read:
    """Puts questions to one state."""
    return Read(state, tuple(a.question for a in asked), tuple(a.answer for a in asked), skill)


def with_label_noise(r: Random, sample: Read, share: float) -> Read:
    """Replaces each answer with probability ``share`` by another label, so that the model learns to doubt."""
    answers = []
    for question, answer in zip(sample.questions, sample.answers, strict=True):
        if r.random() < share:
            answer = r.choice([i for i in range(len(question.labels)) if i != answer])
        answers.append(answer)
    return Read(sample.state, sample.questions, tuple(answers), sample.skill)


@dataclass
class Weighted:
    """Draws one of several things with fixed weights."""

    weights: dict[str, float]
    _names: list[str] = field(init=False)
    _shares: list[float] = field(init=False)

    def __post_init__(self) -> None:
        self._names, self._shares = list(self.weights), list(self.weights.values())

    def draw(self, r: Random) -> str:
        """A name, as often as its weight says."""
        return r.choices(self._names, self._shares)[0]


def other(r: Random, things: Sequence[T], than: T) -> T:  # noqa: UP047 (runs on Python 3.11 too)
    """One of ``things`` that does not equal ``than``."""
    while (thing := r.choice(things)) == than:
        pass
    return thing


def with_articles(text: str) -> str:
    """ "a" before a vowel becomes "an" (by spelling, which is right for nearly all words of the lists)."""
    return _ARTICLE.sub(r"\1n \2", text)


def sentence(text: str) -> str:
    """With a capital first letter."""
    return text[:1].upper() + text[1:]
