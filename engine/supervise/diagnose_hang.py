"""A start that hangs says nothing: a line that is fine when others follow it is a fault when none does."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import dataclass

from engine.domain.diagnosis import FailureKind, LogLine
from engine.supervise.diagnose_catalogue import Catalogue, Rule

_HANG: frozenset[FailureKind] = frozenset({"hang"})
MATCHED = 500  # characters of a line
WAITING = "shm_wait"  # said again and again by those that wait for the one that hangs


@dataclass(frozen=True, slots=True)
class Silence:
    """A hang: its rule, the line after which nothing came, and for how many seconds."""

    rule: Rule
    match: re.Match[str]
    line: LogLine
    seconds: float


class HangWatch:
    """Watches the lines of a log for silence.

    Args:
        clock: seconds; only differences count.
    """

    def __init__(self, catalogue: Catalogue, clock: Callable[[], float] = time.monotonic) -> None:
        self._catalogue, self._clock = catalogue, clock
        self._armed: tuple[Rule, re.Match[str], LogLine] | None = None
        self._since = clock()

    def feed(self, line: LogLine, at: float | None = None) -> None:
        """A line has come.

        Args:
            at: when; now where it is left out.
        """
        if not line.text.strip():
            return  # vLLM begins a line before a bar, and writes nothing into it
        found = self._catalogue.find(line.text[:MATCHED], _HANG)
        if found is None:
            self._armed = None
            return
        rule, match = found
        if self._armed is not None:
            earlier, before, _ = self._armed
            if rule.id == WAITING or (rule.id == earlier.id and _progress(match) == _progress(before)):
                return  # it waits on, or a bar was drawn again: no sign of life
        self._armed = rule, match, line
        self._since = self._clock() if at is None else at

    def check(self, now: float | None = None) -> Silence | None:
        """The hang, once its time is over."""
        if self._armed is None:
            return None
        rule, match, line = self._armed
        seconds = (self._clock() if now is None else now) - self._since
        assert rule.timeout_s is not None
        return Silence(rule, match, line, seconds) if seconds >= rule.timeout_s else None


def _progress(match: re.Match[str]) -> str | None:
    return match.groupdict().get("progress")
