"""The lines of a log that are kept and the choice of those that are shown."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from engine.domain.diagnosis import LogLine

KEPT = 5000  # lines: a log of any size takes some megabytes here
Least = Literal["all", "warnings", "errors"]

_LEVELS: dict[Least, frozenset[str]] = {
    "all": frozenset(),
    "warnings": frozenset({"WARNING", "ERROR", "CRITICAL"}),
    "errors": frozenset({"ERROR", "CRITICAL"}),
}


@dataclass(frozen=True, slots=True)
class LogNews:
    """What a log has grown by.

    Attributes:
        anew: another log has begun; what was there before is gone.
        skipped: bytes that were passed over, since nobody can read them as fast as they come.
    """

    lines: tuple[LogLine, ...] = ()
    anew: bool = False
    skipped: int = 0


@dataclass(frozen=True, slots=True)
class StartChoice:
    """A start whose log can be shown.

    Attributes:
        log: which one; the number of its file, which stays while the file's name changes. 0: the newest, whichever.
        text: when it began and what became of it.
        detail: the same in full.
    """

    log: int
    text: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class LogFilter:
    """Which lines are shown: of at least a level, and with a text in them, whatever its case."""

    least: Least = "all"
    text: str = ""

    def wants(self, line: LogLine) -> bool:
        levels = _LEVELS[self.least]
        if levels and line.level not in levels:
            return False
        return self.text.casefold() in as_text(line).casefold()


class LogLines:
    """The last lines of a log."""

    def __init__(self, kept: int = KEPT) -> None:
        self._lines: deque[LogLine] = deque(maxlen=kept)

    def take(self, news: LogNews) -> None:
        if news.anew:
            self._lines.clear()
        self._lines.extend(news.lines)

    def shown(self, chosen: LogFilter) -> Iterator[LogLine]:
        return (line for line in self._lines if chosen.wants(line))

    def __len__(self) -> int:
        return len(self._lines)


def as_text(line: LogLine) -> str:
    """A line as it is shown: process and level before the text, where it names them."""
    return "  ".join(part for part in (line.process, line.level, line.text) if part)


def joined(lines: Iterable[LogLine]) -> str:
    return "\n".join(map(as_text, lines))
