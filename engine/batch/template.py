"""The row template: a table's row becomes the state, the text that the questions are about.

Jinja2 in its sandbox, cut down to what a text over some cells needs, because a form may come from a stranger: no
assignments, macros, inclusions or nested loops, a list of filters and text methods, a cap on the result and one on the
work (``template_work``). docs/form-file.md describes the language for users.
"""

from __future__ import annotations

import keyword
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from jinja2 import StrictUndefined, TemplateError, TemplateSyntaxError, nodes
from jinja2.runtime import LoopContext
from jinja2.sandbox import ImmutableSandboxedEnvironment

from engine.batch.form import unknown_column
from engine.batch.template_work import CHARGED, Metered, Work
from engine.errors import InputError, UserError

MAX_TEXT = 1_000_000  # characters of a rendered state
MAX_RANGE = 10_000
MAX_BITS = 4096  # of a whole number that is multiplied or divided
ROW = "row"

_FILTERS = [
    *("abs", "capitalize", "d", "default", "first", "float", "int", "last", "length", "count", "list", "lower"),
    *("reject", "reverse", "round", "select", "sort", "string", "title", "trim", "truncate", "unique", "upper"),
    "wordcount",
]
_METHODS = frozenset(
    [
        *("capitalize", "casefold", "count", "endswith", "find", "isalnum", "isalpha", "isdigit", "isnumeric"),
        *("isspace", "lower", "lstrip", "removeprefix", "removesuffix", "rstrip", "split", "splitlines"),
        *("startswith", "strip", "swapcase", "title", "upper"),
    ]
)
_FORBIDDEN: dict[type[nodes.Node], str] = {
    nodes.Assign: "set",
    nodes.AssignBlock: "set",
    nodes.Macro: "macro",
    nodes.CallBlock: "call",
    nodes.FilterBlock: "filter",
    nodes.Include: "include",
    nodes.Import: "import",
    nodes.FromImport: "import",
    nodes.Extends: "extends",
    nodes.Block: "block",
    nodes.With: "with",
    nodes.Pow: "**",
}
_NOT_NAMES = frozenset(
    {"and", "or", "not", "in", "is", "if", "else", "true", "false", "none", "import", "loop", "self"}
)


class RowTemplate:
    """A template over the columns of a table.

    A column is named directly (``{{ title }}``) or as ``{{ row["Any name"] }}``. Cells are texts.

    Args:
        source: the template.
        columns: of the table.
        where: what the template is part of, for messages.

    Raises:
        InputError: no valid template, a part of the language that is not allowed, or an unknown column.
    """

    def __init__(self, source: str, columns: Sequence[str], where: str = "state") -> None:
        self.where = where
        self._work = Work()
        environment = self._environment = _Environment(self._work)
        try:
            tree = environment.parse(source)
            self.columns = _used_columns(tree, columns, where)
            _check_language(tree, where)
            self._plain = _plain(tree, columns)
            self._template = environment.from_string(Metered(columns, _is_row).visit(tree))
        except TemplateSyntaxError as error:
            raise InputError(
                "template.syntax",
                "{where}: line {line}: {detail}",
                remedy=_remedy(error.message or ""),
                where=where,
                line=error.lineno,
                detail=error.message,
            ) from error
        except (SyntaxError, RecursionError, MemoryError, ValueError, OverflowError) as error:
            # Of Python's own compiler and of the parser's stack: nesting without end, numbers of thousands of digits.
            raise InputError(
                "template.too_complex",
                "{where}: nested too deeply, or a number too long: {detail}",
                remedy="write the template with fewer levels",
                where=where,
                detail=str(error) or type(error).__name__,
            ) from error

    def parse(self, source: str) -> nodes.Template:
        """The syntax tree of another source in the same language, nothing checked.

        Raises:
            InputError: no valid template.
        """
        try:
            return self._environment.parse(source)
        except TemplateSyntaxError as error:
            detail = error.message or ""
            raise InputError("template.syntax", "{where}: {detail}", where=self.where, detail=detail) from error

    def render(self, row: Mapping[str, str]) -> str:
        """The state of a row.

        Raises:
            UserError: the template fails on this row, or its text is over ``MAX_TEXT`` characters.
        """
        try:
            if self._plain is not None:
                parts: Iterable[str] = [row[name] if name else text for text, name in self._plain]
            else:
                self._work.restart()
                parts = self._template.generate({**row, ROW: _Row(row)})
            text = "".join(_capped(parts, self.where))
            text.encode()  # a literal such as "\\ud800" is half of a character, which no request can hold
            return text
        except UserError:
            raise
        except Exception as error:  # whatever an expression over arbitrary cells can raise
            message = error.message if isinstance(error, TemplateError) and error.message else repr(error)
            raise UserError("template.row", "{where}: {detail}", where=self.where, detail=message) from error


class _Row:
    """``row``: cells by name and nothing else (a dict's methods would hide columns named ``items`` or ``keys``)."""

    __slots__ = ("_cells",)

    def __init__(self, cells: Mapping[str, str]) -> None:
        self._cells = cells

    def __getitem__(self, name: str) -> str:
        return self._cells[name]


class _Environment(ImmutableSandboxedEnvironment):
    """The sandbox with our short lists of filters, methods and functions."""

    intercepted_binops = frozenset({"*", "%", "/", "//"})

    def __init__(self, work: Work) -> None:
        super().__init__(undefined=StrictUndefined, keep_trailing_newline=True, autoescape=False)
        known: dict[str, Callable[..., Any]] = {name: self.filters[name] for name in _FILTERS}
        known |= {"replace": _replace, "join": _join}
        self.filters = {name: work.charged(name, function) for name, function in known.items()}
        self.filters[CHARGED] = work.charge
        self.globals = {"range": _range}
        self._work = work

    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        ours = attr in _METHODS if isinstance(obj, str) else isinstance(obj, LoopContext)
        return ours and super().is_safe_attribute(obj, attr, value)

    def wrap_str_format(self, value: Any) -> None:
        """No ``format`` at all: ``"{:>999999999}"`` is a gigabyte. (The sandbox would let it past our list.)"""

    def call(self, context: Any, function: Any, *arguments: Any, **named: Any) -> Any:
        self._work.charge(getattr(function, "__self__", None))  # a text, when it is one of its methods
        return super().call(context, function, *arguments, **named)

    def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
        if not all(isinstance(side, int | float) for side in (left, right)):
            raise UserError("template.operator", "{operator} works on numbers only", operator=operator)
        if any(isinstance(side, int) and side.bit_length() > MAX_BITS for side in (left, right)):
            message = "{operator} works on numbers of at most {limit} bits"
            raise UserError("template.number", message, operator=operator, limit=MAX_BITS)
        return super().call_binop(context, operator, left, right)


def _remedy(detail: str) -> str:
    if detail.startswith("No filter named"):
        return f"the filters are {', '.join(sorted([*_FILTERS, 'join', 'replace']))}"
    if detail.startswith("No test named"):
        return "the tests are Jinja's own, such as `is defined` or `is even`"
    if detail.startswith("Encountered unknown tag"):
        return "the tags are if, elif, else, for and raw"
    return 'a column whose name is no plain word is written row["its name"]'


def _range(*limits: int) -> range:
    found = range(*limits)
    if len(found) > MAX_RANGE:
        raise UserError("template.range", "range({count}): at most {limit}", count=len(found), limit=MAX_RANGE)
    return found


def _replace(text: object, old: str, new: str) -> str:
    """``replace`` whose result cannot explode."""
    value = str(text)
    if len(value) + value.count(old) * max(0, len(new) - len(old)) > MAX_TEXT:
        raise _too_long("replace")
    return value.replace(old, new)


def _join(items: Iterable[object], separator: str = "") -> str:
    """``join`` whose result cannot explode."""
    texts = [str(item) for item in items]
    if sum(map(len, texts)) + len(texts) * len(separator) > MAX_TEXT:
        raise _too_long("join")
    return separator.join(texts)


def _capped(parts: Iterable[str], where: str) -> Iterator[str]:
    size = 0
    for part in parts:
        size += len(part)
        if size > MAX_TEXT:
            raise _too_long(where)
        yield part


def _too_long(where: str) -> UserError:
    return UserError(
        "template.too_long", "{where}: the text has more than {limit} characters", where=where, limit=MAX_TEXT
    )


def _used_columns(tree: nodes.Template, columns: Sequence[str], where: str) -> tuple[str, ...]:
    """The columns that the template names, in the table's order; an unknown one is refused."""
    names = [node.name for node in tree.find_all(nodes.Name) if node.ctx == "load"]
    own = {node.name for node in tree.find_all(nodes.Name) if node.ctx == "store"} - set(columns)
    own |= {"range"} - set(columns)
    if tree.find(nodes.For):
        own.add("loop")
    used = {name for name in names if name not in own and name != ROW}
    rows: list[nodes.Getitem | nodes.Getattr] = [node for node in tree.find_all(nodes.Getitem) if _is_row(node.node)]
    rows += [node for node in tree.find_all(nodes.Getattr) if _is_row(node.node)]
    if names.count(ROW) > len(rows):
        message = '{where}: row is the whole row; name a column of it: row["..."]'
        raise InputError("template.row_alone", message, where=where)
    used.update(_row_key(node, where) for node in rows)
    for column in sorted(used - set(columns)):
        raise unknown_column(column, columns, where)
    return tuple(column for column in columns if column in used)


def _is_row(node: nodes.Node) -> bool:
    return isinstance(node, nodes.Name) and node.name == ROW


def _row_key(node: nodes.Getitem | nodes.Getattr, where: str) -> str:
    if isinstance(node, nodes.Getattr):
        return node.attr
    if isinstance(node.arg, nodes.Const) and isinstance(node.arg.value, str):
        return node.arg.value
    raise InputError("template.row_key", "{where}: row[...] takes a column name in quotes", where=where)


def _plain(tree: nodes.Template, columns: Sequence[str]) -> list[tuple[str, str]] | None:
    """What a template that only puts cells between texts is made of, for most are and then need no engine.

    Its work needs no counting either: a cell costs far less than its characters, which are counted.

    Returns:
        (text, empty) and (empty, column) in order; None for any other template.
    """
    found = []
    for node in [part for output in tree.body for part in getattr(output, "nodes", (output,))]:
        match node:
            case nodes.TemplateData(data=data):
                found.append((data, ""))
            case nodes.Name(name=name) if name in columns and name != ROW:
                found.append(("", name))
            case nodes.Getitem(node=of, arg=nodes.Const(value=str() as name)) if _is_row(of):
                found.append(("", name))
            case _:
                return None
    return found


def _check_language(tree: nodes.Template, where: str) -> None:
    for kind, word in _FORBIDDEN.items():
        for node in tree.find_all(kind):
            raise _not_allowed(word, node.lineno, where)
    for loop in tree.find_all(nodes.For):
        if loop.recursive or loop.find(nodes.For):
            raise _not_allowed("a loop inside a loop", loop.lineno, where)


def _not_allowed(what: str, line: int, where: str) -> InputError:
    message = "{where}: line {line}: {what} is not allowed in a template"
    return InputError("template.not_allowed", message, where=where, line=line, what=what)


def column_reference(column: str) -> str:
    """How a template names this column: the word itself where it is one, else ``row["..."]``."""
    if column.isidentifier() and column.lower() not in _NOT_NAMES and not keyword.iskeyword(column) and column != ROW:
        return column
    # Jinja turns every line break of a template into "\n", so those stand escaped in a name.
    escaped = "".join(_escaped(char) for char in column)
    return f'row["{escaped}"]'


def _escaped(char: str) -> str:
    if char in '\\"':
        return "\\" + char
    return char if char.isprintable() else f"\\U{ord(char):08x}"
