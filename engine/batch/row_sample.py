"""Some rows of a table, drawn at random in one pass, with their rendered states: for checks and comparisons."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from random import Random

from engine.batch.analysis.gold import parse_gold
from engine.batch.form import check_columns
from engine.batch.row_state import RowStates
from engine.batch.selection import Selection, select
from engine.batch.tables import Table
from engine.domain.form import Form
from engine.domain.picture import State
from engine.domain.question import Question
from engine.domain.run import LeftOut
from engine.errors import InputError, UserError

Cells = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SampledRow:
    """A row of the sample.

    Attributes:
        row: its number in the table, from 1.
        state: there is something to ask about.
    """

    row: int
    cells: Cells
    state: State

    @property
    def key(self) -> str:
        """As a run names the row, so that the same noise is drawn."""
        return str(self.row)


def sample_rows(
    form: Form, table: Table, count: int, *, seed: int = 0, selection: Selection | None = None
) -> tuple[SampledRow, ...]:
    """Rows at random, in the table's order. Reads the whole table: call it off the event loop.

    Rows whose template fails or that have nothing to ask about are left out, since a run asks nothing about them.

    Args:
        selection: only rows that a run with it reads.

    Raises:
        InputError: a column is missing, a row is faulty, or no row has a state.
    """
    check_columns(form, table.columns, form.name)
    states = RowStates.of_table(form, table)
    drawn = _reservoir(_read(table, selection), count, Random(seed))
    return _rendered(states, table, drawn)


@dataclass(frozen=True, slots=True)
class LabelledSample:
    """Rows with gold for one question, the gold classes as even as the table allows.

    Attributes:
        gold: place of the gold answer of each row.
        weights: how many rows of the table each stands for; a mean weighted by them is that of the table.
    """

    question: Question
    rows: tuple[SampledRow, ...]
    gold: tuple[int, ...]
    weights: tuple[float, ...]


def sample_labelled(
    form: Form, question: Question, table: Table, count: int, *, seed: int = 0, selection: Selection | None = None
) -> LabelledSample:
    """Rows with gold for a question, the same number of each class as far as there are so many.

    A rare class would hardly be in a plain sample, and a figure over two positives says nothing.

    Args:
        selection: only rows that a run with it reads.

    Raises:
        InputError: as ``sample_rows``; the question has no gold column, or no row has gold.
    """
    check_columns(form, table.columns, form.name)
    if question.gold is None:
        raise InputError("sample.no_gold", 'question "{question}" has no gold column', question=question.id)
    states = RowStates.of_table(form, table)
    place, random = table.columns.index(question.gold), Random(seed)
    pools = [_Reservoir(count, random) for _ in question.answers]
    for number, cells in _read(table, selection):
        gold = parse_gold(cells[place], question)
        if gold is not None:
            pools[gold].add((number, cells))
    taken = _shares([len(pool.kept) for pool in pools], count)
    drawn = [(gold, random.sample(pool.kept, taken[gold])) for gold, pool in enumerate(pools)]
    found = {
        row.row: (row, gold, pools[gold].seen / taken[gold])
        for gold, rows in drawn
        for row in _render(states, table, rows)
    }
    if not found:
        message = "column {column}: no row has gold for {question} and a text"
        raise InputError("sample.no_gold_rows", message, column=question.gold, question=question.id)
    ordered = [found[number] for number in sorted(found)]
    rows, golds, weights = zip(*ordered, strict=True)
    return LabelledSample(question, tuple(rows), tuple(golds), tuple(weights))


def _read(table: Table, selection: Selection | None) -> Iterator[tuple[int, Cells]]:
    """(number, cells) of the rows that a run reads."""
    rows = select(table, selection) if selection else table.rows()
    return ((number, row) for number, row in enumerate(rows, start=1) if not isinstance(row, LeftOut))


class _Reservoir:
    """A uniform sample of a stream of unknown length (algorithm R, Vitter 1985)."""

    def __init__(self, size: int, random: Random) -> None:
        self.kept: list[tuple[int, Cells]] = []
        self.seen = 0
        self._size, self._random = size, random

    def add(self, row: tuple[int, Cells]) -> None:
        self.seen += 1
        if len(self.kept) < self._size:
            self.kept.append(row)
        elif (place := self._random.randrange(self.seen)) < self._size:
            self.kept[place] = row


def _reservoir(rows: Iterable[tuple[int, Cells]], size: int, random: Random) -> list[tuple[int, Cells]]:
    pool = _Reservoir(size, random)
    for row in rows:
        pool.add(row)
    return sorted(pool.kept)


def _shares(available: Sequence[int], count: int) -> list[int]:
    """How many to take of each class: evenly, and what a small class lacks from the others."""
    taken = [0] * len(available)
    left = min(count, sum(available))
    while left:
        open_classes = [place for place, most in enumerate(available) if taken[place] < most]
        each = max(left // len(open_classes), 1)
        for place in open_classes:
            more = min(each, available[place] - taken[place], left)
            taken[place] += more
            left -= more
    return taken


def _rendered(states: RowStates, table: Table, rows: Sequence[tuple[int, Cells]]) -> tuple[SampledRow, ...]:
    found = tuple(_render(states, table, rows))
    if not found:
        raise InputError("sample.no_rows", "{path}: no row has a text to ask about", path=str(table.path))
    return found


def _render(states: RowStates, table: Table, rows: Iterable[tuple[int, Cells]]) -> Iterator[SampledRow]:
    for number, cells in rows:
        try:
            state = states.render(dict(zip(table.columns, cells, strict=True)))
        except UserError:
            continue
        if not states.nothing(state):
            yield SampledRow(number, cells, state)
