"""The memory of a layout: what of each card its class and the wishes take. Plans and refusals are made from it."""

from __future__ import annotations

from dataclasses import dataclass

from engine.domain.hardware import GIB, Machine
from engine.domain.plan import CheckpointKind, Link, Wishes
from engine.hardware.findings import driver_version
from engine.launch import fit
from engine.launch.cards import Card, link_of
from engine.launch.classes import MARLIN_ARCHITECTURES, MARLIN_FP4_ARCHITECTURES, CardClass, Decisions, catalogue
from engine.launch.shapes import MAX_CONTEXT

LEAST_CONTEXT = 8192  # below this a plan is not offered unless it is asked for
DECISIONS_CONTEXT = 32_768  # one row, its question and a canvas; recall of details is clean to about 30,000 tokens
GREEDY_DRIVER, GREEDY_DRIVER_SHARE = (595, 0), 0.02  # keeps more of a card for itself (club-3090 issue 149)


@dataclass(frozen=True, slots=True)
class Layout:
    """Cards, checkpoint and how the one lies on the other."""

    machine: Machine
    wishes: Wishes
    cards: tuple[Card, ...]
    checkpoint: CheckpointKind
    tensor_parallel: int
    data_parallel: int = 1

    @property
    def link(self) -> Link:
        return link_of(self.machine, self.cards)

    @property
    def total(self) -> int:
        """Of the smallest card; vLLM gives all ranks what the poorest can have."""
        return min(card.total for card in self.cards)

    @property
    def architecture(self) -> str:
        return self.cards[0].architecture

    @property
    def marlin(self) -> bool:
        if self.checkpoint == "nvfp4":
            return self.architecture in MARLIN_FP4_ARCHITECTURES
        return self.checkpoint == "fp8" and self.architecture in MARLIN_ARCHITECTURES

    @property
    def title(self) -> str:
        name = self.cards[0].gpu.name.removeprefix("NVIDIA ").removeprefix("GeForce ")
        count = f"{len(self.cards)}x " if len(self.cards) > 1 else ""
        how = f", tensor parallel {self.tensor_parallel}" if self.tensor_parallel > 1 else ""
        how += f", data parallel {self.data_parallel}" if self.data_parallel > 1 else ""
        return f"{count}{name}{how}, {self.checkpoint.upper()}"

    def find_class(self) -> CardClass | None:
        link: Link = "single" if self.tensor_parallel == 1 else self.link
        return catalogue().find(self.architecture, self.checkpoint, self.tensor_parallel, link, self.total)


@dataclass(frozen=True, slots=True)
class Sums:
    """The memory of a layout under its class and wishes. Bytes of one card.

    Attributes:
        batched_tokens: of the class, or the slots of all canvases: vLLM's scheduler counts slots as tokens and
            cuts a canvas short that does not fit into a step, and what lies behind is lost or wrong.
        usual: the utilisation of the class, or less where the canvases do not fit beside it even on idle cards.
        largest_utilisation: the most that is safe now.
    """

    weights: int
    activations: int
    buffers: int
    text_only: bool
    sequences: int
    canvas: int
    batched_tokens: int
    target: int
    least: int
    usual: float
    largest_utilisation: float
    utilisation: float

    def kv(self, total: int) -> int:
        return int(self.utilisation * total) - self.weights - self.activations


def sums_of(layout: Layout, row: CardClass) -> Sums:
    """Of the layout as its class has it, with what is wished for instead."""
    wishes = layout.wishes
    decisions = decisions_of(layout, row)
    text_only = wishes.text_only if wishes.text_only is not None else row.text_only or wishes.profile == "decisions"
    canvas = wishes.canvas or (decisions.canvas if decisions else row.canvas)
    sequences = wishes.sequences or _usual_sequences(layout, row, canvas)
    batched = max(row.batched_tokens, sequences * canvas)
    buffers = fit.canvas_buffers(sequences, canvas, eager=_eager(layout, row))
    largest = min(fit.safe_utilisation(card.free, card.total, buffers) for card in layout.cards)
    idle = min(fit.safe_utilisation(card.total, card.total, buffers) for card in layout.cards)
    usual = min(usual_utilisation(layout, row), idle)
    context = MAX_CONTEXT if row.context == "auto" else row.context
    if wishes.profile == "decisions":
        context = min(context, DECISIONS_CONTEXT)
    weights = fit.weights(
        layout.checkpoint,
        layout.tensor_parallel,
        marlin=layout.marlin,
        vision=not text_only,
        expert_parallel=layout.data_parallel,
    )
    return Sums(
        weights=weights.total,
        activations=fit.activations(row.activations_gib * GIB, batched),
        buffers=buffers,
        text_only=text_only,
        sequences=sequences,
        canvas=canvas,
        batched_tokens=batched,
        target=wishes.context or context,
        least=wishes.context or LEAST_CONTEXT,
        usual=usual,
        largest_utilisation=largest,
        utilisation=wishes.utilisation or min(usual, largest),
    )


def decisions_of(layout: Layout, row: CardClass) -> Decisions | None:
    """What the class does otherwise for many short reads; None for a chat, and where it does nothing."""
    return row.decisions if layout.wishes.profile == "decisions" else None


def _usual_sequences(layout: Layout, row: CardClass, canvas: int) -> int:
    """One chat at a time over several cards; of reads, as many as the memory beside the utilisation holds."""
    decisions = decisions_of(layout, row)
    if decisions is None:
        return row.sequences if layout.tensor_parallel == 1 else 1
    return fitting(layout, row, decisions.sequences, canvas)


def fitting(layout: Layout, row: CardClass, most: int, canvas: int) -> int:
    """Requests at once, 1 to ``most``, that the memory beside the usual utilisation holds with full canvases."""
    room = fit.room_beside(usual_utilisation(layout, row), layout.total)
    return fit.sequences_beside(room, most, canvas, eager=_eager(layout, row))


def _eager(layout: Layout, row: CardClass) -> bool:
    """Whether torch compiles nothing of the sampler."""
    return row.eager and not layout.wishes.fast_sampler


def usual_utilisation(layout: Layout, row: CardClass) -> float:
    """That of the class and profile, less what a greedy driver keeps."""
    version = driver_version(layout.machine.driver.version)
    greedy = version >= GREEDY_DRIVER  # an unreadable version is empty, and smaller
    decisions = decisions_of(layout, row)
    usual = (decisions and decisions.utilisation) or row.utilisation
    return round(usual - (GREEDY_DRIVER_SHARE if greedy else 0.0), 2)
