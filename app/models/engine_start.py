"""A start of the engine at one moment: its phases with their times, and what is known of the time to go."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

PhaseState = Literal["done", "running", "open"]


@dataclass(frozen=True, slots=True)
class PhaseTime:
    """One phase; ``seconds`` that it took or has taken so far, None for one that is still to come."""

    name: str
    state: PhaseState
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class StartView:
    """Where a start is.

    Attributes:
        fraction: of the phase that runs, 0 to 1; None where the log does not say.
        detail: the line of the log that told.
        elapsed_s: since it began.
        eta_s: seconds to go, learned from earlier starts; None while unknown.
    """

    phases: tuple[PhaseTime, ...] = ()
    fraction: float | None = None
    detail: str = ""
    elapsed_s: float = 0.0
    eta_s: float | None = None

    @property
    def share(self) -> float:
        """Of all phases, 0 to 1, for a bar."""
        done = sum(phase.state == "done" for phase in self.phases)
        running = any(phase.state == "running" for phase in self.phases)
        return (done + (self.fraction or 0.0) * running) / max(len(self.phases), 1)
