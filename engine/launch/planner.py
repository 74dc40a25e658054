"""From a machine and wishes to a launch plan, or to a refusal that names what would make one possible.

Pure: nothing is read but ``classes.toml``, nothing is started. The rules are those of ``docs/launch.md``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from engine.domain.hardware import GIB, Machine
from engine.domain.plan import LaunchPlan, LeftOut, PlanResult, Refusal, Wishes
from engine.launch.cards import Card, Survey, pick, survey
from engine.launch.layout import Shortfall, work_out
from engine.launch.refusals import (
    USE_ELSEWHERE,
    USE_EMBEDDED,
    constrained_reads,
    refused_host,
    refused_wish,
)
from engine.launch.shapes import EXPERTS, TENSOR_PARALLEL
from engine.launch.sums import Layout

_INT8_ARCHITECTURES = frozenset({"ampere", "ada"})
_FITTING = (
    "FP8 needs 24 GB on each of two like cards, 16 GB on each of four, or one card of 32 GB; NVFP4 one card of 24 GB"
)

_FIXABLE = {
    "compute_mode": (
        "no card lets the engine in: their compute mode keeps programs out",
        "set the compute mode of the cards to default",
    ),
    "mig": (
        "MIG is on, and there is no slice that the engine could use",
        "turn MIG off, or make a slice of 40 GB or more",
    ),
}


def plan(machine: Machine, wishes: Wishes | None = None) -> PlanResult:
    """The best plan for a machine.

    Args:
        wishes: what the user asks for; none asks for a chat and leaves the rest open.
    """
    wishes = wishes or Wishes()
    if wishes.checkpoint == "embedded":
        return _embedded(wishes, (), "You chose the embedded engine.")
    refusal = refused_wish(wishes) or refused_host(machine) or _refused_cards(machine, wishes)
    if refusal:
        return refusal
    if not machine.gpus:
        return _without_cards(wishes, (), "This machine has no NVIDIA card.")
    seen = survey(machine, wishes.cards)
    results = [(layout, work_out(layout, _left_out(layout, seen))) for layout in _layouts(machine, wishes, seen)]
    plans = [result for _, result in results if isinstance(result, LaunchPlan)]
    shortfalls = [result for _, result in results if isinstance(result, Shortfall)]
    best = max(plans, key=lambda found: _worth(found, wishes), default=None)
    if best is None or (best.checkpoint == "nvfp4" and wishes.checkpoint is None and _could_be_fp8(shortfalls)):
        return _no_plan(wishes, seen, shortfalls, best)
    return _checked(best, wishes)


def _could_be_fp8(shortfalls: Sequence[Shortfall]) -> bool:
    """FP8 fails for want of a wish or of another program: poorer weights are then the user's choice, not ours."""
    return any(shortfall.code != "size" for shortfall in shortfalls)


def _refused_cards(machine: Machine, wishes: Wishes) -> Refusal | None:
    if wishes.cards is None:
        return None
    known = {gpu.uuid for gpu in machine.gpus}
    unknown = [uuid for uuid in wishes.cards if uuid not in known]
    if unknown:
        return Refusal(
            "plan.cards_unknown",
            f"there is no card {', '.join(unknown)}",
            ("look at the cards of this machine again; a card is named by its full UUID",),
        )
    chosen = [gpu for gpu in machine.gpus if gpu.uuid in wishes.cards]
    kinds = sorted({gpu.name for gpu in chosen})
    if len(kinds) > 1:
        return Refusal(
            "plan.cards_unlike",
            f"{' and '.join(kinds)} cannot share a model: unlike cards round differently, and their ranks would pick "
            "different tokens",
            ("choose cards of one kind",),
        )
    if len(chosen) not in TENSOR_PARALLEL:
        return Refusal(
            "plan.cards_count",
            f"{len(chosen)} cards cannot share a model: its heads and experts divide by 1, 2, 4 and 8 only",
            (f"choose {max(n for n in TENSOR_PARALLEL if n < len(chosen)) if chosen else 1} of them",),
        )
    return None


def _layouts(machine: Machine, wishes: Wishes, seen: Survey) -> Iterator[Layout]:
    """Every way worth trying."""
    for group in seen.groups:
        for tp, dp in _shapes(len(group), wishes):
            cards = pick(machine, group, tp * dp)
            layout = Layout(machine, wishes, cards, "fp8", tp, dp)
            if wishes.checkpoint in (None, "fp8") and _shards_fit(layout):
                yield layout
            if wishes.checkpoint == "int8" and cards[0].architecture in _INT8_ARCHITECTURES:
                yield Layout(machine, wishes, cards, "int8", tp, dp)
            if wishes.checkpoint in (None, "nvfp4") and tp == dp == 1:
                yield Layout(machine, wishes, cards, "nvfp4", 1)


def _shapes(count: int, wishes: Wishes) -> Iterator[tuple[int, int]]:
    """(tensor parallel, data parallel) for a group of ``count`` cards."""
    if wishes.tensor_parallel is not None:
        sizes: Sequence[int] = (wishes.tensor_parallel,)
    elif wishes.cards is not None and wishes.profile == "chat":
        sizes = (len(wishes.cards),)  # all that were chosen
    else:
        sizes = TENSOR_PARALLEL
    for tp in sizes:
        if tp > count:
            continue
        yield tp, 1
        if tp == 1 and wishes.profile == "decisions" and wishes.tensor_parallel is None:
            yield from ((1, dp) for dp in TENSOR_PARALLEL if 1 < dp <= count and EXPERTS % dp == 0)


def _shards_fit(layout: Layout) -> bool:
    """Cards with FP8 units take shards in multiples of 16: 704/8 and 2112/8 are none; Marlin pads them."""
    return layout.tensor_parallel < 8 or layout.marlin


def _left_out(layout: Layout, seen: Survey) -> tuple[LeftOut, ...]:
    used = {card.gpu.uuid for card in layout.cards}
    first = layout.cards[0]
    rest = [
        LeftOut(card.gpu.uuid, card.gpu.name, _why_not(card, first, layout))
        for group in seen.groups
        for card in group
        if card.gpu.uuid not in used
    ]
    return (*seen.left_out, *rest)


def _why_not(card: Card, first: Card, layout: Layout) -> str:
    if card.gpu.uuid.startswith("MIG-") or first.gpu.uuid.startswith("MIG-"):
        return "a process sees one MIG slice only"
    if card.gpu.name != first.gpu.name:
        return f"unlike {first.gpu.name}: cards that share a model must be of one kind"
    count = len(layout.cards)
    if layout.wishes.profile == "decisions" or layout.tensor_parallel > 1:
        return f"{count} like cards do it; a model is shared by 2, 4 or 8, and this one is left over"
    return "one card holds the model; the decisions profile uses more of them"


def _worth(found: LaunchPlan, wishes: Wishes) -> tuple[bool, bool, int, int, int, int]:
    """FP8 before NVFP4; then the wished context; then many engines; then few cards; then a long context."""
    full = found.largest_context >= (wishes.context or (32_768 if wishes.profile == "decisions" else 262_144))
    weak = 0 if full else found.largest_context
    return found.checkpoint != "nvfp4", full, weak, found.data_parallel, -found.tensor_parallel, found.cards[0].total


def _checked(found: LaunchPlan, wishes: Wishes) -> PlanResult:
    """Wishes that only turn out to be impossible with the plan that the machine allows."""
    if found.tensor_parallel > 1 and wishes.constrained_reads:
        return constrained_reads(found.tensor_parallel)
    return found


def _no_plan(
    wishes: Wishes, seen: Survey, shortfalls: Sequence[Shortfall], instead: LaunchPlan | None = None
) -> PlanResult:
    if not seen.groups and seen.fixable:
        reason, way = _FIXABLE[seen.fixable[0]]
        return Refusal(f"plan.{seen.fixable[0]}", reason, (way, USE_ELSEWHERE, USE_EMBEDDED), seen.left_out)
    for code, name in (("busy", "plan.memory"), ("wish", "plan.wish")):
        found = [shortfall for shortfall in shortfalls if shortfall.code == code]
        if found:
            other = (f"ask for {instead.title}: smaller weights that fit as it is",) if instead else ()
            return Refusal(
                name, found[-1].reason, (*found[-1].ways_out, *other, USE_ELSEWHERE, USE_EMBEDDED), seen.left_out
            )
    left = seen.left_out + tuple(_too_small(card) for group in seen.groups for card in group)
    return _without_cards(wishes, left, "No card of this machine holds the model: " + _FITTING + ".", shortfalls)


def _too_small(card: Card) -> LeftOut:
    return LeftOut(card.gpu.uuid, card.gpu.name, f"{card.total / GIB:.1f} GiB: too little for its share of the weights")


def _without_cards(
    wishes: Wishes, left_out: tuple[LeftOut, ...], why: str, shortfalls: Sequence[Shortfall] = ()
) -> PlanResult:
    """The embedded engine, unless the user asked for something that only a card gives."""
    if wishes.checkpoint is None and wishes.cards is None and wishes.tensor_parallel is None:
        return _embedded(wishes, left_out, why)
    reason = " ".join([why, *(shortfall.reason for shortfall in shortfalls[:2])])
    open_up = "leave checkpoint, cards and tensor parallel open: the planner takes what fits"
    return Refusal("plan.size", reason, (open_up, USE_ELSEWHERE, USE_EMBEDDED), left_out)


def _embedded(wishes: Wishes, left_out: tuple[LeftOut, ...], why: str) -> LaunchPlan:
    return LaunchPlan(
        title="Embedded engine on the CPU",
        profile=wishes.profile,
        checkpoint="embedded",
        cards=(),
        left_out=left_out,
        tensor_parallel=1,
        data_parallel=1,
        context=0,
        concurrency=1.0,
        utilisation=0.0,
        sequences=1,
        canvas=0,
        text_only=True,
        flags=(),
        env=(),
        speed="usable",
        phases=("Starting the server", "First chat and first read"),
        notes=(
            why,
            "It is a toy of a few million parameters: it shows how everything works, its answers mean nothing.",
        ),
        card_class="embedded",
    )
