"""A run as CSV. The columns are a contract: docs/export.md."""

from __future__ import annotations

import contextlib
import csv
import errno
import os
import secrets
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from engine.batch.columns import ROW_ID, input_names, question_columns
from engine.batch.formulas import guarded
from engine.batch.prepare import form_of
from engine.domain.form import Form
from engine.domain.question import Question
from engine.domain.reading import STATUSES, Reading
from engine.domain.run import Totals
from engine.errors import BugError, InputError, UserError
from engine.store.runs import RunView, StoredRow

ROWS_A_WRITE = 500


@dataclass(frozen=True, slots=True)
class ExportSummary:
    """What was written.

    Attributes:
        rows: rows written: all rows of the table.
        unanswered: rows that the run has not come to; their answers and statuses are empty.
        guarded: cells that got an apostrophe.
        renamed: input columns whose name the export needed: (old, new).
        totals: answers by status, per question.
    """

    path: Path
    rows: int
    unanswered: int
    guarded: int
    renamed: tuple[tuple[str, str], ...]
    totals: dict[str, Totals]


def check_target(out: Path, *, overwrite: bool = False, table: Path | None = None) -> None:
    """Whether a file can be written there; asked before a run starts, and again before the export.

    Args:
        table: the run's own table, which is never overwritten.

    Raises:
        InputError: it exists, is a folder or the table, or its folder is missing or not writable.
    """
    if out.is_dir():
        raise InputError("export.folder", "{path} is a folder; name a file", path=str(out))
    if out.exists() and not out.is_file():
        raise InputError("export.not_a_file", "{path} is a device or a pipe; name a file", path=str(out))
    if table is not None and out.exists() and table.exists() and out.samefile(table):
        raise InputError("export.own_table", "{path} is the table of this run; choose another file", path=str(out))
    if out.exists() and not overwrite:
        raise InputError(
            "export.exists",
            "{path} exists",
            remedy="choose another file, or allow to overwrite it (--overwrite)",
            path=str(out),
        )
    folder = out.absolute().parent
    if not folder.is_dir():
        raise InputError("export.no_folder", "there is no folder {path}", path=str(folder))
    if not os.access(folder, os.W_OK | os.X_OK):
        raise InputError("export.no_access", "cannot write into the folder {path}", path=str(folder))


def export_csv(
    store_path: Path, out: Path, *, overwrite: bool = False, raw: bool = False, bom: bool = False
) -> ExportSummary:
    """Write a run as CSV: UTF-8, commas, CRLF (RFC 4180), a page of rows in memory at a time.

    The file appears under its name only when it is complete. A run may be exported while it runs or unfinished.

    Args:
        overwrite: replace an existing file.
        raw: leave cells as they are, formulas included.
        bom: begin with a byte order mark, by which Excel knows UTF-8.

    Raises:
        InputError: the target cannot be used.
        UserError: the run cannot be read, or the disk is full; the target is as it was.
    """
    with RunView(store_path) as view:
        check_target(out, overwrite=overwrite, table=Path(view.spec.table_path))
        with _replacing(out, overwrite) as file:
            if bom:
                file.write("\ufeff")
            return _Export(view, form_of(view), raw).write(file, out)


class _Export:
    """One export: how cells are written, and what is counted on the way."""

    def __init__(self, view: RunView, form: Form, raw: bool) -> None:
        self.view, self.form, self.raw = view, form, raw
        self.guarded = 0
        self.unanswered = 0
        self.counts: dict[str, Counter[str]] = {question.id: Counter() for question in form.questions}

    def write(self, file: TextIO, out: Path) -> ExportSummary:
        """Write header and rows."""
        writer = csv.writer(file, lineterminator="\r\n")
        columns = self.view.spec.columns
        own = [self._text(name) for question in self.form.questions for name in question_columns(question)]
        shown = [self._text(column) for column in columns]
        names = input_names(shown, [ROW_ID, *own])
        writer.writerow([ROW_ID, *names, *own])
        rows = 0
        for stored in self.view.iter_rows(ROWS_A_WRITE):
            writer.writerow(self._row(stored))
            rows += 1
        if rows != self.view.rows:
            raise BugError("export.rows", "{rows} rows of {total} were exported", rows=rows, total=self.view.rows)
        totals = {
            question: Totals(**{status: counts[status] for status in STATUSES})
            for question, counts in self.counts.items()
        }
        renamed = tuple((old, new) for old, new in zip(shown, names, strict=True) if old != new)
        return ExportSummary(out, rows, self.unanswered, self.guarded, renamed, totals)

    def _row(self, stored: StoredRow) -> list[str]:
        cells = [str(stored.row), *map(self._text, stored.cells)]
        if not stored.readings:
            self.unanswered += 1
            for question in self.form.questions:
                cells += [""] * len(question_columns(question))
            return cells
        for question, reading in zip(self.form.questions, stored.readings, strict=True):
            self.counts[question.id][reading.status] += 1
            cells += self._answer(question, reading)
        return cells

    def _answer(self, question: Question, reading: Reading) -> list[str]:
        ok = reading.status == "ok"
        value = reading.value if ok else None
        shares = reading.shares if ok else ()
        return [
            self._text(value) if isinstance(value, str) else _number(value),
            reading.status,
            *(map(_number, shares) if shares else [""] * len(question.answers)),
            _number(reading.label_mass),
            _truth(reading.argmax_is_label),
            _number(reading.entropy),
            str(reading.draws),
            _number(reading.stderr),
            _number(reading.agreement),
            reading.method,
            self._text(reading.error),
        ]

    def _text(self, cell: str) -> str:
        if self.raw:
            return cell
        safe = guarded(cell)
        self.guarded += safe is not cell
        return safe


def _number(value: float | None) -> str:
    """With a point and all digits that tell it from its neighbours; empty for None."""
    return "" if value is None else repr(float(value))


def _truth(value: bool | None) -> str:
    return "" if value is None else "true" if value else "false"


@contextlib.contextmanager
def _replacing(out: Path, overwrite: bool) -> Iterator[TextIO]:
    """A temporary file beside the target that takes its name at the end; nothing is left of a failed export."""
    target = out.resolve() if overwrite else out.absolute()
    part = target.with_name(f".{target.name[:100]}.{secrets.token_hex(4)}.part")
    try:
        # Mode 666 less the umask, as for any new file; a temporary file of the standard library would be private.
        handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
        with open(handle, "w", encoding="utf-8", newline="") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        _take_name(part, target, overwrite)
    except OSError as error:
        raise _failed(error, out) from error
    finally:
        part.unlink(missing_ok=True)


def _take_name(part: Path, target: Path, overwrite: bool) -> None:
    if overwrite:
        part.replace(target)
        return
    with contextlib.suppress(PermissionError, NotImplementedError):  # a file system without hard links
        os.link(part, target)  # unlike a rename it fails when somebody has made the file meanwhile
        return
    if target.exists():
        raise FileExistsError(errno.EEXIST, "exists", str(target))
    part.rename(target)


def _failed(error: OSError, out: Path) -> UserError:
    if isinstance(error, FileExistsError):
        return InputError("export.exists", "{path} exists", remedy="choose another file", path=str(out))
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        remedy = "free some space or choose another disk; the run is kept"
        return UserError("disk.full", "no space left for {path}", remedy=remedy, path=str(out))
    detail = error.strerror or str(error)
    return UserError("export.failed", "cannot write {path}: {detail}", path=str(out), detail=detail)
