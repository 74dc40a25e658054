"""The table of an export, whatever its file: names and types of the columns, and the rows, streamed.

A CSV gets texts, everything else gets values (numbers, truth, nothing). docs/export.md describes the columns.
"""

from __future__ import annotations

import string
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import itemgetter
from typing import Any, Literal

from pydantic_core import from_json, to_json

from engine.batch.columns import ROW_ID, extra_columns, input_names, question_columns
from engine.batch.formulas import guarded
from engine.domain.form import Form
from engine.domain.question import Choice, Question
from engine.domain.reading import STATUSES
from engine.domain.run import Label, Totals
from engine.errors import BugError
from engine.store.run_export import RawAnswer, RawPage, pictures_of, raw_pages
from engine.store.runs import RunView

PAGE = 250  # rows in memory at a time; more would not stay in the processor's cache, and take longer

Cell = str | float | int | bool | None
CellType = Literal["text", "number", "count", "truth"]

_PLACE_AND_STATUS = itemgetter(1, 2)
_PLAIN = frozenset(["", *string.ascii_letters, *string.digits])
_QUOTED = (",", '"', "\n", "\r")
_TRUTH = {None: "", 0: "false", 1: "true"}
_LABEL_KINDS = ("label", "label_by", "label_at")
_PICTURES = "pictures"  # the hashes of those that an answer was read with
_DIAGNOSTICS: tuple[CellType, ...] = ("number", "truth", "number", "count", "number", "number", "text", "text")


class ExportTable:
    """One pass over a run.

    Args:
        typed: values instead of the fields of a CSV.
        guard: an apostrophe before texts that a spreadsheet would run (only in texts).

    Attributes:
        names, types: of the columns, in order.
        renamed: input columns whose name the export needed: (old, new).
        guarded, unanswered, totals: as in ``ExportSummary``; complete after the last row.
    """

    def __init__(self, view: RunView, form: Form, *, typed: bool, guard: bool = False) -> None:
        self._view, self._form, self._typed = view, form, typed
        self._text: Callable[[str], str] = self._guarded if guard else str
        self.guarded = self.unanswered = 0
        self._counts: Counter[tuple[int, str]] = Counter()
        self._rounds, self._labels = len(view.rounds()) > 1, view.has_labels()
        own = [self._text(name) for question in form.questions for name in question_columns(question)]
        shown = [self._text(column) for column in view.spec.columns]
        self._pictured = form.pictures is not None
        said = (("round", self._rounds), (_PICTURES, self._pictured), *((kind, self._labels) for kind in _LABEL_KINDS))
        kinds = tuple(kind for kind, has in said if has)
        extra = extra_columns(form.questions, kinds, [ROW_ID, *own])
        inputs = input_names(shown, [ROW_ID, *own, *extra])
        self.on_rows: Callable[[int, int], None] | None = None  # told (rows given, all) after every page
        self.names: tuple[str, ...] = (ROW_ID, *inputs, *own, *map(self._text, extra))
        self.types: tuple[CellType, ...] = (
            "count",
            *_repeated("text", len(inputs)),
            *(kind for question in form.questions for kind in _types(question)),
            *(("count" if kind == "round" else "text") for _ in form.questions for kind in kinds),
        )
        self.renamed = tuple((old, new) for old, new in zip(shown, inputs, strict=True) if old != new)
        self._none: Cell = None if typed else ""
        self._blank: list[list[Cell]] = [[self._none] * len(question_columns(each)) for each in form.questions]
        self._no_shares = [[""] * len(question.answers) for question in form.questions]

    @property
    def totals(self) -> dict[str, Totals]:
        """Answers by status, per question."""
        return {
            question.id: Totals(**{status: self._counts[place, status] for status in STATUSES})
            for place, question in enumerate(self._form.questions)
        }

    def rows(self) -> Iterator[Sequence[Cell]]:
        """The cells of every row, in the order of ``names``; texts as the fields of a CSV, quoted where they must be.

        Raises:
            BugError: not every row came.
        """
        rows = 0
        for page in raw_pages(self._view, PAGE):
            yield from self._page(page)
            rows += len(page.rows)
            if self.on_rows is not None:
                self.on_rows(rows, self._view.rows)
        if rows != self._view.rows:
            raise BugError("export.rows", "{rows} rows of {total} were exported", rows=rows, total=self._view.rows)

    def _page(self, page: RawPage) -> Iterator[Sequence[Cell]]:
        self._counts.update(map(_PLACE_AND_STATUS, page.answers))
        numbers, cells = zip(*page.rows, strict=True)
        inputs = [self._cells(column) for column in zip(*from_json(f"[{','.join(cells)}]"), strict=True)]
        answers = self._by_question(page.answers)
        columns: list[Sequence[Cell]] = [numbers if self._typed else [*map(str, numbers)], *inputs]
        # Column by column, which spares most of the work on single cells; a page with holes is filled answer by answer.
        if not self._typed and all(len(each) == len(numbers) for each in answers):
            for place, each in enumerate(answers):
                columns += self._text_columns(place, each)
        else:
            columns += zip(*self._with_holes(numbers, answers), strict=True)
        if self._rounds or self._labels or self._pictured:
            more = self._extras(page)
            columns += zip(*map(more, numbers), strict=True)
        yield from zip(*(columns if self._typed else map(quoted, columns)), strict=True)

    def _cells(self, column: Sequence[str]) -> Sequence[str]:
        # Nearly every cell begins with a letter or a digit, and then there is nothing to guard.
        text = self._text
        return [cell if cell[:1] in _PLAIN else text(cell) for cell in column]

    def _by_question(self, answers: Sequence[RawAnswer]) -> list[Sequence[RawAnswer]]:
        if len(self._blank) == 1:
            return [answers]
        found: list[list[RawAnswer]] = [[] for _ in self._blank]
        for answer in answers:
            found[answer[1]].append(answer)
        return [*found]

    def _with_holes(self, numbers: Sequence[int], answers: Sequence[Sequence[RawAnswer]]) -> Iterator[list[Cell]]:
        """The answers' columns of every row, blank where the run has not come to it."""
        given = [
            dict(zip((answer[0] for answer in each), self._blocks(place, each), strict=True))
            for place, each in enumerate(answers)
        ]
        for row in numbers:
            self.unanswered += row not in given[0]
            out: list[Cell] = []
            for blocks, blank in zip(given, self._blank, strict=True):
                out += blocks.get(row, blank)
            yield out

    def _blocks(self, place: int, answers: Sequence[RawAnswer]) -> Iterable[Sequence[Cell]]:
        """The columns of each answer to a question."""
        if self._typed:
            return self._typed_blocks(place, answers)
        return zip(*self._text_columns(place, answers), strict=True)

    def _text_columns(self, place: int, answers: Sequence[RawAnswer]) -> list[Sequence[Cell]]:
        """The columns of the answers to a question as texts."""
        if not answers:
            return []
        text, no_shares = self._text, self._no_shares[place]
        _, _, states, values, shares, masses, truths, entropies, draws, stderrs, agreements, methods, errors, _ = zip(
            *answers, strict=True
        )
        kept = [status == "ok" and value is not None for status, value in zip(states, values, strict=True)]
        texts = number_texts(tuple(None if type(value) is str else value for value in values))
        if not all(kept) or str in set(map(type, values)):
            texts = [
                (text(value) if type(value) is str else number) if ok else ""
                for ok, value, number in zip(kept, values, texts, strict=True)
            ]
        # JSON writes numbers as this export does: with all digits that tell them from their neighbours.
        parts = [share[1:-1].split(", ") if ok else no_shares for ok, share in zip(kept, shares, strict=True)]
        return [
            texts,
            states,
            *zip(*parts, strict=True),
            number_texts(masses),
            [*map(_TRUTH.__getitem__, truths)],
            number_texts(entropies),
            [*map(str, draws)],
            number_texts(stderrs),
            number_texts(agreements),
            methods,
            [text(error) if error else "" for error in errors],
        ]

    def _typed_blocks(self, place: int, answers: Sequence[RawAnswer]) -> Iterator[Sequence[Cell]]:
        """The columns of each answer to a question as values."""
        for answer in answers:
            _, _, status, value, shares, mass, argmax, entropy, draws, stderr, agreement, method, error, _ = answer
            ok = status == "ok" and value is not None
            parts = from_json(shares) if ok else [None] * len(self._no_shares[place])
            truth = None if argmax is None else bool(argmax)
            shown = value if ok else None
            yield (shown, status, *parts, mass, truth, entropy, draws, stderr, agreement, method, error)

    def _extras(self, page: RawPage) -> Callable[[int], list[Cell]]:
        """What gives the columns behind the contract for a row of the page."""
        rounds = {(answer[0], answer[1]): answer[13] for answer in page.answers} if self._rounds else {}
        first, last = page.rows[0][0], page.rows[-1][0]
        labels = self._view.labels(first, last) if self._labels else {}
        pictures = pictures_of(self._view, first, last) if self._pictured else {}

        def of(row: int) -> list[Cell]:
            cells: list[Cell] = []
            for place in range(len(self._form.questions)):
                if self._rounds:
                    number = rounds.get((row, place))
                    cells.append(self._none if number is None else number if self._typed else str(number))
                if self._pictured:
                    cells.append(pictures.get((row, place), self._none))
                if self._labels:
                    cells += self._label(labels.get((row, place)))
            return cells

        return of

    def _label(self, label: Label | None) -> tuple[Cell, ...]:
        if label is None:
            return (self._none,) * len(_LABEL_KINDS)
        return (self._none if label.value is None else self._text(label.value), self._text(label.author), label.at)

    def _guarded(self, cell: str) -> str:
        safe = guarded(cell)
        self.guarded += safe is not cell
        return safe


def quoted(column: Sequence[Any]) -> Sequence[str]:
    """Texts as fields of a CSV (RFC 4180): in quotes where they hold a comma, a quote or a line break.

    As ``csv.writer`` does it, but it looks at a whole column at once, since nearly none holds any.
    """
    whole = "".join(column)
    if any(mark in whole for mark in _QUOTED):
        return [_quoted(cell) if any(mark in cell for mark in _QUOTED) else cell for cell in column]
    return column


def _quoted(cell: str) -> str:
    doubled = cell.replace('"', '""')
    return f'"{doubled}"'


def number_texts(numbers: tuple[Any, ...]) -> list[str]:
    """Each as ``repr`` writes it, nothing for None. Many at once, since ``repr`` alone would take a third of an export.

    Args:
        numbers: floats and None.

    Both write the fewest digits that give the same number again; they differ in exponents only, and in what is no
    number.
    """
    if numbers.count(None) == len(numbers):
        return [""] * len(numbers)
    text = to_json(numbers).decode()
    parts = text[1:-1].split(",")
    if "n" not in text and "e" not in text and "N" not in text:
        return parts
    return [part if part[-1:].isdigit() and "e" not in part else _odd(part) for part in parts]


def _odd(part: str) -> str:
    return "" if part == "null" else repr(float(part))


def _types(question: Question) -> Sequence[CellType]:
    """Of ``question_columns``."""
    value: CellType = "text" if isinstance(question, Choice) else "number"
    return (value, "text", *_repeated("number", len(question.answers)), *_DIAGNOSTICS)


def _repeated(kind: CellType, count: int) -> tuple[CellType, ...]:
    return (kind,) * count
