"""The rows of a run as they lie in its file, for exports: a million rows shall not become a million objects first."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from typing import NamedTuple

from engine.domain.reading import ReadStatus
from engine.store.run_view import RunView

_FIELDS = (
    "row, question, status, value, shares, label_mass, argmax_is_label, entropy, draws, stderr, agreement, method, "
    "error, round"
)


class RawAnswer(NamedTuple):
    """One answer; ``shares`` is a JSON array of numbers, ``argmax_is_label`` 0, 1 or None."""

    row: int
    question: int
    status: ReadStatus
    value: float | str | None
    shares: str
    label_mass: float | None
    argmax_is_label: int | None
    entropy: float | None
    draws: int
    stderr: float | None
    agreement: float | None
    method: str
    error: str
    round: int


class RawRow(NamedTuple):
    """A row with ``cells`` as a JSON array of texts and its answers in the form's order."""

    row: int
    cells: str
    answers: list[RawAnswer]


def raw_pages(view: RunView, rows: int) -> Iterator[list[RawRow]]:
    """All rows in the table's order, so many in memory at a time."""
    after = 0
    while page := _page(view, after, rows):
        yield page
        after = page[-1].row


def _page(view: RunView, after: int, limit: int) -> list[RawRow]:
    def read(connection: sqlite3.Connection) -> list[RawRow]:
        cursor = connection.cursor()
        cursor.row_factory = None
        inputs = cursor.execute("SELECT row, cells FROM input WHERE row > ? ORDER BY row LIMIT ?", (after, limit))
        found = [RawRow(row, cells, []) for row, cells in inputs]
        if not found:
            return found
        first = found[0].row  # rows are numbered without gaps
        query = f"SELECT {_FIELDS} FROM answer WHERE row BETWEEN ? AND ? ORDER BY row, question"
        for answer in map(RawAnswer._make, cursor.execute(query, (first, found[-1].row))):
            found[answer.row - first].answers.append(answer)
        return found

    return view.query(read)
