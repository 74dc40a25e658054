"""The work that a template may do on one row, counted.

A few words of a template can ask for hours (``range(10000)`` sorted ten thousand times), and the loop that renders
rows could neither be paused nor stopped meanwhile. So whatever costs time is charged against a budget: loop steps,
uses of a cell, filters and methods. The count depends on template and row alone, never on the machine, so that a run
gives the same answers everywhere.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence, Sized
from typing import Any

from jinja2 import Undefined, nodes
from jinja2.visitor import NodeTransformer

from engine.errors import UserError

MAX_WORK = 10_000_000  # units a row: about a second; one is a loop step, an item, or 16 characters of a cell
CHARACTERS = 16  # that a text operation in C handles in the time of one Python step, roughly
CHARGED = "<charged>"  # a filter's name that no template can spell

# Units an item, or a character, of the filters that take each by itself; sort and unique build a key for each.
_BY_ITEM = {
    "list": 1,
    "reverse": 1,
    "title": 1,
    "wordcount": 1,
    "join": 3,
    "reject": 3,
    "select": 3,
    "sort": 20,
    "unique": 20,
}


class Work:
    """What is left for the row being rendered."""

    def __init__(self) -> None:
        self.left = MAX_WORK

    def restart(self) -> None:
        """For the next row."""
        self.left = MAX_WORK

    def spend(self, units: int) -> None:
        """Charge.

        Raises:
            UserError: nothing is left.
        """
        self.left -= units
        if self.left < 0:
            message = "the template needs more than {limit} steps for this row"
            remedy = "shorten its loops, or the texts that they go over"
            raise UserError("template.too_much_work", message, remedy=remedy, limit=MAX_WORK)

    def charge(self, value: Any, by_item: int = 0) -> Any:
        """The value, paid for: texts by the character, lists by the item, iterators as they are used.

        Args:
            by_item: units for each item and character; 0: texts are taken as a whole, which costs less.
        """
        if isinstance(value, Undefined):
            return value
        if isinstance(value, str):
            self.spend(1 + (len(value) * by_item if by_item else len(value) // CHARACTERS))
        elif isinstance(value, Sized):
            self.spend(1 + len(value) * max(1, by_item))
        elif isinstance(value, Iterator):
            return self._each(value, max(1, by_item))
        else:
            self.spend(1)
        return value

    def charged(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """A filter that pays for what it is applied to."""
        at = 1 if hasattr(function, "jinja_pass_arg") else 0  # behind the context or environment
        by_item = _BY_ITEM.get(name, 0)

        @functools.wraps(function)  # takes Jinja's marks along
        def apply(*arguments: Any, **named: Any) -> Any:
            given = list(arguments)
            given[at] = self.charge(given[at], by_item)
            return function(*given, **named)

        return apply

    def _each(self, items: Iterator[Any], units: int) -> Iterator[Any]:
        for item in items:
            self.spend(units)
            yield item


class Metered(NodeTransformer):
    """Puts the charge on every use of a cell and on what loops go over.

    Args:
        columns: of the table.
        is_cell: whether a subscript or an attribute is a cell by its name (``row["..."]``).
    """

    def __init__(self, columns: Sequence[str], is_cell: Callable[[nodes.Node], bool]) -> None:
        self._columns = frozenset(columns)
        self._is_cell = is_cell

    def visit_Name(self, node: nodes.Name) -> nodes.Node:
        return _charged(node) if node.ctx == "load" and node.name in self._columns else node

    def visit_Getitem(self, node: nodes.Getitem) -> nodes.Node:
        return _charged(node) if self._is_cell(node.node) else self.generic_visit(node)

    def visit_Getattr(self, node: nodes.Getattr) -> nodes.Node:
        return _charged(node) if self._is_cell(node.node) else self.generic_visit(node)

    def visit_For(self, node: nodes.For) -> nodes.Node:
        self.generic_visit(node)
        node.iter = _charged(node.iter, loop=True)
        return node


def _charged(node: nodes.Node, *, loop: bool = False) -> nodes.Filter:
    arguments: list[nodes.Expr] = [nodes.Const(1)] if loop else []
    assert isinstance(node, nodes.Expr)
    return nodes.Filter(node, CHARGED, arguments, [], None, None, lineno=node.lineno)
