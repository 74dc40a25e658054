"""Whose code an error went through: of the tracebacks in a log, those with frames of our own parts inside vLLM.

Our model class wraps vLLM's sampler, so every error of the sampler passes a frame of ours. What a rule knows stays what
it is unless the last frame among vLLM's and ours is one of ours; what no rule knows counts as ours wherever the frame
stands. A traceback that a part logs when it switches itself off ends nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Literal

from engine.domain.diagnosis import LogLine
from engine.supervise.diagnose_lines import body_of

Blame = Literal["", "passed", "raised", "handled"]
"""Of our parts in an error: none, it went through them, it arose in them, they have dealt with it."""

_FRAME = re.compile(r'File "(?P<path>[^"]+)", line \d+')
_LIBRARIES = re.compile(r"^.*(?:-packages|/python3\.\d+)/")  # a folder above them may be called vllm too
_OURS = "engine/vllm_plugin/"
_CHAINED = re.compile(r"The above exception was the direct cause|During handling of the above exception")
_ENDED = re.compile(r"[A-Za-z_][\w.]*(?=:|$)")  # the last line of a traceback
_NO_ERRORS = frozenset({"KeyboardInterrupt", "SystemExit", "CancelledError", "GeneratorExit"})


@dataclass
class _Open:
    """A traceback that is being written."""

    passed: bool = False
    last: bool = False  # whether the last frame among vLLM's and ours is ours


@dataclass
class FrameWatch:
    """Follows the tracebacks of all processes. Its memory grows with the processes only."""

    _open: dict[str, _Open] = field(default_factory=dict)
    _handled: set[str] = field(default_factory=set)  # processes that write of what a part has caught

    def feed(self, line: LogLine, *, quoted: bool) -> Blame:
        """The next line; what our parts have to do with the error that it names.

        Args:
            quoted: it stands inside a traceback.
        """
        body = body_of(line.text)
        if quoted:
            self._note(line.process, body)
            return ""
        ended = self._open.pop(line.process, None)
        if ended is None:
            if body.strip() and not _CHAINED.search(body):
                self._handled.discard(line.process)
            return ""
        named = _ENDED.match(body)
        if not ended.passed or named is None or named[0].rsplit(".", 1)[-1] in _NO_ERRORS:
            return ""
        if line.process in self._handled:
            return "handled"
        return "raised" if ended.last else "passed"

    def caught(self, process: str) -> None:
        """The line just fed says that a part has caught what is written next."""
        self._handled.add(process)

    def _note(self, process: str, body: str) -> None:
        open_ = self._open.setdefault(process, _Open())
        frame = _FRAME.search(body)
        if frame is None:
            return
        path = frame["path"]
        if _OURS in path:
            open_.passed = open_.last = True
        elif "/vllm/" in f"/{_LIBRARIES.sub('', path)}":
            open_.last = False
