"""The life of an engine as states, and the moves between them that can happen. A table of them is in docs/lifecycle.md.

stopped ── starting ── ready ── stopping ── stopped        what the user does
              │          │
              │          ├── resuming ── ready             the computer slept; the engine is asked again
              │          └── crashed ── waiting ── starting
              └── failed ── waiting ── starting            not for a cause that would be the same again
stopped ── adopted ── lost ── adopted                      a server that is not ours
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from engine.errors import BugError

Phase = Literal[
    "stopped",
    "starting",
    "ready",
    "resuming",
    "crashed",
    "waiting",
    "failed",
    "stopping",
    "adopted",
    "lost",
]
"""What an engine is doing.

``failed``: it did not start, or is not started again. ``crashed``: it was ready and ended by itself; nothing of it is
left, or is about to be. ``waiting``: it will be started again in a moment. ``resuming``: the computer slept, and the
engine has to show that it still works. ``adopted``: a server that we did not start answers. ``lost``: it does not.
"""

LOG_FOLLOWS = "; the end of its log:"

PHASES: tuple[Phase, ...] = get_args(Phase)

MOVES: dict[Phase, frozenset[Phase]] = {
    "stopped": frozenset({"starting", "adopted"}),
    "starting": frozenset({"ready", "failed", "stopping"}),
    "ready": frozenset({"resuming", "crashed", "stopping"}),
    "resuming": frozenset({"ready", "crashed", "stopping"}),
    "crashed": frozenset({"waiting", "starting", "failed", "stopping"}),
    "waiting": frozenset({"starting", "stopping"}),
    "failed": frozenset({"waiting", "starting", "stopping"}),
    "stopping": frozenset({"stopped", "failed"}),
    "adopted": frozenset({"lost", "stopped"}),
    "lost": frozenset({"adopted", "stopped"}),
}


@dataclass(frozen=True, slots=True)
class EngineState:
    """Where an engine is in its life; ``reason`` says why it is there, where that is not plain."""

    phase: Phase = "stopped"
    reason: str = ""

    def to(self, phase: Phase, reason: str = "") -> EngineState:
        """The next state. Raises BugError for a move that cannot happen (``stopped`` to ``ready``)."""
        if phase not in MOVES[self.phase]:
            raise BugError("engine.bad_move", "an engine cannot go from {old} to {new}", old=self.phase, new=phase)
        return EngineState(phase, reason)

    @property
    def ended(self) -> bool:
        """Whether an engine that had been ready is gone, by itself."""
        return self.phase in ("crashed", "failed", "lost")

    @property
    def short(self) -> str:
        """The reason without the end of the engine's log, for those who show the log anyway."""
        return self.reason.split(LOG_FOLLOWS, 1)[0]

    def __str__(self) -> str:
        return f"{self.phase}: {self.reason}" if self.reason else self.phase
