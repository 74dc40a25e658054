"""One read of one row, laid open."""

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
