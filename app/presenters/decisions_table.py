"""The table behind the Decisions page: open it, overrule what was guessed, render its rows through the template."""

from __future__ import annotations

import asyncio
import difflib
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from app.models.decisions_table import TableFacts
from app.tasks import spawn
from engine.batch.tables import Table, TableFormat, sniff
from engine.batch.template import RowTemplate, column_reference
from engine.errors import EngineError, InputError

SAMPLE = 500  # rows kept for previews
SHOWN = 100  # rows of the table preview

_BRACES = re.compile(r"\{\{.*?\}\}|\{%.*?%\}", re.DOTALL)
_COLUMN = re.compile(r"""row\[(["'])(?P<key>.*?)\1\]|(?<![\w."'])(?P<word>[^\W\d]\w*)(?![\w"'])""")


class TablePresenter(QObject):
    """Holds the open table.

    Signals:
        changed(): another table, another reading of it, or its rows have been counted; read ``facts``.
        failed(str): the file that was chosen cannot be used; what was open stays open.
    """

    changed = Signal()
    failed = Signal(str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.facts: TableFacts | None = None
        self.fault = ""
        self.overruled: Mapping[str, object] = {}
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

    def overrule(self, encoding: str | None, delimiter: str | None, header: bool | None) -> None:
        """Read the open file in another way; None leaves a guess as it is."""
        if self.facts is not None:
            overruled = {"encoding": encoding, "delimiter": delimiter, "header": header}
            given = {key: value for key, value in overruled.items() if value is not None}
            spawn(self, self.load(Path(self.facts.path), given), "read table differently")

    async def load(self, path: Path, overruled: Mapping[str, object] | None = None) -> None:
        """Open a file and count its rows; a fault is told by ``failed`` or, when rows deep down are bad, ``fault``."""
        self._serial += 1
        serial = self._serial
        try:
            fmt, sample = await asyncio.to_thread(_read, path, overruled or {})
        except EngineError as error:
            if serial == self._serial:
                self.failed.emit(str(error))
            return
        if serial != self._serial:
            return
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

    def close(self) -> None:
        """No table is open any more."""
        self._serial += 1
        self.facts, self._format, self._sample, self.fault, self.overruled = None, None, (), "", {}
        self.changed.emit()

    def render(self, source: str, index: int) -> tuple[str, str]:
        """(text, error) of a row of the sample; the error names what is wrong with the template."""
        if not source.strip() or not self._sample:
            return "", ""
        try:
            return RowTemplate(source, self.columns).render(self.row(index)), ""
        except EngineError as error:
            return "", str(error)


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
    return TableFacts(str(path), fmt.encoding, fmt.delimiter, fmt.header, fmt.bom, fmt.columns, rows, count)
