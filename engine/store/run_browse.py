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
from functools import partial
from pathlib import Path
from typing import Literal

from engine.domain.reading import STATUSES, Reading, ReadStatus
from engine.errors import UserError
from engine.store.run_view import RunView
from engine.store.runs import run_path

KEY_BASE = 64  # a form has at most 64 questions (engine.domain.question.MAX_QUESTIONS)

_REVIEWED = """EXISTS (SELECT 1 FROM review
    WHERE review.row = answer.row AND review.question = answer.question AND undone = 0)"""

SortBy = Literal["row", "value", "uncertainty", "top"]


@dataclass(frozen=True, slots=True)
class Browse:
    """What is to be seen, in which order.

    Attributes:
        question: place in the form, or None for all.
        status: only answers of this status, or None for all.
        sort: ``value`` sorts numbers before names; ``uncertainty`` is the entropy of the first draw; ``top`` the
            largest share. Answers without the number that is sorted by come last in both directions.
        answer: only answers with this name (of a choice's option), or None.
        search: only rows one of whose cells holds this text, whatever its case (of ASCII letters); empty: all.
        low, high: only answers whose number is at least and at most this, or None.
        reviewed: only answers that somebody has reviewed, or (False) nobody; None: all.
    """

    question: int | None = None
    status: ReadStatus | None = None
    sort: SortBy = "row"
    descending: bool = False
    search: str = ""
    low: float | None = None
    high: float | None = None
    reviewed: bool | None = None
    answer: str | None = None


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """One answer with the cells of its row."""

    row: int
    question: int
    cells: tuple[str, ...]
    reading: Reading


class RunBrowser(RunView):
    """A read-only look at a run in any order. Calls may come from any thread."""

    def keys(self, wanted: Browse, limit: int | None = None) -> array[int]:
        """The keys (``row * 64 + question``) of the answers wanted, in order.

        Args:
            limit: only the first so many, which is much quicker than all where an index gives the order.
        """
        where, values = _clauses(wanted)
        way = "DESC" if wanted.descending else "ASC"
        select = f"SELECT row * {KEY_BASE} + question FROM answer WHERE {where}"
        column = {"row": "row", "value": "value", "uncertainty": "entropy", "top": "top"}[wanted.sort]
        if column == "row":
            queries = [f"{select} ORDER BY row {way}, question {way}"]
        else:
            # Two queries: with NULLS LAST no index would be used.
            queries = [
                f"{select} AND {column} IS NOT NULL ORDER BY {column} {way}, row, question",
                f"{select} AND {column} IS NULL ORDER BY row, question",
            ]
        found = array("q")
        for query in queries:
            rest = None if limit is None else limit - len(found)
            if rest == 0:
                break
            query += "" if rest is None else f" LIMIT {rest:d}"
            found.extend(self._read(partial(_numbers, query=query, values=values)))
        return found

    def first_page(self, wanted: Browse, limit: int = 200) -> list[StoredAnswer]:
        """The first answers wanted, without asking for the keys of all."""
        return self.answers(self.keys(wanted, limit))

    def to_review(self, question: int | None = None, limit: int = 200) -> array[int]:
        """The keys of answers that nobody has reviewed, least certain first.

        Unreadable answers come before all others: there the model told nothing. Then by the largest share.

        Args:
            question: place in the form; None: of all questions.
        """
        places = range(len(self.spec.questions)) if question is None else (question,)
        open_ = f"NOT {_REVIEWED}"
        unreadable = f"SELECT NULL, row, question FROM answer WHERE status = 'unreadable' AND question = ? AND {open_}"
        sure = f"SELECT top, row, question FROM answer WHERE question = ? AND top IS NOT NULL AND {open_}"

        def read(connection: sqlite3.Connection) -> array[int]:
            found: list[tuple[float, int, int]] = []
            for place in places:
                rows = connection.execute(f"{unreadable} ORDER BY row LIMIT ?", (place, limit)).fetchall()
                rows += connection.execute(f"{sure} ORDER BY top, row LIMIT ?", (place, limit)).fetchall()
                found += [(-1.0 if top is None else top, row, question) for top, row, question in rows]
            return array("q", (row * KEY_BASE + question for _, row, question in sorted(found)[:limit]))

        return self._read(read)

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


def _numbers(connection: sqlite3.Connection, query: str, values: dict[str, object]) -> array[int]:
    return array("q", (number for (number,) in connection.execute(query, values)))


def _clauses(wanted: Browse) -> tuple[str, dict[str, object]]:
    """The condition in SQL, and its values."""
    clauses, values = ["1"], dict[str, object]()
    if wanted.question is not None:
        clauses.append("question = :question")
        values["question"] = wanted.question
    if wanted.status is not None:
        # Written out, one of four constants: only so is the partial index on trouble used.
        clauses.append(f"status = '{STATUSES[STATUSES.index(wanted.status)]}'")
    for name, sign, bound in (("low", ">=", wanted.low), ("high", "<=", wanted.high)):
        if bound is not None:
            clauses.append(f"status = 'ok' AND typeof(value) <> 'text' AND value {sign} :{name}")
            values[name] = bound
    if wanted.answer is not None:
        clauses.append("status = 'ok' AND value = :answer")
        values["answer"] = wanted.answer
    if wanted.search:
        # As it stands in JSON, without the quotes around it.
        sought = json.dumps(wanted.search, ensure_ascii=False)[1:-1]
        for sign in "\\%_":
            sought = sought.replace(sign, "\\" + sign)
        clauses.append("row IN (SELECT input.row FROM input WHERE cells LIKE :search ESCAPE '\\')")
        values["search"] = f"%{sought}%"
    if wanted.reviewed is not None:
        clauses.append(_REVIEWED if wanted.reviewed else f"NOT {_REVIEWED}")
    return " AND ".join(clauses), values


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
