"""The phases of a start with their times."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence

from app.models.engine_start import PhaseTime, StartView
from engine.domain.hardware import GIB
from engine.supervise.start_log import StartProgress

_WEIGHTS = re.compile(r"Model loading took (?P<gib>[\d.]+) GiB")
_CACHE = re.compile(r"Available KV cache memory: (?P<gib>[\d.]+) GiB")


class StartTimes:
    """Takes the steps of a start and can be asked at any time.

    Args:
        phases: names, in order.
        clock: seconds, monotonic.

    Attributes:
        weights, cache: bytes on each card, as the engine's log says; None until it does.
    """

    def __init__(self, phases: Sequence[str] = (), clock: Callable[[], float] = time.monotonic) -> None:
        self._phases, self._clock = tuple(phases), clock
        self._began = clock()
        self._times: dict[int, float] = {}  # when a phase began
        self._now: StartProgress | None = None
        self._ended: float | None = None
        self._serves = False
        self.weights: int | None = None
        self.cache: int | None = None

    def feed(self, progress: StartProgress) -> None:
        self._now = progress
        self._times.setdefault(progress.number, self._clock())
        self.weights = _bytes(_WEIGHTS, progress.detail) or self.weights
        self.cache = _bytes(_CACHE, progress.detail) or self.cache

    def end(self, *, serves: bool) -> None:
        """The start is over; its times stand still. An engine that serves is through with every phase, whatever of its
        log has been read by then."""
        self._ended, self._serves = self._clock(), serves

    def view(self) -> StartView:
        now = self._clock() if self._ended is None else self._ended
        number = len(self._phases) if self._serves else self._now.number if self._now is not None else -1
        phases = tuple(self._phase(place, name, number, now) for place, name in enumerate(self._phases))
        return StartView(
            phases,
            self._now.fraction if self._now is not None else None,
            self._now.detail if self._now is not None else "",
            now - self._began,
            self._now.eta_s if self._now is not None else None,
        )

    def _phase(self, place: int, name: str, number: int, now: float) -> PhaseTime:
        began = self._times.get(place)
        if place > number or began is None:
            # A phase that the log has passed over took no time that anybody saw.
            return PhaseTime(name, "done" if place < number else "open", 0.0 if place < number else None)
        ended = min((at for other, at in self._times.items() if other > place), default=now)
        return PhaseTime(name, "done" if place < number else "running", ended - began)


def _bytes(pattern: re.Pattern[str], detail: str) -> int | None:
    found = pattern.search(detail)
    return int(float(found["gib"]) * GIB) if found else None
