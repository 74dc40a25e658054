"""The canvas at one denoise step, ready to be drawn."""

from __future__ import annotations

from dataclasses import dataclass


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
    """One denoise step of one canvas.

    Attributes:
        canvas: 1-based number of the canvas in the answer.
        step: 1-based denoise step inside it.
        converged: this step committed it.
    """

    canvas: int
    step: int
    converged: bool
    cells: tuple[Cell, ...]

    @property
    def accepted(self) -> int:
        return sum(cell.accepted for cell in self.cells)
