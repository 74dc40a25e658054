"""Browsing the answers of a run in any order: sorted and filtered in SQL, fetched by key, a page at a time.

A browser first asks for the keys of everything that it could scroll to (8 bytes an answer), then for the answers of
the page that is on screen. So a jump to the end of a million answers costs one look-up of a page, never an OFFSET.
"""

from __future__ import annotations

import json
import sqlite3
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from engine.domain.reading import STATUSES, Reading, ReadStatus
from engine.errors import UserError
from engine.store.run_view import RunView
from engine.store.runs import run_path

KEY_BASE = 64  # a form has at most 64 questions (engine.domain.question.MAX_QUESTIONS)

SortBy = Literal["row", "value", "uncertainty"]


@dataclass(frozen=True, slots=True)
class Browse:
    """What is to be seen, in which order.

    Attributes:
        question: place in the form, or None for all.
        status: only answers of this status, or None for all.
        sort: ``value`` sorts numbers before names; ``uncertainty`` is the entropy of the first draw. Answers without
            the number that is sorted by come last in both directions.
    """

    question: int | None = None
    status: ReadStatus | None = None
    sort: SortBy = "row"
    descending: bool = False


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """One answer with the cells of its row."""

    row: int
    question: int
    cells: tuple[str, ...]
    reading: Reading


class RunBrowser(RunView):
    """A read-only look at a run in any order. Calls may come from any thread."""

    def keys(self, wanted: Browse) -> array[int]:
        """The keys (``row * 64 + question``) of all answers wanted, in order."""
        clauses, values = ["1"], []
        if wanted.question is not None:
            clauses.append("question = ?")
            values.append(wanted.question)
        if wanted.status is not None:
            # Written out, one of four constants: only so is the partial index on trouble used.
            clauses.append(f"status = '{STATUSES[STATUSES.index(wanted.status)]}'")
        way = "DESC" if wanted.descending else "ASC"
        order = {
            "row": f"row {way}, question {way}",
            "value": f"value {way} NULLS LAST, row, question",
            "uncertainty": f"entropy {way} NULLS LAST, row, question",
        }[wanted.sort]
        query = f"SELECT row * {KEY_BASE} + question FROM answer WHERE {' AND '.join(clauses)} ORDER BY {order}"
        return self._read(lambda connection: array("q", (key for (key,) in connection.execute(query, values))))

    def answers(self, keys: Sequence[int]) -> list[StoredAnswer]:
        """The answers of these keys in the order of the keys; keys without an answer are left out."""

        def read(connection: sqlite3.Connection) -> list[StoredAnswer]:
            wanted = json.dumps(list(keys))
            # A JSON array instead of one variable per key: SQLite bounds the number of variables.
            query = f"""SELECT answer.*, input.cells FROM json_each(?) AS wanted
                CROSS JOIN answer
                ON answer.row = wanted.value / {KEY_BASE} AND answer.question = wanted.value % {KEY_BASE}
                CROSS JOIN input ON input.row = answer.row ORDER BY wanted.key"""
            return [
                StoredAnswer(row["row"], row["question"], tuple(json.loads(row["cells"])), self._reading_of(row))
                for row in connection.execute(query, (wanted,))
            ]

        return self._read(read)

    def histogram(self, question: int, low: float, high: float, bins: int = 20) -> tuple[int, ...]:
        """How many ok answers of a question have a number in each of ``bins`` equal parts of ``low`` to ``high``."""
        query = f"""SELECT max(0, min({bins - 1}, CAST((value - ?) * {bins} / ? AS INTEGER))), count(*) FROM answer
            WHERE question = ? AND status = 'ok' AND typeof(value) IN ('real', 'integer') GROUP BY 1"""
        found = dict(self._read(lambda c: [tuple(row) for row in c.execute(query, (low, high - low, question))]))
        return tuple(found.get(place, 0) for place in range(bins))

    def value_counts(self, question: int) -> dict[str, int]:
        """How often each named value (of a choice) was given."""
        query = """SELECT value, count(*) FROM answer WHERE question = ? AND status = 'ok' AND typeof(value) = 'text'
            GROUP BY value"""
        return dict(self._read(lambda c: [tuple(row) for row in c.execute(query, (question,))]))


def delete_run(directory: Path, run_id: str) -> None:
    """Remove a run for good.

    Raises:
        InputError: there is no such run.
        UserError: a worker is at it, or the file cannot be removed.
    """
    path = run_path(directory, run_id)
    if _worked_on(path):
        remedy = "cancel it first; its answers are kept until then"
        raise UserError("run.busy", "run {run} is being worked on", remedy=remedy, run=run_id)
    try:
        path.unlink()
        for suffix in ("-wal", "-shm"):
            path.with_name(path.name + suffix).unlink(missing_ok=True)
    except OSError as error:
        raise UserError("run.delete", "cannot delete run {run}: {why}", run=run_id, why=str(error)) from error


def _worked_on(path: Path) -> bool:
    try:
        with RunView(path) as view:
            return view.info().state in ("running", "paused")
    except UserError:  # damaged or foreign: nobody can be working on it
        return False
