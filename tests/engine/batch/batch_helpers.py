"""Forms, tables and readers for the tests of ``engine/batch``. The readers answer in the process, at once."""

from __future__ import annotations

import asyncio
import csv
import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from engine.batch.form import parse_form
from engine.batch.prepare import prepare
from engine.domain.form import Form
from engine.domain.question import Noul
from engine.domain.reading import Reading
from engine.store.runs import RunStore

NOUL: dict[str, Any] = {"id": "q", "type": "noul", "instructions": "Is it?"}
CHOICE: dict[str, Any] = {"id": "team", "type": "choice", "instructions": "Who?", "criteria": {"a": "", "b": "bees"}}
SCORE: dict[str, Any] = {"id": "size", "type": "score", "instructions": "How?", "criteria": ["low", "mid", "high"]}


def form(*questions: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """A form file's content over the columns ``n`` and ``text``."""
    return {"version": 1, "name": "test", "state": "{{ text }}", "questions": list(questions or (NOUL,)), **fields}


def write_form(path: Path, *questions: dict[str, Any], **fields: Any) -> Path:
    path.write_text(json.dumps(form(*questions, **fields)))
    return path


def write_table(path: Path, header: Sequence[str], rows: Iterable[Sequence[str]]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        writer.writerows(rows)
    return path


def make_run(
    folder: Path,
    rows: Iterable[Sequence[str]],
    *questions: dict[str, Any],
    header: Sequence[str] = ("n", "text"),
    **fields: Any,
) -> RunStore:
    """A new run in ``folder``."""
    form_path = write_form(folder / "form.json", *questions, **fields)
    table = write_table(folder / "table.csv", header, rows)
    return prepare(form_path, table, engine="a fake").create(folder)


def numbered(count: int) -> list[tuple[str, str]]:
    return [(str(number), f"text {number}") for number in range(1, count + 1)]


def ok_readings(questions: Form, value: float = 0.75) -> tuple[Reading, ...]:
    """One readable answer per question; ``value`` is the share of the first label."""
    readings = []
    for question in questions.questions:
        rest = (1 - value) / (len(question.answers) - 1)
        shares = (value, *[rest] * (len(question.answers) - 1))
        answer: float | str = value if isinstance(question, Noul) else question.answers[0]
        if question.type == "score":
            answer = sum(level * share for level, share in enumerate(shares))
        readings.append(Reading(question.id, "ok", answer, shares, 0.9, True, 0.5, 0.9, 1, method="alone/canvas"))
    return tuple(readings)


class FakeReader:
    """Answers every row, or does what ``script`` says with it.

    Attributes:
        asked: row keys in the order in which they were asked.
        most: how many reads were under way at the same time.
    """

    def __init__(self, questions: Form, script: Callable[[str, str], object] | None = None) -> None:
        self.form = questions
        self.script = script
        self.asked: list[str] = []
        self.most = self._now = 0

    async def read(self, state: str, *, row_key: str) -> tuple[Reading, ...]:
        self.asked.append(row_key)
        self._now += 1
        self.most = max(self.most, self._now)
        try:
            await asyncio.sleep(0)
            answer = self.script(row_key, state) if self.script is not None else None
            if asyncio.iscoroutine(answer):
                answer = await answer
            if isinstance(answer, BaseException):
                raise answer
            return answer if isinstance(answer, tuple) else ok_readings(self.form)
        finally:
            self._now -= 1


def form_of_store(store: RunStore) -> Form:
    return parse_form(store.spec.form, "store")


def read_csv(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))
