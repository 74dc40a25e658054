"""What the checks before a run share: their options, an engine, a sample of rows, and a bar while they read."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, Protocol

import click
from tqdm import tqdm

from engine.batch.form import load_form
from engine.batch.row_sample import SampledRow, sample_rows
from engine.batch.selection import Selection
from engine.batch.tables import Table, open_table, sniff
from engine.cli.draws_option import Draws
from engine.cli.engines import EMBEDDED, HELP, OpenEngine, check_choice, open_engine
from engine.cli.picture_options import column_option, separator_option, with_pictures
from engine.client.http import EngineClient
from engine.domain.form import Form
from engine.domain.picture import State
from engine.domain.question import Question
from engine.domain.reading import Method
from engine.reads.reader import check_reading
from engine.supervise.lifecycle import KEY_VARIABLE

Progress = Callable[[int, int], None]
_PATH = click.Path(path_type=Path)


@dataclass(frozen=True, slots=True)
class CheckOptions:
    """What the command line of a check says. ``None`` for draws, wire and pictures: as the form says."""

    form: Path
    table: Path
    engine: str
    api_key: str | None
    encoding: str | None
    delimiter: str | None
    no_header: bool
    sheet: str | None = None
    draws: Literal["auto"] | int | None = None
    wire: Literal["canvas", "native"] | None = None
    where: str | None = None
    picture_column: str | None = None
    picture_separator: str | None = None

    def load(self) -> Form:
        """The form, with what the command line says about its method.

        Raises:
            InputError: the form is faulty.
        """
        form = load_form(self.form)
        method = form.method
        method = replace(method, draws=self.draws or method.draws, wire=self.wire or method.wire)
        return with_pictures(replace(form, method=method), self.picture_column, self.picture_separator)

    @property
    def selection(self) -> Selection:
        """Which rows count."""
        return Selection(self.where or "")

    def open_table(self) -> Table:
        """The table.

        Raises:
            InputError: it cannot be read.
        """
        return open_given(
            self.table,
            encoding=self.encoding,
            delimiter=self.delimiter,
            no_header=self.no_header,
            sheet=self.sheet,
        )


def open_given(
    table: Path, *, encoding: str | None, delimiter: str | None, no_header: bool, sheet: str | None
) -> Table:
    """A table, written as ``format_options`` say.

    Raises:
        InputError: it cannot be read.
    """
    character = "\t" if delimiter in ("tab", "\\t") else delimiter
    fmt = sniff(table, encoding=encoding, delimiter=character, header=not no_header, sheet=sheet)
    return open_table(table, fmt)


Command = Callable[..., Any]

_FORMAT_OPTIONS: tuple[Callable[[Command], Command], ...] = (
    click.option("--encoding", help="Of the table, a Python codec name, instead of the one guessed."),
    click.option("--delimiter", metavar="C", help="Of the table, one character or tab, instead of the one guessed."),
    click.option("--no-header", is_flag=True, help="The table's first line is data."),
    click.option("--sheet", help="Of a workbook, instead of its first visible sheet."),
)
_TABLE_OPTIONS: tuple[Callable[[Command], Command], ...] = (
    click.argument("form", type=_PATH),
    click.argument("table", type=_PATH),
    click.option("--engine", default=EMBEDDED, show_default=True, help=HELP),
    click.option("--api-key", envvar=KEY_VARIABLE, show_envvar=True, help="Of a server given by its URL."),
    *_FORMAT_OPTIONS,
    click.option("--where", help="Only rows for which this is true, such as: country == 'DE' and amount|float > 10."),
    column_option,
    separator_option,
)
_METHOD_OPTIONS: tuple[Callable[[Command], Command], ...] = (
    click.option("--draws", type=Draws(), help="Looks per question, 1 to 32, or auto; else as the form says."),
    click.option("--wire", type=click.Choice(["canvas", "native"]), help="How to ask; else as the form says."),
)


def format_options(command: Command) -> Command:
    """How a table is written; they arrive as the keywords of ``open_given``."""
    return _with(command, _FORMAT_OPTIONS)


def table_options(command: Command) -> Command:
    """FORM TABLE, the engine, how the table is written, which rows count and where their pictures stand.

    They arrive as keywords named like ``CheckOptions``.
    """
    return _with(command, _TABLE_OPTIONS)


def check_options(command: Command) -> Command:
    """The same, and how the questions are read."""
    return _with(command, (*_TABLE_OPTIONS, *_METHOD_OPTIONS))


def _with(command: Command, options: Sequence[Callable[[Command], Command]]) -> Command:
    for decorate in reversed(options):
        command = decorate(command)
    return command


@asynccontextmanager
async def opened(
    options: CheckOptions, sample: int, check: Callable[[Sequence[Question]], object] | None = None
) -> AsyncIterator[tuple[OpenEngine, Form, tuple[SampledRow, ...]]]:
    """The engine, the form, and a sample of the table's rows; all input is checked before the engine starts.

    Args:
        check: raises for questions that the work behind this cannot be done with.

    Raises:
        UserError: the input is faulty, or the engine does not answer.
    """
    check_choice(options.engine)
    form = options.load()
    check_reading(form.questions, form.method)
    if check is not None:
        check(form.questions)
    pictured = form.pictures is not None
    check_choice(options.engine, sees=pictured)
    rows = await asyncio.to_thread(
        sample_rows, form, options.open_table(), sample, seed=form.method.seed, selection=options.selection, note=say
    )
    async with open_engine(options.engine, options.api_key, say, sees=pictured) as engine:
        yield engine, form, rows


class Measured(Protocol):
    """What a check finds."""

    @property
    def sentence(self) -> str:
        """The finding in words."""
        ...

    def to_json(self) -> dict[str, Any]:
        """The finding in numbers."""
        ...


class Measure[M: Measured](Protocol):
    """``measure_interference`` or ``measure_order``."""

    def __call__(
        self,
        client: EngineClient,
        questions: Sequence[Question],
        method: Method,
        rows: Sequence[tuple[str, State]],
        *,
        sample: int,
        progress: Progress,
    ) -> Awaitable[M]: ...


def run_check[M: Measured](
    options: CheckOptions,
    sample: int,
    measure: Measure[M],
    check: Callable[[Sequence[Question]], object],
    *,
    as_json: bool,
    lines: Callable[[M], Iterable[str]],
) -> None:
    """Measure on a sample of rows with a bar, and print what was found.

    Args:
        check: as of ``opened``.
        lines: what stands below the finding's sentence.

    Raises:
        UserError: as ``opened``.
    """

    async def work() -> M:
        async with opened(options, sample, check) as (engine, form, rows):
            with bar(" rows") as progress:
                pairs = [(row.key, row.state) for row in rows]
                return await measure(
                    engine.client, form.questions, form.method, pairs, sample=sample, progress=progress
                )

    found = asyncio.run(work())
    for line in [json.dumps(found.to_json())] if as_json else [found.sentence, *lines(found)]:
        click.echo(line)


def say(text: str) -> None:
    """A line beside the result."""
    click.echo(text, err=True)


@contextmanager
def bar(unit: str) -> Iterator[Progress]:
    """A bar on stderr when it is a terminal; told (done, total)."""
    # disable=None: no bar where stderr is a file or a pipe
    with tqdm(unit=unit, disable=None, dynamic_ncols=True) as shown:

        def progress(done: int, total: int) -> None:
            shown.total = total
            shown.update(done - shown.n)

        yield progress
