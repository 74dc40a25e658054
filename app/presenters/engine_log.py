"""The engine's log as it grows: read on a thread, in bounded pieces, whatever its size."""

from __future__ import annotations

import asyncio
import os
import re
from dataclasses import replace
from pathlib import Path

from app.models.engine_log import LogNews
from engine.domain.diagnosis import LogLine
from engine.supervise.diagnose_lines import LineParser, LineSplitter
from engine.supervise.log_starts import LogStart, LogStarts

FIRST_BYTES = 512 * 1024  # of the end of a log that is opened
MOST_BYTES = 1024 * 1024  # at one look; what is before that is passed over

_LEVEL = re.compile(r"\b(DEBUG|INFO|WARNING|ERROR|CRITICAL)\b")  # of lines that begin otherwise than vLLM's
_HEAD = 60  # characters where it stands
_BAR = re.compile(r"\d+%\|")
_FIGURES = re.compile(r"[\d.,:%|/\u2580-\u259f#\s]+")


class EngineLogs:
    """The logs of an engine's last starts, of which one is chosen."""

    def __init__(self) -> None:
        self._feed, self._starts = LogFeed(), LogStarts()
        self._kept: tuple[LogStart, ...] = ()

    async def look(self, newest: Path | None, chosen: int) -> LogNews:
        """The news of the chosen start's log; of the newest where that is gone.

        Args:
            newest: the log of the newest start.
            chosen: as :class:`app.models.engine_log.StartChoice` has it.
        """
        path = next((start.path for start in self._kept if start.inode == chosen), newest)
        return await self._feed.look(path)

    async def starts(self, newest: Path | None, *, running: bool) -> tuple[LogStart, ...]:
        """The starts whose logs are kept, the newest first."""
        if newest is None:
            return ()
        self._kept = await asyncio.to_thread(self._starts.look, newest, running=running)
        return self._kept


class LogFeed:
    """Gives the news of one log after another."""

    def __init__(self) -> None:
        self._path: Path | None = None
        self._inode = 0
        self._at = 0
        self._begin()

    async def look(self, path: Path | None) -> LogNews:
        """What has come since the last look; everything that is kept when the log is another one. Not for two tasks."""
        return await asyncio.to_thread(self._look, path)

    def _begin(self) -> None:
        self._splitter, self._parser = LineSplitter(), LineParser()
        self._level = ""

    def _look(self, path: Path | None) -> LogNews:
        try:
            if path is None:
                raise FileNotFoundError
            with path.open("rb") as file:
                state = os.fstat(file.fileno())
                # A log keeps its number when the next start gives it another name.
                anew = self._path is None or state.st_ino != self._inode or state.st_size < self._at
                self._path = path
                if anew:
                    self._inode, self._at = state.st_ino, 0
                    self._begin()
                room = FIRST_BYTES if anew else MOST_BYTES
                skipped = max(0, state.st_size - self._at - room)
                file.seek(self._at + skipped)
                data = file.read(room)
                self._at += skipped + len(data)
        except OSError:
            gone = self._path is not None
            self._path, self._at = None, 0
            return LogNews(anew=gone)
        if skipped:
            self._begin()
            data = data[data.find(b"\n") + 1 :]  # from a line's beginning
        return LogNews(self._lines(data), anew, skipped)

    def _lines(self, data: bytes) -> tuple[LogLine, ...]:
        lines: list[LogLine] = []
        for raw in self._splitter.feed(data):
            for line in self._parser.parse(raw):
                known = self._levelled(line)
                if lines and _same_bar(lines[-1], known):
                    lines.pop()
                lines.append(known)
        return tuple(lines)

    def _levelled(self, line: LogLine) -> LogLine:
        """What has no level (a traceback without prefix) has that of the line before it."""
        found = None if line.level else _LEVEL.search(line.text[:_HEAD])
        self._level = line.level or (found[1] if found else self._level)
        return replace(line, level=self._level)


def _same_bar(first: LogLine, second: LogLine) -> bool:
    """A progress bar that is drawn again: only its newest state is worth a line."""
    return bool(
        _BAR.search(first.text)
        and _BAR.search(second.text)
        and _FIGURES.split(first.text)[0] == _FIGURES.split(second.text)[0]
    )
