"""The table behind the Decisions page: open it, overrule what was guessed, render its rows through the template."""

from __future__ import annotations

import asyncio
import difflib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from app.models.decisions_table import TableFacts
from app.tasks import spawn
from engine import paths
from engine.batch.form import check_columns
from engine.batch.pasted import save_pasted
from engine.batch.row_sample import sample_rows
from engine.batch.row_state import RowStates
from engine.batch.selection import Selection, check_filter, first_selected, select
from engine.batch.tables import Table, TableFormat, sniff
from engine.batch.template import RowTemplate, column_reference
from engine.domain.form import Form
from engine.domain.picture import State
from engine.domain.run import LeftOut
from engine.errors import EngineError, InputError

SAMPLE = 500  # rows kept for previews
SHOWN = 100  # rows of the table preview

_BRACES = re.compile(r"\{\{.*?\}\}|\{%.*?%\}", re.DOTALL)
_COLUMN = re.compile(r"""row\[(["'])(?P<key>.*?)\1\]|(?<![\w."'])(?P<word>[^\W\d]\w*)(?![\w"'])""")


class TablePresenter(QObject):
    """Holds the open table.

    Signals:
        changed(): another table, another reading of it, or its rows have been counted; read ``facts``.
        selection_changed(): which rows a run would read; read ``selection``, ``remaining``, ``selection_fault``.
        failed(str): the file that was chosen cannot be used; what was open stays open.
    """

    changed = Signal()
    selection_changed = Signal()
    failed = Signal(str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.facts: TableFacts | None = None
        self.fault = ""
        self.overruled: Mapping[str, object] = {}
        self.selection = Selection()
        self.remaining: int | None = None  # rows that pass ``selection``; None while they are being counted
        self.selection_fault = ""
        self._selecting = 0
        self._format: TableFormat | None = None
        self._sample: Sequence[tuple[str, ...]] = ()
        self._serial = 0

    @property
    def columns(self) -> tuple[str, ...]:
        return self.facts.columns if self.facts is not None else ()

    @property
    def sample_size(self) -> int:
        return len(self._sample)

    def row(self, index: int) -> dict[str, str]:
        """Cells by column of a row of the sample, 0-based."""
        return dict(zip(self.columns, self._sample[index], strict=True))

    def open(self, path: Path) -> None:
        """Open a file; the guesses about it stand."""
        spawn(self, self.load(path), "open table")

    def paste(self, text: str) -> None:
        """Open cells that were copied elsewhere; they are kept as a file, so that their run can be resumed."""
        spawn(self, self._paste(text), "paste table")

    def overrule(self, given: Mapping[str, object]) -> None:
        """Read the open file in another way: encoding, delimiter, header, sheet; what is left out is guessed."""
        if self.facts is not None:
            spawn(self, self.load(Path(self.facts.path), dict(given)), "read table differently")

    def select(self, selection: Selection) -> None:
        """Read only some rows."""
        if selection != self.selection:
            self.selection = selection
            self._count_selected()

    async def load(self, path: Path, overruled: Mapping[str, object] | None = None) -> None:
        """Open a file and count its rows. A fault is told by ``failed`` or, when rows deep down are bad, ``fault``."""
        self._serial += 1
        serial = self._serial
        try:
            fmt, sample = await asyncio.to_thread(_read, path, overruled or {})
        except EngineError as error:
            if serial == self._serial:
                if self.facts is None:
                    self.selection = Selection()  # it was meant for the table that cannot be opened
                self.failed.emit(str(error))
            return
        if serial != self._serial:
            return
        if self.facts is not None and self.facts.path != str(path):
            self.selection = Selection()  # a filter is about one table's columns
        self._format, self._sample, self.fault = fmt, sample, ""
        self.overruled = overruled or {}
        self.facts = _facts(path, fmt, sample, None)
        self.changed.emit()
        try:
            count = await asyncio.to_thread(Table(path, fmt).count)
        except EngineError as error:
            count, fault = None, str(error)
        else:
            fault = ""
        if serial == self._serial:
            self.fault = fault
            self.facts = _facts(path, fmt, sample, count)
            self.changed.emit()
            self._count_selected()

    def close(self) -> None:
        """No table is open any more."""
        self._serial += 1
        self.facts, self._format, self._sample, self.fault, self.overruled = None, None, (), "", {}
        self.selection, self.remaining, self.selection_fault = Selection(), None, ""
        self._selecting += 1
        self.changed.emit()
        self.selection_changed.emit()

    def render(self, source: str, index: int) -> tuple[str, str]:
        """(text, error) of a row of the sample; the error names what is wrong with the template."""
        if not source.strip() or not self._sample:
            return "", ""
        try:
            return RowTemplate(source, self.columns).render(self.row(index)), ""
        except EngineError as error:
            return "", str(error)

    def state(self, form: Form, index: int) -> tuple[State, str]:
        """What is asked about a row of the sample, or why a run asks nothing about it."""
        if form.pictures is None or not self._sample or self.facts is None:
            text, error = self.render(form.state, index)
            empty = "" if text.strip() else self.tr("This row's text is empty; a run skips it.")
            return text, error or empty
        try:
            check_columns(form, self.columns, form.name)
            states = RowStates(form, self.columns, Path(self.facts.path).parent)
            state = states.render(self.row(index))
        except EngineError as error:
            return "", str(error)
        nothing = states.nothing(state)
        return state, self.tr("This row names no picture; a run skips it.") if nothing else ""

    async def first_selected(self, count: int) -> list[tuple[int, dict[str, str]]]:
        """(number, cells by column) of the first rows that a run would read.

        Raises:
            InputError: no table, or the filter fails.
        """
        if self.facts is None or self._format is None:
            raise InputError("table.none", "no table is open", remedy="open one in step 2")
        table, columns = Table(Path(self.facts.path), self._format), self.columns
        rows = await asyncio.to_thread(first_selected, table, self.selection, count)
        return [(number, dict(zip(columns, cells, strict=True))) for number, cells in rows]

    async def sampled(self, form: Form, count: int) -> list[tuple[str, State]]:
        """(number, state) of rows at random out of those that a run would read: those that the command line draws too.

        Raises:
            InputError: no table, a column is missing, the filter fails, or no row has a text.
        """
        if self.facts is None or self._format is None:
            raise InputError("table.none", "no table is open", remedy="open one in step 2")
        table, seed = Table(Path(self.facts.path), self._format), form.method.seed
        rows = await asyncio.to_thread(sample_rows, form, table, count, seed=seed, selection=self.selection)
        return [(row.key, row.state) for row in rows]

    async def _paste(self, text: str) -> None:
        try:
            path = await asyncio.to_thread(_keep_pasted, text)
        except (EngineError, OSError) as error:
            self.failed.emit(str(error))
            return
        await self.load(path)

    def _count_selected(self) -> None:
        self._selecting += 1
        facts = self.facts
        if facts is None or self.selection:
            self.remaining, self.selection_fault = None, ""
            if facts is not None and self._format is not None:
                table = Table(Path(facts.path), self._format)
                spawn(self, self._count(table, self.selection, self._selecting), "count selected rows")
        else:
            self.remaining, self.selection_fault = facts.count, ""
        self.selection_changed.emit()

    async def _count(self, table: Table, selection: Selection, serial: int) -> None:
        count, fault = None, ""
        try:
            count = await asyncio.to_thread(_selected, table, selection, lambda: serial != self._selecting)
        except EngineError as error:
            fault = str(error)
        if serial == self._selecting:
            self.remaining, self.selection_fault = count, fault
            self.selection_changed.emit()


def _selected(table: Table, selection: Selection, given_up: Callable[[], bool]) -> int:
    """How many rows would be read; less when it is given up, and then nobody asks."""
    if selection.where:
        check_filter(selection.where, table.columns)
    count = 0
    for row in select(table, selection):
        count += not isinstance(row, LeftOut)
        if given_up():
            break
    return count


def _keep_pasted(text: str) -> Path:
    folder = paths.data_dir() / "pasted"
    folder.mkdir(parents=True, exist_ok=True)
    return save_pasted(text, folder)


def missing_columns(source: str, columns: Sequence[str], others: Sequence[str] = ()) -> list[tuple[str, str]]:
    """Columns that a template names and the table lacks, each with the nearest one that it has.

    Args:
        others: further columns that the form needs (gold, group).
    """
    known = list(columns)
    missing: list[str] = []
    while True:
        try:
            RowTemplate(source, known)
            break
        except InputError as error:
            if error.code != "form.unknown_column":
                break
            name = _unquoted(str(error.params["column"]))
            if not name or name in known:
                break
            missing.append(name)
            known.append(name)
    missing += [name for name in dict.fromkeys(others) if name not in known]
    return [(name, nearest(name, columns)) for name in missing]


def nearest(name: str, columns: Sequence[str]) -> str:
    """The column that is most like a name; empty when none is much like it."""
    plain = {_plain(column): column for column in reversed(columns)}
    wanted = _plain(name)
    if wanted in plain:
        return plain[wanted]
    inside = [column for key, column in plain.items() if wanted and key and (wanted in key or key in wanted)]
    if inside:
        return min(inside, key=len)
    close = difflib.get_close_matches(wanted, list(plain), n=1)
    return plain[close[0]] if close else ""


def _plain(name: str) -> str:
    return "".join(sign for sign in name.casefold() if sign.isalnum())


def renamed(source: str, names: Mapping[str, str]) -> str:
    """The template with columns named differently, inside its braces only and in one pass (a swap is possible)."""

    def one(match: re.Match[str]) -> str:
        name = match["key"] or match["word"]
        return column_reference(names[name]) if name in names else match[0]

    return _BRACES.sub(lambda braces: _COLUMN.sub(one, braces[0]), source)


def _unquoted(shown: str) -> str:
    """The column as it is, from the way the error shows it (JSON; long ones are cut and then not usable)."""
    try:
        name = json.loads(shown)
    except json.JSONDecodeError:
        return ""
    return name if isinstance(name, str) else ""


def _read(path: Path, overruled: Mapping[str, object]) -> tuple[TableFormat, list[tuple[str, ...]]]:
    fmt = sniff(path, **overruled)  # type: ignore[arg-type]  # built by ``overrule`` from typed values
    return fmt, Table(path, fmt).preview(SAMPLE)


def _facts(path: Path, fmt: TableFormat, sample: Sequence[tuple[str, ...]], count: int | None) -> TableFacts:
    rows = tuple(sample[:SHOWN])
    return TableFacts(
        str(path),
        fmt.encoding,
        fmt.delimiter,
        fmt.header,
        fmt.bom,
        fmt.columns,
        rows,
        count,
        fmt.kind,
        fmt.sheet,
        fmt.sheets,
    )
