"""The next start as it is shown before it is begun."""

from __future__ import annotations

from dataclasses import dataclass

from engine.domain.diagnosis import PlanChange, Remedy, Retry


@dataclass(frozen=True, slots=True)
class Proposal:
    """What a remedy, or another profile, makes of the next start.

    Attributes:
        title: what it is, in words.
        changes: the consequences; empty where only the moment is another.
        retry: what is to be remembered and started.
        warning: what is lost by it; empty for nothing.
        remedy: that it follows; None for another profile.
    """

    title: str
    changes: tuple[PlanChange, ...]
    retry: Retry
    warning: str = ""
    remedy: Remedy | None = None
