"""The starts whose logs are kept: when each began, and what became of it."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Literal

from engine.supervise.diagnose import diagnose_file
from engine.supervise.diagnose_watch import explains
from engine.supervise.logs import KEPT

HEAD_BYTES = 64 * 1024
TAIL_BYTES = 64 * 1024

LogEnd = Literal["running", "ready", "not_ready"]
_Key = tuple[int, ...]  # inode, size, time of the last change

_STAMP = re.compile(rb"\b(?:(\d{4})-)?(\d\d)-(\d\d) (\d\d):(\d\d):(\d\d)")  # year, month, day and the clock
_READY = re.compile(rb"Application startup complete|embedded engine at http")


@dataclass(frozen=True, slots=True)
class LogStart:
    """One start of an engine, by its log.

    Attributes:
        inode: of the file, which keeps it while the file's name goes on with every start.
        began: by its first line with a time, else by its last change; local time.
        end: whether it runs, and whether it had become ready when it ended.
        cause: why it ended, where its log says so; empty for one that runs, was stopped, or says nothing.
    """

    path: Path
    inode: int
    began: datetime
    end: LogEnd
    cause: str = ""


class LogStarts:
    """Looks through the logs of an engine. A log that has not changed is not read again. Not for two threads."""

    def __init__(self) -> None:
        self._known: dict[_Key, LogStart] = {}

    def look(self, log: Path, *, running: bool) -> tuple[LogStart, ...]:
        """The starts that are kept, the newest first. May read some megabytes: call it on a thread.

        Args:
            log: of the newest start; those before it lie beside it (``engine.supervise.logs``).
            running: the newest still grows, so that nothing is said of its end, and it is not read again and again.
        """
        found: dict[_Key, LogStart] = {}
        for path in (log, *(log.with_name(f"{log.name}.{number}") for number in range(1, KEPT + 1))):
            with suppress(OSError):
                state, grows = path.stat(), running and path == log
                key = (state.st_ino,) if grows else (state.st_ino, state.st_size, state.st_mtime_ns)
                known = self._known.get(key)
                found[key] = replace(known, path=path) if known is not None else _read(path, state, grows=grows)
        self._known = found
        return tuple(found.values())


def _read(path: Path, state: os.stat_result, *, grows: bool) -> LogStart:
    with path.open("rb") as file:
        head = file.read(HEAD_BYTES)
        began = _began(head, datetime.fromtimestamp(state.st_mtime).astimezone())
        if grows:
            return LogStart(path, state.st_ino, began, "running")
        file.seek(max(0, state.st_size - TAIL_BYTES))
        ready = _READY.search(head) is not None or _READY.search(file.read()) is not None
    diagnosis = diagnose_file(path)
    return LogStart(
        path,
        state.st_ino,
        began,
        "ready" if ready or diagnosis.stage == "serving" else "not_ready",
        diagnosis.cause if explains(diagnosis) else "",
    )


def _began(head: bytes, changed: datetime) -> datetime:
    """The time of the first line that has one; vLLM writes no year, so it is the last one that is not in the future."""
    found = _STAMP.search(head)
    if found is None:
        return changed
    year, month, day, hour, minute, second = (int(part or changed.year) for part in found.groups())
    with suppress(ValueError):  # something that only looks like a time
        began = datetime(year, month, day, hour, minute, second, tzinfo=changed.tzinfo)
        return began if began <= changed else began.replace(year=began.year - 1)
    return changed
