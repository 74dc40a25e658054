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

FIRST_BYTES = 512 * 1024  # of the end of a log that is opened
MOST_BYTES = 1024 * 1024  # at one look; what is before that is passed over

_LEVEL = re.compile(r"\b(DEBUG|INFO|WARNING|ERROR|CRITICAL)\b")  # of lines that begin otherwise than vLLM's
_HEAD = 60  # characters where it stands
_BAR = re.compile(r"\d+%\|")
_FIGURES = re.compile(r"[\d.,:%|/\u2580-\u259f#\s]+")


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
                anew = path != self._path or state.st_ino != self._inode or state.st_size < self._at
                if anew:
                    self._path, self._inode, self._at = path, state.st_ino, 0
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
