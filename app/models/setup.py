"""The setup as data: its steps, how each stands, and what long work is doing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from engine.domain.setup import SETUP_STEPS, SetupStep

StepName = SetupStep
StepPhase = Literal["open", "running", "paused", "done", "failed"]
STEPS = SETUP_STEPS


@dataclass(frozen=True, slots=True)
class Work:
    """What a long step is doing.

    Attributes:
        phase: in words.
        done, total: bytes; ``total`` None where nobody knows.
        rate: bytes a second; 0 where it means nothing.
        eta_s: seconds to go; None while unknown.
        fraction: 0 to 1 for the bar; None draws a bar that only moves.
        detail: the last line of a log, or a count of files.
    """

    phase: str
    done: int = 0
    total: int | None = None
    rate: float = 0.0
    eta_s: float | None = None
    fraction: float | None = None
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Step:
    """How a step stands.

    Attributes:
        text: why, in a sentence.
        remedy: the one thing to do; empty when there is nothing.
        work: while it runs or is paused.
    """

    phase: StepPhase = "open"
    text: str = ""
    remedy: str = ""
    work: Work | None = None

    @property
    def done(self) -> bool:
        return self.phase == "done"

    @property
    def busy(self) -> bool:
        return self.phase in ("running", "paused")


@dataclass(frozen=True, slots=True)
class KernelState:
    """How the numeric self-test stands.

    Attributes:
        wanted: the plan depends on what it tests.
        tested: it has passed, or the user starts without it.
        can_waive: it could not run, and the user may start without it.
    """

    wanted: bool = False
    tested: bool = False
    can_waive: bool = False
    step: Step = Step()


@dataclass(frozen=True, slots=True)
class ProbeAnswer:
    """What the first chat and the first read brought.

    Attributes:
        chat: the answer's text.
        chat_s, read_s: seconds of each.
        canvases: of the chat.
        question, answer: of the read, the answer with its probability.
        label_mass: of the read, 0 to 1.
    """

    chat: str
    chat_s: float
    canvases: int
    question: str
    answer: str
    label_mass: float
    read_s: float
