"""Reading a run's file: what it is, how far it is, its rows and answers. Never writes, never waits for the writer."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

from engine.domain.picture import PictureUse
from engine.domain.reading import STATUSES, Method, Reading, ReadStatus
from engine.domain.run import Label, Round, RunInfo, RunState, Totals
from engine.store.db import connect_readonly, translated
from engine.store.lease import Lease
from engine.store.run_schema import RUN_SCHEMA

PAGE = 500  # rows fetched at a time when all of them are wanted


@dataclass(frozen=True, slots=True)
class RunSpec:
    """What a run is made of; fixed when it is created.

    Attributes:
        form: the form as JSON, as its file describes it.
        questions: ids in the form's order.
        wording: version of the words put to the model.
        table_format: how the table was read (encoding, delimiter, ...), JSON values only.
        columns: of the table, in order.
        engine: the engine in words, for the reader of the results.
        selection: which rows are read (a filter, a sample); empty: all. JSON values only.
        facts: about the engine and the program, for the manifest. JSON values only.
    """

    name: str
    form: Mapping[str, Any]
    form_path: str
    form_sha256: str
    questions: tuple[str, ...]
    method: Method
    wording: int
    table_path: str
    table_sha256: str
    table_format: Mapping[str, Any]
    columns: tuple[str, ...]
    engine: str
    selection: Mapping[str, Any] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)

    def as_values(self) -> dict[str, Any]:
        """The fields as the columns of table ``run``."""
        values = asdict(self)
        for key in ("form", "method", "table_format", "selection", "facts"):
            values[key] = json.dumps(values[key], ensure_ascii=False)
        for key in ("questions", "columns"):
            values[key] = json.dumps(list(values[key]), ensure_ascii=False)
        return values

    @classmethod
    def from_values(cls, row: sqlite3.Row) -> RunSpec:
        """The inverse of ``as_values``."""
        return cls(
            name=row["name"],
            form=json.loads(row["form"]),
            form_path=row["form_path"],
            form_sha256=row["form_sha256"],
            questions=tuple(json.loads(row["questions"])),
            method=Method(**json.loads(row["method"])),
            wording=row["wording"],
            table_path=row["table_path"],
            table_sha256=row["table_sha256"],
            table_format=json.loads(row["table_format"]),
            columns=tuple(json.loads(row["columns"])),
            engine=row["engine"],
            selection=json.loads(row["selection"]),
            facts=json.loads(row["facts"]),
        )


class PendingRow(NamedTuple):
    """A row with questions that the round has not read yet (places in the form)."""

    row: int
    cells: tuple[str, ...]
    questions: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class StoredRow:
    """A row of the table with its readings in the form's order; no readings while it is unanswered.

    Attributes:
        row: its number in the table, the first row after the header is 1.
    """

    row: int
    cells: tuple[str, ...]
    readings: tuple[Reading, ...]


class RunView:
    """A read-only look at a run, also while a worker writes it. Calls may come from any thread.

    Raises:
        UserError: the file is missing, damaged, foreign or newer than the program.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._reading = threading.Lock()
        self._reader = connect_readonly(path, RUN_SCHEMA)
        self._reader.row_factory = sqlite3.Row
        try:
            row = self._run_row()
        except BaseException:
            self._reader.close()
            raise
        self.id: str = row["id"]
        self.created: str = row["created"]
        self.rows: int = row["rows"]
        self.spec = RunSpec.from_values(row)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """May be called twice."""
        with self._reading:
            self._reader.close()

    def info(self) -> RunInfo:
        """The run as lists show it. A run whose worker is gone is unfinished, whatever its last word was."""
        row = self._run_row()
        worker = _worker(row)
        spec, totals, current = self.spec, self.totals(), self.rounds()[-1]
        return RunInfo(
            id=self.id,
            name=spec.name,
            state=_state(row, worker),
            created=self.created,
            rows=self.rows,
            question_ids=spec.questions,
            done=self.answered(),
            table_path=spec.table_path,
            form_sha256=spec.form_sha256,
            table_sha256=spec.table_sha256,
            engine=spec.engine,
            method=spec.method.name,
            totals=totals,
            round=current.number,
            round_kind=current.kind,
            worker=worker,
        )

    def reason(self) -> str:
        """Why the run is paused or unfinished; empty when nothing was said."""
        return str(self._run_row()["reason"])

    def totals(self) -> dict[str, Totals]:
        """Answers by status for each question, in the form's order."""
        counts: dict[str, dict[str, int]] = {question: {} for question in self.spec.questions}
        for question, status, answers in self._read(lambda c: c.execute("SELECT * FROM tally").fetchall()):
            counts[self.spec.questions[question]][status] = answers
        return {question: Totals(**by_status) for question, by_status in counts.items()}

    def answered(self) -> int:
        """How many answers are there and are not to be read again."""
        query = "SELECT (SELECT sum(answers) FROM tally) - (SELECT count(*) FROM answer WHERE due > 0)"
        return int(self._read(lambda c: c.execute(query).fetchone()[0]))

    def done_rows(self) -> int:
        """How many rows have been read or left out. A round's readings of a row are stored together."""
        return int(self._read(lambda c: c.execute("SELECT count(*) FROM answer WHERE question = 0").fetchone()[0]))

    def rounds(self) -> list[Round]:
        """The passes over the run in order; the last one is current."""
        query = "SELECT * FROM round ORDER BY number"
        return [_round(row) for row in self._read(lambda c: c.execute(query).fetchall())]

    def pending(self, after_row: int, limit: int) -> list[PendingRow]:
        """The next rows behind ``after_row`` that the current round has to read."""
        current = self.rounds()[-1]
        if current.kind in ("run", "questions"):
            query = """SELECT row, cells FROM input WHERE row > :after AND NOT EXISTS
                (SELECT 1 FROM answer WHERE answer.row = input.row AND question = :first) ORDER BY row LIMIT :limit"""
            values = {"after": after_row, "first": current.questions[0], "limit": limit}
            found = self._read(lambda c: c.execute(query, values).fetchall())
            return [PendingRow(row, tuple(json.loads(cells)), current.questions) for row, cells in found]
        # ``due > 0`` is said so that the partial index is used.
        query = """SELECT answer.row, cells, json_group_array(question) FROM answer JOIN input USING (row)
            WHERE due = :round AND due > 0 AND answer.row > :after
            GROUP BY answer.row ORDER BY answer.row LIMIT :limit"""
        values = {"after": after_row, "round": current.number, "limit": limit}
        found = self._read(lambda c: c.execute(query, values).fetchall())
        return [PendingRow(row, tuple(json.loads(cells)), tuple(sorted(json.loads(due)))) for row, cells, due in found]

    def earlier(self, first_row: int, last_row: int) -> dict[tuple[int, int], list[Reading]]:
        """Answers that later rounds replaced, and later attempts that failed, by (row, question), in order."""
        query = "SELECT * FROM earlier WHERE row BETWEEN ? AND ? ORDER BY row, question, round"
        found: dict[tuple[int, int], list[Reading]] = {}
        for each in self._read(lambda c: c.execute(query, (first_row, last_row)).fetchall()):
            found.setdefault((each["row"], each["question"]), []).append(self._reading_of(each))
        return found

    def labels(self, first_row: int = 1, last_row: int = 2**62) -> dict[tuple[int, int], Label]:
        """What reviewers say, by (row, question): the last word about each answer that was not undone."""
        query = """SELECT row, question, value, author, at FROM review
            WHERE row BETWEEN ? AND ? AND undone = 0 ORDER BY id"""
        found = self._read(lambda c: c.execute(query, (first_row, last_row)).fetchall())
        return {(each["row"], each["question"]): Label(*each) for each in found}

    def has_labels(self) -> bool:
        """Whether anybody has reviewed anything."""
        query = "SELECT EXISTS (SELECT 1 FROM review WHERE undone = 0)"
        return bool(self._read(lambda c: c.execute(query).fetchone()[0]))

    def page(self, after_row: int = 0, limit: int = 200, status: ReadStatus | None = None) -> list[StoredRow]:
        """Rows behind ``after_row`` in the table's order.

        Args:
            status: only rows with at least one reading of this status.
        """
        if status is None:
            query = "SELECT row, cells FROM input WHERE row > :after ORDER BY row LIMIT :limit"
        else:
            # The status is written out (it is one of four constants): only so is the partial index used.
            literal = STATUSES[STATUSES.index(status)]
            query = f"""SELECT row, cells FROM input WHERE row IN
                (SELECT DISTINCT row FROM answer WHERE status = '{literal}' AND row > :after ORDER BY row LIMIT :limit)
                ORDER BY row"""
        return self._rows(query, {"after": after_row, "limit": limit})

    def row(self, number: int) -> StoredRow | None:
        """One row by its number."""
        found = self._rows("SELECT row, cells FROM input WHERE row = :row", {"row": number})
        return found[0] if found else None

    def iter_rows(self, page: int = PAGE) -> Iterator[StoredRow]:
        """All rows in the table's order, a page in memory at a time."""
        after = 0
        while rows := self.page(after, page):
            yield from rows
            after = rows[-1].row

    def _rows(self, query: str, values: Mapping[str, Any]) -> list[StoredRow]:
        def read(connection: sqlite3.Connection) -> list[StoredRow]:
            found = connection.execute(query, values).fetchall()
            if not found:
                return []
            readings: dict[int, list[Reading]] = {}
            numbers = [row for row, _ in found]
            wanted = set(numbers)
            answers = connection.execute(
                "SELECT * FROM answer WHERE row BETWEEN ? AND ? ORDER BY row, question", (numbers[0], numbers[-1])
            )
            for answer in answers:
                if answer["row"] in wanted:
                    readings.setdefault(answer["row"], []).append(self._reading_of(answer))
            return [StoredRow(row, tuple(json.loads(cells)), tuple(readings.get(row, ()))) for row, cells in found]

        return self._read(read)

    def _reading_of(self, row: sqlite3.Row) -> Reading:
        argmax = row["argmax_is_label"]
        return Reading(
            question_id=self.spec.questions[row["question"]],
            status=row["status"],
            value=row["value"],
            shares=tuple(json.loads(row["shares"])),
            label_mass=row["label_mass"],
            argmax_is_label=None if argmax is None else bool(argmax),
            entropy=row["entropy"],
            mean_mass=row["mean_mass"],
            draws=row["draws"],
            stderr=row["stderr"],
            agreement=row["agreement"],
            method=row["method"],
            error=row["error"],
            round=row["round"],
            pictures=_pictures(row["pictures"]),
        )

    def query[T](self, read: Callable[[sqlite3.Connection], T]) -> T:
        """Ask the file something, for the other modules of the store."""
        return self._read(read)

    def _run_row(self) -> sqlite3.Row:
        row: sqlite3.Row = self._read(lambda c: c.execute("SELECT * FROM run").fetchone())
        return row

    def _read[T](self, query: Callable[[sqlite3.Connection], T]) -> T:
        with self._reading, translated(self.path):
            return query(self._reader)


def _pictures(array: str) -> tuple[PictureUse, ...]:
    return tuple(PictureUse(*each) for each in json.loads(array)) if array else ()


def _round(row: sqlite3.Row) -> Round:
    return Round(
        number=row["number"],
        kind=row["kind"],
        method=Method(**json.loads(row["method"])),
        engine=row["engine"],
        questions=tuple(json.loads(row["questions"])),
        answers=row["answers"],
        started=row["started"],
        ended=row["ended"],
    )


def lease_of(row: sqlite3.Row) -> Lease | None:
    """The claim noted in table ``run``, whether its process lives or not."""
    if row["lease_token"] is None:
        return None
    return Lease(row["lease_pid"], row["lease_started"], row["lease_token"])


def _worker(row: sqlite3.Row) -> int | None:
    """The process whose claim on the run holds; None when there is none, or it is gone."""
    lease = lease_of(row)
    return lease.pid if lease is not None and lease.alive() else None


def _state(row: sqlite3.Row, worker: int | None) -> RunState:
    state: RunState = row["state"]
    return state if state == "finished" or worker is not None else "unfinished"
