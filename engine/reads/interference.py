"""The price of reading jointly, measured on the user's own rows.

Questions that share a canvas influence each other: ranking survives, absolute numbers do not, and choices copy each
other's letter. So before a joint run a sample of rows is read both ways and the difference is said in one sentence.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import chain, combinations
from random import Random
from typing import Any

from engine.client.http import EngineClient
from engine.domain.picture import State, paths_of
from engine.domain.question import Choice, Question, Score
from engine.domain.reading import Method, Reading
from engine.errors import InputError
from engine.reads.failures import Failures, failures
from engine.reads.reader import Reader
from engine.reads.together import together

SAMPLE_ROWS = 24
ROWS_AT_ONCE = 4
LIMIT_SHIFT, LIMIT_FLIPS, GOOD_RANKING = 0.05, 0.05, 0.9  # from which the advice changes; ours, not measured
Pair = tuple[Reading, Reading]  # the same question about the same row: alone, joint


@dataclass(frozen=True, slots=True)
class QuestionShift:
    """What joint reading does to one question, over the rows where both readings are ok.

    Attributes:
        rows: how many those are.
        shift: mean absolute difference, 0 to 1: noul and choice: half the summed difference of the shares (for a noul
            that is the difference of p(yes)); score: difference of the expected level over the highest level. None
            without rows.
        rank_correlation: Spearman's, alone against joint: noul: p(yes); score: expected level; choice: the mean over
            the options of their shares. None for fewer than two rows or constant values.
        flips: rows whose likeliest answer differs.
        unreadable_alone, unreadable_joint: rows of the sample whose answer was unreadable that way.
    """

    question_id: str
    rows: int
    shift: float | None
    rank_correlation: float | None
    flips: int
    unreadable_alone: int
    unreadable_joint: int


@dataclass(frozen=True, slots=True)
class Interference:
    """The comparison of one sample read both ways.

    Attributes:
        rows: of the sample.
        questions: per question, in their order.
        shift: mean of the questions' shifts, weighted by their rows; None when nothing was readable both ways.
        rank_correlation: mean of the questions' correlations; None when none has one.
        flips, compared: how many answers changed, of how many that were ok both ways.
        letter_copying: over pairs of choice questions and rows: share of equal letters when read jointly minus the
            same when read alone (-1 to 1; above 0 the questions copy each other). None for fewer than two choices.
        failed, first_failure: rows of which a read failed, and why the first did; as ``Failures``.
    """

    rows: int
    questions: tuple[QuestionShift, ...]
    shift: float | None
    rank_correlation: float | None
    flips: int
    compared: int
    letter_copying: float | None
    failed: int = 0
    first_failure: str = ""

    @property
    def sentence(self) -> str:
        """The finding for the user, in plain words."""
        failed = Failures(self.failed, self.first_failure).sentence(self.rows)
        return f"{self._compared} {failed}".rstrip()

    @property
    def _compared(self) -> str:
        if self.shift is None:
            return f"On {self.rows} rows no answer was readable both ways: joint reading cannot be judged here."
        parts = [f"On {self.rows} rows joint reading moved the answers by {self.shift:.2f} on average (0 to 1)"]
        if self.rank_correlation is not None:
            parts.append(f"the ranking agrees at {self.rank_correlation:.2f} (1 is the same order)")
        parts.append(f"{self.flips} of {self.compared} answers changed")
        lost = sum(question.unreadable_joint - question.unreadable_alone for question in self.questions)
        if lost:
            parts.append(f"{abs(lost)} {'more' if lost > 0 else 'fewer'} were unreadable")
        if self.letter_copying is not None:
            more = "more" if self.letter_copying >= 0 else "less"
            parts.append(f"two choices gave the same letter {abs(self.letter_copying):.0%} {more} of the time")
        return "; ".join(parts) + "."

    @property
    def advice(self) -> str:
        """What follows from the finding, in one sentence."""
        if self.shift is None and self.failed:
            return "Mend what failed and check again; until then read the questions alone."
        if self.shift is None:
            return "Read the questions alone."
        bad = self.shift > LIMIT_SHIFT or self.flips > LIMIT_FLIPS * self.compared
        if not bad and self.rank_correlation is not None and self.rank_correlation < GOOD_RANKING:
            return "The numbers hardly move, but the order of the rows does: read alone what you want to rank."
        if not bad:
            return "Joint reading changes little on these rows."
        if self.rank_correlation is not None and self.rank_correlation >= GOOD_RANKING:
            return "The order of the rows survives, the numbers do not: rank by joint answers, set no threshold."
        return "Joint answers are others than single ones: read the questions alone."

    def to_json(self) -> dict[str, Any]:
        """JSON values, kept with a run; ``from_json`` gives the same back."""
        return {"version": 1, **asdict(self), "sentence": self.sentence, "advice": self.advice}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Interference:
        """The inverse of ``to_json``.

        Raises:
            ValueError: of another version, or incomplete.
        """
        if values.get("version") != 1:
            raise ValueError(f"an interference report of version {values.get('version')!r}")
        fields = {name: values[name] for name in cls.__dataclass_fields__ if name in values}
        try:
            return cls(**{**fields, "questions": tuple(QuestionShift(**each) for each in values["questions"])})
        except (KeyError, TypeError) as error:
            raise ValueError(f"an incomplete interference report: {error}") from error


async def measure_interference(
    client: EngineClient,
    questions: Sequence[Question],
    method: Method,
    rows: Sequence[tuple[str, State]],
    *,
    sample: int = SAMPLE_ROWS,
    progress: Callable[[int, int], None] | None = None,
) -> Interference:
    """Reads a sample of rows alone and jointly.

    Args:
        method: its wire, draws and limits are used both ways.
        rows: (row key, state) pairs to sample from; the sample is a function of the method's seed.
        progress: told how many of the sample's rows are read, of how many.

    Raises:
        InputError: fewer than two questions or no rows.
        EngineRefused, EngineUnreachable: as ``Reader.open`` and ``Reader.read``.
    """
    check_interference(questions)
    if not rows:
        raise InputError("reads.no_rows", "there is no row to compare joint and single reads on")
    places = sorted(Random(method.seed).sample(range(len(rows)), min(sample, len(rows))))
    chosen = [rows[place] for place in places]
    pictured = any(paths_of(state) for _, state in chosen)
    alone = await Reader.open(client, questions, replace(method, joint=False), pictures=pictured)
    joint = await Reader.open(client, questions, replace(method, joint=True), pictures=pictured)
    pairs: list[list[Pair]] = []
    for start in range(0, len(chosen), ROWS_AT_ONCE):
        batch = chosen[start : start + ROWS_AT_ONCE]
        pairs += await together([_both_ways(alone, joint, key, state) for key, state in batch])
        if progress is not None:
            progress(len(pairs), len(chosen))
    return compare(questions, pairs, [key for key, _ in chosen])


def check_interference(questions: Sequence[Question]) -> None:
    """Raises InputError for fewer than two questions."""
    if len(questions) < 2:
        raise InputError(
            "reads.joint_needs_two", "joint reading needs two questions or more, not {count}", count=len(questions)
        )


async def _both_ways(alone: Reader, joint: Reader, row_key: str, state: State) -> list[Pair]:
    one, other = await together([alone.read(state, row_key=row_key), joint.read(state, row_key=row_key)])
    return list(zip(one, other, strict=True))


def compare(
    questions: Sequence[Question], rows: Sequence[Sequence[Pair]], keys: Sequence[str] | None = None
) -> Interference:
    """The comparison of readings that are there already.

    Args:
        rows: per row, one (alone, joint) pair per question.
        keys: what the rows are called, for those that failed; else they are numbered from 1.
    """
    names = keys or [str(number) for number in range(1, len(rows) + 1)]
    failed = failures((name, chain.from_iterable(row)) for name, row in zip(names, rows, strict=True))
    shifts = [_question_shift(question, [row[place] for row in rows]) for place, question in enumerate(questions)]
    compared = sum(shift.rows for shift in shifts)
    moved = math.fsum(shift.shift * shift.rows for shift in shifts if shift.shift is not None)
    correlations = [shift.rank_correlation for shift in shifts if shift.rank_correlation is not None]
    return Interference(
        rows=len(rows),
        questions=tuple(shifts),
        shift=moved / compared if compared else None,
        rank_correlation=statistics.fmean(correlations) if correlations else None,
        flips=sum(shift.flips for shift in shifts),
        compared=compared,
        letter_copying=_letter_copying(questions, rows),
        failed=failed.rows,
        first_failure=failed.first,
    )


def _question_shift(question: Question, pairs: Sequence[Pair]) -> QuestionShift:
    ok = [pair for pair in pairs if _ok(pair)]
    return QuestionShift(
        question_id=question.id,
        rows=len(ok),
        shift=statistics.fmean(_distance(question, *pair) for pair in ok) if ok else None,
        rank_correlation=_rank_correlation(question, ok),
        flips=sum(_top(alone) != _top(joint) for alone, joint in ok),
        unreadable_alone=sum(alone.status == "unreadable" for alone, _ in pairs),
        unreadable_joint=sum(joint.status == "unreadable" for _, joint in pairs),
    )


def _ok(pair: Pair) -> bool:
    return pair[0].status == "ok" and pair[1].status == "ok"


def _distance(question: Question, alone: Reading, joint: Reading) -> float:
    if isinstance(question, Score):
        return abs(_level(alone) - _level(joint)) / (len(question.levels) - 1)
    return math.fsum(abs(a - b) for a, b in zip(alone.shares, joint.shares, strict=True)) / 2


def _rank_correlation(question: Question, pairs: Sequence[Pair]) -> float | None:
    match question:
        case Choice():
            columns = [[(a.shares[k], j.shares[k]) for a, j in pairs] for k in range(len(question.options))]
        case Score():
            columns = [[(_level(a), _level(j)) for a, j in pairs]]
        case _:
            columns = [[(a.shares[0], j.shares[0]) for a, j in pairs]]
    found = [value for column in columns if (value := _spearman(column)) is not None]
    return statistics.fmean(found) if found else None


def _spearman(pairs: Sequence[tuple[float, float]]) -> float | None:
    if len(pairs) < 2:
        return None
    try:
        return statistics.correlation([a for a, _ in pairs], [b for _, b in pairs], method="ranked")
    except statistics.StatisticsError:
        return None  # one side is constant: there is no order to agree on


def _letter_copying(questions: Sequence[Question], rows: Sequence[Sequence[Pair]]) -> float | None:
    choices = [place for place, question in enumerate(questions) if isinstance(question, Choice)]
    alone: list[bool] = []
    joint: list[bool] = []
    for row in rows:
        for one, other in combinations(choices, 2):
            if _ok(row[one]) and _ok(row[other]):
                alone.append(_top(row[one][0]) == _top(row[other][0]))
                joint.append(_top(row[one][1]) == _top(row[other][1]))
    return statistics.fmean(joint) - statistics.fmean(alone) if alone else None


def _top(reading: Reading) -> int:
    return max(range(len(reading.shares)), key=reading.shares.__getitem__)


def _level(reading: Reading) -> float:
    return math.fsum(level * share for level, share in enumerate(reading.shares))
