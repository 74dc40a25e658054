"""Some rows of a table, drawn at random in one pass, with their rendered states: for checks and comparisons."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
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
    form: Form,
    table: Table,
    count: int,
    *,
    seed: int = 0,
    selection: Selection | None = None,
    note: Callable[[str], None] = lambda text: None,
) -> tuple[SampledRow, ...]:
    """Rows at random, in the table's order. Reads the whole table: call it off the event loop.

    Rows whose template fails or that have nothing to ask about are left out, since a run asks nothing about them.

    Args:
        selection: only rows that a run with it reads.
        note: told about rows that were left out because they would fail.

    Raises:
        InputError: a column is missing, a row is faulty, or no row has a state.
    """
    check_columns(form, table.columns, form.name)
    rendering = _Rendering(form, table)
    found = tuple(rendering.of(_reservoir(_read(table, selection), count, Random(seed))))
    rendering.tell(note)
    if not found:
        raise rendering.nothing()
    return found


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
    form: Form,
    question: Question,
    table: Table,
    count: int,
    *,
    seed: int = 0,
    selection: Selection | None = None,
    note: Callable[[str], None] = lambda text: None,
) -> LabelledSample:
    """Rows with gold for a question, the same number of each class as far as there are so many.

    A rare class would hardly be in a plain sample, and a figure over two positives says nothing.

    Args:
        selection, note: as ``sample_rows``.

    Raises:
        InputError: as ``sample_rows``; the question has no gold column, or no row has gold.
    """
    check_columns(form, table.columns, form.name)
    if question.gold is None:
        raise InputError("sample.no_gold", 'question "{question}" has no gold column', question=question.id)
    rendering = _Rendering(form, table)
    place, random = table.columns.index(question.gold), Random(seed)
    pools = [_Reservoir(count, random) for _ in question.answers]
    for number, cells in _read(table, selection):
        gold = parse_gold(cells[place], question)
        if gold is not None:
            pools[gold].add((number, cells))
    taken = _shares([len(pool.kept) for pool in pools], count)
    drawn = [(gold, random.sample(pool.kept, taken[gold])) for gold, pool in enumerate(pools)]
    found = {row.row: (row, gold, pools[gold].seen / taken[gold]) for gold, rows in drawn for row in rendering.of(rows)}
    rendering.tell(note)
    if not found:
        if rendering.drawn:
            raise rendering.nothing()
        message = "column {column}: no row has gold for {question}"
        remedy = "gold is yes or no, the name of an option, or a level; see docs/form-file.md"
        raise InputError("sample.no_gold_rows", message, remedy=remedy, column=question.gold, question=question.id)
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


class _Rendering:
    """Makes the states of drawn rows, and remembers what became of those that have none.

    Attributes:
        drawn: how many rows it was given.
    """

    def __init__(self, form: Form, table: Table) -> None:
        self.drawn = 0
        self._states, self._table = RowStates.of_table(form, table), table
        self._failed: list[str] = []
        self._blank: list[str] = []

    def of(self, rows: Iterable[tuple[int, Cells]]) -> Iterator[SampledRow]:
        """The rows that there is something to ask about."""
        for number, cells in rows:
            self.drawn += 1
            try:
                state = self._states.render(dict(zip(self._table.columns, cells, strict=True)))
            except UserError as error:
                self._failed.append(f"row {number}: {error}")
                continue
            if why := self._states.nothing(state):
                self._blank.append(f"row {number}: {why}")
            else:
                yield SampledRow(number, cells, state)

    def tell(self, note: Callable[[str], None]) -> None:
        """Say how many rows would fail in a run before an engine is asked, and why the first would."""
        if self._failed:
            note(f"{len(self._failed)} of {self.drawn} rows are left out, first {self._failed[0]}")

    def nothing(self) -> InputError:
        """The refusal when there is something to ask about in none of them."""
        if not self.drawn:
            return InputError("table.empty", "{path} has no rows below its header", path=str(self._table.path))
        return InputError(
            "sample.no_rows",
            "{path}: there is nothing to ask about in any of the {count} rows that were drawn, first {first}",
            remedy="look at the form's state and at its column of pictures, or leave such rows out with a filter",
            path=str(self._table.path),
            count=self.drawn,
            first=(self._failed or self._blank)[0],
        )
