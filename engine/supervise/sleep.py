"""Notices that the computer slept: the clock that counts sleep runs ahead of the one that does not.

CLOCK_MONOTONIC stands still in suspend, CLOCK_BOOTTIME does not (man 2 clock_gettime); NTP moves both alike.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable

LOOK_S = 2.0
LEAST_S = 1.0  # two clocks that are read one after the other differ by microseconds, a suspend takes seconds


def slept_s() -> float:
    """Seconds that the computer has slept since its start."""
    return time.clock_gettime(time.CLOCK_BOOTTIME) - time.clock_gettime(time.CLOCK_MONOTONIC)


async def _pause() -> None:
    await asyncio.sleep(LOOK_S)


class SleepWatch:
    """Tells of every sleep once.

    Args:
        slept: seconds slept so far.
        pause: waits between two looks.
    """

    def __init__(self, slept: Callable[[], float] = slept_s, pause: Callable[[], Awaitable[None]] = _pause) -> None:
        self._slept, self._pause = slept, pause
        self._seen = slept()

    async def resumed(self) -> float:
        """Wait until the computer has slept; for how many seconds."""
        while True:
            now = self._slept()
            if now - self._seen >= LEAST_S:
                slept, self._seen = now - self._seen, now
                return slept
            await self._pause()
