"""``bench tables``: a million rows previewed, browsed, sorted and exported (``DESK_BENCH_ROWS`` for fewer)."""

from __future__ import annotations

import asyncio
import csv
import os
import random
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from engine.batch.export import export_csv
from engine.batch.tables import Table, sniff
from engine.bench.memory import ROWS, ROWS_VARIABLE
from engine.bench.result import BenchResult, Figure, middle
from engine.bench.runner import FORM, TEXT
from engine.domain.reading import Method, Reading
from engine.store.run_browse import Browse, RunBrowser
from engine.store.runs import RunSpec, RunStore

PREVIEW_S, PAGE_MS, SORT_S, EXPORT = 1.0, 100.0, 2.0, 0.5
PREVIEWED = 100  # rows
PAGE = 200
ROUNDS = 3
_BATCH = 2000


async def measure(rows: int | None = None, rounds: int = ROUNDS) -> BenchResult:
    """Seconds of each, the middle of some rounds.

    Args:
        rows: of the table and of the run; None: as the environment says.
    """
    return await asyncio.to_thread(_measure, rows or int(os.environ.get(ROWS_VARIABLE, ROWS)), rounds)


def _measure(rows: int, rounds: int) -> BenchResult:
    with tempfile.TemporaryDirectory(prefix="desk") as folder:
        home = Path(folder)
        table, run = home / "table.csv", _make_run(home, rows)
        _write_table(table, rows)
        preview = _seconds(lambda: Table(table, sniff(table)).preview(PREVIEWED), rounds)
        page = _seconds(lambda: _look(run, Browse(), PAGE), rounds)
        sort = _seconds(lambda: _look(run, Browse(0, sort="value", descending=True)), rounds)
        ratios, exports = [], []
        for _ in range(rounds):
            ours = _seconds(lambda: export_csv(run, home / "out.csv", overwrite=True), 1)
            exports.append(ours)
            ratios.append(_seconds(lambda: _copy(home / "out.csv", home / "copy.csv"), 1) / ours)
    return BenchResult(
        "tables",
        {
            "rows": Figure(rows, ""),
            "preview": Figure(preview, "s", "at most", PREVIEW_S, "encoding, delimiter and the first rows of a CSV"),
            "first_page": Figure(page * 1000, "ms", "at most", PAGE_MS, "of the results, opened and read"),
            "sort": Figure(sort, "s", "at most", SORT_S, "all answers by probability"),
            "export": Figure(rows / middle(exports), "rows/s"),
            "export_ratio": Figure(middle(ratios), "", "at least", EXPORT, "of copying the same cells with csv"),
        },
    )


def _write_table(path: Path, rows: int) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["number", "text"])
        writer.writerows([number, f"{TEXT} é {number}"] for number in range(rows))


def _make_run(home: Path, rows: int) -> Path:
    """A finished run with a random probability in every row."""
    spec = RunSpec(
        *("bench", FORM, "form.json", "0" * 64, ("late",), Method(draws=1), 1, "table.csv", "0" * 64, {}),
        columns=("number", "text"),
        engine="none",
    )
    dice = random.Random(1)

    def answer() -> Reading:
        yes, mass = dice.random(), dice.random()
        return Reading("late", "ok", yes, (yes, 1 - yes), mass, True, dice.random(), mass, 1, method="alone/canvas")

    with RunStore.create(home, spec, ((str(number), f"{TEXT} {number}") for number in range(rows))) as store:
        for first in range(1, rows + 1, _BATCH):
            batch = [(row, (answer(),)) for row in range(first, min(first + _BATCH, rows + 1))]
            store.submit_answers(batch).result()
        store.set_state("finished")
        return store.path


def _look(run: Path, wanted: Browse, limit: int | None = None) -> None:
    with RunBrowser(run) as browser:
        browser.answers(browser.keys(wanted, limit)[:PAGE])


def _copy(source: Path, target: Path) -> None:
    with (
        source.open(encoding="utf-8", newline="") as read,
        target.open("w", encoding="utf-8", newline="") as write,
    ):
        csv.writer(write, lineterminator="\r\n").writerows(csv.reader(read))


def _seconds(work: Callable[[], object], rounds: int) -> float:
    """The middle of some rounds."""
    taken = []
    for _ in range(rounds):
        began = time.perf_counter()
        work()
        taken.append(time.perf_counter() - began)
    return middle(taken)
