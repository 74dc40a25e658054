"""One answer of a run, laid open."""

from __future__ import annotations

from dataclasses import dataclass

from engine.domain.question import Question
from engine.domain.reading import Draw, Reading
from engine.domain.run import Label


@dataclass(frozen=True, slots=True)
class AnswerDetail:
    """One answer with everything about it.

    Attributes:
        cells: (column, cell) of its row.
        prompt: the words that were put to the model; empty when the row's text cannot be made.
        earlier: readings of earlier rounds that this one replaced, and later attempts that failed.
        label: what a reviewer said, or None.
        pictures: paths of those that the row names.
    """

    question: Question
    reading: Reading
    row: int
    cells: tuple[tuple[str, str], ...]
    prompt: str = ""
    earlier: tuple[Reading, ...] = ()
    label: Label | None = None
    pictures: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AnswerDraws:
    """An answer that was read again, draw by draw.

    Attributes:
        row: of the answer; its number is in the seed of every draw but the first.
        reading: what the draws amount to now.
        seed: of the run.
        min_mass: from which label mass on a draw counts.
    """

    question: Question
    row: int
    reading: Reading
    draws: tuple[Draw, ...]
    seed: int
    min_mass: float
