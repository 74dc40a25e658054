"""Which cards a plan may use, which it leaves out and why, and how those that it uses reach each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from engine.domain.hardware import GIB, Gpu, Machine
from engine.domain.plan import LeftOut, Link
from engine.launch.classes import catalogue
from engine.launch.fit import torch_total

MIN_USEFUL = 7 * GIB  # eight of them would hold the FP8 weights; below, no plan uses a card
_NO_PEER_ACCESS = frozenset({"ada", "blackwell"})  # GeForce since Ada: a driver that grants it anyway is patched


@dataclass(frozen=True, slots=True)
class Card:
    """A card that a plan may use. Memory in bytes.

    Attributes:
        total: what torch sees.
        free: what is free of it now.
    """

    gpu: Gpu
    architecture: str
    total: int
    free: int

    @property
    def others(self) -> int:
        """Held by other programs now."""
        return self.total - self.free


@dataclass(frozen=True, slots=True)
class Survey:
    """The cards of a machine, sorted out.

    Attributes:
        groups: cards that are alike, largest memory first; tensor parallelism never leaves a group.
        left_out: what no plan can use.
        fixable: one code for every card that a setting of the user would bring back (``compute_mode``, ``mig``).
    """

    groups: tuple[tuple[Card, ...], ...]
    left_out: tuple[LeftOut, ...]
    fixable: tuple[str, ...]


def survey(machine: Machine, only: tuple[str, ...] | None = None) -> Survey:
    """Sort out the cards; ``only`` holds the UUIDs that the user asked for."""
    cards: list[Card] = []
    left: list[LeftOut] = []
    fixable: list[str] = []
    for gpu in machine.gpus:
        if only is not None and gpu.uuid not in only:
            left.append(LeftOut(gpu.uuid, gpu.name, "you chose other cards"))
            continue
        code, reason = _unusable(gpu, machine)
        if reason:
            left.append(LeftOut(gpu.uuid, gpu.name, reason))
            fixable += [code] if code else []
            continue
        cards.append(_card(gpu, machine))
    return Survey(_groups(cards), tuple(left), tuple(fixable))


def _unusable(gpu: Gpu, machine: Machine) -> tuple[str, str]:
    """(code when the user can change it, reason); reason is empty for a usable card."""
    if gpu.mig and not gpu.uuid.startswith("MIG-"):
        return "mig", "MIG is on: only a slice of this card can be used, not the whole"
    if gpu.compute_mode == "prohibited":
        return "compute_mode", f"compute mode is prohibited: nvidia-smi -c DEFAULT -i {gpu.index} as root allows it"
    if gpu.compute_mode == "exclusive_process":
        return "compute_mode", (
            'compute mode is exclusive: a second process on the card fails with "busy or unavailable"; '
            f"nvidia-smi -c DEFAULT -i {gpu.index} as root allows it"
        )
    if gpu.capability is None:
        return "", "the driver does not say its compute capability"
    architecture = catalogue().architecture(gpu.capability)
    if architecture is None:
        major, minor = gpu.capability
        return "", f"compute capability {major}.{minor}; the engine needs 8.0 (Ampere) or newer"
    if architecture == "unified":
        return "", ""
    if gpu.memory_total is None:
        return "", "the driver does not say how much memory it has"
    if gpu.memory_total < MIN_USEFUL:
        return "", f"{gpu.memory_total / GIB:.1f} GiB: no share of the weights fits"
    return "", ""


def _card(gpu: Gpu, machine: Machine) -> Card:
    architecture = catalogue().architecture(gpu.capability)
    assert architecture is not None
    host = machine.host
    if gpu.memory_total is None:  # unified memory: NVML answers "not supported"
        total = host.ram_total or 0
        return Card(gpu, architecture, total, min(total, host.ram_available or total))
    total = torch_total(gpu.memory_total, gpu.memory_reserved, wsl2=host.wsl2)
    free = total if gpu.memory_free is None else min(total, gpu.memory_free)
    return Card(gpu, architecture, total, free)


def _groups(cards: Sequence[Card]) -> tuple[tuple[Card, ...], ...]:
    """Cards of one name and capability: unlike cards round differently, and ranks that differ pick other tokens."""
    groups: dict[tuple[str, str, tuple[int, int] | None], list[Card]] = {}
    for card in cards:
        groups.setdefault((card.gpu.name, _slice_of(card), card.gpu.capability), []).append(card)
    return tuple(tuple(group) for group in sorted(groups.values(), key=lambda group: -sum(c.total for c in group)))


def _slice_of(card: Card) -> str:
    """A MIG slice stands alone: a process sees one slice only."""
    return card.gpu.uuid if card.gpu.uuid.startswith("MIG-") else ""


def pick(machine: Machine, group: Sequence[Card], count: int) -> tuple[Card, ...]:
    """The best ``count`` cards of a group: bridged first, then without a display, then the freest."""

    def worth(cards: tuple[Card, ...]) -> tuple[bool, int, int, int]:
        displays = sum(bool(card.gpu.display) for card in cards)
        freest = min(card.free for card in cards) // (GIB // 4)  # a quarter GiB more or less is no difference
        return link_of(machine, cards) == "nvlink", -displays, freest, -sum(card.gpu.index for card in cards)

    return max(combinations(group, count), key=worth)


def link_of(machine: Machine, cards: Sequence[Card]) -> Link:
    """NVLink where every pair has it; P2P where the driver grants it and BAR1 shows the whole card; else off."""
    if len(cards) == 1:
        return "single"
    links = [machine.link(a.gpu.uuid, b.gpu.uuid) for a, b in combinations(cards, 2)]
    if all(link.nvlinks > 0 for link in links):
        return "nvlink"
    granted = all(link.p2p for link in links)
    whole = all((card.gpu.bar1_total or 0) >= (card.gpu.memory_total or 0) > 0 for card in cards)
    if granted and whole and not any(card.architecture in _NO_PEER_ACCESS for card in cards):
        return "p2p"
    return "off"


def holders(card: Card) -> str:
    """``firefox (pid 5127) 3.4 GiB, ...``: the three largest programs on a card; empty when none is known."""
    known = sorted(card.gpu.processes, key=lambda process: -(process.memory or 0))[:3]
    return ", ".join(
        f"{process.name} (pid {process.pid})"
        + (f" {process.memory / GIB:.1f} GiB" if process.memory is not None else "")
        for process in known
    )
