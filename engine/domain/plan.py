"""A launch plan: which cards, which checkpoint, which flags and why, and what it will take. Or a refusal.

Memory is in bytes per card. A plan is made by a pure function of a machine, a checkpoint and wishes; it starts nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Profile = Literal["chat", "decisions"]
CheckpointKind = Literal["fp8", "int8", "nvfp4", "embedded"]
SpeedClass = Literal["slow", "usable", "fast", "very fast"]
Link = Literal["single", "nvlink", "p2p", "off"]


@dataclass(frozen=True, slots=True)
class Wishes:
    """What the user asks for; None leaves it to the planner.

    Attributes:
        cards: UUIDs of the cards to use.
        context: tokens, prompt and answer together.
        utilisation: share of each card's memory that vLLM may take, 0 to 1.
        sequences: requests at once in one engine.
        canvas: slots of a canvas.
        text_only: leave the vision tower out (1.06 GiB a card).
        fast_sampler: let torch compile the sampler.
        kv_cache: type of the KV cache; a plan refuses all but ``auto``, with its reason.
        pipeline_parallel, constrained_reads: never planned; asked for, they are refused with their reason.
    """

    profile: Profile = "chat"
    checkpoint: CheckpointKind | None = None
    cards: tuple[str, ...] | None = None
    tensor_parallel: int | None = None
    context: int | None = None
    utilisation: float | None = None
    sequences: int | None = None
    canvas: int | None = None
    text_only: bool | None = None
    fast_sampler: bool = False
    kv_cache: str | None = None
    pipeline_parallel: int | None = None
    constrained_reads: bool = False


@dataclass(frozen=True, slots=True)
class Flag:
    """One command-line flag of the engine, with its reason in words; ``value`` is None for a switch."""

    name: str
    value: str | None
    reason: str


@dataclass(frozen=True, slots=True)
class EnvVar:
    """One environment variable of the engine, with its reason; ``value`` None means that it is removed."""

    name: str
    value: str | None
    reason: str


@dataclass(frozen=True, slots=True)
class CardBudget:
    """What will live on one card.

    Attributes:
        total: what torch sees of the card (WSL2 hides 1.3 GiB).
        free_now: free before the start.
        others: held by other processes now.
        weights, kv_cache, activations: inside the utilisation.
        cuda_context: outside the utilisation; with NCCL's buffers and cuBLAS' handles, made before the weights.
        canvas_buffers: outside the utilisation; logits and probabilities of the denoised canvases.
    """

    uuid: str
    name: str
    total: int
    free_now: int
    others: int
    weights: int
    kv_cache: int
    activations: int
    cuda_context: int
    canvas_buffers: int

    @property
    def needed(self) -> int:
        return self.weights + self.kv_cache + self.activations + self.cuda_context + self.canvas_buffers

    @property
    def reserve(self) -> int:
        """What stays free."""
        return self.total - self.others - self.needed


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A card that the plan does not use, and why."""

    uuid: str
    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class LaunchPlan:
    """Everything that a launch needs, and what the user is told about it.

    Attributes:
        title: one line (``2x RTX 3090, tensor parallel 2, FP8``).
        concurrency: how many sequences of ``context`` tokens the KV cache holds.
        notes: what the user should know (trade-offs, untested corners), in sentences.
        phases: names of the start-up phases to expect, in order.
        card_class: the row of ``engine/launch/classes.toml`` that the plan follows.
        marlin: weights are unpacked by Marlin, so its padding and the numeric self-test matter.
        link: how the cards of one engine reach each other.
        largest_context: the longest context that this KV cache could hold for one sequence.
        largest_utilisation: the most that may be asked for while the canvas buffers still fit beside it.
    """

    title: str
    profile: Profile
    checkpoint: CheckpointKind
    cards: tuple[CardBudget, ...]
    left_out: tuple[LeftOut, ...]
    tensor_parallel: int
    data_parallel: int
    context: int
    concurrency: float
    utilisation: float
    sequences: int
    canvas: int
    text_only: bool
    flags: tuple[Flag, ...]
    env: tuple[EnvVar, ...]
    speed: SpeedClass
    phases: tuple[str, ...]
    notes: tuple[str, ...] = ()
    card_class: str = ""
    marlin: bool = False
    link: Link = "single"
    largest_context: int = 0
    largest_utilisation: float = 0.0


@dataclass(frozen=True, slots=True)
class Refusal:
    """No plan, and what would make one possible.

    Attributes:
        code: stable and dotted (``plan.memory``).
        reason: what is missing, with the numbers.
        ways_out: each one thing that the user can do, most promising first.
    """

    code: str
    reason: str
    ways_out: tuple[str, ...]
    left_out: tuple[LeftOut, ...] = ()


PlanResult = LaunchPlan | Refusal
