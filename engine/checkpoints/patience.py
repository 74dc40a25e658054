"""How long to bear with a network: time limits, pauses between attempts, and when to give up."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from engine.errors import UserError


@dataclass(frozen=True, slots=True)
class Patience:
    """Limits of one download.

    Attributes:
        connect_s: until a connection stands.
        silence_s: without a byte; then the connection counts as dead.
        slow_bytes_s, slow_s: a connection slower than this over this long is given up for a new one.
        attempts: failures in a row without one new byte before the download ends with an error.
        backoff_s, longest_s: the pause doubles from the first to the second. With ten attempts that makes about five
            minutes, as long as a router takes to start anew.
        longest_asked_s: a hub may ask for a pause up to this long (Retry-After); a longer one ends the download.
    """

    connect_s: float = 15.0
    silence_s: float = 30.0
    slow_bytes_s: float = 1024.0
    slow_s: float = 60.0
    attempts: int = 10
    backoff_s: float = 1.0
    longest_s: float = 60.0
    longest_asked_s: float = 3600.0

    def pause(self, failures: int) -> float:
        """Seconds to wait after so many failures in a row."""
        return float(min(self.backoff_s * 2.0 ** (failures - 1), self.longest_s))


class Again(Exception):
    """An attempt failed in a way that another one may mend.

    Args:
        error: what to raise when patience ends.
        delay_s: the pause that the hub asked for; None leaves it to us.
    """

    def __init__(self, error: UserError, *, delay_s: float | None = None) -> None:
        super().__init__(error.message)
        self.error = error
        self.delay_s = delay_s


async def patiently[T](
    attempt: Callable[[], Awaitable[T]],
    patience: Patience,
    *,
    moved: Callable[[], int] = lambda: 0,
    note: Callable[[str], None] = lambda text: None,
) -> T:
    """Repeats an attempt until it works or patience ends.

    Args:
        attempt: raises :class:`Again` when another try is worth it.
        moved: how far the work is; a failure after which this grew begins a new count.
        note: hears of every pause.

    Raises:
        UserError: the last attempt's error.
    """
    failures, before = 0, moved()
    while True:
        try:
            return await attempt()
        except Again as again:
            now = moved()
            failures, before = (1 if now > before else failures + 1), now
            delay = patience.pause(failures) if again.delay_s is None else again.delay_s
            if failures >= patience.attempts or delay > patience.longest_asked_s:
                raise again.error from None
            note(f"{again.error.message}; trying again in {delay:.0f} s" if delay >= 1 else again.error.message)
            await asyncio.sleep(delay)
