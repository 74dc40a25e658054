"""A table's rows into the file of a new run."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from itertools import batched
from pathlib import Path

from engine.domain.reading import STATUSES
from engine.domain.run import LeftOut
from engine.errors import InputError
from engine.store.migrations import migrate
from engine.store.run_rounds import skip_left_out
from engine.store.run_schema import RUN_SCHEMA
from engine.store.run_view import RunSpec

_BATCH = 2000  # rows per executemany


def import_run(
    part: Path, run_id: str, created: datetime, spec: RunSpec, rows: Iterable[Sequence[str] | LeftOut]
) -> None:
    """Write a complete run into ``part``.

    One transaction without a journal: a part that breaks off is thrown away, never repaired. The file is synced at
    the end, before it gets its name.
    """
    connection = sqlite3.connect(part, isolation_level=None)
    try:
        connection.execute("PRAGMA journal_mode = MEMORY")
        connection.execute("PRAGMA synchronous = FULL")
        migrate(connection, RUN_SCHEMA, part)
        connection.execute("BEGIN IMMEDIATE")
        count = 0
        for chunk in batched(_values(rows), _BATCH):
            connection.executemany("INSERT INTO input (row, cells, left_out) VALUES (?, ?, ?)", chunk)
            count += len(chunk)
        if not count:
            raise InputError("table.empty", "{path} has no rows below its header", path=spec.table_path)
        _note_run(connection, run_id, created, spec, count)
        connection.execute("COMMIT")
    finally:
        connection.close()


def _values(rows: Iterable[Sequence[str] | LeftOut]) -> Iterator[tuple[int, str, str]]:
    encode = json.JSONEncoder(ensure_ascii=False).encode  # json.dumps would make one for every row
    for number, row in enumerate(rows, start=1):
        if isinstance(row, LeftOut):
            yield number, encode(row.cells), row.why
        else:
            yield number, encode(row), ""


def _note_run(connection: sqlite3.Connection, run_id: str, created: datetime, spec: RunSpec, count: int) -> None:
    """The tables run, round and tally, and the answers of the rows that are left out."""
    began = created.isoformat(timespec="seconds")
    values = {**spec.as_values(), "one": 1, "id": run_id, "created": began, "state": "unfinished", "rows": count}
    names, marks = ", ".join(values), ", ".join(f":{name}" for name in values)
    connection.execute(f"INSERT INTO run ({names}) VALUES ({marks})", values)
    places = range(len(spec.questions))
    connection.executemany(
        "INSERT INTO tally VALUES (?, ?, 0)", [(question, status) for question in places for status in STATUSES]
    )
    left_out = skip_left_out(connection, places, spec.method.name, 1)
    connection.execute(
        """INSERT INTO round (number, kind, method, engine, questions, answers, started)
           VALUES (1, 'run', :method, :engine, json(:places), :answers, :started)""",
        {
            "method": values["method"],
            "engine": spec.engine,
            "places": json.dumps(list(places)),
            "answers": (count - left_out) * len(places),
            "started": began,
        },
    )
