"""One way to lay the model over cards, worked out: a plan, or why it does not fit."""

from __future__ import annotations

from dataclasses import dataclass

from engine.domain.hardware import GIB, Host
from engine.domain.plan import CardBudget, LaunchPlan, LeftOut
from engine.hardware.findings_host import MIN_RAM
from engine.launch import fit
from engine.launch.cards import Card, holders
from engine.launch.classes import CardClass
from engine.launch.options import Settings, environment, flags, phases
from engine.launch.shapes import MAX_CONTEXT
from engine.launch.sums import (
    GREEDY_DRIVER,
    GREEDY_DRIVER_SHARE,
    LEAST_CONTEXT,
    Layout,
    Sums,
    decisions_of,
    fitting,
    sums_of,
    usual_utilisation,
)


@dataclass(frozen=True, slots=True)
class Shortfall:
    """Why a layout does not fit.

    Attributes:
        code: ``size`` (the cards are too small), ``busy`` (others hold too much), ``wish`` (asked for too much).
    """

    code: str
    reason: str
    ways_out: tuple[str, ...] = ()


def work_out(layout: Layout, left_out: tuple[LeftOut, ...]) -> LaunchPlan | Shortfall:
    """Try a layout.

    Args:
        left_out: for the plan; cards that it does not use.
    """
    row = layout.find_class()
    if row is None:
        return _no_class(layout)
    sums = sums_of(layout, row)
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
    crowded = sums.usual < usual_utilisation(layout, row)  # by its own canvases
    if crowded and (layout.wishes.sequences or layout.wishes.canvas):
        fewer, several = fitting(layout, row, sums.sequences, sums.canvas), sums.sequences > 1
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
    usual, decisions = usual_utilisation(layout, row), decisions_of(layout, row)
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
