"""One pass over a run: the numbers of every question in arrays, so that a million rows take a few dozen bytes each.

A question that was added to a finished run is not answered in every row yet, so each question has rows of its own.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from engine.batch.analysis.gold import parse_gold
from engine.batch.prepare import form_of
from engine.domain.question import Question
from engine.domain.reading import STATUSES
from engine.domain.run import Totals
from engine.store.run_export import RawAnswer, raw_pages
from engine.store.runs import RunView

MAX_GROUPS = 1000
OTHER_GROUPS = "(other groups)"
NO_GOLD, BAD_GOLD = -1, -2
PAGE = 5000  # rows at a time
_PLACES = {status: place for place, status in enumerate(STATUSES)}

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Answers:
    """The answers of one question, one entry per answered row in the table's order.

    Attributes:
        row: row numbers.
        status: place in ``engine.domain.reading.STATUSES``.
        value: noul: p(yes); choice: place of the option; score: expected level. NaN unless ok.
        top: largest share of an ok answer, else NaN.
        best: place of the largest share of an ok answer, else -1.
        mass: label mass of draw 0; NaN where nothing was read.
        gold: place of the gold answer; NO_GOLD for an empty cell or no gold column, BAD_GOLD for a cell that names no
            answer.
        group: place in ``groups``; all 0 without a group column.
        groups: the cells of the group column, in order of appearance.
        first_bad: where the first bad gold cell stands, in words.
    """

    question: Question
    row: Ints
    status: Ints
    value: Floats
    top: Floats
    best: Ints
    mass: Floats
    gold: Ints
    group: Ints
    groups: tuple[str, ...]
    first_bad: str = ""

    @property
    def ok(self) -> NDArray[np.bool_]:
        found: NDArray[np.bool_] = self.status == STATUSES.index("ok")
        return found

    @property
    def measured(self) -> NDArray[np.bool_]:
        """Rows with an ok answer and a gold class: the only ones that figures are made of."""
        return self.ok & (self.gold >= 0)

    def totals(self, within: NDArray[np.bool_] | None = None) -> Totals:
        """Answers by status, of some rows or all."""
        status = self.status if within is None else self.status[within]
        counts = np.bincount(status, minlength=len(STATUSES)).tolist()
        return Totals(**dict(zip(STATUSES, counts, strict=True)))


def gather(view: RunView) -> tuple[Answers, ...]:
    """The answers of every question of a run."""
    form = form_of(view)
    columns = {column: at for at, column in enumerate(view.spec.columns)}
    groups = _Groups(columns.get(form.group) if form.group is not None else None)
    gatherers = [_Gatherer(question, columns) for question in form.questions]
    for page in raw_pages(view, PAGE):
        cells = dict(page.rows)
        row, read, group = 0, (), 0
        for answer in page.answers:
            if answer[0] != row:
                row = answer[0]
                read = json.loads(cells[row])
                group = groups.place(read)
            gatherers[answer[1]].add(read, answer, group)
    names = tuple(groups.names)
    return tuple(gatherer.answers(names) for gatherer in gatherers)


@dataclass(slots=True)
class _Groups:
    column: int | None
    names: dict[str, int] = field(default_factory=dict)

    def place(self, cells: Sequence[str]) -> int:
        if self.column is None:
            return 0
        name = cells[self.column]
        if name not in self.names and len(self.names) >= MAX_GROUPS:
            name = OTHER_GROUPS
        return self.names.setdefault(name, len(self.names))


class _Gatherer:
    def __init__(self, question: Question, columns: Mapping[str, int]) -> None:
        self.question = question
        self._gold_at = columns[question.gold] if question.gold is not None else None
        self._options = {name: place for place, name in enumerate(question.answers)}
        self._row, self._status, self._best = array("q"), array("b"), array("b")
        self._gold, self._group = array("b"), array("i")
        self._value, self._top, self._mass = array("d"), array("d"), array("d")
        self._first_bad = ""

    def add(self, cells: Sequence[str], answer: RawAnswer, group: int) -> None:
        row, _, status, value, shares, mass, *_ = answer
        self._row.append(row)
        self._status.append(_PLACES[status])
        self._gold.append(self._read_gold(row, cells))
        self._group.append(group)
        self._mass.append(np.nan if mass is None else mass)
        if status != "ok" or value is None:
            self._value.append(np.nan)
            self._top.append(np.nan)
            self._best.append(-1)
            return
        self._value.append(float(self._options[value]) if isinstance(value, str) else float(value))
        split = json.loads(shares)
        top = max(split)
        self._top.append(top)
        self._best.append(split.index(top))

    def answers(self, groups: tuple[str, ...]) -> Answers:
        def ints(values: array[int]) -> Ints:
            return np.array(values, dtype=np.int64)

        return Answers(
            question=self.question,
            row=ints(self._row),
            status=ints(self._status),
            value=np.array(self._value, dtype=np.float64),
            top=np.array(self._top, dtype=np.float64),
            best=ints(self._best),
            mass=np.array(self._mass, dtype=np.float64),
            gold=ints(self._gold),
            group=ints(self._group),
            groups=groups,
            first_bad=self._first_bad,
        )

    def _read_gold(self, row: int, cells: Sequence[str]) -> int:
        if self._gold_at is None or not cells[self._gold_at].strip():
            return NO_GOLD
        gold = parse_gold(cells[self._gold_at], self.question)
        if gold is not None:
            return gold
        self._first_bad = self._first_bad or f"row {row}, column {self.question.gold}: {cells[self._gold_at][:60]!r}"
        return BAD_GOLD
