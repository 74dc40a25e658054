"""A run as a file: CSV, workbook, Parquet, JSON lines. The columns are a contract: docs/export.md."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Literal, cast

from engine.batch.export_rows import ExportTable, quoted
from engine.batch.export_target import check_target, replacing
from engine.batch.prepare import PreparedRun, form_of
from engine.domain.run import Totals
from engine.store.runs import RunView

__all__ = ["ExportSummary", "check_holds", "check_target", "export_csv", "export_run", "kind_of"]

ExportKind = Literal["csv", "xlsx", "parquet", "jsonl", "manifest", "report"]
_BUFFER = 1 << 18  # bytes
_SUFFIXES: dict[str, ExportKind] = {
    ".xlsx": "xlsx",
    ".parquet": "parquet",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "manifest",
    ".html": "report",
    ".htm": "report",
}


@dataclass(frozen=True, slots=True)
class ExportSummary:
    """What was written.

    Attributes:
        rows: rows of the table; all of them are written, but for a manifest or a report, which are about them.
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


def kind_of(out: Path) -> ExportKind:
    """What a file of this name holds: by its suffix, and a CSV for any other."""
    return _SUFFIXES.get(out.suffix.lower(), "csv")


def export_run(
    store_path: Path,
    out: Path,
    *,
    kind: ExportKind | None = None,
    overwrite: bool = False,
    raw: bool = False,
    bom: bool = False,
    on_rows: Callable[[int, int], None] | None = None,
) -> ExportSummary:
    """Write a run, a page of rows in memory at a time.

    The file appears under its name only when it is complete. A run may be exported while it runs or unfinished.

    Args:
        kind: None: by the suffix of ``out``.
        overwrite: replace an existing file.
        raw, bom: of a CSV, see ``export_csv``.
        on_rows: told (rows written, rows in all) now and then; what it raises ends the export, and nothing is left.

    Raises:
        InputError: the target cannot be used, or this kind of file cannot hold the run.
        UserError: the run cannot be read, or the disk is full; the target is as it was.
    """
    chosen = kind or kind_of(out)
    with RunView(store_path) as view:
        check_target(out, overwrite=overwrite, table=Path(view.spec.table_path), forms=[Path(view.spec.form_path)])
        if chosen in ("manifest", "report"):
            return _export_about(view, out, chosen, overwrite)
        table = ExportTable(view, form_of(view), typed=chosen != "csv", guard=chosen == "csv" and not raw)
        table.on_rows = on_rows
        write = _writer(chosen, view, bom)
        with replacing(out, overwrite=overwrite) as part:
            write(table, part)
        return ExportSummary(out, view.rows, table.unanswered, table.guarded, table.renamed, table.totals)


def check_holds(out: Path, run: PreparedRun | RunView) -> None:
    """Whether a file of this kind can hold the run's rows and answers: asked before they are read.

    Reads the whole table for a workbook: call it off the event loop.

    Raises:
        InputError: a workbook would be too small; names the place and the limit.
    """
    if kind_of(out) != "xlsx":
        return
    from engine.batch.export_xlsx import check_run, check_sheet

    if isinstance(run, RunView):
        check_run(run)
    else:
        check_sheet(run.form, run.table.columns, enumerate(run.table.rows(), start=1))


def export_csv(
    store_path: Path, out: Path, *, overwrite: bool = False, raw: bool = False, bom: bool = False
) -> ExportSummary:
    """Write a run as CSV: UTF-8, commas, CRLF (RFC 4180).

    Args:
        raw: leave cells as they are, formulas included.
        bom: begin with a byte order mark, by which Excel knows UTF-8.

    Raises:
        InputError, UserError: as ``export_run``.
    """
    return export_run(store_path, out, kind="csv", overwrite=overwrite, raw=raw, bom=bom)


def _writer(kind: ExportKind, view: RunView, bom: bool) -> Callable[[ExportTable, Path], None]:
    """Their libraries are loaded when they are needed."""
    match kind:
        case "xlsx":
            from engine.batch.export_xlsx import write_workbook

            return lambda table, part: write_workbook(table, part, view)
        case "parquet":
            from engine.batch.export_parquet import write_parquet

            return lambda table, part: write_parquet(table, part, view)
        case "jsonl":
            from engine.batch.export_jsonl import write_json_lines

            return lambda table, part: write_json_lines(table, part, view)
        case _:
            return lambda table, part: _write_csv(table, part, bom)


def _write_csv(table: ExportTable, part: Path, bom: bool) -> None:
    with part.open("w", encoding="utf-8", newline="", buffering=_BUFFER) as file:
        if bom:
            file.write("\ufeff")
        rows = cast("Iterator[Sequence[str]]", table.rows())  # not typed, so they are texts
        file.writelines(f"{','.join(cells)}\r\n" for cells in chain([quoted(table.names)], rows))


def _export_about(view: RunView, out: Path, kind: ExportKind, overwrite: bool) -> ExportSummary:
    """A manifest or a report: about the run, not its rows."""
    if kind == "manifest":
        from engine.batch.manifest import manifest_text

        text = manifest_text(view)
    else:
        from engine.batch.html_report import html_report

        text = html_report(view)
    with replacing(out, overwrite=overwrite) as part:
        part.write_text(text, encoding="utf-8")
    totals = view.totals()
    unanswered = view.rows - view.done_rows()
    return ExportSummary(out, view.rows, unanswered, 0, (), totals)
