"""The tables of a run's file (version 1).

- ``run``: one row: what is run, on what, how, and in which state.
- ``input``: the table's rows, numbered from 1, cells as a JSON array, so that a run outlives its table.
- ``answer``: one reading; ``question`` is the place in the form, from 0. All readings of a row arrive together.
- ``tally``: answers by question and status, written in the transaction that writes the answers.
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
