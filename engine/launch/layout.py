"""One way to lay the model over cards, worked out: a plan, or why it does not fit."""

from __future__ import annotations

from dataclasses import dataclass

from engine.domain.hardware import GIB, Host, Machine
from engine.domain.plan import CardBudget, CheckpointKind, LaunchPlan, LeftOut, Link, Wishes
from engine.hardware.findings import driver_version
from engine.hardware.findings_host import MIN_RAM
from engine.launch import fit
from engine.launch.cards import Card, holders, link_of
from engine.launch.classes import MARLIN_ARCHITECTURES, MARLIN_FP4_ARCHITECTURES, CardClass, Decisions, catalogue
from engine.launch.options import Settings, environment, flags, phases
from engine.launch.shapes import MAX_CONTEXT

LEAST_CONTEXT = 8192  # below this a plan is not offered unless it is asked for
DECISIONS_CONTEXT = 32_768  # one row, its question and a canvas; recall of details is clean to about 30,000 tokens
GREEDY_DRIVER, GREEDY_DRIVER_SHARE = (595, 0), 0.02  # keeps more of a card for itself (club-3090 issue 149)


@dataclass(frozen=True, slots=True)
class Shortfall:
    """Why a layout does not fit.

    Attributes:
        code: ``size`` (the cards are too small), ``busy`` (others hold too much), ``wish`` (asked for too much).
    """

    code: str
    reason: str
    ways_out: tuple[str, ...] = ()


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


def work_out(layout: Layout, left_out: tuple[LeftOut, ...]) -> LaunchPlan | Shortfall:
    """Try a layout.

    Args:
        left_out: for the plan; cards that it does not use.
    """
    row = layout.find_class()
    if row is None:
        return _no_class(layout)
    sums = _sums(layout, row)
    wished = layout.wishes.utilisation
    if wished is not None and wished > sums.largest_utilisation:
        return _too_much_utilisation(layout, sums, wished)
    kv = sums.kv(layout.total)
    largest = fit.max_context(kv, layout.tensor_parallel, sums.batched_tokens)
    if largest < sums.least:
        return _too_little(layout, row, sums, largest)
    return _plan(layout, row, sums, largest, left_out)


def _no_class(layout: Layout) -> Shortfall:
    weights = fit.weights(layout.checkpoint, layout.tensor_parallel, marlin=layout.marlin, vision=False).total
    if weights < 0.7 * layout.total:
        return Shortfall("size", f"{layout.title}: not a way that this checkpoint is known to run.")
    return Shortfall(
        "size",
        f"{layout.title}: {weights / GIB:.1f} GiB of weights a card even without pictures, and beside them a cache and "
        f"1.3 GiB of canvases; a card has {layout.total / GIB:.1f} GiB.",
    )


def _sums(layout: Layout, row: CardClass) -> Sums:
    wishes, tp = layout.wishes, layout.tensor_parallel
    decisions = _decisions(layout, row)
    text_only = wishes.text_only if wishes.text_only is not None else row.text_only or wishes.profile == "decisions"
    canvas = wishes.canvas or (decisions.canvas if decisions else row.canvas)
    sequences = wishes.sequences or _usual_sequences(layout, row, canvas)
    batched = max(row.batched_tokens, sequences * canvas)
    buffers = fit.canvas_buffers(sequences, canvas, eager=_eager(layout, row))
    largest = min(fit.safe_utilisation(card.free, card.total, buffers) for card in layout.cards)
    idle = min(fit.safe_utilisation(card.total, card.total, buffers) for card in layout.cards)
    share = min(_usual_utilisation(layout, row), idle)
    usual = MAX_CONTEXT if row.context == "auto" else row.context
    if wishes.profile == "decisions":
        usual = min(usual, DECISIONS_CONTEXT)
    weights = fit.weights(
        layout.checkpoint,
        tp,
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
        target=wishes.context or usual,
        least=wishes.context or LEAST_CONTEXT,
        usual=share,
        largest_utilisation=largest,
        utilisation=wishes.utilisation or min(share, largest),
    )


def _decisions(layout: Layout, row: CardClass) -> Decisions | None:
    return row.decisions if layout.wishes.profile == "decisions" else None


def _usual_sequences(layout: Layout, row: CardClass, canvas: int) -> int:
    """One chat at a time over several cards; of reads, as many as the memory beside the utilisation holds."""
    decisions = _decisions(layout, row)
    if decisions is None:
        return row.sequences if layout.tensor_parallel == 1 else 1
    return _fitting(layout, row, decisions.sequences, canvas)


def _fitting(layout: Layout, row: CardClass, most: int, canvas: int) -> int:
    """Requests at once, 1 to ``most``, that the memory beside the usual utilisation holds with full canvases."""
    room = fit.room_beside(_usual_utilisation(layout, row), layout.total)
    return fit.sequences_beside(room, most, canvas, eager=_eager(layout, row))


def _eager(layout: Layout, row: CardClass) -> bool:
    """Whether torch compiles nothing of the sampler."""
    return row.eager and not layout.wishes.fast_sampler


def _usual_utilisation(layout: Layout, row: CardClass) -> float:
    version = driver_version(layout.machine.driver.version)
    greedy = version >= GREEDY_DRIVER  # an unreadable version is empty, and smaller
    decisions = _decisions(layout, row)
    usual = (decisions and decisions.utilisation) or row.utilisation
    return round(usual - (GREEDY_DRIVER_SHARE if greedy else 0.0), 2)


def _too_much_utilisation(layout: Layout, sums: Sums, wished: float) -> Shortfall:
    card = min(layout.cards, key=lambda card: card.free / card.total)
    held = holders(card)
    return Shortfall(
        "wish",
        f"utilisation {wished:.2f} of {card.gpu.name} (card {card.gpu.index}) is {wished * card.total / GIB:.1f} GiB, "
        f"and beside it canvases take {sums.buffers / GIB:.1f} GiB and the CUDA context "
        f"{fit.CUDA_CONTEXT / GIB:.1f}; {card.free / GIB:.1f} GiB are free" + (f", held by {held}" if held else ""),
        (f"ask for {sums.largest_utilisation:.2f} or less, or leave it open",) + ((f"close {held}",) if held else ()),
    )


def _too_little(layout: Layout, row: CardClass, sums: Sums, largest: int) -> Shortfall:
    need = fit.kv_bytes(sums.least, layout.tensor_parallel, sums.batched_tokens)
    idle = int(sums.usual * layout.total) - sums.weights - sums.activations
    kv = sums.kv(layout.total)
    sum_text = (
        f"{layout.title}: {sums.utilisation:.2f} of {layout.total / GIB:.1f} GiB, less {sums.weights / GIB:.1f} of "
        f"weights and {sums.activations / GIB:.1f} of activations, leave {kv / GIB:.1f} GiB a card for the KV cache; "
        f"{sums.least:,} tokens need {need / GIB:.1f}"
    )
    crowded = sums.usual < _usual_utilisation(layout, row)  # by its own canvases
    if crowded and (layout.wishes.sequences or layout.wishes.canvas):
        fewer, several = _fitting(layout, row, sums.sequences, sums.canvas), sums.sequences > 1
        who = f"{sums.sequences} requests at once take" if several else "one request takes"
        return Shortfall(
            "wish",
            f"{who} {sums.buffers / GIB:.1f} GiB of canvases of {sums.canvas} slots a card, beside the utilisation. "
            f"{sum_text}",
            ((f"ask for {fewer} at once or fewer",) if several else ()) + ("ask for a shorter canvas",),
        )
    if idle >= need and layout.wishes.utilisation is None:
        return _busy(layout, sums, sum_text)
    if layout.wishes.context or layout.wishes.utilisation:
        ways = [f"ask for {largest:,} tokens or fewer"] if largest >= LEAST_CONTEXT else []
        ways += [] if sums.text_only else ["leave pictures out: 1.06 GiB more a card"]
        return Shortfall("wish", sum_text, (*ways, f"utilisation may go up to {sums.largest_utilisation:.2f}"))
    return Shortfall("size", sum_text)


def _busy(layout: Layout, sums: Sums, sum_text: str) -> Shortfall:
    card = min(layout.cards, key=lambda card: card.free / card.total)
    held = holders(card)
    who = f" by {held}" if held else " by other programs"
    return Shortfall(
        "busy",
        f"{card.others / GIB:.1f} GiB of {card.gpu.name} (card {card.gpu.index}) are held{who}; the largest safe "
        f"utilisation is {sums.largest_utilisation:.2f}. {sum_text}",
        (f"close {held} and plan again" if held else f"free card {card.gpu.index} and plan again",),
    )


def _plan(layout: Layout, row: CardClass, sums: Sums, largest: int, left_out: tuple[LeftOut, ...]) -> LaunchPlan:
    context = min(sums.target, largest)
    automatic = layout.wishes.context is None and (largest < sums.target or _class_says_auto(layout, row))
    settings = Settings(
        card_class=row,
        profile=layout.wishes.profile,
        checkpoint=layout.checkpoint,
        tensor_parallel=layout.tensor_parallel,
        data_parallel=layout.data_parallel,
        context=None if automatic else context,
        context_reason=_context_reason(layout, automatic, context, largest),
        utilisation=sums.utilisation,
        utilisation_reason=_utilisation_reason(layout, row, sums),
        sequences=sums.sequences,
        canvas=sums.canvas,
        batched_tokens=sums.batched_tokens,
        text_only=sums.text_only,
        fast_sampler=layout.wishes.fast_sampler,
        uuids=tuple(card.gpu.uuid for card in layout.cards),
        link=layout.link,
    )
    pool = fit.kv_pool(sums.kv(layout.total), context, layout.tensor_parallel, sums.batched_tokens)
    return LaunchPlan(
        title=layout.title,
        profile=layout.wishes.profile,
        checkpoint=layout.checkpoint,
        cards=tuple(_budget(card, sums) for card in layout.cards),
        left_out=left_out,
        tensor_parallel=layout.tensor_parallel,
        data_parallel=layout.data_parallel,
        context=context,
        concurrency=round(pool.concurrency, 2),
        utilisation=sums.utilisation,
        sequences=sums.sequences,
        canvas=sums.canvas,
        text_only=sums.text_only,
        flags=flags(settings),
        env=environment(settings),
        speed=row.speed,
        phases=phases(settings),
        notes=_notes(layout, row, sums, context),
        card_class=row.id,
        marlin=layout.marlin,
        link=layout.link,
        largest_context=largest,
        largest_utilisation=sums.largest_utilisation,
    )


def _class_says_auto(layout: Layout, row: CardClass) -> bool:
    return row.context == "auto" and layout.wishes.profile == "chat"


def _budget(card: Card, sums: Sums) -> CardBudget:
    return CardBudget(
        uuid=card.gpu.uuid,
        name=card.gpu.name,
        total=card.total,
        free_now=card.free,
        others=card.others,
        weights=sums.weights,
        kv_cache=sums.kv(card.total),
        activations=sums.activations,
        cuda_context=fit.CUDA_CONTEXT,
        canvas_buffers=sums.buffers,
    )


def _context_reason(layout: Layout, automatic: bool, context: int, largest: int) -> str:
    if layout.wishes.context is not None:
        return f"as you asked; the cache could hold {largest:,} tokens of one sequence"
    if automatic:
        return f"vLLM takes the longest that its cache holds, about {context:,} tokens by the plan"
    if layout.wishes.profile == "decisions":
        return "reads are short: one text, its question and a canvas"
    if context == MAX_CONTEXT:
        return "all that the model was made for; the cache holds it"
    return f"what is known to work; the cache could hold {largest:,} tokens"


def _utilisation_reason(layout: Layout, row: CardClass, sums: Sums) -> str:
    if layout.wishes.utilisation is not None:
        return f"as you asked; {sums.largest_utilisation:.2f} is the most that is safe now"
    usual, decisions = _usual_utilisation(layout, row), _decisions(layout, row)
    if sums.utilisation < sums.usual:
        return f"{sums.usual:.2f} would be usual; more than {sums.utilisation:.2f} is not free now"
    if sums.usual < usual:
        return (
            f"{usual:.2f} would be usual; canvases take {sums.buffers / GIB:.1f} GiB beside it and the CUDA context "
            f"{fit.CUDA_CONTEXT / GIB:.1f}, which leaves {sums.usual:.2f}"
        )
    if decisions and decisions.utilisation:
        return "reads are short, so the memory goes to more of them at once instead of a longer cache"
    if usual < row.utilisation:
        return (
            f"{GREEDY_DRIVER_SHARE:.2f} less than usual: driver {GREEDY_DRIVER[0]} and later keep more for themselves"
        )
    return row.utilisation_reason


def _notes(layout: Layout, row: CardClass, sums: Sums, context: int) -> tuple[str, ...]:
    notes = [*row.notes, *_memory_notes(layout, row, sums, context), *_host_notes(layout.machine.host)]
    if layout.data_parallel > 1:
        notes.append(
            "The engines of data parallelism step together and share the experts; nobody has reported this model so. "
            "If it does not start, start one engine a card behind a router and give its address."
        )
    if layout.tensor_parallel > 1:
        alone = "One request at a time; others wait their turn. " if sums.sequences == 1 else ""
        notes.append(f"{alone}Constrained reads are never sent.")
    if layout.checkpoint == "int8":
        notes.append("INT8 is plan B where FP8 through Marlin fails; Marlin is not used and nothing is padded.")
    if layout.tensor_parallel == 8:
        notes.append("Nobody has reported this model over eight cards.")
    return tuple(notes)


def _memory_notes(layout: Layout, row: CardClass, sums: Sums, context: int) -> list[str]:
    notes: list[str] = []
    if layout.wishes.utilisation is None and sums.utilisation < sums.usual:
        card = min(layout.cards, key=lambda card: card.free / card.total)
        who = holders(card) or "other programs"
        notes.append(
            f"Utilisation is {sums.utilisation:.2f} instead of {sums.usual:.2f}: {card.others / GIB:.1f} GiB of "
            f"card {card.gpu.index} are held by {who}. Close it for a longer context."
        )
    elif layout.wishes.utilisation is not None and sums.utilisation > row.utilisation:
        notes.append(f"Utilisation {sums.utilisation:.2f} is above {row.utilisation:.2f}: {row.utilisation_reason}.")
    if layout.total < 20 * GIB and layout.tensor_parallel == 2:
        notes.append(f"This may not start: the weights fill the cards but for about {context:,} tokens.")
    for card in layout.cards:
        if card.gpu.display:
            notes.append(f"Card {card.gpu.index} drives a display: what the desktop takes later, the engine lacks.")
    if layout.machine.host.wsl2:
        notes.append("WSL2 hides about 1.3 GiB of every card; the plan leaves it out.")
    return notes


def _host_notes(host: Host) -> list[str]:
    notes: list[str] = []
    if host.ram_total is not None and host.ram_total < MIN_RAM:
        notes.append(f"{host.ram_total / GIB:.0f} GiB of main memory: loading wants 32; it may be slow, or be ended.")
    if host.architecture not in ("", "x86_64", "AMD64"):
        notes.append(f"The engine's packages are pinned for x86_64, this is {host.architecture}: start vLLM yourself.")
    if host.gcc == "":
        notes.append("There is no gcc; Triton compiles a helper with it at the first start. Install it first.")
    return notes
