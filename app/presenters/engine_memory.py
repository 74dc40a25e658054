"""The cards' memory while somebody looks: NVML on a thread, and what of it is our engine's."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QCoreApplication

from app.models.engine_memory import CardMemory, MemoryView
from engine.domain.hardware import GIB, Driver, Gpu
from engine.domain.plan import CardBudget, LaunchPlan
from engine.hardware import nvml
from engine.hardware.record import load_machine
from engine.local.disk import MACHINE_VARIABLE

SHOWN = 3  # holders


@dataclass(frozen=True, slots=True)
class Ours:
    """Our engine, as far as memory goes.

    Attributes:
        pids: of its processes.
        plan: that it was started by.
        weights, cache: bytes on each card, as its log says; None: as planned.
        before: in use on each card before its start, by UUID; for machines where NVML does not name processes of ours
            (a container has its own process numbers).
    """

    pids: frozenset[int] = frozenset()
    plan: LaunchPlan | None = None
    weights: int | None = None
    cache: int | None = None
    before: Mapping[str, int] | None = None


async def look_at_memory(ours: Ours) -> MemoryView:
    """What lives in the cards now. Never raises; blocks nobody."""
    driver, gpus = await asyncio.to_thread(look_at_cards)
    told = [gpu for gpu in gpus if gpu.memory_total]
    if told:
        return MemoryView(tuple(card_memory(gpu, ours) for gpu in told))
    return MemoryView(why_none=_why_none(driver, gpus))


def look_at_cards() -> tuple[Driver, tuple[Gpu, ...]]:
    """Driver and cards now, or those of the recorded machine that ``DIFFUSION_DESK_MACHINE`` names."""
    recorded = os.environ.get(MACHINE_VARIABLE)
    if recorded:
        machine = load_machine(Path(recorded))
        return machine.driver, machine.gpus
    answer = nvml.probe()
    return answer.driver, answer.gpus


def in_use(gpus: Collection[Gpu]) -> dict[str, int]:
    """Bytes in use by UUID."""
    return {gpu.uuid: gpu.memory_used or 0 for gpu in gpus}


def card_memory(gpu: Gpu, ours: Ours) -> CardMemory:
    """What lives in one card; its parts never sum up to more than is in use."""
    used = gpu.memory_used or 0
    budget = _budget(gpu, ours.plan)
    mine = min(used, _held(gpu, ours, used, budget))
    weights = min(mine, ours.weights if ours.weights is not None else budget.weights if budget and ours.cache else mine)
    cache = min(mine - weights, ours.cache or 0)
    return CardMemory(
        gpu.uuid,
        f"{gpu.index}: {gpu.name}",
        gpu.memory_total or 0,
        weights=weights,
        cache=cache,
        working=mine - weights - cache,
        others=used - mine + (gpu.memory_reserved or 0),
        holders=_holders(gpu, ours),
        planned=budget is not None,
        load=gpu.load,
    )


def _held(gpu: Gpu, ours: Ours, used: int, budget: CardBudget | None) -> int:
    """Bytes that our engine has on a card."""
    named = sum(process.memory or 0 for process in gpu.processes if process.pid in ours.pids)
    if named or not ours.pids or budget is None or ours.before is None:
        return named
    return max(0, used - ours.before.get(gpu.uuid, used))


def _budget(gpu: Gpu, plan: LaunchPlan | None) -> CardBudget | None:
    return next((card for card in plan.cards if card.uuid == gpu.uuid), None) if plan is not None else None


def _holders(gpu: Gpu, ours: Ours) -> str:
    others = [process for process in gpu.processes if process.pid not in ours.pids]
    words = [
        f"{process.name or process.pid} {process.memory / GIB:.1f} GiB" if process.memory else process.name
        for process in others[:SHOWN]
    ]
    return ", ".join(filter(None, words))


def _why_none(driver: Driver, gpus: Collection[Gpu]) -> str:
    def tr(text: str) -> str:
        return QCoreApplication.translate("engine", text)

    if gpus:
        return tr("The driver does not tell the memory of this computer's cards.")
    if driver.status == "mismatch":
        return tr("The driver was updated while it ran: restart the computer, then its cards can be read again.")
    if driver.status == "no_permission":
        return tr("The driver does not let this user read the cards.")
    if driver.status == "ok":
        return tr("The driver is there, and no card.")
    return tr("This computer has no NVIDIA card that a driver answers for; there is no card's memory to show.")
