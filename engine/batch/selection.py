"""Which rows of a table a run reads: a filter, and a sample of what it lets through.

Rows that are not read stay in the run and in the export, as *skipped*, so that rows in = ok + unreadable + error +
skipped holds and the export can be joined to its table by row.
"""

from __future__ import annotations

import json
import random
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal

from jinja2 import nodes

from engine.batch.tables import Table
from engine.batch.template import RowTemplate, column_reference
from engine.domain.run import LeftOut
from engine.errors import InputError, UserError

FILTERED, UNSAMPLED = "left out by the filter", "not in the sample"
WHERE = "filter"

Operator = Literal["equals", "differs", "contains", "lacks", "empty", "filled", "below", "above"]
_FORMS: Mapping[Operator, str] = {
    "equals": "{cell} == {value}",
    "differs": "{cell} != {value}",
    "contains": "{value} in {cell}.lower()",
    "lacks": "{value} not in {cell}.lower()",
    "empty": "not {cell}.strip()",
    "filled": "{cell}.strip()",
    "below": "{cell}|float < {value}",
    "above": "{cell}|float > {value}",
}


@dataclass(frozen=True, slots=True)
class Selection:
    """What is read. The default is everything.

    Attributes:
        where: an expression of the row template's language; rows for which it is true are read. Empty: all.
        first: of these, only the first so many; None: all.
        sample: of these, so many at random; None: all. Not together with ``first``.
        seed: of the sample.
    """

    where: str = ""
    first: int | None = None
    sample: int | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        for name, count in (("first", self.first), ("sample", self.sample)):
            if count is not None and count < 1:
                message = "{name} is {count}; at least one row must be read"
                raise InputError("selection.count", message, name=name, count=count)
        if self.first is not None and self.sample is not None:
            raise InputError(
                "selection.both", "first {first} and sample {sample}: take one", first=self.first, sample=self.sample
            )

    def __bool__(self) -> bool:
        return self != Selection()

    def as_json(self) -> dict[str, Any]:
        """What differs from reading everything; kept with the run."""
        kept: dict[str, Any] = {}
        if self.where:
            kept["where"] = self.where
        if self.first is not None:
            kept["first"] = self.first
        if self.sample is not None:
            kept |= {"sample": self.sample, "seed": self.seed}
        return kept


def select(table: Table, selection: Selection) -> Iterator[tuple[str, ...] | LeftOut]:
    """All rows of a table in order; those that are not to be read are wrapped with the reason.

    A random sample reads the table twice: first to count what the filter lets through.

    Raises:
        InputError: a faulty filter or row; no row is left.
    """
    passes = _filter(table, selection.where)
    chosen = _sampled(table, selection, passes)
    left = selection.first
    taken = 0
    for number, cells in enumerate(table.rows(), start=1):
        if not passes(number, cells):
            yield LeftOut(cells, FILTERED)
        elif (chosen is not None and number not in chosen) or (left is not None and taken >= left):
            yield LeftOut(cells, UNSAMPLED)
        else:
            taken += 1
            yield cells
    if not taken:
        raise _none(table)


def check_selection(table: Table, selection: Selection) -> None:
    """Whether a run would read anything; looks no further than the first row that it would read.

    Raises:
        InputError: a faulty filter or row; no row passes the filter.
    """
    if selection.where and not preview_selection(table, selection, 1):
        raise _none(table)


def count_selected(table: Table, selection: Selection) -> int:
    """How many rows would be read. Reads the whole table where there is a filter.

    Raises:
        InputError: as ``select``.
    """
    if not selection:
        return table.count()
    return sum(not isinstance(row, LeftOut) for row in select(table, selection))


def preview_selection(table: Table, selection: Selection, count: int) -> list[tuple[int, tuple[str, ...]]]:
    """The first rows that would be read, as (number, cells). A random sample is not looked for here."""
    passes = _filter(table, selection.where)
    rows = ((number, cells) for number, cells in enumerate(table.rows(), start=1) if passes(number, cells))
    return list(islice(rows, count))


def first_selected(table: Table, selection: Selection, count: int) -> list[tuple[int, tuple[str, ...]]]:
    """The first rows that are read, as (number, cells), those of a random sample too.

    Raises:
        InputError: as ``select``.
    """
    most = min(count, selection.first or count, selection.sample or count)  # else the whole table is gone through
    rows = enumerate(select(table, selection), start=1) if selection else enumerate(table.rows(), start=1)
    return list(islice(((number, row) for number, row in rows if not isinstance(row, LeftOut)), most))


def condition(column: str, operator: Operator, value: str = "") -> str:
    """An expression for ``Selection.where`` over one column; several are joined with ``and`` and ``or``.

    ``contains`` and ``lacks`` look away from the case; ``below`` and ``above`` take cells for numbers.

    Raises:
        InputError: ``below`` or ``above`` without a number.
    """
    if operator in ("below", "above"):
        try:
            shown = repr(float(value))
        except ValueError as error:
            message = "{value} is no number"
            raise InputError("selection.number", message, value=json.dumps(value, ensure_ascii=False)) from error
    else:
        text = value.lower() if operator in ("contains", "lacks") else value
        shown = json.dumps(text, ensure_ascii=False)  # Jinja reads escapes as Python does, without surrogate pairs
    return _FORMS[operator].format(cell=column_reference(column), value=shown)


def check_filter(where: str, columns: Sequence[str]) -> RowTemplate:
    """The filter as a template that says ``1`` for rows that are read.

    Raises:
        InputError: no expression of the row template's language, or an unknown column.
    """
    # As an expression first: inside an if, Jinja finds unknown filters only when it comes to them.
    body = RowTemplate(f"{{{{ {where} }}}}", columns, WHERE).parse(f"{{{{ {where} }}}}").body
    one = len(body) == 1 and isinstance(body[0], nodes.Output) and len(body[0].nodes) == 1
    if not one:
        message = "{where} is no single condition"
        remedy = 'write one like: country == "DE" and "refund" in message'
        raise InputError("selection.syntax", message, remedy=remedy, where=where)
    return RowTemplate(f"{{% if {where} %}}1{{% endif %}}", columns, WHERE)


def _filter(table: Table, where: str) -> Callable[[int, tuple[str, ...]], bool]:
    if not where.strip():
        return lambda number, cells: True
    template = check_filter(where, table.columns)

    def passes(number: int, cells: tuple[str, ...]) -> bool:
        try:
            return bool(template.render(dict(zip(table.columns, cells, strict=True))))
        except UserError as error:
            raise InputError(
                "selection.row",
                "{path}: row {row}: the filter fails: {detail}",
                remedy="a cell that may be empty or no number wants a condition of its own, or |float(0)",
                path=str(table.path),
                row=number,
                detail=error.message,
            ) from error

    return passes


def _none(table: Table) -> InputError:
    remedy = "loosen the filter, or look at the values that its columns hold"
    return InputError("selection.none", "no row of {path} passes the filter", remedy=remedy, path=str(table.path))


def _sampled(table: Table, selection: Selection, passes: Callable[[int, tuple[str, ...]], bool]) -> set[int] | None:
    """The numbers of the rows of a random sample; None when none is wanted."""
    if selection.sample is None:
        return None
    numbers = array("q", (number for number, cells in enumerate(table.rows(), start=1) if passes(number, cells)))
    if len(numbers) <= selection.sample:
        return None
    return set(random.Random(selection.seed).sample(numbers, selection.sample))
