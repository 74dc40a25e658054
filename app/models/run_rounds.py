"""Another round of a finished run: what it could read, what was chosen, and how many reads that takes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from app.models.decisions_preview import reads_per_row
from engine.domain.question import Question
from engine.domain.reading import Method
from engine.domain.run import RoundKind

RoundWhat = Literal["failed", "unreadable", "questions"]  # as the command line has it
ROUNDS: Mapping[RoundKind, RoundWhat] = {"retry": "failed", "reread": "unreadable", "questions": "questions"}


@dataclass(frozen=True, slots=True)
class RoundChoice:
    """What a round shall read.

    Attributes:
        draws: looks per question; None: as the run's (or the new questions') form says.
    """

    what: RoundWhat
    draws: Literal["auto"] | int | None


@dataclass(frozen=True, slots=True)
class RoundOffer:
    """What rounds of a finished run could read.

    Attributes:
        name: of the run.
        method: how the run was read.
        questions: that the run has.
        failed, unreadable: answers of each question, in the order of ``questions``.
        added: questions that the run has not got yet.
        added_method: how they are read.
        refusal: why the open form's questions cannot be added to this run; empty when they can.
        rows: that a new question is asked about.
        more_draws: of unreadable answers, unless others are chosen.
    """

    name: str
    method: Method
    questions: tuple[Question, ...]
    failed: tuple[int, ...]
    unreadable: tuple[int, ...]
    added: tuple[Question, ...]
    added_method: Method
    refusal: str
    rows: int
    more_draws: int

    def answers(self, what: RoundWhat) -> int:
        """How many answers the round would make."""
        if what == "questions":
            return len(self.added) * self.rows
        return sum(self._counts(what))

    def method_of(self, what: RoundWhat) -> Method:
        """How the round reads unless its draws are chosen."""
        if what == "unreadable" and self.method.wire == "canvas":
            return replace(self.method, draws=self.more_draws)
        return self.added_method if what == "questions" else self.method

    def reads(self, what: RoundWhat, method: Method) -> tuple[int, int]:
        """The fewest and the most requests of the round, on the canvas wire.

        Rows whose answers share a canvas need one read for all of them, so jointly the question with the most answers
        tells the fewest.
        """
        if what == "questions":
            least, most = reads_per_row(self.added, method)
            return least * self.rows, most * self.rows
        pairs = [
            tuple(count * reads for reads in reads_per_row([question], method))
            for question, count in zip(self.questions, self._counts(what), strict=True)
        ]
        fewest = [pair[0] for pair in pairs]
        return max(fewest, default=0) if method.joint else sum(fewest), sum(pair[1] for pair in pairs)

    def _counts(self, what: RoundWhat) -> tuple[int, ...]:
        return self.failed if what == "failed" else self.unreadable
