"""What the window knows about the engine at one moment."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from engine.domain.diagnosis import Diagnosis
from engine.domain.plan import LaunchPlan

EngineKind = Literal["embedded", "url", "vllm"]
TOY_OWNER = "diffusion-desk-embedded"  # as the embedded engine's /v1/models says
Phase = Literal["stopped", "starting", "ready", "stopping", "failed", "lost"]


@dataclass(frozen=True, slots=True)
class EngineState:
    """A snapshot; a new one is emitted with every change.

    Attributes:
        phase: ``failed``: it did not start; ``lost``: it was ready and answers no more.
        kind: the embedded toy, a server at an address that the user gave, or the vLLM of the setup.
        url: where it answers; empty while stopped.
        model, context, owner: its model id, its context length in tokens, and who it says owns it, once ready.
        pid: of the group's leader; None for a server that is not ours.
        since: seconds since the epoch when it became ready.
        log: the log file of an engine that we started.
        message, remedy: why it failed or was lost, and what to do.
        plan: that a vLLM of ours was started by; None for other engines.
        diagnosis: what its log says about a failure; while it starts or serves: the hang that it stands in.
    """

    phase: Phase = "stopped"
    kind: EngineKind = "embedded"
    url: str = ""
    model: str = ""
    owner: str = ""
    context: int | None = None
    pid: int | None = None
    since: float | None = None
    log: Path | None = None
    message: str = ""
    remedy: str = ""
    plan: LaunchPlan | None = None
    diagnosis: Diagnosis | None = None

    @property
    def ready(self) -> bool:
        return self.phase == "ready"

    @property
    def is_toy(self) -> bool:
        """Whether answers come from the bundled demo model: then the window says so everywhere."""
        return self.kind == "embedded" or self.owner == TOY_OWNER

    @property
    def busy(self) -> bool:
        return self.phase in ("starting", "stopping")
