"""A conversation as the window shows it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

EntryState = Literal["streaming", "done", "stopped", "failed"]


@dataclass(frozen=True, slots=True)
class AnswerStats:
    """What an answer cost.

    There is no decode rate: a canvas arrives at once, so only wall time means something.

    Attributes:
        seconds: wall time from the request to the end of the stream.
        tokens: completion tokens; None when the stream broke off before the engine counted.
        canvases: canvases committed.
        steps_per_canvas: denoise steps per canvas; None when neither frames nor counters told.
        context_used, context_total: tokens of prompt and answer, and the model's limit.
        cut: the answer ended at the length limit.
    """

    seconds: float
    tokens: int | None
    canvases: int
    steps_per_canvas: float | None = None
    context_used: int | None = None
    context_total: int | None = None
    cut: bool = False

    @property
    def tokens_per_second(self) -> float | None:
        if self.tokens is None or self.seconds <= 0:
            return None
        return self.tokens / self.seconds
