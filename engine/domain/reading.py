"""What a read yields: draws, and the reading that they are folded into.

Probability vectors follow the order of ``question.labels``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from engine.domain.picture import PictureUse

ReadStatus = Literal["ok", "unreadable", "error", "skipped"]
Wire = Literal["canvas", "native"]
STATUSES: tuple[ReadStatus, ...] = ("ok", "unreadable", "error", "skipped")


@dataclass(frozen=True, slots=True)
class Method:
    """How a question is read. Stored with every run.

    Attributes:
        draws: ``auto`` (one draw, three more when the first is unsure) or a fixed number, 1 to 32.
        joint: whether the questions of a row share a canvas.
        wire: ``canvas`` (token ids through /inference/v1/generate) or ``native`` (/v1/systemone).
        min_mass: a draw is readable when its label mass is at least this and its argmax is a label.
        unsure_entropy: nats; ``auto`` draws again above it.
        canvas_length: slots of the canvas of a question read alone.
        seed: the run seed behind the noise of draws 1, 2, ... (draw 0 follows the engine's own rule).
        steps: denoise steps of a read; above one the canvas but for the label slots is pinned. Canvas wire only.
        rotate: a choice is read once per cyclic rotation of its options and the labels are mapped back.
    """

    draws: Literal["auto"] | int = "auto"
    joint: bool = False
    wire: Wire = "canvas"
    min_mass: float = 0.5
    unsure_entropy: float = 0.1
    canvas_length: int = 16
    seed: int = 0
    steps: int = 1
    rotate: bool = False

    @property
    def name(self) -> str:
        """``alone/canvas``, ``joint/native``, ...: the value of the export's method column."""
        return self.named(joint=self.joint)

    def named(self, *, joint: bool) -> str:
        """The name of a read that shared its canvas or did not; ``+4 steps`` and ``+rotate`` where they apply."""
        steps = f"+{self.steps} steps" if self.steps > 1 else ""
        return f"{'joint' if joint else 'alone'}/{self.wire}{steps}{'+rotate' if self.rotate else ''}"


@dataclass(frozen=True)
class Draw:
    """One look at a label slot.

    Attributes:
        masses: raw probability of each label over the whole vocabulary.
        argmax_is_label: whether the single likeliest token of the slot is a label of the question.
    """

    masses: tuple[float, ...]
    argmax_is_label: bool

    @cached_property
    def label_mass(self) -> float:
        """Probability on all legal labels together, 0 to 1."""
        return math.fsum(self.masses)

    @cached_property
    def shares(self) -> tuple[float, ...]:
        """The masses scaled to sum to one; uniform when there is no mass at all."""
        total = self.label_mass
        if total <= 0.0:
            return (1.0 / len(self.masses),) * len(self.masses)
        return tuple(mass / total for mass in self.masses)

    @cached_property
    def entropy(self) -> float:
        """Shannon entropy of the shares in nats."""
        return -math.fsum(share * math.log(share) for share in self.shares if share > 0.0)

    @property
    def argmax(self) -> int:
        """Index of the likeliest label."""
        return max(range(len(self.masses)), key=self.masses.__getitem__)

    def readable(self, min_mass: float) -> bool:
        """Whether this draw may be counted."""
        return self.argmax_is_label and self.label_mass >= min_mass


@dataclass(frozen=True, slots=True)
class Reading:
    """The answer to one question about one row, with all its evidence.

    Attributes:
        question_id: the form's id of the question.
        status: ok, unreadable, error or skipped.
        value: noul: probability of yes; choice: the option's name; score: expected level from 0. None unless ok.
        shares: mean label shares over the readable draws, in the order of the labels. Empty unless ok.
        label_mass, argmax_is_label, entropy: of draw 0; None when nothing was read.
        mean_mass: mean label mass of all draws.
        draws: how many draws were made.
        stderr: standard error over the readable draws of p(yes), of the winning option's share, or of the
            expected level; None for fewer than two.
        agreement: share of the readable draws whose argmax is the majority's; None for fewer than two.
        method: ``alone/canvas`` and so on.
        error: why the read failed or was skipped.
        round: which round of its run read it; 1 is the run itself.
        pictures: that the row was read with.
    """

    question_id: str
    status: ReadStatus
    value: float | str | None = None
    shares: tuple[float, ...] = ()
    label_mass: float | None = None
    argmax_is_label: bool | None = None
    entropy: float | None = None
    mean_mass: float | None = None
    draws: int = 0
    stderr: float | None = None
    agreement: float | None = None
    method: str = ""
    error: str = ""
    round: int = 1
    pictures: tuple[PictureUse, ...] = ()
