"""What a wire saw of one question about one row: its draws, before they are folded into a reading."""

from __future__ import annotations

from dataclasses import dataclass

from engine.domain.question import Question
from engine.domain.reading import Draw, Method, Reading
from engine.reads.aggregate import failed, reading_of


@dataclass(frozen=True, slots=True)
class Seen:
    """The draws of one question.

    Attributes:
        question: as it was asked.
        draws: draw 0 first; empty when the engine refused.
        joint: whether it shared its canvas.
        note: empty, or that the read had to be repeated.
        refusal: the engine's words when it refused; else empty.
    """

    question: Question
    draws: tuple[Draw, ...]
    joint: bool
    note: str = ""
    refusal: str = ""

    def reading(self, method: Method) -> Reading:
        """What the draws amount to."""
        name = method.named(joint=self.joint)
        if self.refusal:
            return failed(self.question, self.refusal, name=name)
        return reading_of(self.question, self.draws, method, name=name, note=self.note)
