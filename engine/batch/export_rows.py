"""The table of an export, whatever its file: names and types of the columns, and the rows, streamed.

A CSV gets texts, everything else gets values (numbers, truth, nothing). docs/export.md describes the columns.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Literal

from engine.batch.columns import ROW_ID, extra_columns, input_names, question_columns
from engine.batch.formulas import guarded
from engine.domain.form import Form
from engine.domain.question import Choice, Question
from engine.domain.reading import STATUSES
from engine.domain.run import Label, Totals
from engine.errors import BugError
from engine.store.run_export import RawAnswer, RawRow, raw_pages
from engine.store.runs import RunView

PAGE = 2000  # rows in memory at a time

Cell = str | float | int | bool | None
CellType = Literal["text", "number", "count", "truth"]

_TRUTH = {None: "", 0: "false", 1: "true"}
_LABEL_KINDS = ("label", "label_by", "label_at")
_DIAGNOSTICS: tuple[CellType, ...] = ("number", "truth", "number", "count", "number", "number", "text", "text")


class ExportTable:
    """One pass over a run.

    Args:
        typed: values instead of texts.
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
        self._counts: dict[str, Counter[str]] = {question.id: Counter() for question in form.questions}
        self._rounds, self._labels = len(view.rounds()) > 1, view.has_labels()
        own = [self._text(name) for question in form.questions for name in question_columns(question)]
        shown = [self._text(column) for column in view.spec.columns]
        kinds = (*(["round"] if self._rounds else []), *(_LABEL_KINDS if self._labels else []))
        extra = extra_columns(form.questions, kinds, [ROW_ID, *own])
        inputs = input_names(shown, [ROW_ID, *own, *extra])
        self.names: tuple[str, ...] = (ROW_ID, *inputs, *own, *map(self._text, extra))
        self.types: tuple[CellType, ...] = (
            "count",
            *_repeated("text", len(inputs)),
            *(kind for question in form.questions for kind in _types(question)),
            *(("count" if kind == "round" else "text") for _ in form.questions for kind in kinds),
        )
        self.renamed = tuple((old, new) for old, new in zip(shown, inputs, strict=True) if old != new)
        self._blank = [[None if typed else ""] * len(question_columns(question)) for question in form.questions]
        self._options = [len(question.answers) for question in form.questions]
        self._none: Cell = None if typed else ""

    @property
    def totals(self) -> dict[str, Totals]:
        """Answers by status, per question."""
        return {
            question: Totals(**{status: counts[status] for status in STATUSES})
            for question, counts in self._counts.items()
        }

    def rows(self) -> Iterator[list[Cell]]:
        """The cells of every row, in the order of ``names``.

        Raises:
            BugError: not every row came.
        """
        rows = 0
        row_of = self._typed_answer if self._typed else self._text_answer
        for page in raw_pages(self._view, PAGE):
            labels = self._view.labels(page[0].row, page[-1].row) if self._labels else {}
            for raw in page:
                yield self._row(raw, row_of, labels)
            rows += len(page)
        if rows != self._view.rows:
            raise BugError("export.rows", "{rows} rows of {total} were exported", rows=rows, total=self._view.rows)

    def _row(
        self,
        raw: RawRow,
        row_of: Callable[[RawAnswer, list[Cell]], None],
        labels: dict[tuple[int, int], Label],
    ) -> list[Cell]:
        cells: list[Cell] = [raw.row]
        cells += map(self._text, json.loads(raw.cells))
        if not raw.answers:
            self.unanswered += 1
        at = 0
        for place, question in enumerate(self._form.questions):
            answer = raw.answers[at] if at < len(raw.answers) else None
            if answer is None or answer.question != place:  # the run has not come to it
                cells += self._blank[place]
                continue
            at += 1
            self._counts[question.id][answer.status] += 1
            row_of(answer, cells)
        if self._rounds or self._labels:
            self._extras(raw, labels, cells)
        return cells

    def _text_answer(self, answer: RawAnswer, cells: list[Cell]) -> None:
        value, options = answer.value, self._options[answer.question]
        if answer.status != "ok" or value is None:
            cells.append("")
            cells.append(answer.status)
            cells += [""] * options
        else:
            cells.append(self._text(value) if isinstance(value, str) else float(value))
            cells.append(answer.status)
            # JSON writes numbers as this export does: with all digits that tell them from their neighbours.
            cells += answer.shares[1:-1].split(", ")
        cells += (
            answer.label_mass,
            _TRUTH[answer.argmax_is_label],
            answer.entropy,
            answer.draws,
            answer.stderr,
            answer.agreement,
            answer.method,
            self._text(answer.error) if answer.error else "",
        )

    def _typed_answer(self, answer: RawAnswer, cells: list[Cell]) -> None:
        value, argmax = answer.value, answer.argmax_is_label
        ok = answer.status == "ok" and value is not None
        cells.append(value if ok else None)
        cells.append(answer.status)
        cells += json.loads(answer.shares) if ok else [None] * self._options[answer.question]
        cells += (
            answer.label_mass,
            None if argmax is None else bool(argmax),
            answer.entropy,
            answer.draws,
            answer.stderr,
            answer.agreement,
            answer.method,
            answer.error,
        )

    def _extras(self, raw: RawRow, labels: dict[tuple[int, int], Label], cells: list[Cell]) -> None:
        rounds = {answer.question: answer.round for answer in raw.answers}
        for place in range(len(self._form.questions)):
            if self._rounds:
                cells.append(rounds.get(place, self._none))
            if self._labels:
                label = labels.get((raw.row, place))
                if label is None:
                    cells += (self._none,) * len(_LABEL_KINDS)
                else:
                    value = self._none if label.value is None else self._text(label.value)
                    cells += (value, self._text(label.author), label.at)

    def _guarded(self, cell: str) -> str:
        safe = guarded(cell)
        self.guarded += safe is not cell
        return safe


def _types(question: Question) -> Sequence[CellType]:
    """Of ``question_columns``."""
    value: CellType = "text" if isinstance(question, Choice) else "number"
    return (value, "text", *_repeated("number", len(question.answers)), *_DIAGNOSTICS)


def _repeated(kind: CellType, count: int) -> tuple[CellType, ...]:
    return (kind,) * count
