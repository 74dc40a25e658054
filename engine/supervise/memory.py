"""Whether the cards' memory is back after an engine has ended: looked at before its start and after its end.

The driver frees what a process held a moment after the process is gone, so the look is repeated. What does not come
back is told with whoever holds it now; that it is not ours is said as plainly as that it is.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from engine.domain.hardware import GIB, Gpu, GpuProcess

Probe = Callable[[], Sequence[Gpu]]
"""Asks for all cards, for instance through NVML; may take some seconds, so it is called on a thread."""

TOLERANCE = 64 << 20  # a driver that has once served a program keeps some tens of MiB
SETTLE_S = 10.0
LOOK_S = 0.25
PROBE_S = 20.0


@dataclass(frozen=True, slots=True)
class CardAfter:
    """One card of the plan after its engine has ended.

    Attributes:
        before, after: bytes in use before the start and now; None where the driver does not say.
        ours: processes of the engine that still hold memory of it.
        others: who else holds some now and did not before the start.
    """

    uuid: str
    name: str
    before: int | None
    after: int | None
    ours: tuple[GpuProcess, ...] = ()
    others: tuple[GpuProcess, ...] = ()

    @property
    def back(self) -> bool:
        """Whether no more is in use than before. A driver that never told amounts is asked for processes only."""
        if self.ours or (self.after is None and self.before is not None):
            return False
        return self.before is None or self.after is None or self.after <= self.before + TOLERANCE

    @property
    def settled(self) -> bool:
        """Whether there is nothing to wait for: memory is back, or what is not is held by others."""
        if self.back or self.ours or self.before is None or self.after is None:
            return self.back
        return self.after - sum(process.memory or 0 for process in self.others) <= self.before + TOLERANCE

    def __str__(self) -> str:
        if self.back:
            return f"{self.name}: memory is back"
        if self.after is None and not self.ours:
            return f"{self.name}: the driver does not tell any more how much of its memory is in use"
        held = f"{((self.after or 0) - (self.before or 0)) / GIB:.1f} GiB more in use than before the start"
        if self.ours:
            return f"{self.name}: {held}, by the engine's own {_names(self.ours)}"
        if self.others:
            return f"{self.name}: {held}; not the engine's, but there since: {_names(self.others)}"
        return f"{self.name}: {held}; the driver does not say by whom"


class MemoryWatch:
    """The memory of a plan's cards around one start.

    Args:
        cards: UUIDs.
        probe: asks for all cards.
        settle_s: how long to wait for the memory of an engine that has ended.
    """

    def __init__(self, cards: Collection[str], probe: Probe, *, settle_s: float = SETTLE_S) -> None:
        self._cards, self._probe, self._settle_s = tuple(cards), probe, settle_s
        self._before: dict[str, Gpu] = {}

    async def note(self) -> None:
        """Look, before the start."""
        self._before = await self._look()

    async def after(self, pids: Collection[int]) -> tuple[CardAfter, ...]:
        """Look until all memory is back, or held by others.

        Args:
            pids: of the engine that has ended.

        Returns:
            one for each card that was there before the start.
        """
        deadline = time.monotonic() + self._settle_s
        while True:
            now = await self._look()
            found = tuple(_compare(card, now.get(uuid), pids) for uuid, card in self._before.items())
            if all(card.settled for card in found) or time.monotonic() >= deadline:
                return found
            await asyncio.sleep(LOOK_S)

    async def _look(self) -> dict[str, Gpu]:
        """The cards by UUID; none when the driver hangs, which must not hang us."""
        try:
            async with asyncio.timeout(PROBE_S):
                gpus = await asyncio.to_thread(self._probe)
        except TimeoutError:
            return {}
        return {gpu.uuid: gpu for gpu in gpus if gpu.uuid in self._cards}


def _compare(before: Gpu, now: Gpu | None, pids: Collection[int]) -> CardAfter:
    if now is None:
        return CardAfter(before.uuid, before.name, before.memory_used or 0, None)
    old = {process.pid for process in before.processes}
    ours = tuple(process for process in now.processes if process.pid in pids)
    others = tuple(process for process in now.processes if process.pid not in pids and process.pid not in old)
    return CardAfter(now.uuid, now.name, before.memory_used, now.memory_used, ours, others)


def _names(processes: Sequence[GpuProcess]) -> str:
    return ", ".join(f"{process.name or 'process'} (pid {process.pid})" for process in processes)
