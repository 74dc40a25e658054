"""One SQLite file, one writing thread: everybody else sends it functions.

The writer runs each function inside ``BEGIN IMMEDIATE ... COMMIT`` in the order of arrival. WAL with
``synchronous=NORMAL``: a killed process loses no commit; a power cut may lose the last ones but never tears the file
(https://sqlite.org/wal.html). Readers use connections of their own and never wait for the writer.
"""

from __future__ import annotations

import contextlib
import queue
import sqlite3
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from engine.errors import BugError, EngineError, UserError
from engine.store.migrations import Schema, file_version, migrate

BUSY_TIMEOUT_S = 10.0  # how long a statement waits for another process's lock
CLOSE_TIMEOUT_S = 10.0

_FULL = {sqlite3.SQLITE_FULL}
_DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
_LOCKED = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
_REFUSED = {sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH}


def translate(error: sqlite3.Error, path: Path) -> EngineError:
    """The error to show for one of SQLite's, by its primary result code (https://sqlite.org/rescode.html)."""
    code = getattr(error, "sqlite_errorcode", None)
    primary = code & 0xFF if isinstance(code, int) else None
    where: dict[str, Any] = {"path": str(path), "detail": str(error)}
    if primary in _FULL:
        remedy = "free some space, then resume; everything written so far is kept"
        return UserError("disk.full", "no space left for {path}", remedy=remedy, **where)
    if primary == sqlite3.SQLITE_IOERR:
        remedy = "check the disk, then resume; everything written so far is kept"
        return UserError("disk.io", "cannot write or read {path}: {detail}", remedy=remedy, **where)
    if primary in _DAMAGED or (
        primary is None and isinstance(error, sqlite3.DatabaseError) and "malformed" in str(error)
    ):
        return damaged(path, str(error))
    if primary in _LOCKED:
        return UserError("store.busy", "{path} is locked by another process", remedy="try again", **where)
    if primary in _REFUSED:
        return UserError("store.no_access", "cannot open {path}: {detail}", remedy="check its permissions", **where)
    return BugError("store.sql", "{path}: {detail}", **where)


def damaged(path: Path, detail: str) -> UserError:
    """The error for a file that is torn or overwritten."""
    return UserError(
        "store.damaged",
        "{path} is damaged: {detail}",
        remedy="the file is left as it is; move it away or put a copy back",
        path=str(path),
        detail=detail,
    )


@contextlib.contextmanager
def translated(path: Path) -> Iterator[None]:
    """Turn SQLite's errors into ours."""
    try:
        yield
    except sqlite3.Error as error:
        raise translate(error, path) from error


def connect_readonly(path: Path, schema: Schema) -> sqlite3.Connection:
    """A connection that cannot write, for watchers and exports. Usable from any thread, one at a time.

    Raises:
        UserError: the file is missing, damaged, foreign, or of another version.
    """
    if not path.is_file():
        raise UserError("store.missing", "there is no {kind} file {path}", kind=schema.kind, path=str(path))
    with translated(path):
        connection = _connect(path, "ro")
        try:
            if file_version(connection, schema, path) == schema.version:
                return connection
        except BaseException:
            connection.close()
            raise
    connection.close()
    Database(path, schema).close()  # upgrades the file
    return connect_readonly(path, schema)


class Database:
    """A file with its writer thread. ``close`` may be called twice, and from any thread but the writer.

    Args:
        path: the file; it must exist unless ``create`` is set.
        schema: what the file must be; an older file is upgraded.
        create: make the file when it is missing.
        check: look for damage in the whole file before use (``PRAGMA quick_check``).

    Raises:
        UserError: missing, damaged, foreign, newer, locked, or no space for the upgrade.
    """

    def __init__(self, path: Path, schema: Schema, *, create: bool = False, check: bool = False) -> None:
        self.path = path
        if not create and not path.is_file():
            raise UserError("store.missing", "there is no {kind} file {path}", kind=schema.kind, path=str(path))
        with translated(path):
            self._connection = _connect(path, "rwc" if create else "rw")
            try:
                self._prepare(schema, create, check)
            except BaseException:
                self._connection.close()
                raise
        self._jobs: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._closing = threading.Lock()
        self._closed = False
        self._thread = threading.Thread(target=self._work, name=f"writer of {path.name}", daemon=True)
        self._thread.start()

    def submit[T](self, job: Callable[[sqlite3.Connection], T]) -> Future[T]:
        """Queue a function for the writer: it runs inside one transaction, rolled back when it raises."""
        future: Future[T] = Future()

        def run() -> None:
            if not future.set_running_or_notify_cancel():
                return
            try:
                future.set_result(self._transact(job))
            except BaseException as error:  # noqa: BLE001 - handed to the caller through the future
                future.set_exception(error)

        with self._closing:
            if self._closed:
                raise BugError("store.closed", "{path} is already closed", path=str(self.path))
            self._jobs.put(run)
        return future

    def write[T](self, job: Callable[[sqlite3.Connection], T]) -> T:
        """``submit``, and wait for the result."""
        return self.submit(job).result()

    def close(self) -> None:
        """Finish the queued writes and close the file."""
        with self._closing:
            if not self._closed:
                self._closed = True
                self._jobs.put(None)
        self._thread.join(CLOSE_TIMEOUT_S)

    def _prepare(self, schema: Schema, create: bool, check: bool) -> None:
        if file_version(self._connection, schema, self.path) == 0 and not create:
            raise damaged(self.path, "it is empty")  # to SQLite a file of no bytes is a new database
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.execute("PRAGMA synchronous = NORMAL")
        if check:
            verdict = self._connection.execute("PRAGMA quick_check(1)").fetchone()[0]
            if verdict != "ok":
                raise damaged(self.path, str(verdict))
        migrate(self._connection, schema, self.path)

    def _transact[T](self, job: Callable[[sqlite3.Connection], T]) -> T:
        with translated(self.path):
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                result = job(self._connection)
                self._connection.execute("COMMIT")
            except BaseException:
                # After a full disk SQLite may have rolled back by itself (https://sqlite.org/lang_transaction.html).
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise
            return result

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            job()
        # At rest the file is one file: nothing beside it to copy, and readers need not write. It stays a write-ahead
        # log while somebody else has it open.
        with contextlib.suppress(sqlite3.Error):
            self._connection.execute("PRAGMA busy_timeout = 0")
            self._connection.execute("PRAGMA journal_mode = DELETE")
        self._connection.close()


def _connect(path: Path, mode: str) -> sqlite3.Connection:
    return sqlite3.connect(
        f"{path.absolute().as_uri()}?mode={mode}",
        uri=True,
        timeout=BUSY_TIMEOUT_S,
        isolation_level=None,
        check_same_thread=False,
    )
