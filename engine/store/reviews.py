"""What reviewers say about answers, kept beside the model's. Works while a worker writes the run, and after.

Words are only added: a new one about the same answer counts instead of the old one, and an undone one stays, marked.
"""

from __future__ import annotations

import sqlite3
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Self

from engine.domain.run import Label
from engine.errors import InputError
from engine.store.db import Database
from engine.store.run_schema import RUN_SCHEMA


class ReviewStore:
    """Writes labels into a run's file; several may be open at the same time.

    Raises:
        UserError: the file is missing, damaged, foreign or newer than the program.
    """

    def __init__(self, path: Path) -> None:
        self._database = Database(path, RUN_SCHEMA)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """May be called twice."""
        self._database.close()

    def add(self, row: int, question: int, value: str | None, author: str) -> Label:
        """Note what somebody says; on disk when it returns.

        Args:
            question: place in the form.
            value: an answer of the question (the caller has checked it), or None: it cannot be told.

        Raises:
            InputError: there is no such answer.
        """
        label = Label(row, question, value, author, datetime.now(UTC).isoformat(timespec="seconds"))

        def write(connection: sqlite3.Connection) -> None:
            found = connection.execute(
                "SELECT 1 FROM answer WHERE row = ? AND question = ?", (row, question)
            ).fetchone()
            if found is None:
                raise InputError("review.no_answer", "row {row} has no answer to review", row=row)
            connection.execute(
                "INSERT INTO review (row, question, value, author, at) VALUES (?, ?, ?, ?, ?)",
                (row, question, value, author, label.at),
            )

        self._database.write(write)
        return label

    def undo(self, author: str | None = None) -> Label | None:
        """Take back the last word that still counts, and give it; None when there is none.

        Args:
            author: only of this reviewer; None: of anybody.
        """

        def write(connection: sqlite3.Connection) -> Label | None:
            found = connection.execute(
                """SELECT id, row, question, value, author, at FROM review
                   WHERE undone = 0 AND (:author IS NULL OR author = :author) ORDER BY id DESC LIMIT 1""",
                {"author": author},
            ).fetchone()
            if found is None:
                return None
            connection.execute("UPDATE review SET undone = 1 WHERE id = ?", (found[0],))
            return Label(*found[1:])

        return self._database.write(write)
