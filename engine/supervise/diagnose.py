"""Reads an engine's log and finds the first root error in it, not the errors that others made of it.

A worker that fails takes the rest with it: the other workers lose their peer, EngineCore says that a worker died, the
server that its core did. All of that is written at nearly the same time by several processes. So a line is judged by
the kind of its rule, its level and its place: the first fault at an error's level wins; a fault that was only warned
of comes after it, then echoes, wrappers, refused requests and notices. Where an error that no rule knows is written, a
warning explains nothing: what is unknown is said to be so.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from engine.domain.diagnosis import OUT_OF_MEMORY, PARTS_FAILED, PARTS_OFF, Diagnosis, FailureKind, LogLine, Stage
from engine.domain.hardware import Machine
from engine.domain.plan import LaunchPlan
from engine.errors import InputError
from engine.supervise.diagnose_catalogue import Catalogue, Rule, catalogue
from engine.supervise.diagnose_explain import explain
from engine.supervise.diagnose_frames import Blame, FrameWatch
from engine.supervise.diagnose_hang import HangWatch
from engine.supervise.diagnose_lines import LineParser, LineSplitter, body_of

TAIL = 60  # lines
LIKELY = 12  # likely lines that are kept although they stand before the tail
READ_BYTES = 256 * 1024
MATCHED = 4000  # characters of a line that rules look at; an error says what it is at its beginning

_CALM = frozenset({"DEBUG", "INFO"})
_QUIET: frozenset[FailureKind] = frozenset({"notice"})
_LOUD: frozenset[FailureKind] = frozenset({"fault", "echo", "wrapper", "request", "notice"})  # hangs are watched apart
_BAR = re.compile(r"\d+%\|")
_LIKELY = re.compile(
    r"\b\w*(?:Error|Exception|Failure)\b|\b(?:fatal|failed|Killed|core dumped|Segmentation fault|terminate called)\b",
)
_RAISED = re.compile(r"[A-Za-z_][\w.]*(?:Error|Exception)\b")  # the last line of a traceback begins with it
_WHAT = re.compile(r"(?P<what>\S.{0,199})")
_STAGES: tuple[tuple[str, Stage], ...] = (
    ("vLLM is using nccl==", "connect"),
    ("Loading model from scratch", "load"),
    ("Starting to load model", "load"),
    ("checkpoint shards:", "load"),
    ("Model loading took", "memory"),
    ("KV cache size:", "warm-up"),
    ("Capturing CUDA graphs", "warm-up"),
    ("Application startup complete", "serving"),
)
_ORDER: tuple[Stage, ...] = ("start", "connect", "load", "memory", "warm-up", "serving")


@dataclass(frozen=True, slots=True)
class _Hit:
    rule: Rule
    match: re.Match[str]
    line: LogLine
    stage: Stage


class LogReader:
    """Takes a log piece by piece and can be asked at any time. Its memory does not grow with the log.

    Args:
        clock: seconds, for hangs; monotonic.
        known: the failures; those of the program where left out.
    """

    def __init__(self, clock: Callable[[], float] | None = None, known: Catalogue | None = None) -> None:
        self._known = known or catalogue()
        self._splitter, self._parser, self._frames = LineSplitter(), LineParser(), FrameWatch()
        self._hang = HangWatch(self._known, clock) if clock else HangWatch(self._known)
        self._stage: Stage = "start"
        self._first: dict[int, _Hit] = {}  # by rank
        self._also: dict[str, None] = {}
        self._unknown_error = False
        self._tail: deque[LogLine] = deque(maxlen=TAIL)
        self._likely: list[LogLine] = []
        self._at: float | None = None

    def feed(self, data: bytes, at: float | None = None) -> None:
        """The log has grown.

        Args:
            at: when, by the reader's clock; now where it is left out.
        """
        self._at = at
        for raw in self._splitter.feed(data):
            self._take(raw)

    def close(self) -> None:
        """Nothing more will come: the last half line counts too."""
        for raw in self._splitter.close():
            self._take(raw)

    def diagnosis(
        self, *, machine: Machine | None = None, plan: LaunchPlan | None = None, now: float | None = None
    ) -> Diagnosis:
        """What is known now. Without any fault in the log: a hang, if it is silent for long enough.

        Args:
            machine, plan: for causes and remedies that speak of this machine.
            now: by the reader's clock.
        """
        rank = min(self._first, default=None)
        hang = self._hang.check(now)
        if hang is not None and (rank is None or rank > _RANKS["fault", False]):
            hit = _Hit(hang.rule, hang.match, hang.line, self._stage)
            return self._explained(hit, {"seconds": f"{hang.seconds:.0f}"}, machine, plan)
        if rank is None or (rank == _RANKS["fault", True] and self._unknown_error):
            return self._unknown()
        return self._explained(self._first[rank], {}, machine, plan)

    def _take(self, raw: bytes) -> None:
        for line in self._parser.parse(raw):
            self._note_stage(line.text)
            self._hang.feed(line, self._at)
            quoted = self._parser.quoted(line)
            blame = self._frames.feed(line, quoted=quoted)
            hit = None if quoted or _BAR.search(line.text) else self._blamed(self._find(line), line, blame)
            if hit is not None:
                self._first.setdefault(_rank(hit), hit)
                self._also.setdefault(hit.rule.id)
                if hit.rule.id == PARTS_OFF:
                    self._frames.caught(line.process)
            elif not quoted and blame != "handled" and _loud(line) and _RAISED.match(line.text):
                self._unknown_error = True
            self._remember(line, quoted=quoted, known=hit is not None and hit.rule.kind != "notice")

    def _find(self, line: LogLine) -> _Hit | None:
        # Most of a log is calm, and what is said calmly is no fault: this also keeps huge logs quick.
        found = self._known.find(line.text[:MATCHED], _QUIET if line.level in _CALM else _LOUD)
        return _Hit(*found, line, self._stage) if found else None

    def _blamed(self, hit: _Hit | None, line: LogLine, blame: Blame) -> _Hit | None:
        """The error as one of our own parts inside vLLM, where it is; ``diagnose_frames`` says when."""
        if blame == "handled":
            return None
        ours = next((rule for rule in self._known.rules if rule.id == PARTS_FAILED), None)
        said = _WHAT.search(body_of(line.text))
        if not blame or ours is None or said is None or not _loud(line):
            return hit
        known = hit is not None and (hit.rule.kind != "fault" or hit.rule.id in OUT_OF_MEMORY or blame == "passed")
        return hit if known else _Hit(ours, said, line, self._stage)

    def _note_stage(self, text: str) -> None:
        for mark, stage in _STAGES:
            if mark in text and _ORDER.index(stage) > _ORDER.index(self._stage):
                self._stage = stage

    def _remember(self, line: LogLine, *, quoted: bool, known: bool) -> None:
        loud = line.level in ("ERROR", "CRITICAL") or (line.level not in _CALM and bool(_LIKELY.search(line.text)))
        line = replace(line, likely=known or (loud and not quoted), text=line.text[:2000])
        if len(self._tail) == TAIL and self._tail[0].likely and len(self._likely) < LIKELY:
            self._likely.append(self._tail[0])
        self._tail.append(line)

    def _explained(
        self, hit: _Hit, more: dict[str, str], machine: Machine | None, plan: LaunchPlan | None
    ) -> Diagnosis:
        params = {name: value or "?" for name, value in hit.match.groupdict().items()} | more
        said = explain(hit.rule, params, machine, plan)
        return Diagnosis(
            rule=hit.rule.id,
            kind=hit.rule.kind,
            phase=hit.rule.phase,
            stage=hit.stage,
            cause=said.cause,
            remedies=said.remedies,
            line=replace(hit.line, likely=True),
            params=params,
            sources=hit.rule.sources,
            also=tuple(name for name in self._also if name != hit.rule.id),
            tail=self._end() if hit.rule.kind == "wrapper" else (),
        )

    def _unknown(self) -> Diagnosis:
        return Diagnosis(
            rule="unknown",
            kind="fault",
            phase="any",
            stage=self._stage,
            cause="the log names no failure that this program knows; the likely lines of its end are marked",
            remedies=(),
            also=tuple(self._also),
            tail=self._end(),
        )

    def _end(self) -> tuple[LogLine, ...]:
        return (*self._likely, *self._tail)


def diagnose(
    pieces: Iterable[bytes],
    *,
    machine: Machine | None = None,
    plan: LaunchPlan | None = None,
    silent_s: float = 0.0,
    known: Catalogue | None = None,
) -> Diagnosis:
    """The diagnosis of a whole log.

    Args:
        pieces: of the log, cut anywhere.
        silent_s: seconds since its last line, for hangs.
    """
    reader = LogReader(clock=lambda: 0.0, known=known)
    for piece in pieces:
        reader.feed(piece)
    reader.close()
    return reader.diagnosis(machine=machine, plan=plan, now=silent_s)


def diagnose_file(
    path: Path, *, machine: Machine | None = None, plan: LaunchPlan | None = None, silent_s: float = 0.0
) -> Diagnosis:
    """The diagnosis of a log file, of any size. Raises InputError when it cannot be read."""
    try:
        with path.open("rb") as file:
            pieces = iter(lambda: file.read(READ_BYTES), b"")
            return diagnose(pieces, machine=machine, plan=plan, silent_s=silent_s)
    except OSError as error:
        raise InputError(
            "diagnose.unreadable", "cannot read {path}: {why}", path=path, why=error.strerror or error
        ) from error


# (kind, whether it was only warned of): the lower, the nearer to the root.
_RANKS: dict[tuple[FailureKind, bool], int] = {
    ("fault", False): 0,
    ("fault", True): 1,
    ("echo", False): 2,
    ("echo", True): 3,
    ("wrapper", False): 4,
    ("wrapper", True): 5,
    ("request", False): 6,
    ("request", True): 6,
    ("notice", False): 7,
    ("notice", True): 7,
}


def _loud(line: LogLine) -> bool:
    """Whether a line may be an error; most of what C++ and dying processes write has no level."""
    return line.level not in _CALM and line.level != "WARNING"


def _rank(hit: _Hit) -> int:
    return _RANKS[hit.rule.kind, hit.line.level == "WARNING"]
