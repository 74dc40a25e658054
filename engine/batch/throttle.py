"""How many rows are read at the same time: as many as the engine takes well.

Additive increase, multiplicative decrease, as in TCP (RFC 5681): every full round of good answers adds one, a busy
engine or a time-out halves. A round of answers that takes much longer than the best one says that more would only
queue, so nothing is added then.
"""

from __future__ import annotations

import asyncio
from collections import deque

CUT = 0.5
SLOW = 1.5  # times the best round: from here on requests only wait for each other
FIRST_HOLD_S, MOST_HOLD_S = 0.25, 30.0  # after a refusal without Retry-After, doubled while refusals go on


class Throttle:
    """Lets rows through. One event loop's thread only.

    Args:
        start: rows at the same time in the beginning.
        most: never more than these.

    Attributes:
        limit: rows at the same time, now.
    """

    def __init__(self, start: int, most: int) -> None:
        self.limit = start
        self._most = most
        self._inside = 0
        self._waiting: deque[asyncio.Future[None]] = deque()  # first come, first let in
        self._cuts = 0
        self._strikes = 0  # cuts since the last good answer
        self._hold_until = 0.0
        self._good, self._seconds, self._best = 0, 0.0, float("inf")

    async def enter(self) -> int:
        """Wait for a place; gives a mark for ``back_off``. Every ``enter`` needs its ``leave``."""
        if self._inside < self.limit and not self._waiting:
            self._inside += 1
        else:
            await self._turn()
        try:
            while (wait := self._hold_until - _now()) > 0:  # noqa: ASYNC110 - it may be put off meanwhile
                await asyncio.sleep(wait)
        except BaseException:
            self.leave()
            raise
        return self._cuts

    def leave(self) -> None:
        """Give the place back."""
        self._inside -= 1
        self._let_in()

    def answered(self, seconds: float) -> None:
        """A good answer, and how long it took."""
        self._strikes = 0
        self._good += 1
        self._seconds += seconds
        if self._good >= self.limit:
            mean, self._good, self._seconds = self._seconds / self._good, 0, 0.0
            self._best = min(self._best, mean)
            if self.limit < self._most and mean <= SLOW * self._best:
                self.limit += 1
                self._let_in()

    def back_off(self, mark: int, retry_after_s: float | None = None, *, hold: bool = True) -> None:
        """The engine turned a row away, or did not answer in time.

        Args:
            mark: of its ``enter``; rows that were let in before the last cut do not cut again.
            hold: whether to wait a little before the next row (a time-out has waited already).
        """
        now = _now()
        if retry_after_s is not None:
            self._hold_until = max(self._hold_until, now + retry_after_s)
        if mark != self._cuts:
            return
        if retry_after_s is None and hold:
            self._hold_until = max(self._hold_until, now + min(FIRST_HOLD_S * 2**self._strikes, MOST_HOLD_S))
        self._cuts += 1
        self._strikes = min(self._strikes + 1, 16)
        self._good, self._seconds = 0, 0.0
        self.limit = max(1, int(self.limit * CUT))

    async def _turn(self) -> None:
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            await turn
        except BaseException:
            if turn.done() and not turn.cancelled():  # it was let in just then
                self.leave()
            elif turn in self._waiting:
                self._waiting.remove(turn)
            raise

    def _let_in(self) -> None:
        while self._waiting and self._inside < self.limit:
            turn = self._waiting.popleft()
            if not turn.done():
                self._inside += 1
                turn.set_result(None)


def _now() -> float:
    return asyncio.get_running_loop().time()
