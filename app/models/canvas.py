"""The canvas at one denoise step: what was sent of it, and the cells to be drawn, made when they are wanted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

Pieces = Callable[[Sequence[int]], Sequence[str]]  # token ids to one text each


@dataclass(frozen=True, slots=True)
class Cell:
    """One slot of the canvas.

    Attributes:
        text: the piece of text that its likeliest token stands for.
        accepted: the sampler kept the token in this step.
        changed: another token than in the step before.
        entropy: nats, where the engine tells.
    """

    text: str
    accepted: bool
    changed: bool
    entropy: float | None = None


@dataclass(frozen=True, slots=True)
class CanvasSnapshot:
    """One denoise step of one canvas. A long answer has thousands, so only numbers are kept of each.

    Attributes:
        canvas: 1-based number of the canvas in the answer.
        step: 1-based denoise step inside it.
        converged: this step committed it.
        ids: the likeliest token of each slot.
        kept: per slot, 1 where the sampler accepted it in this step, else 0.
        entropy: nats per slot, where the engine tells.
        before: ``ids`` of the step before; empty where there is none.
        pieces: the vocabulary.
    """

    canvas: int
    step: int
    converged: bool
    ids: Sequence[int]
    kept: Sequence[int]
    entropy: Sequence[float] | None
    before: Sequence[int]
    pieces: Pieces = field(compare=False, repr=False)

    @property
    def accepted(self) -> int:
        return sum(self.kept)

    @property
    def slots(self) -> int:
        return len(self.ids)

    def cells(self) -> tuple[Cell, ...]:
        """What is to be drawn, a cell for each slot."""
        entropy = self.entropy or (None,) * len(self.ids)
        before = self.before if len(self.before) == len(self.ids) else self.ids
        return tuple(
            Cell(text, bool(kept), new != old, nats)
            for text, kept, new, old, nats in zip(
                self.pieces(self.ids), self.kept, self.ids, before, entropy, strict=False
            )
        )
