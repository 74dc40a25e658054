"""kill -9 at any moment, again and again: no answer is lost or doubled, and little is asked twice."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from batch_helpers import NOUL, SCORE, make_run, numbered, read_csv

from engine.batch.export import export_csv
from engine.batch.outbox import BATCH
from engine.domain.run import Totals
from engine.store.runs import RunView, list_runs

ROWS = 6000
KILLS = 5
CONCURRENCY = 8
WORKER = Path(__file__).with_name("kill_worker.py")


def start(path: Path, log: Path, *most: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, str(WORKER), str(path), str(log), *most], stdout=subprocess.PIPE, text=True
    )


@pytest.mark.parametrize("seed", [1, 2])
def test_a_run_that_is_killed_again_and_again_ends_as_if_it_had_not_been(tmp_path: Path, seed: int) -> None:
    dice = random.Random(seed)
    with make_run(tmp_path, numbered(ROWS), {**NOUL, "id": "q"}, SCORE) as store:
        path = store.path
    log = tmp_path / "asked.log"
    kills = 0
    for _ in range(KILLS):
        with start(path, log) as child:
            assert child.stdout is not None
            for _ in range(dice.randint(1, 3)):
                line = child.stdout.readline()
            child.send_signal(signal.SIGKILL)
            if child.wait() == -signal.SIGKILL:
                kills += 1
                assert line.strip().isdigit()
                (info,) = list_runs(tmp_path)
                assert info.state == ("unfinished" if info.done < 2 * ROWS else info.state)
                assert info.done >= int(line)  # what was reported is on disk
                assert info.done % 2 == 0  # a row's answers come together
    assert kills > 0
    with start(path, log) as child:
        assert child.stdout is not None
        assert child.stdout.read().splitlines()[-1] == "finished"
    with RunView(path) as view:
        assert view.totals() == {"q": Totals(ok=ROWS), "size": Totals(ok=ROWS)}
        for stored in view.iter_rows():
            assert stored.readings[0].value == stored.row / 10_000
    export_csv(path, tmp_path / "out.csv")
    found = read_csv(tmp_path / "out.csv")
    assert [(row["n"], float(row["q"])) for row in found] == [(str(n), n / 10_000) for n in range(1, ROWS + 1)]
    asked = Counter(log.read_text().split())
    assert len(asked) == ROWS
    # Lost with a kill: a batch being written, one that is full, and the reads under way.
    assert sum(asked.values()) - ROWS <= kills * (2 * BATCH + 2 * CONCURRENCY)


def test_a_log_cut_in_the_middle_costs_only_its_last_batches(tmp_path: Path) -> None:
    """Field case F1: what a torn write leaves behind is dropped, and only those rows are asked again."""
    with make_run(tmp_path, numbered(400)) as store:
        path = store.path
    log = tmp_path / "asked.log"
    with start(path, log, "200") as child:
        assert child.stdout is not None
        child.stdout.readline()
        child.send_signal(signal.SIGKILL)
    wal = path.with_name(path.name + "-wal")
    raw = wal.read_bytes()
    wal.write_bytes(raw[: len(raw) - 1000])
    path.with_name(path.name + "-shm").unlink(missing_ok=True)
    with start(path, log) as child:
        assert child.stdout is not None
        assert child.stdout.read().splitlines()[-1] == "finished"
    with RunView(path) as view:
        assert view.totals() == {"q": Totals(ok=400)}
        assert all(stored.readings[0].value == stored.row / 10_000 for stored in view.iter_rows())
