"""The rows of a run as they lie in its file, for exports: a million rows shall not become a million objects first."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from typing import NamedTuple

from engine.domain.reading import ReadStatus
from engine.store.run_view import RunView

_FIELDS = (
    "row, question, status, value, shares, label_mass, argmax_is_label, entropy, draws, stderr, agreement, method, "
    "error, round"
)

# (row, question, status, value, shares as a JSON array, label_mass, argmax_is_label as 0, 1 or None, entropy, draws,
# stderr, agreement, method, error, round)
RawAnswer = tuple[
    int,
    int,
    ReadStatus,
    float | str | None,
    str,
    float | None,
    int | None,
    float | None,
    int,
    float | None,
    float | None,
    str,
    str,
    int,
]


class RawPage(NamedTuple):
    """Some rows in the table's order.

    Attributes:
        rows: (row, cells as a JSON array of texts); numbered without gaps.
        answers: of these rows, by row and question.
    """

    rows: list[tuple[int, str]]
    answers: list[RawAnswer]


def raw_pages(view: RunView, rows: int) -> Iterator[RawPage]:
    """All rows in the table's order, so many in memory at a time."""
    after = 0
    while (page := _page(view, after, rows)).rows:
        yield page
        after = page.rows[-1][0]


def _page(view: RunView, after: int, limit: int) -> RawPage:
    def read(connection: sqlite3.Connection) -> RawPage:
        cursor = connection.cursor()
        cursor.row_factory = None
        found = cursor.execute("SELECT row, cells FROM input WHERE row > ? ORDER BY row LIMIT ?", (after, limit))
        rows = found.fetchall()
        if not rows:
            return RawPage([], [])
        query = f"SELECT {_FIELDS} FROM answer WHERE row BETWEEN ? AND ? ORDER BY row, question"
        return RawPage(rows, cursor.execute(query, (rows[0][0], rows[-1][0])).fetchall())

    return view.query(read)


def pictures_of(view: RunView, first_row: int, last_row: int) -> dict[tuple[int, int], str]:
    """The hashes of the pictures that answers were read with, spaces between them, by (row, question)."""
    query = """SELECT row, question, pictures FROM answer
        WHERE row BETWEEN ? AND ? AND pictures <> '' ORDER BY row, question"""
    found = view.query(lambda connection: connection.execute(query, (first_row, last_row)).fetchall())
    return {(row, place): " ".join(sha256 for _, sha256 in json.loads(uses)) for row, place, uses in found}


def long_rows(view: RunView, characters: int) -> list[tuple[int, list[str]]]:
    """(row, cells) of the rows whose cells together have more characters than that."""
    query = "SELECT row, cells FROM input WHERE length(cells) > ? ORDER BY row"
    found = view.query(lambda connection: connection.execute(query, (characters,)).fetchall())
    return [(row, json.loads(cells)) for row, cells in found]
