"""A bulk run over a table: what it is, how far it is, what came out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from engine.domain.reading import Method

RunState = Literal["running", "paused", "unfinished", "finished"]
RoundKind = Literal["run", "retry", "reread", "questions"]


@dataclass(frozen=True, slots=True)
class Totals:
    """Answers by status. ``ok + unreadable + error + skipped`` is always the number of answers counted."""

    ok: int = 0
    unreadable: int = 0
    error: int = 0
    skipped: int = 0

    @property
    def answers(self) -> int:
        return self.ok + self.unreadable + self.error + self.skipped


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is.

    Attributes:
        done, total: answers (rows times questions).
        rate: answers a second, over the last half minute.
        eta_s: seconds to the end at that rate; None while unknown.
    """

    done: int
    total: int
    rate: float
    eta_s: float | None
    totals: Totals


@dataclass(frozen=True, slots=True)
class RunInfo:
    """One stored run.

    Attributes:
        id: short, sortable by time of creation; also the name of its file.
        rows: rows of the table.
        question_ids: in the form's order.
        done: answers stored so far.
        form_sha256, table_sha256: of the files' bytes; together they find the run to resume.
        created: ISO 8601, UTC.
        round, round_kind: the round that it is in, or that ended last.
        worker: id of the living process that has it open for writing; None when nobody works on it.
    """

    id: str
    name: str
    state: RunState
    created: str
    rows: int
    question_ids: tuple[str, ...]
    done: int
    table_path: str
    form_sha256: str
    table_sha256: str
    engine: str
    method: str
    totals: Mapping[str, Totals] = field(default_factory=dict)
    round: int = 1
    round_kind: RoundKind = "run"
    worker: int | None = None


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A row of the table that a run does not read (a filter, a sample); it is answered as *skipped* at once.

    Attributes:
        why: the ``error`` text of its answers.
    """

    cells: tuple[str, ...]
    why: str


@dataclass(frozen=True, slots=True)
class Round:
    """One pass over a run.

    Attributes:
        number: 1 is the run itself.
        kind: ``run`` (all rows), ``retry`` (what failed), ``reread`` (what was unreadable), ``questions`` (new ones).
        method: how this round reads.
        engine: in words.
        questions: places in the form that it reads.
        answers: how many answers it set out to make.
        started, ended: ISO 8601, UTC; ``ended`` is empty while it is not finished.
    """

    number: int
    kind: RoundKind
    method: Method
    engine: str
    questions: tuple[int, ...]
    answers: int
    started: str
    ended: str = ""


@dataclass(frozen=True, slots=True)
class Label:
    """What a reviewer says about one answer, kept beside the model's.

    Attributes:
        question: place in the form.
        value: ``yes`` or ``no``, the name of an option, the number of a level; None: it cannot be told.
        at: ISO 8601, UTC.
    """

    row: int
    question: int
    value: str | None
    author: str
    at: str
