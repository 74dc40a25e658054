"""Typed questions: noul (yes/no), choice and score, and the labels that a read looks for.

A *label* is the token the model writes (``yes``, ``B``, ``3``); an *answer* is what it means to the user (``yes``,
``billing``, ``3``). Both tuples have the same order, which is the order of every probability vector in the program.
"""

from __future__ import annotations

import string
from dataclasses import dataclass
from typing import ClassVar, Literal

QuestionType = Literal["noul", "choice", "score"]

MIN_OPTIONS, MAX_OPTIONS = 2, 26  # A to Z: one letter is one token
MIN_LEVELS, MAX_LEVELS = 2, 10  # 0 to 9: one digit is one token
MAX_QUESTIONS = 64  # of one form; vLLM 0.33.0 reads at most 64 questions a request


@dataclass(frozen=True, slots=True)
class Option:
    """One option of a choice: a name (the answer) and an optional description (seen by the model)."""

    name: str
    description: str = ""


@dataclass(frozen=True, slots=True)
class Noul:
    """A yes/no question (noul is the field's name for a boolean read).

    Attributes:
        true_means, false_means: what yes and no mean, seen by the model; may be empty.
        gold: a column with the right answers.
        threshold: p(yes) from which an answer counts as yes, 0 to 1. No read depends on it.
    """

    type: ClassVar[QuestionType] = "noul"
    id: str
    instructions: str
    true_means: str = ""
    false_means: str = ""
    gold: str | None = None
    threshold: float | None = None

    @property
    def labels(self) -> tuple[str, ...]:
        return ("yes", "no")

    @property
    def answers(self) -> tuple[str, ...]:
        return ("yes", "no")


@dataclass(frozen=True, slots=True)
class Choice:
    """One of 2 to 26 named options, lettered A to Z in their order.

    Attributes:
        gold: a column with the right answers.
        threshold: share of the likeliest option from which an answer is taken without a person, 0 to 1.
    """

    type: ClassVar[QuestionType] = "choice"
    id: str
    instructions: str
    options: tuple[Option, ...]
    gold: str | None = None
    threshold: float | None = None

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(string.ascii_uppercase[: len(self.options)])

    @property
    def answers(self) -> tuple[str, ...]:
        return tuple(option.name for option in self.options)


@dataclass(frozen=True, slots=True)
class Score:
    """One of 2 to 10 ordered levels, numbered from 0.

    Attributes:
        gold: a column with the right answers.
        threshold: expected level from which a row counts, 0 to the highest level.
    """

    type: ClassVar[QuestionType] = "score"
    id: str
    instructions: str
    levels: tuple[str, ...]
    gold: str | None = None
    threshold: float | None = None

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(string.digits[: len(self.levels)])

    @property
    def answers(self) -> tuple[str, ...]:
        return self.labels


Question = Noul | Choice | Score
