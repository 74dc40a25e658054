"""Readings into the table of answers, with the tally that counts them."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Sequence

from engine.domain.reading import Reading
from engine.domain.run import Round
from engine.errors import BugError
from engine.store.run_view import RunSpec

_FIELDS = (
    "row, question, status, value, shares, label_mass, argmax_is_label, entropy, mean_mass, draws, stderr, agreement, "
    "method, error, round, pictures"
)
_MARKS = ", ".join("?" * 16)
_INSERT = f"INSERT INTO answer ({_FIELDS}, top) VALUES ({_MARKS}, ?)"
_REPLACE = f"INSERT OR REPLACE INTO answer ({_FIELDS}, top) VALUES ({_MARKS}, ?)"
_KEEP_NEW = f"INSERT INTO earlier ({_FIELDS}) VALUES ({_MARKS})"
_KEEP_OLD = f"INSERT INTO earlier ({_FIELDS}) SELECT {_FIELDS} FROM answer WHERE row = ? AND question = ?"

Batch = Sequence[tuple[int, Sequence[Reading]]]


def store_answers(connection: sqlite3.Connection, spec: RunSpec, current: Round, batch: Batch) -> None:
    """Store the readings of some rows.

    Raises:
        BugError: readings that do not match the questions of the round, or that are stored already.
    """
    if current.kind in ("run", "questions"):
        _insert(connection, spec, current, batch)
    else:
        for row, readings in batch:
            for reading in readings:
                _read_again(connection, spec, current, row, reading)


def _insert(connection: sqlite3.Connection, spec: RunSpec, current: Round, batch: Batch) -> None:
    wanted = tuple(spec.questions[place] for place in current.questions)
    answers = []
    tally: Counter[tuple[int, str]] = Counter()
    for row, readings in batch:
        if tuple(reading.question_id for reading in readings) != wanted:
            raise BugError("run.readings", "row {row}: the readings do not match the questions", row=row)
        for question, reading in zip(current.questions, readings, strict=True):
            answers.append((*_values(row, question, reading, current.number), _top(reading)))
            tally[question, reading.status] += 1
    try:
        connection.executemany(_INSERT, answers)
    except sqlite3.IntegrityError as error:
        raise BugError("run.doubled", "an answer was to be stored twice: {detail}", detail=str(error)) from error
    _count(connection, tally)


def _read_again(connection: sqlite3.Connection, spec: RunSpec, current: Round, row: int, reading: Reading) -> None:
    """Put a new answer in the place of the old one, which is kept; a failure takes the place of a failure only."""
    try:
        question = spec.questions.index(reading.question_id)
    except ValueError:
        raise BugError("run.readings", "row {row}: the readings do not match the questions", row=row) from None
    old = connection.execute(
        "SELECT status, due FROM answer WHERE row = ? AND question = ?", (row, question)
    ).fetchone()
    if old is None or old[1] != current.number:
        raise BugError("run.doubled", "row {row}: an answer was to be stored twice", row=row)
    values = _values(row, question, reading, current.number)
    if reading.status == "error" and old[0] != "error":
        connection.execute(_KEEP_NEW, values)
        connection.execute("UPDATE answer SET due = 0 WHERE row = ? AND question = ?", (row, question))
        return
    connection.execute(_KEEP_OLD, (row, question))
    connection.execute(_REPLACE, (*values, _top(reading)))
    _count(connection, {(question, old[0]): -1})
    _count(connection, {(question, reading.status): 1})


def _count(connection: sqlite3.Connection, tally: dict[tuple[int, str], int]) -> None:
    connection.executemany(
        "UPDATE tally SET answers = answers + ? WHERE question = ? AND status = ?",
        [(count, question, status) for (question, status), count in tally.items()],
    )


def _top(reading: Reading) -> float | None:
    return max(reading.shares) if reading.shares else None


def _values(row: int, question: int, reading: Reading, number: int) -> tuple[object, ...]:
    """The columns of table ``answer`` but for ``due`` and ``top``."""
    return (
        row,
        question,
        reading.status,
        reading.value if isinstance(reading.value, str | None) else float(reading.value),
        json.dumps([*map(float, reading.shares)]),
        reading.label_mass,
        reading.argmax_is_label,
        reading.entropy,
        reading.mean_mass,
        reading.draws,
        reading.stderr,
        reading.agreement,
        reading.method,
        reading.error,
        number,
        json.dumps([[use.path, use.sha256] for use in reading.pictures]) if reading.pictures else "",
    )
