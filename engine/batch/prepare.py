"""From a form file and a table to a run: everything that can be wrong is found here, before anything is asked."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from pathlib import Path

from engine.batch.form import check_columns, dump_form, form_sha256, load_form, parse_form
from engine.batch.row_state import RowStates
from engine.batch.selection import Selection, check_selection, select
from engine.batch.tables import Table, TableFormat, file_sha256, open_table
from engine.batch.template import RowTemplate
from engine.domain.form import Form
from engine.domain.picture import PictureColumn
from engine.domain.reading import Method
from engine.errors import InputError
from engine.reads.prompt import WORDING
from engine.reads.reader import check_reading
from engine.store.runs import RunSpec, RunStore, RunView


@dataclass(frozen=True, slots=True)
class PreparedRun:
    """A checked form over a checked table.

    Attributes:
        spec: what will be stored with the run.
    """

    form: Form
    table: Table
    template: RowTemplate
    spec: RunSpec

    def create(self, directory: Path) -> RunStore:
        """Copy the table's rows into a new run. Reads the whole table: call it off the event loop.

        Raises:
            InputError: a faulty row, no row at all, or none that is selected.
            UserError: no space left.
        """
        selection = Selection(**self.spec.selection)
        return RunStore.create(directory, self.spec, select(self.table, selection) if selection else self.table.rows())


def prepare(
    form_path: Path,
    table_path: Path,
    *,
    engine: str,
    method: Method | None = None,
    pictures: PictureColumn | None = None,
    table_format: TableFormat | None = None,
    selection: Selection | None = None,
) -> PreparedRun:
    """Check a form against a table.

    Args:
        engine: the engine in words, stored with the run.
        method, pictures: instead of the form's.
        table_format: instead of the one found by ``tables.sniff``.
        selection: which rows are read; None: all.

    Raises:
        InputError: names the file, the place, the limit and the value.
    """
    form = load_form(form_path)
    if method is not None:
        form = replace(form, method=method)
    if pictures is not None:
        form = replace(form, pictures=pictures)
    return prepare_form(
        form, form_path, form_sha256(form_path), open_table(table_path, table_format), engine, selection or Selection()
    )


def prepare_form(
    form: Form, form_path: Path, form_hash: str, table: Table, engine: str, selection: Selection
) -> PreparedRun:
    """Check a form that has been read already against a table.

    Args:
        form_path: where it came from (its file, or a manifest), for messages.
        form_hash: SHA-256 of its file.

    Raises:
        InputError: as ``prepare``.
    """
    check_columns(form, table.columns, str(form_path))
    template = RowTemplate(form.state, table.columns, f"{form_path}: state")
    check_reading(form.questions, form.method)
    if next(table.rows(), None) is None:
        raise InputError("table.empty", "{path} has no rows below its header", path=str(table.path))
    check_selection(table, selection)
    spec = RunSpec(
        name=form.name,
        form=dump_form(form),
        form_path=str(form_path.absolute()),
        form_sha256=form_hash,
        questions=tuple(question.id for question in form.questions),
        method=form.method,
        wording=WORDING,
        table_path=str(table.path.absolute()),
        table_sha256=file_sha256(table.path),
        table_format=asdict(table.format),
        columns=table.columns,
        engine=engine,
        selection=selection.as_json(),
    )
    return PreparedRun(form, table, template, spec)


def has_pictures(path: Path) -> bool:
    """Whether the rows of a stored run come with pictures. Raises as ``RunView``."""
    with RunView(path) as view:
        return form_of(view).pictures is not None


def form_of(view: RunView) -> Form:
    """The form that a run was made with."""
    return parse_form(view.spec.form, f"run {view.id}")


def states_of(view: RunView) -> RowStates:
    """What makes the states of a run's rows; paths of pictures start where the run's table lay."""
    spec = view.spec
    return RowStates(form_of(view), spec.columns, Path(spec.table_path).parent, f"run {view.id}: state")
