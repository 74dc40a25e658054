"""How fast work is, over the last half minute."""

from __future__ import annotations

from collections import deque

WINDOW_S = 30.0


class RateMeter:
    """Answers or bytes a second over a sliding window."""

    def __init__(self) -> None:
        self._samples: deque[tuple[float, int]] = deque()

    def restart(self, now: float, done: int) -> None:
        """Forget the past: after a pause it would count as slowness."""
        self._samples.clear()
        self._samples.append((now, done))

    def rate(self, now: float, done: int) -> float:
        """Note how far the work is and give the rate; 0 while unknown.

        Args:
            now: seconds of a steady clock.
            done: answers or bytes so far.
        """
        while len(self._samples) > 1 and self._samples[1][0] <= now - WINDOW_S:
            self._samples.popleft()
        self._samples.append((now, done))
        then, before = self._samples[0]
        return (done - before) / (now - then) if now > then else 0.0
