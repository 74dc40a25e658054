"""Readers that a model must beat: one that always says the same, and one that counts words.

The word counter is a logistic regression fitted elsewhere and kept beside the form as ``baseline.json``:
``{"version": 1, "kind": "bag_of_words_logistic", "questions": {id: {"classes", "lowercase", "token_pattern",
"vocabulary", "weights", "bias"}}}``. ``weights`` has one row per class (softmax), or one row for two classes (the
logit of the second). A class is an answer of the question: yes or no, an option's name, a level's number.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from pathlib import Path
from typing import Annotated, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from engine.batch.analysis.gold import parse_gold
from engine.domain.form import Form
from engine.domain.question import Question
from engine.errors import InputError

FILE = "baseline.json"
# The file may come from a stranger, and a free pattern could keep a processor busy for years.
_SIMPLE = re.compile(r"\[[^\[\]\\]+\]\+|\\w\+")


# Sums of more would overflow, and no regression gives more.
Weight = Annotated[float, Field(ge=-1e6, le=1e6, allow_inf_nan=False)]


class WordModel(BaseModel):
    """One question's regression."""

    model_config = ConfigDict(extra="forbid")

    classes: Annotated[list[str], Field(min_length=2, max_length=26)]
    lowercase: bool = True
    token_pattern: Annotated[str, Field(max_length=100)] = "[a-z0-9]+"
    vocabulary: dict[str, Annotated[int, Field(ge=0)]]
    weights: list[list[Weight]]
    bias: list[Weight]

    @model_validator(mode="after")
    def _shapes(self) -> Self:
        rows = len(self.weights)
        if rows not in {len(self.classes), 1} or (rows == 1 and len(self.classes) != 2) or len(self.bias) != rows:
            raise ValueError(f"{len(self.classes)} classes, {rows} rows of weights, {len(self.bias)} biases")
        width = max(self.vocabulary.values(), default=-1) + 1
        if any(len(row) < width for row in self.weights):
            raise ValueError(f"a row of weights is shorter than the vocabulary ({width})")
        if not _SIMPLE.fullmatch(self.token_pattern):
            raise ValueError(f"token_pattern {self.token_pattern!r} is not one set of characters and a plus")
        try:
            re.compile(self.token_pattern)
        except re.error as error:
            raise ValueError(f"token_pattern {self.token_pattern!r}: {error}") from error
        return self


class BaselineFile(BaseModel):
    """The file."""

    model_config = ConfigDict(extra="forbid")

    version: Literal[1]
    kind: Literal["bag_of_words_logistic"]
    questions: dict[str, WordModel]


class WordReader:
    """Answers one question by its words.

    Args:
        model: the regression.
        question: whose answers the classes are.

    Raises:
        ValueError: a class is no answer of the question.
    """

    def __init__(self, model: WordModel, question: Question) -> None:
        self._places = [parse_gold(name, question) for name in model.classes]
        if None in self._places:
            raise ValueError(f"{model.classes[self._places.index(None)]!r} is no answer")
        self._answers = len(question.answers)
        self._pattern = re.compile(model.token_pattern)
        self._lowercase = model.lowercase
        self._vocabulary = model.vocabulary
        width = max(map(len, model.weights), default=0)
        rows = [[*row, *[0.0] * (width - len(row))] for row in model.weights]
        self._weights = np.array(rows, dtype=np.float64).reshape(len(rows), width)
        self._bias = np.array(model.bias, dtype=np.float64)

    def shares(self, state: str) -> NDArray[np.float64]:
        """Probability of each answer, in the question's order."""
        text = state.lower() if self._lowercase else state
        logits = self._bias.copy()
        for word, count in Counter(self._pattern.findall(text)).items():
            place = self._vocabulary.get(word)
            if place is not None:
                logits += count * self._weights[:, place]
        if logits.size == 1:
            logits = np.array([0.0, logits[0]])
        odds = np.exp(logits - logits.max())
        shares = np.zeros(self._answers)
        for place, share in zip(self._places, odds / odds.sum(), strict=True):
            shares[place] += share
        return shares


def load_baseline(form_path: Path, form: Form) -> dict[str, WordReader]:
    """The word readers that lie beside a form, by question id; empty when there is no file.

    Raises:
        InputError: the file is there but cannot be used; names the place.
    """
    path = form_path.parent / FILE
    try:
        wire = BaselineFile.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise _bad(path, "the file", error.strerror or str(error)) from error
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise _bad(path, ".".join(map(str, first["loc"])) or "the file", first["msg"]) from error
    readers = {}
    for question in form.questions:
        if question.id in wire.questions:
            try:
                readers[question.id] = WordReader(wire.questions[question.id], question)
            except ValueError as error:
                raise _bad(path, f"questions.{question.id}.classes", str(error)) from error
    return readers


def expected_level(shares: NDArray[np.float64]) -> float:
    """Mean level under the shares."""
    return math.fsum(level * share for level, share in enumerate(shares))


def _bad(path: Path, place: str, detail: str) -> InputError:
    return InputError("baseline.bad", "{path}: {place}: {detail}", path=str(path), place=place, detail=detail)
