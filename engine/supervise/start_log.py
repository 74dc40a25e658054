"""A start as its log tells it: the phase, how far it is, how long it has taken and how long it will."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

LAST_PHASE = "First chat and first read"
DETAIL = 200  # characters


@dataclass(frozen=True, slots=True)
class StartProgress:
    """Where a start is.

    Attributes:
        phase: a name out of the plan's phases.
        number: its place among ``count`` phases, from 0.
        fraction: of this phase, 0 to 1; None where the log does not say.
        detail: the line that told, at most DETAIL characters of it.
        elapsed_s: since the start.
        eta_s: until it is ready, as earlier starts on this machine suggest; None where there was none.
    """

    phase: str
    number: int
    count: int
    fraction: float | None = None
    detail: str = ""
    elapsed_s: float = 0.0
    eta_s: float | None = None


@dataclass(frozen=True, slots=True)
class _Mark:
    """A line of vLLM 0.33's log and the phase that begins with it.

    Attributes:
        after: the line means it in this phase or a later one only.
    """

    pattern: re.Pattern[str]
    phase: str
    after: str = ""


_MARKS = tuple(
    _Mark(re.compile(pattern), phase, *after)
    for pattern, phase, *after in (
        (r"Resolved architecture: |Using max model len ", "Reading the checkpoint's configuration"),
        (r"Initializing a V1 LLM engine", "Starting the engine"),
        (r"vLLM is using nccl==", "Connecting the cards"),
        (r"Loading model from scratch|Loading safetensors checkpoint shards", "Loading the weights"),
        (r"Model loading took ", "Measuring memory"),
        (r"Starting torch\.compile|Dynamo bytecode transform time", "Compiling the model"),
        (r"Available KV cache memory: ", "Making the KV cache"),
        (r"KV cache size: ", "Warming up"),
        # While memory is measured a few graphs are captured too, to see how large they are.
        (r"Capturing CUDA graphs", "Capturing CUDA graphs", "Warming up"),
        (r"init engine \(profile|Starting vLLM server on ", "Starting the server"),
        (r"Application startup complete", LAST_PHASE),
    )
)
_PERCENT = re.compile(r"(?:checkpoint shards|CUDA graphs)[^%]*?(\d{1,3})%")


class LogPhases:
    """Tells the phase of a start from the lines of the log, in order; it never goes back.

    Args:
        phases: the plan's, in order.
    """

    def __init__(self, phases: Sequence[str]) -> None:
        self._phases = tuple(phases)
        self.now = StartProgress(self._phases[0] if phases else "", 0, len(self._phases))

    def feed(self, line: str) -> StartProgress | None:
        """The progress after a line; None when the line changes nothing."""
        number = max((self._place(mark.phase) for mark in _MARKS if self._means(mark, line)), default=-1)
        percent = _PERCENT.search(line)
        fraction = min(int(percent[1]), 100) / 100 if percent else None
        if number < self.now.number or (number == self.now.number and fraction == self.now.fraction):
            return None
        self.now = StartProgress(self._phases[number], number, len(self._phases), fraction, _plain(line))
        return self.now

    def _means(self, mark: _Mark, line: str) -> bool:
        return mark.pattern.search(line) is not None and self._place(mark.after) <= self.now.number

    def _place(self, phase: str) -> int:
        return self._phases.index(phase) if phase in self._phases else -1


class StartClock:
    """Puts times to the phases of a start.

    Args:
        phases: the plan's, in order.
        usual: seconds that each phase usually takes; empty where nothing is known.
        clock: seconds, monotonic.
    """

    def __init__(
        self, phases: Sequence[str], usual: Mapping[str, float], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._phases, self._usual, self._clock = tuple(phases), dict(usual), clock
        self._began = self._since = clock()
        self._phase = self._phases[0] if phases else ""
        self.taken: dict[str, float] = {}

    def timed(self, progress: StartProgress) -> StartProgress:
        """The progress with its times; a new phase ends the one before."""
        now = self._clock()
        if progress.phase != self._phase:
            self._close(now)
            self._phase = progress.phase
        return replace(progress, elapsed_s=now - self._began, eta_s=self._eta(progress, now))

    def finish(self) -> dict[str, float]:
        """The start is over: what each phase took, in seconds. A phase that the log passed over is not in it."""
        self._close(self._clock())
        return dict(self.taken)

    def _close(self, now: float) -> None:
        self.taken[self._phase] = self.taken.get(self._phase, 0.0) + now - self._since
        self._since = now

    def _eta(self, progress: StartProgress, now: float) -> float | None:
        if not self._usual:
            return None
        whole, spent = self._usual.get(progress.phase, 0.0), now - self._since
        # Loading tells how far it is, and a disk that is slow today is seen at once.
        rest = spent / progress.fraction - spent if progress.fraction else max(whole - spent, 0.0)
        return rest + sum(self._usual.get(phase, 0.0) for phase in self._phases[progress.number + 1 :])


class LogFollower:
    """Gives the complete lines that a log has grown by; a carriage return ends a line too (progress bars).

    It survives that the log is cut (by the guardian, when it is too long) or begun anew: where the bytes before its
    place are no longer those that it has read, it goes on behind their last occurrence, or from the beginning.
    """

    _ANCHOR = 256  # bytes

    def __init__(self, path: Path) -> None:
        self._path, self._at, self._rest, self._read = path, 0, b"", b""

    def lines(self) -> Iterator[str]:
        """What is new since the last call."""
        try:
            grown = self._grown()
        except OSError:
            return
        self._read = (self._read + grown)[-self._ANCHOR :]
        *whole, self._rest = re.split(rb"[\r\n]+", self._rest + grown)
        yield from (line.decode("utf-8", "replace") for line in whole if line)

    def _grown(self) -> bytes:
        with self._path.open("rb") as file:
            if os.fstat(file.fileno()).st_size >= self._at:
                file.seek(self._at - len(self._read))
                if file.read(len(self._read)) == self._read:
                    grown = file.read()
                    self._at += len(grown)
                    return grown
            file.seek(0)
            whole = file.read()
            self._at = len(whole)
            found = whole.rfind(self._read)
            if found < 0:
                self._rest = b""
                return whole
            return whole[found + len(self._read) :]


def _plain(line: str) -> str:
    """The line without vLLM's prefixes: process, level, time, place."""
    text = re.sub(r"^(?:\([^)]*\)\s*)*(?:\w+ \d\d-\d\d [\d:.]+ )?(?:\[[^\]]*\]\s*)?", "", line).strip()
    return text if len(text) <= DETAIL else text[: DETAIL - 1] + "…"  # vLLM's whole configuration is one line of 4 KB
