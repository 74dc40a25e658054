"""The life of an engine as five states, and the moves between them that can happen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from engine.errors import BugError

Phase = Literal["stopped", "starting", "ready", "failed", "stopping"]

_MOVES: dict[Phase, frozenset[Phase]] = {
    "stopped": frozenset({"starting"}),
    "starting": frozenset({"ready", "failed", "stopping"}),
    "ready": frozenset({"failed", "stopping"}),
    "failed": frozenset({"starting", "stopping"}),
    "stopping": frozenset({"stopped", "failed"}),
}


@dataclass(frozen=True, slots=True)
class EngineState:
    """Where an engine is in its life; ``reason`` says why it failed."""

    phase: Phase = "stopped"
    reason: str = ""

    def to(self, phase: Phase, reason: str = "") -> EngineState:
        """The next state. Raises BugError for a move that cannot happen (``stopped`` to ``ready``)."""
        if phase not in _MOVES[self.phase]:
            raise BugError("engine.bad_move", "an engine cannot go from {old} to {new}", old=self.phase, new=phase)
        return EngineState(phase, reason)

    def __str__(self) -> str:
        return f"{self.phase}: {self.reason}" if self.reason else self.phase
