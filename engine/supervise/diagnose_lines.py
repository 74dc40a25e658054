"""The lines of an engine's log, out of any pieces that it arrives in: without colours, with their process and level.

Several processes write one file. A progress bar has no line end of its own, so that the next line of another process
stands behind it; that is two lines here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from engine.domain.diagnosis import LogLine

MAX_LINE = 16_384  # bytes; what is longer is cut into pieces, so that memory stays flat whatever is written

_ENDS = re.compile(rb"[\r\n]")
_COLOURS = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
_PROCESS = r"\([A-Za-z]\w*(?:-\d+)*(?: \w+)* pid=\d+\)"  # vLLM 0.33: the name is the Python process's where it has none
_INNER = re.compile(rf"(?<=[^\s)])\s*(?={_PROCESS})|(?<=it/s\])(?=\S)|(?<=s/it\])(?=\S)")
_NAME = re.compile(rf"^\s?(?P<whole>{_PROCESS})\s?")
_LEVEL = re.compile(
    r"^(?P<level>DEBUG|INFO|WARNING|ERROR|CRITICAL)\s+\d\d-\d\d [\d:.,]+ (?:\[[^\]\s]+\] ?)?"
    r"|^(?P<plain>DEBUG|INFO|WARNING|ERROR|CRITICAL)(?::\s*|\s+(?=\[[^\]\s]+:\d+\]))(?:\[[^\]\s]+:\d+\] ?)?"
)
_GROUP = re.compile(r"^\s*(?:[|+]|\+[-+]*)\s?(?=\S)")  # exceptions of a group are drawn as a tree
_WARNING = re.compile(r"\b\w*Warning: ")
_TRACEBACK = "Traceback (most recent call last)"


class LineSplitter:
    """Cuts bytes into lines; the same lines come whatever the pieces were.

    A line end is CR, LF or both; empty lines are not counted.
    """

    def __init__(self) -> None:
        self._rest = bytearray()

    def feed(self, data: bytes) -> Iterator[bytes]:
        """The lines that are complete now."""
        self._rest += data
        start = 0
        for end in _ENDS.finditer(self._rest):
            yield from _pieces(bytes(self._rest[start : end.start()]))
            start = end.end()
        del self._rest[:start]
        while len(self._rest) > MAX_LINE:
            yield bytes(self._rest[:MAX_LINE])
            del self._rest[:MAX_LINE]

    def close(self) -> Iterator[bytes]:
        """The last half line, if there is one."""
        yield from _pieces(bytes(self._rest))
        self._rest.clear()


def _pieces(line: bytes) -> Iterator[bytes]:
    for at in range(0, len(line), MAX_LINE):
        yield line[at : at + MAX_LINE]


@dataclass
class LineParser:
    """Makes log lines of raw ones, and knows which of them are only the source text inside a traceback."""

    number: int = 0
    _within: set[str] = field(default_factory=set)  # processes whose traceback is being written

    def parse(self, raw: bytes) -> Iterator[LogLine]:
        """The lines of a raw line: usually one."""
        text = _COLOURS.sub("", raw.decode("utf-8", "replace")).replace("\x00", "")
        for part in _INNER.split(text):
            if part and part.strip():
                self.number += 1
                yield _log_line(self.number, part)

    def quoted(self, line: LogLine) -> bool:
        """Whether the line is source text or a place inside a traceback: it may name an error that never happened."""
        body = body_of(line.text)
        if _TRACEBACK in body or body.startswith('  File "'):
            self._within.add(line.process)
            return True
        if body.startswith("    "):
            return True  # two processes without prefixes may write their tracebacks into each other
        if line.process not in self._within:
            return False
        if body.startswith("  ") or not body.strip():
            return True
        self._within.discard(line.process)
        return False


def body_of(text: str) -> str:
    """A line's text without the tree that exceptions of a group are drawn in."""
    return _GROUP.sub("", text)


def _log_line(number: int, text: str) -> LogLine:
    process = ""
    while name := _NAME.match(text):
        process = name["whole"].strip("()").rsplit(" pid=", 1)[0]
        text = text[name.end() :]
    level = ""
    if found := _LEVEL.match(text):
        level = found["level"] or found["plain"]
        text = text[found.end() :]
    elif _WARNING.search(text[:300]):
        level = "WARNING"
    return LogLine(number, process, level, text.rstrip())
