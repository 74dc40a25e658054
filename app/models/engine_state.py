"""What the window knows about the engine at one moment."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

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
