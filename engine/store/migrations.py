"""Versions of a SQLite file: decorated steps, a backup before an upgrade, a newer file refused.

``PRAGMA user_version`` holds the version, ``PRAGMA application_id`` says that the file is ours.
"""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from engine.errors import UserError

log = logging.getLogger(__name__)

Apply = Callable[[sqlite3.Connection], None]


@dataclass(frozen=True, slots=True)
class Step:
    """One migration: brings a file from ``version - 1`` to ``version``."""

    version: int
    apply: Apply
    note: str


class Schema:
    """The steps that make a kind of file, in order from 1.

    Args:
        kind: what the file is, for messages ("run").
        application_id: a 32-bit mark in the file's header (https://sqlite.org/pragma.html#pragma_application_id).
    """

    def __init__(self, kind: str, application_id: int) -> None:
        self.kind = kind
        self.application_id = application_id
        self.steps: list[Step] = []

    @property
    def version(self) -> int:
        return len(self.steps)

    def step(self, version: int) -> Callable[[Apply], Apply]:
        """Register a migration. It needs a docstring, which is logged when the step runs."""

        def register(apply: Apply) -> Apply:
            if version != self.version + 1 or not apply.__doc__:
                raise ValueError(f"step {version} of {self.kind}: steps count up from 1 and carry a docstring")
            self.steps.append(Step(version, apply, apply.__doc__.strip().splitlines()[0]))
            return apply

        return register


def file_version(connection: sqlite3.Connection, schema: Schema, path: Path) -> int:
    """The version of an open file; 0 for an empty one.

    Raises:
        UserError: the file is no file of ours, or a newer program wrote it.
    """
    version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    mark = int(connection.execute("PRAGMA application_id").fetchone()[0])
    tables = int(connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0])
    if mark != schema.application_id and (tables or version):
        raise UserError("store.foreign", "{path} is a database, but not a {kind}", path=str(path), kind=schema.kind)
    if version > schema.version:
        raise UserError(
            "store.newer",
            "{path} has version {version}, and this program knows versions up to {known}",
            remedy="open it with the newer Diffusion Desk that wrote it",
            path=str(path),
            version=version,
            known=schema.version,
        )
    return version


def migrate(connection: sqlite3.Connection, schema: Schema, path: Path) -> None:
    """Bring the file to the schema's version in one transaction; a failing step leaves it as it was.

    A file that holds data is copied to ``<name>.v<version>.bak`` first.
    """
    if file_version(connection, schema, path) == schema.version:
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        # Asked again inside the transaction: another process may have been quicker.
        version = file_version(connection, schema, path)
        if 0 < version < schema.version:
            _backup(path, version)
        for step in schema.steps[version:]:
            log.info("%s %s: step %d: %s", schema.kind, path.name, step.version, step.note)
            step.apply(connection)
        connection.execute(f"PRAGMA user_version = {schema.version:d}")
        connection.execute(f"PRAGMA application_id = {schema.application_id:d}")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:  # SQLite itself rolls back when the disk is full
            connection.execute("ROLLBACK")
        raise


def backup_path(path: Path, version: int) -> Path:
    """Where the copy of a file goes before it is upgraded from ``version``."""
    return path.with_name(f"{path.name}.v{version}.bak")


def _backup(path: Path, version: int) -> None:
    # A second connection reads the committed state (the write-ahead log included) while ours holds the write lock.
    with (
        closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as source,
        closing(sqlite3.connect(backup_path(path, version))) as target,
    ):
        source.backup(target)
