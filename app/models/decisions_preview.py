"""One read of one row, laid open; and what joint reading would cost."""

from __future__ import annotations

from dataclasses import dataclass

from engine.domain.question import Question
from engine.domain.reading import Reading


@dataclass(frozen=True, slots=True)
class PreviewFacts:
    """What the preview shows.

    Attributes:
        question: that was asked.
        prompt: the exact text that goes to the engine, special tokens written out.
        canvas: the tokens of the canvas as text, in order.
        slot: the place in ``canvas`` where the label is read.
        reading: the answer with its evidence.
        seconds: wall time of the read, all draws together.
    """

    question: Question
    prompt: str
    canvas: tuple[str, ...]
    slot: int
    reading: Reading
    seconds: float


@dataclass(frozen=True, slots=True)
class JointPrice:
    """A sample of rows read alone and jointly.

    Attributes:
        rows: of the sample.
        shift: mean absolute difference of the answers, 0 to 1; None when nothing was readable both ways.
        rank_correlation: Spearman's, alone against joint; None when there is none.
        flips, compared: how many likeliest answers changed, of how many.
        letter_copying: how much more often two choices give the same letter when read jointly, -1 to 1.
    """

    rows: int
    shift: float | None
    rank_correlation: float | None
    flips: int
    compared: int
    letter_copying: float | None
