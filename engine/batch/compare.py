"""A method comparison: which ways of reading are tried, what they gave, and the file that keeps it.

What a cell keeps is its answers, not only its figures: figures are computed again when the file is opened, and two
cells can be compared row by row.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import Any, Literal

from engine.domain.reading import Method
from engine.errors import InputError, UserError

VERSION = 1
Draws = Literal["auto"] | int
Layout = Literal["alone", "joint", "rows"]
StateKind = Literal["row", "document"]

DRAWS: tuple[Draws, ...] = ("auto", 1, 8, 16)
STEPS: tuple[int, ...] = (1, 2, 4)
LAYOUTS: tuple[Layout, ...] = ("alone", "joint", "rows")
STATES: tuple[StateKind, ...] = ("row", "document")

_LAYOUT_WORDS = {"alone": "alone", "joint": "questions together", "rows": "rows together"}


@dataclass(frozen=True, slots=True)
class Cell:
    """One way of reading.

    Attributes:
        draws, steps: as in ``Method``.
        layout: ``alone``: a canvas per question; ``joint``: all questions of a row on one; ``rows``: one question about
            several rows on one.
        state: the row's own text, or the whole document before it.
    """

    draws: Draws = "auto"
    steps: int = 1
    layout: Layout = "alone"
    state: StateKind = "row"

    @property
    def name(self) -> str:
        """In words: ``alone, auto draws, 1 step``."""
        draws = "auto draws" if self.draws == "auto" else f"{self.draws} draw{'s' * (self.draws != 1)}"
        words = [_LAYOUT_WORDS[self.layout], draws, f"{self.steps} step{'s' * (self.steps != 1)}"]
        return ", ".join(words + ["whole document"] * (self.state == "document"))

    def method(self, base: Method, seed: int) -> Method:
        """How to read, over the canvas wire: the native one has neither draws nor steps."""
        joint = self.layout == "joint"
        return replace(base, draws=self.draws, steps=self.steps, joint=joint, wire="canvas", rotate=False, seed=seed)

    @property
    def cost(self) -> float:
        """Looks at a canvas for one answer, roughly; for a forecast only."""
        draws = 2.0 if self.draws == "auto" else float(self.draws)
        return draws * self.steps / (4.0 if self.layout == "rows" else 1.0)


BASE = Cell()


def grid(
    draws: Sequence[Draws] = DRAWS,
    steps: Sequence[int] = STEPS,
    layouts: Sequence[Layout] = LAYOUTS,
    states: Sequence[StateKind] = STATES,
    *,
    full: bool = False,
) -> tuple[Cell, ...]:
    """The cells to read, the base first.

    Args:
        full: every combination; else one thing at a time is changed from the first of each list, which tells the
            same in a fraction of the reads.
    """
    first = Cell(draws[0], steps[0], layouts[0], states[0])
    if full:
        return tuple(Cell(*each) for each in product(draws, steps, layouts, states))
    changed = [replace(first, draws=value) for value in draws]
    changed += [replace(first, steps=value) for value in steps]
    changed += [replace(first, layout=value) for value in layouts]
    changed += [replace(first, state=value) for value in states]
    return tuple(dict.fromkeys(changed))


@dataclass(frozen=True, slots=True)
class Answer:
    """One row read one way.

    Attributes:
        status: ``ok``, ``unreadable`` or ``error``.
        value: noul: p(yes); choice: place of the option; score: expected level. None unless ok.
        top: largest share; None unless ok.
    """

    status: str
    value: float | None = None
    top: float | None = None


@dataclass(frozen=True, slots=True)
class CellResult:
    """What a cell gave.

    Attributes:
        answers: per run seed, one answer per row of the sample.
        seconds: per run seed, for all rows.
        refusal: why it could not be read at all; else empty.
        first_failure: of the answers with status ``error``, the first one's row and reason; else empty.
    """

    cell: Cell
    answers: tuple[tuple[Answer, ...], ...] = ()
    seconds: tuple[float, ...] = ()
    refusal: str = ""
    first_failure: str = ""


@dataclass(frozen=True, slots=True)
class Subject:
    """What is compared on; a file of another subject is not gone on with.

    Attributes:
        question: id of the question.
        engine: in words.
        rows: numbers of the sampled rows.
        seeds: run seeds.
        pictures: column and separator of the pictures where they are not the form's; else empty.
    """

    form_sha256: str
    table_sha256: str
    question: str
    engine: str
    rows: tuple[int, ...]
    seeds: tuple[int, ...]
    pictures: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Comparison:
    """The whole comparison as far as it is.

    Attributes:
        kind: type of the question.
        gold: place of the gold answer of each row.
        weights: how many rows of the table each row stands for.
        created: ISO 8601, UTC.
        results: of the cells that are read, in their order.
    """

    subject: Subject
    kind: Literal["noul", "choice", "score"]
    gold: tuple[int, ...]
    weights: tuple[float, ...]
    created: str
    results: tuple[CellResult, ...] = field(default=())

    def result(self, cell: Cell) -> CellResult | None:
        """A cell's result when it is there."""
        return next((result for result in self.results if result.cell == cell), None)

    def with_result(self, result: CellResult) -> Comparison:
        """With one more, in the place of an earlier one of the same cell."""
        others = tuple(each for each in self.results if each.cell != result.cell)
        return replace(self, results=(*others, result))

    def to_json(self) -> dict[str, Any]:
        """JSON values; ``from_json`` gives the same back."""
        dumped = asdict(self)
        for result, source in zip(dumped["results"], self.results, strict=True):
            result["answers"] = [[[a.status, a.value, a.top] for a in seed] for seed in source.answers]
        return {"version": VERSION, **dumped}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Comparison:
        """The inverse of ``to_json``.

        Raises:
            ValueError: of another version, or incomplete.
        """
        if values.get("version") != VERSION:
            raise ValueError(f"version {values.get('version')!r}; this program reads {VERSION}")
        try:
            return cls(
                subject=_subject(values["subject"]),
                kind=values["kind"],
                gold=tuple(values["gold"]),
                weights=tuple(values["weights"]),
                created=values["created"],
                results=tuple(_result(each) for each in values["results"]),
            )
        except (KeyError, TypeError) as error:
            raise ValueError(f"incomplete: {error}") from error


def comparison_path(form: Path, question: str) -> Path:
    """Where a comparison lies: beside its form, one file per question."""
    safe = "".join(char if char.isalnum() or char in "-_" else "_" for char in question)[:40]
    return form.with_name(f"{form.stem}.comparison.{safe}.json")


def load_comparison(path: Path) -> Comparison | None:
    """The comparison of a file; None when there is no file.

    Raises:
        InputError: it cannot be read, or is none.
    """
    try:
        return Comparison.from_json(json.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, AttributeError) as error:
        raise InputError(
            "comparison.bad",
            "{path} is no comparison: {why}",
            remedy="--overwrite begins a new one",
            path=str(path),
            why=str(error),
        ) from error


def check_place(path: Path, *, overwrite: bool) -> None:
    """Whether a comparison can be kept there, as far as it is known before anything is read.

    Raises:
        InputError: it is a folder or in none, or holds what is no comparison and may not be replaced.
    """
    if path.is_dir():
        raise InputError("comparison.folder", "{path} is a folder; name a file", path=str(path))
    folder = path.absolute().parent
    if not folder.is_dir():
        remedy = "--out names another place"
        raise InputError("comparison.no_folder", "there is no folder {path}", remedy=remedy, path=str(folder))
    if not overwrite:
        load_comparison(path)


def save_comparison(path: Path, comparison: Comparison) -> None:
    """Replace the file in one step.

    Raises:
        UserError: it cannot be written; what was there stays.
    """
    part = path.with_name(f".{path.name}.part")
    try:
        part.write_text(json.dumps(comparison.to_json()), encoding="utf-8")
        part.replace(path)
    except OSError as error:
        remedy = "--out names another place"
        raise UserError(
            "comparison.unwritable", "{path}: {why}", remedy=remedy, path=str(path), why=str(error.strerror)
        ) from error
    finally:
        part.unlink(missing_ok=True)


def _subject(values: Mapping[str, Any]) -> Subject:
    lists = ("rows", "seeds", "pictures")  # the last is missing from files of before it was
    return Subject(**{**values, **{name: tuple(values[name]) for name in lists if name in values}})


def _result(values: Mapping[str, Any]) -> CellResult:
    return CellResult(
        cell=Cell(**values["cell"]),
        answers=tuple(tuple(Answer(*each) for each in seed) for seed in values["answers"]),
        seconds=tuple(values["seconds"]),
        refusal=values["refusal"],
        first_failure=values.get("first_failure", ""),
    )
