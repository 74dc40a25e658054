"""What the order of a choice's options does, measured on the user's own rows.

A model may favour a letter or a place. So a sample of rows is read once per cyclic rotation of the options, and what
each option gets is compared by name. Reading with ``rotate`` averages the effect out, at as many reads as options.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import chain
from random import Random
from typing import Any

from engine.client.http import EngineClient
from engine.domain.picture import State, paths_of
from engine.domain.question import Choice, Question
from engine.domain.reading import Method, Reading
from engine.errors import InputError
from engine.reads.failures import Failures, failures
from engine.reads.interference import ROWS_AT_ONCE, SAMPLE_ROWS
from engine.reads.reader import Reader
from engine.reads.rotate import most_turns, turned, turns
from engine.reads.together import together


@dataclass(frozen=True, slots=True)
class ChoiceOrder:
    """What the order does to one choice, over the rows whose every rotation is ok.

    Attributes:
        options: how many, which is the number of rotations.
        rows: how many rows those are.
        flips: rows where any rotation gives another option than the form's own order.
        spread: mean over rows of (largest minus smallest share that the form's winning option gets), 0 to 1; None
            without rows.
        letters: how often each place (A, B, ...) wins, as a share of all reads; equal shares are 1 over the options.
        unreadable: rows of the sample of which a rotation was unreadable.
        failed: rows of which a rotation failed; they are not among the unreadable ones.
    """

    question_id: str
    options: int
    rows: int
    flips: int
    spread: float | None
    letters: tuple[float, ...]
    unreadable: int
    failed: int = 0


@dataclass(frozen=True, slots=True)
class OrderEffect:
    """The comparison of one sample over all rotations.

    Attributes:
        rows: of the sample.
        reads: looks that were made, the draws of each counted once.
        failed, first_failure: rows of which a read failed, and why the first did; as ``Failures``.
    """

    rows: int
    reads: int
    questions: tuple[ChoiceOrder, ...]
    failed: int = 0
    first_failure: str = ""

    @property
    def sentence(self) -> str:
        """The finding for the user, in plain words."""
        parts = []
        for found in self.questions:
            if found.spread is None:
                parts.append(f"{found.question_id}: no row was readable in every order.")
                continue
            rows, flips = _counted(found.rows, "row"), _counted(found.flips, "answer")
            first = f"{found.question_id}: on {rows} another order of the options changed {flips}"
            parts.append(f"{first} and moved the winner's share by {found.spread:.2f} on average{_letter(found)}.")
        costs = "; ".join(f"{found.question_id} {found.options} reads a row" for found in self.questions)
        parts.append(f"Rotating the options averages this out ({costs}).")
        if self.failed:
            parts.append(Failures(self.failed, self.first_failure).sentence(self.rows))
        return " ".join(parts)

    def to_json(self) -> dict[str, Any]:
        """JSON values; ``from_json`` gives the same back."""
        return {"version": 1, **asdict(self), "sentence": self.sentence}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> OrderEffect:
        """The inverse of ``to_json``.

        Raises:
            ValueError: of another version, or incomplete.
        """
        if values.get("version") != 1:
            raise ValueError(f"an option-order report of version {values.get('version')!r}")
        try:
            questions = tuple(
                ChoiceOrder(**{**each, "letters": tuple(each["letters"])}) for each in values["questions"]
            )
            failed = values.get("failed", 0), values.get("first_failure", "")  # not in reports of before they were
            return cls(values["rows"], values["reads"], questions, *failed)
        except (KeyError, TypeError) as error:
            raise ValueError(f"an incomplete option-order report: {error}") from error


async def measure_order(
    client: EngineClient,
    questions: Sequence[Question],
    method: Method,
    rows: Sequence[tuple[str, State]],
    *,
    sample: int = SAMPLE_ROWS,
    progress: Callable[[int, int], None] | None = None,
) -> OrderEffect:
    """Read a sample of rows in every rotation of the options.

    Args:
        method: its wire, draws and limits are used; choices are read alone, so that nothing but the order differs.
        rows: (row key, state) pairs to sample from; the sample is a function of the method's seed.
        progress: told how many of the sample's rows are read, of how many.

    Raises:
        InputError: no choice among the questions, or no rows.
        EngineRefused, EngineUnreachable: as ``Reader.open`` and ``Reader.read``.
    """
    choices = choices_of(questions)
    if not rows:
        raise InputError("reads.no_rows", "there is no row to read in several orders")
    places = sorted(Random(method.seed).sample(range(len(rows)), min(sample, len(rows))))
    chosen = [rows[place] for place in places]
    plain = replace(method, joint=False, rotate=False)
    pictured = any(paths_of(state) for _, state in chosen)
    readers = [
        await Reader.open(client, turned(choices, turn, joint=False), plain, pictures=pictured)
        for turn in range(most_turns(choices))
    ]
    seen: list[list[dict[str, Reading]]] = []  # row -> turn -> question -> reading
    for start in range(0, len(chosen), ROWS_AT_ONCE):
        seen += await together([_row(readers, key, state) for key, state in chosen[start : start + ROWS_AT_ONCE]])
        if progress is not None:
            progress(len(seen), len(chosen))
    found = tuple(_choice(question, seen) for question in choices)
    reads = len(chosen) * sum(reader.canvases for reader in readers)
    failed = failures(
        (key, chain.from_iterable(by_id.values() for by_id in row)) for (key, _), row in zip(chosen, seen, strict=True)
    )
    return OrderEffect(len(chosen), reads, found, failed.rows, failed.first)


def choices_of(questions: Sequence[Question]) -> tuple[Choice, ...]:
    """The questions whose options have an order to turn.

    Raises:
        InputError: there is none.
    """
    choices = tuple(question for question in questions if isinstance(question, Choice))
    if not choices:
        raise InputError(
            "reads.no_choice", "the form has no choice question: yes/no and score questions have no order to turn"
        )
    return choices


async def _row(readers: Sequence[Reader], key: str, state: State) -> list[dict[str, Reading]]:
    turns_ = await together([reader.read(state, row_key=key) for reader in readers])
    return [{reading.question_id: reading for reading in readings} for readings in turns_]


def _choice(question: Choice, seen: Sequence[Sequence[Mapping[str, Reading]]]) -> ChoiceOrder:
    size = turns(question)
    rows = [[by_turn[turn][question.id] for turn in range(size)] for by_turn in seen]
    readable = [row for row in rows if all(reading.status == "ok" for reading in row)]
    failed = sum(any(reading.status == "error" for reading in row) for row in rows)
    wins = [0] * size
    flips, spreads = 0, []
    for row in readable:
        own = question.answers.index(str(row[0].value))
        # Rotation r has put option i at place (i - r) mod size.
        shares = [reading.shares[(own - turn) % size] for turn, reading in enumerate(row)]
        spreads.append(max(shares) - min(shares))
        flips += any(reading.value != row[0].value for reading in row)
        for reading in row:
            wins[reading.shares.index(max(reading.shares))] += 1
    reads = len(readable) * size
    return ChoiceOrder(
        question_id=question.id,
        options=size,
        rows=len(readable),
        flips=flips,
        spread=statistics.fmean(spreads) if spreads else None,
        letters=tuple(count / reads for count in wins) if reads else (),
        unreadable=len(rows) - len(readable) - failed,
        failed=failed,
    )


def _letter(found: ChoiceOrder) -> str:
    """The letter that wins too often, in words; over all rotations each should win equally often."""
    place = max(range(len(found.letters)), key=found.letters.__getitem__)
    excess = found.letters[place] - 1.0 / found.options
    if excess < 0.1:
        return ""
    letter, even = chr(ord("A") + place), 1.0 / found.options
    return f"; the letter {letter} won {found.letters[place]:.0%} of the reads ({even:.0%} is even)"


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"
