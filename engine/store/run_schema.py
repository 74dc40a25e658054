"""The tables of a run's file (version 3).

- ``run``: one row: what is run, on what, how, and in which state.
- ``input``: the table's rows, numbered from 1, cells as a JSON array, so that a run outlives its table; ``left_out``
  says why a row is not read (a filter, a sample).
- ``answer``: one reading; ``question`` is the place in the form, from 0. All readings of a row arrive together.
  ``round`` read it, round ``due`` (0: none) shall read it again. ``top`` is the largest share.
  ``pictures``: those that the row was read with, ``[[path, sha256], ...]``; empty for none.
- ``earlier``: answers that a later round replaced, and later attempts that failed where there was an answer.
- ``round``: the passes over the run, 1 is the run itself.
- ``review``: what reviewers said, in order; an undone word stays, marked.
- ``tally``: answers by question and status, written in the transaction that writes the answers.

The indexes to sort by (``index_answers``) are made when a run has ended: a million answers in the order of their rows
would fall all over them.
"""

from __future__ import annotations

import sqlite3

from engine.store.migrations import Schema

RUN_SCHEMA = Schema("run", application_id=0x44445231)  # "DDR1"


@RUN_SCHEMA.step(1)
def create_tables(connection: sqlite3.Connection) -> None:
    """Create the tables run, input, answer and tally."""
    connection.execute(
        """CREATE TABLE run (
            one INTEGER PRIMARY KEY CHECK (one = 1),
            id TEXT NOT NULL,
            name TEXT NOT NULL,
            created TEXT NOT NULL,
            state TEXT NOT NULL CHECK (state IN ('running', 'paused', 'unfinished', 'finished')),
            reason TEXT NOT NULL DEFAULT '',
            form TEXT NOT NULL,
            form_path TEXT NOT NULL,
            form_sha256 TEXT NOT NULL,
            questions TEXT NOT NULL,
            method TEXT NOT NULL,
            wording INTEGER NOT NULL,
            table_path TEXT NOT NULL,
            table_sha256 TEXT NOT NULL,
            table_format TEXT NOT NULL,
            columns TEXT NOT NULL,
            rows INTEGER NOT NULL,
            engine TEXT NOT NULL,
            lease_pid INTEGER,
            lease_started REAL,
            lease_token TEXT
        ) STRICT"""
    )
    connection.execute("CREATE TABLE input (row INTEGER PRIMARY KEY, cells TEXT NOT NULL) STRICT")
    connection.execute(
        """CREATE TABLE answer (
            row INTEGER NOT NULL,
            question INTEGER NOT NULL,
            status TEXT NOT NULL CHECK (status IN ('ok', 'unreadable', 'error', 'skipped')),
            value ANY,
            shares TEXT NOT NULL,
            label_mass REAL,
            argmax_is_label INTEGER,
            entropy REAL,
            mean_mass REAL,
            draws INTEGER NOT NULL,
            stderr REAL,
            agreement REAL,
            method TEXT NOT NULL,
            error TEXT NOT NULL,
            PRIMARY KEY (row, question)
        ) STRICT, WITHOUT ROWID"""
    )
    connection.execute("CREATE INDEX answer_trouble ON answer (status, row) WHERE status <> 'ok'")
    connection.execute(
        """CREATE TABLE tally (
            question INTEGER NOT NULL,
            status TEXT NOT NULL,
            answers INTEGER NOT NULL,
            PRIMARY KEY (question, status)
        ) STRICT, WITHOUT ROWID"""
    )


@RUN_SCHEMA.step(2)
def add_rounds_and_reviews(connection: sqlite3.Connection) -> None:
    """Add rounds, earlier answers, reviews, and what was selected."""
    for addition in (
        "run ADD COLUMN selection TEXT NOT NULL DEFAULT '{}'",
        "run ADD COLUMN facts TEXT NOT NULL DEFAULT '{}'",
        "input ADD COLUMN left_out TEXT NOT NULL DEFAULT ''",
        "answer ADD COLUMN round INTEGER NOT NULL DEFAULT 1",
        "answer ADD COLUMN due INTEGER NOT NULL DEFAULT 0",
        "answer ADD COLUMN top REAL",
    ):
        connection.execute(f"ALTER TABLE {addition}")
    # The columns of the key come first: SQLite 3.40's quick_check looks for the others behind them.
    connection.execute(
        """CREATE TABLE earlier (
            row INTEGER NOT NULL,
            question INTEGER NOT NULL,
            round INTEGER NOT NULL,
            status TEXT NOT NULL,
            value ANY,
            shares TEXT NOT NULL,
            label_mass REAL,
            argmax_is_label INTEGER,
            entropy REAL,
            mean_mass REAL,
            draws INTEGER NOT NULL,
            stderr REAL,
            agreement REAL,
            method TEXT NOT NULL,
            error TEXT NOT NULL,
            PRIMARY KEY (row, question, round)
        ) STRICT, WITHOUT ROWID"""
    )
    connection.execute(
        """CREATE TABLE round (
            number INTEGER PRIMARY KEY,
            kind TEXT NOT NULL CHECK (kind IN ('run', 'retry', 'reread', 'questions')),
            method TEXT NOT NULL,
            engine TEXT NOT NULL,
            questions TEXT NOT NULL,
            answers INTEGER NOT NULL,
            started TEXT NOT NULL,
            ended TEXT NOT NULL DEFAULT ''
        ) STRICT"""
    )
    connection.execute(
        """CREATE TABLE review (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            row INTEGER NOT NULL,
            question INTEGER NOT NULL,
            value TEXT,
            author TEXT NOT NULL,
            at TEXT NOT NULL,
            undone INTEGER NOT NULL DEFAULT 0
        ) STRICT"""
    )
    connection.execute("CREATE INDEX answer_due ON answer (due, row) WHERE due > 0")
    connection.execute("CREATE INDEX review_answer ON review (row, question)")
    connection.execute(
        """UPDATE answer SET top = (SELECT max(value) FROM json_each(answer.shares)) WHERE status = 'ok'"""
    )
    connection.execute(
        """INSERT INTO round SELECT 1, 'run', method, engine,
               (SELECT json_group_array(key) FROM json_each(run.questions)),
               rows * json_array_length(questions), created,
               CASE state WHEN 'finished' THEN created ELSE '' END
           FROM run"""
    )
    if connection.execute("SELECT 1 FROM run WHERE state = 'finished'").fetchone():
        index_answers(connection)


@RUN_SCHEMA.step(3)
def add_pictures(connection: sqlite3.Connection) -> None:
    """Add which pictures an answer was read with."""
    for table in ("answer", "earlier"):
        connection.execute(f"ALTER TABLE {table} ADD COLUMN pictures TEXT NOT NULL DEFAULT ''")


def index_answers(connection: sqlite3.Connection) -> None:
    """Make what sorting by value and by certainty needs, unless it is there."""
    connection.execute("CREATE INDEX IF NOT EXISTS answer_value ON answer (question, value, row)")
    connection.execute("CREATE INDEX IF NOT EXISTS answer_top ON answer (question, top, row)")
