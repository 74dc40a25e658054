"""What ``decide`` was told, and the run that it prepares from that."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from engine import paths
from engine.batch.export import check_target
from engine.batch.form import load_form
from engine.batch.manifest import Manifest, read_manifest
from engine.batch.pasted import save_piped
from engine.batch.prepare import PreparedRun, prepare, prepare_form
from engine.batch.selection import Selection
from engine.batch.tables import file_sha256, open_table, sniff
from engine.cli.picture_options import chosen
from engine.domain.picture import PictureColumn
from engine.domain.reading import Method
from engine.errors import InputError

STDIN = Path("-")  # a table that is pasted or piped in


@dataclass(frozen=True, slots=True)
class DecideOptions:
    """What the command line says. ``None`` for joint, draws, wire, steps, rotate and pictures: as the form says.

    Attributes:
        form: None: it comes from the manifest.
        encoding, delimiter, header, sheet: how the table is written; None: guessed.
        where, first, sample, seed: which rows are read; all None: all, or as the manifest says.
        manifest: of a run that is to be repeated.
        concurrency: rows at the same time, at most; None: found out.
        resume: None: a new run; empty: the unfinished run of the same form and table; else a run's id.
        queue: put it into the queue instead of running it.
        worker: commands come on stdin.
    """

    form: Path | None
    table: Path
    out: Path
    overwrite: bool = False
    raw: bool = False
    bom: bool = False
    encoding: str | None = None
    delimiter: str | None = None
    header: bool = True
    sheet: str | None = None
    where: str | None = None
    first: int | None = None
    sample: int | None = None
    seed: int | None = None
    manifest: Path | None = None
    engine: str = "embedded"
    api_key: str | None = None
    joint: bool | None = None
    draws: Literal["auto"] | int | None = None
    wire: Literal["canvas", "native"] | None = None
    steps: int | None = None
    rotate: bool | None = None
    picture_column: str | None = None
    picture_separator: str | None = None
    concurrency: int | None = None
    resume: str | None = None
    queue: bool = False
    worker: bool = False

    def method(self, base: Method) -> Method:
        """``base`` with what the command line says instead."""
        return replace(
            base,
            joint=base.joint if self.joint is None else self.joint,
            draws=base.draws if self.draws is None else self.draws,
            wire=base.wire if self.wire is None else self.wire,
            steps=base.steps if self.steps is None else self.steps,
            rotate=base.rotate if self.rotate is None else self.rotate,
        )

    @property
    def picks_pictures(self) -> bool:
        """Whether the command line itself says which column names pictures."""
        return self.picture_column is not None or self.picture_separator is not None

    def pictures(self, base: PictureColumn | None) -> PictureColumn | None:
        """Which column names pictures, ``base`` where the command line says nothing.

        Raises:
            InputError: a separator without a column.
        """
        return chosen(base, self.picture_column, self.picture_separator)

    @property
    def selects(self) -> bool:
        """Whether the command line itself says which rows are read."""
        return any(each is not None for each in (self.where, self.first, self.sample, self.seed))

    def selection(self, base: Selection | None = None) -> Selection:
        """Which rows are read.

        Args:
            base: where the command line says nothing.

        Raises:
            InputError: counts that select nothing, or two of them.
        """
        if not self.selects:
            return base or Selection()
        if self.seed is not None and self.sample is None:
            raise InputError("selection.seed", "--seed is of a sample", remedy="give --sample N too")
        return Selection(self.where or "", self.first, self.sample, self.seed or 0)


def prepare_run(options: DecideOptions) -> PreparedRun:
    """Form, table and what is asked of them, checked. Reads the table: call it off the event loop.

    Raises:
        InputError: names the file, the place, the limit and the value.
    """
    table = _table(options)
    if options.manifest is not None:
        return _repeated(options, read_manifest(options.manifest), table)
    if options.form is None:
        raise InputError("decide.no_form", "no form is given", remedy="name it before the table")
    fmt = sniff(
        table, encoding=options.encoding, delimiter=options.delimiter, header=options.header, sheet=options.sheet
    )
    form = load_form(options.form)
    return prepare(
        options.form,
        table,
        engine=options.engine,
        method=options.method(form.method),
        pictures=options.pictures(form.pictures),
        table_format=fmt,
        selection=options.selection(),
    )


def check_out(options: DecideOptions) -> None:
    """Whether the result can be written; asked before anything runs.

    Raises:
        InputError: as ``check_target``.
    """
    forms = (options.form, options.manifest)
    check_target(options.out, overwrite=options.overwrite, table=options.table, forms=forms)


def _table(options: DecideOptions) -> Path:
    if options.table != STDIN:
        return options.table
    if options.worker:
        raise InputError("decide.stdin", "stdin brings commands with --worker, and no table")
    folder = paths.data_dir() / "pasted"
    folder.mkdir(exist_ok=True)
    # Bytes: their encoding is the table's, not the terminal's. None: the caller closed it (<&-).
    return save_piped(b"" if sys.stdin is None else sys.stdin.buffer.read(), folder)


def _repeated(options: DecideOptions, manifest: Manifest, table: Path) -> PreparedRun:
    """The run of a manifest over the same table, wherever that lies now."""
    if (found := file_sha256(table)) != manifest.table_sha256:
        raise InputError(
            "manifest.other_table",
            "{path} is not the table of run {run}: SHA-256 {found}, and {wanted} is wanted",
            remedy="give the file {name} unchanged, or the form instead of the manifest for another table",
            path=str(table),
            run=manifest.run,
            found=found[:16],
            wanted=manifest.table_sha256[:16],
            name=manifest.table_name,
        )
    pictures = options.pictures(manifest.form.pictures)
    form = replace(manifest.form, method=options.method(manifest.method), pictures=pictures)
    opened = open_table(table, manifest.table_format)
    selection = options.selection(manifest.selection)
    return prepare_form(form, manifest.path, manifest.form_sha256, opened, options.engine, selection)
