"""The runs: one SQLite file each, written by one worker at a time."""

from __future__ import annotations

import contextlib
import json
import os
import re
import secrets
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psutil

from engine.domain.reading import Method, Reading
from engine.domain.run import LeftOut, Round, RoundKind, RunInfo, RunState
from engine.errors import EngineError, InputError, UserError
from engine.store.db import Database, translated
from engine.store.lease import Lease
from engine.store.run_answers import store_answers
from engine.store.run_import import import_run
from engine.store.run_rounds import begin_questions, begin_round, end_round
from engine.store.run_schema import RUN_SCHEMA
from engine.store.run_view import PendingRow, RunSpec, RunView, StoredRow, lease_of

__all__ = [
    "PendingRow",
    "RunSpec",
    "RunStore",
    "RunView",
    "StoredRow",
    "busy",
    "find_unfinished",
    "find_worked_on",
    "list_runs",
    "run_path",
]

SUFFIX = ".sqlite"
_PART = re.compile(r"\.(\d+)\.part$")  # <run id>.<pid of the importer>.part


class RunStore(RunView):
    """A run opened by its worker: everything of ``RunView``, and the writing.

    Opening takes the run's lease, ``close`` gives it back. Every write checks that the lease is still ours.

    Raises:
        UserError: as ``RunView``; ``run.busy`` when another living worker has the run.
    """

    def __init__(self, path: Path) -> None:
        self._database = Database(path, RUN_SCHEMA, check=True)
        try:
            super().__init__(path)
            self._lease = Lease.mine()
            self._database.write(self._take_lease)
            self.round: Round = self.rounds()[-1]
        except BaseException:
            self._database.close()
            raise

    @classmethod
    def create(cls, directory: Path, spec: RunSpec, rows: Iterable[Sequence[str] | LeftOut]) -> RunStore:
        """Make a run with all its input rows, and open it.

        The file appears under its name only when it is complete; a process killed in between leaves nothing behind
        but a part that the next ``create`` removes.

        Args:
            rows: cells in the order of ``spec.columns``, taken one by one; those left out are answered at once.

        Raises:
            InputError: the table has no rows.
            UserError: no space, or the folder cannot be written.
        """
        _sweep_parts(directory)
        created = datetime.now(UTC)
        run_id = _new_id(directory, created)
        path = directory / f"{run_id}{SUFFIX}"
        part = directory / f"{run_id}.{os.getpid()}.part"
        try:
            with translated(part):
                import_run(part, run_id, created, spec, rows)
            part.rename(path)
        finally:
            part.unlink(missing_ok=True)
        return cls(path)

    @classmethod
    def open(cls, path: Path) -> RunStore:
        """Open an existing run to go on with it."""
        return cls(path)

    def close(self) -> None:
        """Write what is queued, mark a run that is not at its end as unfinished, give the lease back."""
        with contextlib.suppress(EngineError):  # closed before, or the disk is full: the dead lease says the same
            self._database.write(self._give_back)
        super().close()  # first: only a connection that can write clears the write-ahead log when it is the last
        self._database.close()

    def submit_answers(self, batch: Sequence[tuple[int, Sequence[Reading]]]) -> Future[None]:
        """Queue the readings of some rows for one transaction; the future ends when they are on disk.

        Args:
            batch: (row, one reading per question that the round reads, in the form's order).
        """
        return self._database.submit(lambda connection: self._insert(connection, batch))

    def add_answers(self, row: int, readings: Sequence[Reading]) -> None:
        """Store the readings of one row and wait for it."""
        self.submit_answers([(row, readings)]).result()

    def set_state(self, state: RunState, reason: str = "") -> None:
        """Note where the run is, and why when it does not run."""

        def update(connection: sqlite3.Connection) -> None:
            self._check_lease(connection)
            connection.execute("UPDATE run SET state = ?, reason = ?", (state, reason))
            if state == "finished":
                end_round(connection)

        self._database.write(update)

    def note_engine(self, engine: str, facts: Mapping[str, Any]) -> None:
        """Which engine reads a run that was made without one (it waited in a queue)."""

        def write(connection: sqlite3.Connection) -> None:
            self._check_lease(connection)
            kept = json.dumps(facts, ensure_ascii=False)
            connection.execute("UPDATE run SET engine = ?, facts = ?", (engine, kept))
            connection.execute("UPDATE round SET engine = ? WHERE number = ?", (engine, self.round.number))

        self._next_round(write)

    def begin_round(self, kind: RoundKind, method: Method, engine: str) -> Round:
        """Set out to read some of a finished run again; the answers stay until better ones are there.

        Args:
            kind: ``retry`` takes the answers with status error, ``reread`` the unreadable ones.

        Raises:
            InputError: the run is not finished, or there is nothing of that kind.
        """

        def begin(connection: sqlite3.Connection) -> None:
            self._check_lease(connection)
            begin_round(connection, kind, method, engine)

        return self._next_round(begin)

    def add_questions(
        self, form: Mapping[str, Any], form_sha256: str, questions: Sequence[str], method: Method, engine: str
    ) -> Round:
        """Set out to read more questions over the rows of a finished run.

        Args:
            form: the whole form as JSON, the old questions first and unchanged.
            questions: its ids.

        Raises:
            InputError: the run is not finished, or no question is new.
        """

        def begin(connection: sqlite3.Connection) -> None:
            self._check_lease(connection)
            begin_questions(connection, form, form_sha256, tuple(questions), method, engine)

        return self._next_round(begin)

    def _next_round(self, begin: Callable[[sqlite3.Connection], None]) -> Round:
        self._database.write(begin)
        self.spec = RunSpec.from_values(self._run_row())
        self.round = self.rounds()[-1]
        return self.round

    def _insert(self, connection: sqlite3.Connection, batch: Sequence[tuple[int, Sequence[Reading]]]) -> None:
        self._check_lease(connection)
        store_answers(connection, self.spec, self.round, batch)

    def _take_lease(self, connection: sqlite3.Connection) -> None:
        holder = lease_of(_run_row(connection))
        if holder is not None and holder.alive():
            raise busy(self.id, holder.pid)
        mine = self._lease
        connection.execute(
            "UPDATE run SET lease_pid = ?, lease_started = ?, lease_token = ?", (mine.pid, mine.started, mine.token)
        )

    def _check_lease(self, connection: sqlite3.Connection) -> None:
        if connection.execute("SELECT lease_token FROM run").fetchone()[0] != self._lease.token:
            raise UserError("run.taken", "run {run} was taken over by another worker", run=self.id)

    def _give_back(self, connection: sqlite3.Connection) -> None:
        connection.execute(
            """UPDATE run SET lease_pid = NULL, lease_started = NULL, lease_token = NULL,
               state = CASE state WHEN 'finished' THEN state ELSE 'unfinished' END WHERE lease_token = ?""",
            (self._lease.token,),
        )


def run_path(directory: Path, run_id: str) -> Path:
    """The file of a run named by its id.

    Raises:
        InputError: there is no such run.
    """
    path = directory / f"{run_id}{SUFFIX}"
    if not re.fullmatch(r"[\w-]+", run_id) or not path.is_file():
        raise InputError("run.unknown", "there is no run {run}", remedy="`runs` lists them", run=run_id)
    return path


def list_runs(directory: Path, on_damaged: Callable[[Path, EngineError], None] | None = None) -> list[RunInfo]:
    """The runs of a folder, newest first.

    Args:
        on_damaged: told about the files that cannot be read; they are left out.
    """
    found = []
    for path in sorted(directory.glob(f"*{SUFFIX}"), reverse=True):
        try:
            with RunView(path) as view:
                found.append(view.info())
        except EngineError as error:
            if on_damaged is not None:
                on_damaged(path, error)
    return found


def busy(run_id: str, worker: int) -> UserError:
    """A run that another living process writes."""
    return UserError(
        "run.busy",
        "run {run} is still being worked on by process {pid}",
        remedy="wait until it ends, or stop it (Ctrl-C there, or `kill -INT {pid}`: its answers stay) and try again",
        run=run_id,
        pid=worker,
    )


def find_unfinished(
    directory: Path, form_sha256: str, table_sha256: str, selection: Mapping[str, Any] | None = None
) -> RunInfo | None:
    """The newest unfinished run of the same form and table (by the hash of their files) that nobody works on.

    Args:
        selection: only a run that reads these rows; None: any.
    """
    alike = _alike(directory, form_sha256, table_sha256, selection)
    return next((info for info in alike if info.state == "unfinished" and info.worker is None), None)


def find_worked_on(
    directory: Path, form_sha256: str, table_sha256: str, selection: Mapping[str, Any] | None = None
) -> RunInfo | None:
    """The newest run of the same form and table that a living process works on; arguments as ``find_unfinished``."""
    alike = _alike(directory, form_sha256, table_sha256, selection)
    return next((info for info in alike if info.worker is not None), None)


def _alike(
    directory: Path, form_sha256: str, table_sha256: str, selection: Mapping[str, Any] | None
) -> Iterator[RunInfo]:
    for info in list_runs(directory):
        same = (info.form_sha256, info.table_sha256) == (form_sha256, table_sha256)
        if same and (selection is None or _selection(directory, info) == selection):
            yield info


def _selection(directory: Path, info: RunInfo) -> Mapping[str, Any]:
    with RunView(run_path(directory, info.id)) as view:
        return view.spec.selection


def _run_row(connection: sqlite3.Connection) -> sqlite3.Row:
    cursor = connection.execute("SELECT * FROM run")
    cursor.row_factory = sqlite3.Row
    row: sqlite3.Row = cursor.fetchone()
    return row


def _new_id(directory: Path, created: datetime) -> str:
    """Sortable by time of creation, short enough to type: 20261129-171502-a3f9 (UTC)."""
    while True:
        run_id = f"{created:%Y%m%d-%H%M%S}-{secrets.token_hex(2)}"
        if not (directory / f"{run_id}{SUFFIX}").exists():
            return run_id


def _sweep_parts(directory: Path) -> None:
    """Remove the parts of importers that are gone."""
    for part in directory.glob("*.part*"):
        match = _PART.search(part.name.removesuffix("-journal"))
        if match and not psutil.pid_exists(int(match[1])):
            part.unlink(missing_ok=True)
