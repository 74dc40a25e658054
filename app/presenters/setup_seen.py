"""What the steps of the setup have found so far."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from app.models.setup import ProbeAnswer
from engine.domain.hardware import Finding, Machine
from engine.domain.plan import LaunchPlan, PlanResult
from engine.launch.preflight import Facts
from engine.local.disk import EngineOnDisk


@dataclass(slots=True)
class Seen:
    """What the steps have found; None or empty until they have looked.

    Attributes:
        source_problems: of the mirror and of the folder that the user named for the checkpoint.
    """

    machine: Machine | None = None
    findings: tuple[Finding, ...] = ()
    result: PlanResult | None = None
    disk: EngineOnDisk | None = None
    checkpoint: Path | None = None
    checkpoint_there: bool = False
    source_problems: tuple[str, str] = ("", "")
    facts: Facts | None = None
    in_the_way: tuple[Finding, ...] = ()
    right: tuple[str, ...] = ()
    answer: ProbeAnswer | None = None
    log: list[str] = field(default_factory=list)

    @property
    def plan(self) -> LaunchPlan | None:
        return self.result if isinstance(self.result, LaunchPlan) else None

    @property
    def embedded(self) -> bool:
        return self.plan is not None and self.plan.checkpoint == "embedded"
