"""Runs that wait for each other: one file, one worker at a time, in the order in which they came or were put.

An entry names a run that is made already (its rows and its form are in its own file) and says how to go on with it. A
worker that dies leaves its entry as it was taken; the next worker takes it up again.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self

from engine.errors import InputError, UserError
from engine.store.db import Database
from engine.store.lease import Lease
from engine.store.migrations import Schema

QUEUE_SCHEMA = Schema("queue", application_id=0x44445131)  # "DDQ1"
QueueState = Literal["waiting", "running", "done", "failed"]


@QUEUE_SCHEMA.step(1)
def create_tables(connection: sqlite3.Connection) -> None:
    """Create the tables entry and worker."""
    connection.execute(
        """CREATE TABLE entry (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            run TEXT NOT NULL UNIQUE,
            options TEXT NOT NULL,
            state TEXT NOT NULL CHECK (state IN ('waiting', 'running', 'done', 'failed')),
            note TEXT NOT NULL DEFAULT '',
            added TEXT NOT NULL
        ) STRICT"""
    )
    connection.execute(
        """CREATE TABLE worker (
            one INTEGER PRIMARY KEY CHECK (one = 1), pid INTEGER NOT NULL, started REAL NOT NULL, token TEXT NOT NULL
        ) STRICT"""
    )


@QUEUE_SCHEMA.step(2)
def add_place(connection: sqlite3.Connection) -> None:
    """Let the order of those that wait be changed: each entry has a place."""
    connection.execute("ALTER TABLE entry ADD COLUMN place INTEGER NOT NULL DEFAULT 0")
    connection.execute("UPDATE entry SET place = id")


@dataclass(frozen=True, slots=True)
class QueueEntry:
    """A run in the queue.

    Attributes:
        options: how to go on with it (engine, where its export goes, ...), JSON values only.
        note: why it failed.
        added: ISO 8601, UTC.
    """

    id: int
    run: str
    options: Mapping[str, Any]
    state: QueueState
    note: str
    added: str


class RunQueue:
    """The queue; made when it is missing. Use as a context manager.

    Raises:
        UserError: the file is damaged, foreign or newer than the program.
    """

    def __init__(self, path: Path) -> None:
        self._database = Database(path, QUEUE_SCHEMA, create=True)
        self._lease: Lease | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Give the work back, should it be ours. May be called twice."""
        if self._lease is not None:
            token, self._lease = self._lease.token, None
            self._database.write(lambda c: c.execute("DELETE FROM worker WHERE token = ?", (token,)).rowcount)
        self._database.close()

    def add(self, run: str, options: Mapping[str, Any]) -> QueueEntry:
        """Put a run at the end.

        Raises:
            InputError: it is in the queue already.
        """
        values = (run, json.dumps(options, ensure_ascii=False), datetime.now(UTC).isoformat(timespec="seconds"))

        def write(connection: sqlite3.Connection) -> int:
            connection.execute("DELETE FROM entry WHERE run = ? AND state IN ('done', 'failed')", (run,))
            try:
                query = """INSERT INTO entry (run, options, state, added, place)
                    SELECT ?, ?, 'waiting', ?, coalesce(max(place), 0) + 1 FROM entry"""
                return connection.execute(query, values).lastrowid or 0
            except sqlite3.IntegrityError as error:
                raise InputError("queue.twice", "run {run} is in the queue already", run=run) from error

        return QueueEntry(self._database.write(write), run, options, "waiting", "", values[2])

    def entries(self) -> list[QueueEntry]:
        """All of them, in order."""
        query = "SELECT id, run, options, state, note, added FROM entry ORDER BY place"
        found = self._database.write(lambda c: c.execute(query).fetchall())
        return [QueueEntry(row[0], row[1], json.loads(row[2]), row[3], row[4], row[5]) for row in found]

    def remove(self, run: str) -> None:
        """Take a run out of the queue; the run itself stays.

        Raises:
            InputError: it is not in the queue.
            UserError: it is being worked on.
        """

        def write(connection: sqlite3.Connection) -> None:
            found = connection.execute("SELECT state FROM entry WHERE run = ?", (run,)).fetchone()
            if found is None:
                remedy = "`queue list` says what is"
                raise InputError("queue.unknown", "run {run} is not in the queue", remedy=remedy, run=run)
            if found[0] == "running" and _working(connection) is not None:
                raise UserError("queue.running", "run {run} is being worked on", remedy="stop the worker", run=run)
            connection.execute("DELETE FROM entry WHERE run = ?", (run,))

        self._database.write(write)

    def arrange(self, runs: Sequence[str]) -> None:
        """Let these runs follow each other in this order, in the places that they have between the others.

        Runs that do not wait (any more) are passed over.
        """

        def write(connection: sqlite3.Connection) -> None:
            query = "SELECT run, place FROM entry WHERE state = 'waiting' ORDER BY place"
            found = dict(connection.execute(query).fetchall())
            waiting = [run for run in dict.fromkeys(runs) if run in found]
            places = sorted(found[run] for run in waiting)
            rows = zip(places, waiting, strict=True)
            connection.executemany("UPDATE entry SET place = ? WHERE run = ?", list(rows))

        self._database.write(write)

    def amend(self, run: str, changes: Mapping[str, Any]) -> None:
        """Change some options of a run that is in the queue; nothing happens when it is not."""
        kept = json.dumps(changes, ensure_ascii=False)
        query = "UPDATE entry SET options = json_patch(options, ?) WHERE run = ?"
        self._database.write(lambda c: c.execute(query, (kept, run)).rowcount)

    def worked_on(self) -> bool:
        """Whether a living process works on the queue."""
        return self._database.write(lambda c: _working(c) is not None)

    def take_worker(self) -> None:
        """Become the one that works.

        Raises:
            UserError: another living process is.
        """
        lease = Lease.mine()

        def write(connection: sqlite3.Connection) -> None:
            holder = _working(connection)
            if holder is not None:
                raise UserError(
                    "queue.busy",
                    "process {pid} works on the queue already",
                    remedy="new runs are taken up by it",
                    pid=holder.pid,
                )
            connection.execute("DELETE FROM worker")
            connection.execute("INSERT INTO worker VALUES (1, ?, ?, ?)", (lease.pid, lease.started, lease.token))
            # What a dead worker had taken waits again, in its old place.
            connection.execute("UPDATE entry SET state = 'waiting' WHERE state = 'running'")

        self._database.write(write)
        self._lease = lease

    def next(self) -> QueueEntry | None:
        """Take the first that waits; None when none does."""

        def write(connection: sqlite3.Connection) -> Any:
            query = """UPDATE entry SET state = 'running', note = ''
                WHERE id = (SELECT id FROM entry WHERE state = 'waiting' ORDER BY place LIMIT 1)
                RETURNING id, run, options, added"""
            return connection.execute(query).fetchone()

        found = self._database.write(write)
        return None if found is None else QueueEntry(found[0], found[1], json.loads(found[2]), "running", "", found[3])

    def note(self, entry: QueueEntry, state: QueueState, note: str = "") -> None:
        """Say how an entry ended; ``waiting`` puts it back in its place."""
        self._database.write(
            lambda c: c.execute("UPDATE entry SET state = ?, note = ? WHERE id = ?", (state, note, entry.id)).rowcount
        )


def _working(connection: sqlite3.Connection) -> Lease | None:
    """The living worker."""
    row = connection.execute("SELECT pid, started, token FROM worker").fetchone()
    lease = None if row is None else Lease(*row)
    return lease if lease is not None and lease.alive() else None
