"""Reading the cells of a comparison: one after the other, saved after each, so that it can be stopped and resumed."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from random import Random

from engine.batch.compare import Answer, Cell, CellResult, Comparison, Subject, load_comparison, save_comparison
from engine.batch.form import form_sha256, load_form
from engine.batch.row_sample import LabelledSample, SampledRow, sample_labelled
from engine.batch.selection import Selection
from engine.batch.tables import Table, file_sha256
from engine.batch.template import RowTemplate
from engine.client.http import EngineClient
from engine.domain.form import Form
from engine.domain.picture import PictureColumn, State, text_of, with_text
from engine.domain.question import Question
from engine.domain.reading import Method, Reading
from engine.errors import EngineRefused, InputError
from engine.reads.failures import failures
from engine.reads.reader import Reader
from engine.reads.rows_together import ROWS_A_CANVAS, RowsTogether
from engine.reads.together import together

ROWS_AT_ONCE = 16
SAMPLE = 200
ONE_QUESTION = "the form has one question, so there is nothing to share a canvas with"
NO_DOCUMENT = "the form has no document template"
PICTURES = "the form shows pictures, which several rows on one canvas could not be told apart by"


@dataclass(frozen=True, slots=True)
class CompareProgress:
    """How far a comparison is.

    Attributes:
        cell: the one that is being read.
        number, cells: which one, of how many.
        done, total: rows read, over all seeds and cells.
        eta_s: seconds to the end, from what was read so far; None while unknown.
    """

    cell: Cell
    number: int
    cells: int
    done: int
    total: int
    eta_s: float | None


@dataclass(frozen=True)
class Plan:
    """What a comparison reads.

    Attributes:
        sample: labelled rows of one question.
        documents: the whole document of each row, or None where the form has no template for it.
        base: the form's method; cells change draws, steps and layout.
        seeds: two run seeds, for the spread.
        pictures: the column of pictures where it is not the one that the form's file names.
    """

    form: Form
    sample: LabelledSample
    documents: tuple[str, ...] | None
    base: Method
    form_sha256: str
    table_sha256: str
    seeds: tuple[int, ...]
    pictures: PictureColumn | None = None

    def begun(self, engine: str) -> Comparison:
        """The comparison without a result."""
        question = self.sample.question
        rows = tuple(row.row for row in self.sample.rows)
        pictures = () if self.pictures is None else (self.pictures.column, self.pictures.separator)
        subject = Subject(self.form_sha256, self.table_sha256, question.id, engine, rows, self.seeds, pictures)
        created = datetime.now(UTC).isoformat(timespec="seconds")
        return Comparison(subject, question.type, self.sample.gold, self.sample.weights, created)


def plan(
    form_path: Path,
    table: Table,
    *,
    question: str | None = None,
    sample: int = SAMPLE,
    seed: int = 0,
    selection: Selection | None = None,
    pictures: PictureColumn | None = None,
    note: Callable[[str], None] = lambda text: None,
) -> Plan:
    """Draw the sample. Reads the whole table: call it off the event loop.

    Args:
        question: its id; else the first one with a gold column.
        selection: only rows that a run with it reads.
        pictures: instead of the form's.
        note: told about rows that were left out because they would fail.

    Raises:
        InputError: no such question, no gold, a faulty table or template.
    """
    own = load_form(form_path)
    form = own if pictures is None else replace(own, pictures=pictures)
    asked = _question(form, question)
    drawn = sample_labelled(form, asked, table, sample, seed=seed, selection=selection, note=note)
    documents = None
    if form.document is not None:
        template = RowTemplate(form.document, table.columns, f"{form_path}: document")
        documents = tuple(template.render(dict(zip(table.columns, row.cells, strict=True))) for row in drawn.rows)
    run_seed = form.method.seed
    seeds = (run_seed, run_seed + 1)
    hashes = form_sha256(form_path), file_sha256(table.path)
    return Plan(form, drawn, documents, form.method, *hashes, seeds, form.pictures if form != own else None)


def open_comparison(path: Path, planned: Plan, engine: str, *, overwrite: bool = False) -> Comparison:
    """The comparison to go on with, or a new one.

    Raises:
        InputError: the file holds the comparison of something else, or is none.
    """
    found = None if overwrite else load_comparison(path)
    begun = planned.begun(engine)
    if found is not None and found.subject != begun.subject:
        changed = [
            name
            for name in Subject.__dataclass_fields__
            if getattr(found.subject, name) != getattr(begun.subject, name)
        ]
        raise InputError(
            "comparison.other",
            "{path} is the comparison of something else ({changed})",
            remedy="--overwrite begins a new one, --out names another file",
            path=str(path),
            changed=", ".join(changed),
        )
    return found or begun


async def compare_methods(
    client: EngineClient,
    planned: Plan,
    cells: Sequence[Cell],
    comparison: Comparison,
    path: Path,
    *,
    progress: Callable[[CompareProgress], None] = lambda _: None,
    rows_at_once: int = ROWS_AT_ONCE,
) -> Comparison:
    """Read the cells that are not there yet, or were refused; the file is replaced after each.

    Cancelling keeps the finished cells.

    Raises:
        EngineUnreachable: the engine is gone; the finished cells are kept.
        UserError: the file cannot be written.
    """
    await asyncio.to_thread(save_comparison, path, comparison)  # a place that takes no file is told before any read
    missing = [cell for cell in cells if (known := comparison.result(cell)) is None or known.refusal]
    meter = _Meter(missing, len(planned.sample.rows) * len(planned.seeds), progress)
    for cell in missing:
        meter.begin(cell)
        result = await _read_cell(client, planned, cell, meter, rows_at_once)
        comparison = comparison.with_result(result)
        await asyncio.to_thread(save_comparison, path, comparison)
    return comparison


class _Meter:
    """Counts rows and forecasts by what a cell's rows cost beside another's."""

    def __init__(self, cells: Sequence[Cell], rows: int, tell: Callable[[CompareProgress], None]) -> None:
        self._cells, self._rows, self._tell = list(cells), rows, tell
        self._number = 0
        self._done = self._in_cell = 0
        self._started = time.monotonic()

    def begin(self, cell: Cell) -> None:
        self._number = self._cells.index(cell) + 1
        self._done, self._in_cell = (self._number - 1) * self._rows, 0
        self.add(0)

    def add(self, rows: int) -> None:
        self._in_cell += rows
        cell = self._cells[self._number - 1]
        costs = [each.cost * self._rows for each in self._cells]
        spent = sum(costs[: self._number - 1]) + cell.cost * self._in_cell
        took = time.monotonic() - self._started
        eta = took * (sum(costs) - spent) / spent if spent > 0.0 else None
        done, total = self._done + self._in_cell, self._rows * len(self._cells)
        self._tell(CompareProgress(cell, self._number, len(self._cells), done, total, eta))


async def _read_cell(client: EngineClient, planned: Plan, cell: Cell, meter: _Meter, rows_at_once: int) -> CellResult:
    if cell.layout == "joint" and len(planned.form.questions) < 2:
        return CellResult(cell, refusal=ONE_QUESTION)
    states = [row.state for row in planned.sample.rows]
    if cell.state == "document":
        if planned.documents is None:
            return CellResult(cell, refusal=NO_DOCUMENT)
        states = [
            with_text(state, f"{document}\n\n{text_of(state)}")
            for document, state in zip(planned.documents, states, strict=True)
        ]
    answers, seconds, first_failure = [], [], ""
    for seed in planned.seeds:
        try:
            work = await _jobs(client, planned, cell, cell.method(planned.base, seed), states, seed)
        except (EngineRefused, InputError) as refusal:
            return CellResult(cell, refusal=str(refusal))
        started = time.monotonic()
        found = await _all(work, len(states), meter, rows_at_once)
        seconds.append(time.monotonic() - started)
        answers.append(tuple(_answer(planned.sample.question, reading) for reading in found))
        keyed = ((row.key, (reading,)) for row, reading in zip(planned.sample.rows, found, strict=True))
        first_failure = first_failure or failures(keyed).first
    return CellResult(cell, tuple(answers), tuple(seconds), first_failure=first_failure)


# The places of some rows of the sample, and what reads them.
_Job = tuple[tuple[int, ...], Callable[[], Awaitable[Sequence[Reading]]]]


async def _jobs(
    client: EngineClient, planned: Plan, cell: Cell, method: Method, states: Sequence[State], seed: int
) -> list[_Job]:
    """What has to be read."""
    question, rows = planned.sample.question, planned.sample.rows
    pictured = planned.form.pictures is not None
    if cell.layout == "rows":
        if pictured:
            raise InputError("comparison.pictures", PICTURES)
        crowd = await RowsTogether.open(client, question, method)
        # Mixed, so that neighbours of the table do not share a canvas.
        order = Random(seed).sample(range(len(rows)), len(rows))
        return [
            _crowd_job(crowd, tuple(order[at : at + ROWS_A_CANVAS]), rows, states)
            for at in range(0, len(order), ROWS_A_CANVAS)
        ]
    asked = planned.form.questions if cell.layout == "joint" else (question,)
    reader = await Reader.open(client, asked, method, pictures=pictured)
    place = asked.index(question)
    return [_row_job(reader, at, place, rows[at], state) for at, state in enumerate(states)]


def _crowd_job(
    crowd: RowsTogether, places: tuple[int, ...], rows: Sequence[SampledRow], states: Sequence[State]
) -> _Job:
    key = ",".join(rows[place].key for place in places)
    return places, lambda: crowd.read([text_of(states[place]) for place in places], row_key=key)


def _row_job(reader: Reader, at: int, place: int, row: SampledRow, state: State) -> _Job:
    async def read() -> Sequence[Reading]:
        return [(await reader.read(state, row_key=row.key))[place]]

    return (at,), read


async def _all(work: Sequence[_Job], rows: int, meter: _Meter, rows_at_once: int) -> list[Reading]:
    free = asyncio.Semaphore(rows_at_once)
    found: list[Reading | None] = [None] * rows

    async def one(places: tuple[int, ...], read: Callable[[], Awaitable[Sequence[Reading]]]) -> None:
        async with free:
            for place, reading in zip(places, await read(), strict=True):
                found[place] = reading
            meter.add(len(places))

    await together([one(*job) for job in work])
    return [reading for reading in found if reading is not None]


def _answer(question: Question, reading: Reading) -> Answer:
    if reading.status != "ok" or reading.value is None:
        return Answer(reading.status)
    value = reading.value
    number = float(question.answers.index(value)) if isinstance(value, str) else float(value)
    return Answer("ok", number, max(reading.shares))


def _question(form: Form, wanted: str | None) -> Question:
    if wanted is None:
        found = next((question for question in form.questions if question.gold is not None), None)
    else:
        found = next((question for question in form.questions if question.id == wanted), None)
    if found is None:
        raise InputError(
            "comparison.no_question",
            "{form}: {what}",
            remedy="name a column with the right answers as the question's gold" if wanted is None else "{there}",
            form=form.name,
            what=f"no question is called {wanted}" if wanted is not None else "no question has a gold column",
            there=f"its questions are {', '.join(question.id for question in form.questions)}",
        )
    return found
