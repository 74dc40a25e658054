"""Rounds: a finished run is read again in part, or asked more. What is there stays until something better is."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from engine.domain.reading import STATUSES, Method
from engine.domain.run import RoundKind
from engine.errors import BugError, InputError
from engine.store.run_schema import index_answers

_STATUS = {"retry": "error", "reread": "unreadable"}


def skip_left_out(connection: sqlite3.Connection, places: Sequence[int], method: str, number: int) -> int:
    """Answer questions for the rows that are not read; how many rows these are."""
    count = int(connection.execute("SELECT count(*) FROM input WHERE left_out <> ''").fetchone()[0])
    if not count:
        return 0
    for question in places:
        connection.execute(
            """INSERT INTO answer (row, question, status, shares, draws, method, error, round)
               SELECT row, ?, 'skipped', '[]', 0, ?, left_out, ? FROM input WHERE left_out <> ''""",
            (question, method, number),
        )
        connection.execute(
            "UPDATE tally SET answers = answers + ? WHERE question = ? AND status = 'skipped'", (count, question)
        )
    return count


def check_begin(connection: sqlite3.Connection, kind: RoundKind) -> None:
    """Whether a round of this kind can be begun.

    Raises:
        InputError: the run is not finished, or nothing has the status that is read again.
    """
    _number(connection)
    if kind in _STATUS:
        status = _STATUS[kind]
        if not connection.execute("SELECT sum(answers) FROM tally WHERE status = ?", (status,)).fetchone()[0]:
            raise InputError("round.nothing", "no answer of this run has the status {status}", status=status)


def begin_round(connection: sqlite3.Connection, kind: RoundKind, method: Method, engine: str) -> None:
    """Mark what is to be read again.

    Raises:
        InputError: the run is not finished, or nothing has the status that is read again.
    """
    if kind not in _STATUS:
        raise BugError("round.kind", "no round of kind {kind} can be begun here", kind=kind)
    check_begin(connection, kind)
    number, places = _number(connection), _places(connection)
    marked = connection.execute("UPDATE answer SET due = ? WHERE status = ?", (number, _STATUS[kind])).rowcount
    _note(connection, number, kind, method, engine, places, marked)


def begin_questions(
    connection: sqlite3.Connection,
    form: Mapping[str, Any],
    form_sha256: str,
    questions: tuple[str, ...],
    method: Method,
    engine: str,
) -> None:
    """Add questions behind those that the run has.

    Raises:
        InputError: the run is not finished, or no question is new.
        BugError: the old questions are not the first ones.
    """
    number, places = _number(connection), _places(connection)
    old = tuple(json.loads(connection.execute("SELECT questions FROM run").fetchone()[0]))
    if questions[: len(old)] != old:
        raise BugError("round.questions", "the old questions must come first")
    new = range(len(places), len(questions))
    if not new:
        raise no_new_question()
    connection.execute(
        "UPDATE run SET form = ?, form_sha256 = ?, questions = ?",
        (json.dumps(form, ensure_ascii=False), form_sha256, json.dumps(list(questions), ensure_ascii=False)),
    )
    connection.executemany(
        "INSERT INTO tally VALUES (?, ?, 0)", [(question, status) for question in new for status in STATUSES]
    )
    left_out = skip_left_out(connection, new, method.name, number)
    rows = int(connection.execute("SELECT rows FROM run").fetchone()[0])
    _note(connection, number, "questions", method, engine, new, (rows - left_out) * len(new))


def no_new_question() -> InputError:
    """The error for a form that asks nothing new."""
    return InputError("round.no_new_question", "every question of the form is in the run already")


def end_round(connection: sqlite3.Connection) -> None:
    """Note when the current round ended, and make the answers quick to sort."""
    index_answers(connection)
    connection.execute(
        "UPDATE round SET ended = ? WHERE number = (SELECT max(number) FROM round) AND ended = ''", (_now(),)
    )


def _number(connection: sqlite3.Connection) -> int:
    """The number of the next round.

    Raises:
        InputError: the last one is not at its end.
    """
    run, state = connection.execute("SELECT id, state FROM run").fetchone()
    if state != "finished":
        remedy = "go on with it first: `decide ... --resume {run}`"
        raise InputError("round.unfinished", "run {run} is not finished", remedy=remedy, run=run)
    return int(connection.execute("SELECT max(number) + 1 FROM round").fetchone()[0])


def _places(connection: sqlite3.Connection) -> range:
    return range(int(connection.execute("SELECT json_array_length(questions) FROM run").fetchone()[0]))


def _note(
    connection: sqlite3.Connection,
    number: int,
    kind: RoundKind,
    method: Method,
    engine: str,
    places: Sequence[int],
    answers: int,
) -> None:
    connection.execute(
        "INSERT INTO round (number, kind, method, engine, questions, answers, started) VALUES (?, ?, ?, ?, ?, ?, ?)",
        (number, kind, json.dumps(asdict(method)), engine, json.dumps(list(places)), answers, _now()),
    )
    connection.execute("UPDATE run SET state = 'unfinished', reason = ''")


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
