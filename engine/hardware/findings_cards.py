"""What there is to say about the cards, and about how they reach each other."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from engine.domain.hardware import GIB, Finding, Gpu, GpuProcess, Machine
from engine.hardware.wording import card, finding, gib

MIN_CAPABILITY = (8, 0)  # bfloat16 and Marlin's FP8 kernels begin with Ampere
OCCUPIED = GIB  # more than a bare desktop holds
HOT = 87  # degrees Celsius; GeForce cards throttle from 83 to 90
_NARROW = 4  # PCIe lanes; tensor parallel waits for the link at every layer
# Capabilities of cards with HBM, where error correction costs no memory.
_HBM = frozenset({(7, 0), (8, 0), (9, 0), (10, 0), (10, 3)})
_ECC_SHARE = 0.0625  # of GDDR memory
_NAMED = 3  # processes in a sentence


def usable(gpu: Gpu) -> bool:
    """Can take part in a plan: new enough, open to programs, and not the husk of a card cut into slices."""
    whole = not gpu.mig or is_slice(gpu)
    return whole and gpu.compute_mode != "prohibited" and (gpu.capability or MIN_CAPABILITY) >= MIN_CAPABILITY


def is_slice(gpu: Gpu) -> bool:
    """A MIG slice; the card that it is cut from has a UUID that begins with GPU-."""
    return gpu.uuid.startswith("MIG-")


def card_findings(machine: Machine) -> Iterator[Finding]:
    """Everything about single cards."""
    for gpu in machine.gpus:
        yield from _mig(gpu, machine)
        if gpu.mig and not is_slice(gpu):
            continue
        if gpu.capability and gpu.capability < MIN_CAPABILITY:
            yield _too_old(gpu)
            continue
        yield from _mode(gpu)
        yield from _memory(gpu, machine)
        yield from _small_things(gpu)


def link_findings(machine: Machine) -> Iterator[Finding]:
    """Everything about several cards together."""
    cards = [gpu for gpu in machine.gpus if usable(gpu) and not is_slice(gpu)]
    kinds = sorted({gpu.name for gpu in cards})
    if len(kinds) > 1:
        yield finding(
            "gpus.unlike",
            "note",
            "the cards are of different kinds ({kinds}); one model can only be split over equal cards",
            kinds=", ".join(kinds),
        )
    doubtful = [pair for pair in combinations(cards, 2) if _doubtful(machine, *pair)]
    if doubtful:
        yield finding(
            "links.p2p_doubtful",
            "note",
            "the driver grants direct access between cards ({pairs}), but their BAR1 window is smaller than their "
            "memory, so it is not used",
            "Resizable BAR in the BIOS may open it",
            pairs=", ".join(f"{first.index}-{second.index}" for first, second in doubtful),
        )


def _doubtful(machine: Machine, first: Gpu, second: Gpu) -> bool:
    """A grant over PCIe counts only where the whole memory is in the window; else it ends in hangs or garbage."""
    link = machine.link(first.uuid, second.uuid)
    if not link.p2p or link.nvlinks:
        return False
    return any(
        gpu.bar1_total is not None and gpu.memory_total is not None and gpu.bar1_total < gpu.memory_total
        for gpu in (first, second)
    )


def _too_old(gpu: Gpu) -> Finding:
    assert gpu.capability is not None
    return finding(
        "gpu.too_old",
        "note",
        "{card} has compute capability {capability}, and DiffusionGemma in vLLM needs {needed}; it is left out",
        gpu=gpu.uuid,
        card=card(gpu),
        capability=".".join(map(str, gpu.capability)),
        needed=".".join(map(str, MIN_CAPABILITY)),
    )


def _mig(gpu: Gpu, machine: Machine) -> Iterator[Finding]:
    if is_slice(gpu):
        yield finding(
            "gpu.mig_slice",
            "note",
            "{card} is a slice; an engine runs in one slice, never over several",
            gpu=gpu.uuid,
            card=card(gpu),
        )
    elif gpu.mig and not any(is_slice(other) and other.index == gpu.index for other in machine.gpus):
        yield finding(
            "gpu.mig_empty",
            "blocker",
            "{card} is set to be cut into slices (MIG), and none was made",
            "make one with `nvidia-smi mig -cgi PROFILE -C`, or switch MIG off: `sudo nvidia-smi -i {index} -mig 0`",
            gpu=gpu.uuid,
            card=card(gpu),
            index=gpu.index,
        )


def _mode(gpu: Gpu) -> Iterator[Finding]:
    if gpu.compute_mode == "prohibited":
        yield finding(
            "gpu.prohibited",
            "blocker",
            "{card} is closed to programs (compute mode: prohibited)",
            "open it with `sudo nvidia-smi -i {index} -c DEFAULT`",
            gpu=gpu.uuid,
            card=card(gpu),
            index=gpu.index,
        )
    elif gpu.compute_mode == "exclusive_process":
        yield finding(
            "gpu.exclusive",
            "warning",
            "{card} lets one process in at a time (compute mode: exclusive); an engine start may be refused",
            "open it with `sudo nvidia-smi -i {index} -c DEFAULT`",
            gpu=gpu.uuid,
            card=card(gpu),
            index=gpu.index,
        )


def _memory(gpu: Gpu, machine: Machine) -> Iterator[Finding]:
    if gpu.memory_total is None:
        yield finding(
            "gpu.memory_unknown",
            "warning",
            "the driver does not tell how much memory {card} has (it shares the computer's)",
            "set the engine's share of memory by hand",
            gpu=gpu.uuid,
            card=card(gpu),
        )
        return
    held = gpu.memory_used or 0
    if held >= OCCUPIED:
        yield finding(
            "gpu.occupied",
            "warning",
            "{card}: {held} of {total} are taken by {whom}",
            "close what is not needed before the engine starts",
            gpu=gpu.uuid,
            card=card(gpu),
            held=gib(held),
            total=gib(gpu.memory_total),
            whom=_whom(gpu.processes, "programs of Windows" if machine.host.wsl2 else "programs that cannot be named"),
        )


def _whom(processes: tuple[GpuProcess, ...], unknown: str) -> str:
    """The largest first; a process without a name is its number."""
    sized = sorted((process for process in processes if process.memory), key=lambda process: -(process.memory or 0))
    if not sized:
        return unknown
    named = [f"{process.name or f'process {process.pid}'} ({gib(process.memory or 0)})" for process in sized[:_NAMED]]
    return ", ".join(named) + (f" and {len(sized) - _NAMED} more" if len(sized) > _NAMED else "")


def _small_things(gpu: Gpu) -> Iterator[Finding]:
    if gpu.display:
        yield finding(
            "gpu.display",
            "note",
            "{card} draws the display; the plan leaves room for it",
            gpu=gpu.uuid,
            card=card(gpu),
        )
    if gpu.ecc and gpu.capability not in _HBM and not is_slice(gpu):
        yield finding(
            "gpu.ecc",
            "note",
            "{card} corrects memory errors (ECC), which takes about {share:.0%} of its memory; the sizes here are "
            "what is left",
            gpu=gpu.uuid,
            card=card(gpu),
            share=_ECC_SHARE,
        )
    if gpu.temperature_c is not None and gpu.temperature_c >= HOT:
        yield finding(
            "gpu.hot",
            "warning",
            "{card} is {temperature} degrees hot and will slow down",
            "look at its fans and the air around it",
            gpu=gpu.uuid,
            card=card(gpu),
            temperature=gpu.temperature_c,
        )
    if gpu.pcie_width is not None and 0 < gpu.pcie_width <= _NARROW:
        yield finding(
            "gpu.narrow_slot",
            "note",
            "{card} has {width} PCIe lanes; split over cards, a model waits for them",
            "a slot with 8 or 16 lanes is faster",
            gpu=gpu.uuid,
            card=card(gpu),
            width=gpu.pcie_width,
        )
