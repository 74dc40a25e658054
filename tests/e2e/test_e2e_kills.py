"""kill -9 of worker, window and engine at random moments, a resume after each: the export is as if nothing had been."""

from __future__ import annotations

import csv
import json
import os
import random
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from engine import paths
from engine.batch.export import export_csv
from engine.domain.run import Totals
from engine.store.runs import list_runs, run_path
from engine.supervise.ports import bind_port

FAKES = Path(__file__).parents[1] / "fakes"
DELAY_S = 0.05  # of a read: so that there are moments
FORM = {
    "version": 1,
    "name": "kills",
    "state": "{% if text %}Row {{ n }}: {{ text }}{% endif %}",
    "questions": [
        {"id": "late", "type": "noul", "instructions": "Is it late?"},
        {"id": "size", "type": "score", "instructions": "How big is it?", "criteria": ["small", "middle", "big"]},
    ],
    "method": {"draws": "auto", "seed": 5},
}


def empty(rows: int) -> int:
    """How many rows have no text."""
    return len(range(0, rows, 97))


class Engine:
    """The stand-in on one port, dead or alive."""

    def __init__(self) -> None:
        with bind_port() as listener:
            self.port = listener.getsockname()[1]
        self.process: subprocess.Popen[str] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self, delay: float = DELAY_S) -> None:
        command = [sys.executable, str(FAKES / "seeded_engine.py"), str(self.port), str(delay)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == "ready\n"

    def kill(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.communicate()


@pytest.fixture
def engine() -> Iterator[Engine]:
    engine = Engine()
    yield engine
    engine.kill()


def decide(folder: Path, engine: Engine, out: Path, *more: str, watched: bool = False) -> subprocess.Popen[str]:
    arguments = ["decide", str(folder / "form.json"), str(folder / "table.csv"), "--out", str(out)]
    arguments += ["--engine", engine.url, "--concurrency", "32", *more]
    command = [sys.executable, str(FAKES / "run_watcher.py"), *arguments]
    if not watched:
        command = [sys.executable, "-m", "engine.cli", *arguments, "--json"]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def follow(process: subprocess.Popen[str], steps: int) -> bool:
    """Reads events up to some progress; whether the run is still under way."""
    assert process.stdout is not None
    for line in process.stdout:
        event = json.loads(line)["event"]
        assert event != "failed", line
        steps -= event == "progress"
        if event == "finished":
            return False
        if steps <= 0:
            return True
    raise AssertionError(f"it ended too soon: {process.communicate()[1]}")


def kill_window(process: subprocess.Popen[str]) -> None:
    """The window dies; its worker notices by itself and ends in order."""
    children = psutil.Process(process.pid).children(recursive=True)
    process.kill()
    _, alive = psutil.wait_procs(children, timeout=240)
    assert alive == []


def make_input(folder: Path, rows: int) -> None:
    (folder / "form.json").write_text(json.dumps(FORM))
    with (folder / "table.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["n", "text"])
        writer.writerows((number, "" if number % 97 == 0 else f"text {number * 7919 % 1000}") for number in range(rows))


def undisturbed(folder: Path, engine: Engine, home: Path) -> bytes:
    engine.start(0.0)
    previous = os.environ["DIFFUSION_DESK_HOME"]
    os.environ["DIFFUSION_DESK_HOME"] = str(home)
    try:
        with decide(folder, engine, folder / "whole.csv") as process:
            errors = process.communicate()[1]
    finally:
        os.environ["DIFFUSION_DESK_HOME"] = previous
    engine.kill()
    assert process.returncode == 0, errors
    return (folder / "whole.csv").read_bytes()


@pytest.mark.parametrize(
    ("rows", "kills"), [(700, 5), pytest.param(5000, 20, marks=[pytest.mark.slow, pytest.mark.timeout(1500)])]
)
def test_killed_again_and_again_and_the_export_is_the_same(
    tmp_path: Path, engine: Engine, rows: int, kills: int
) -> None:
    if rows > 1000 and os.environ.get("DESK_SLOW_TESTS") != "1":
        pytest.skip("takes minutes: set DESK_SLOW_TESTS=1")
    dice = random.Random(rows)
    make_input(tmp_path, rows)
    wanted = undisturbed(tmp_path, engine, tmp_path / "other")
    engine.start()
    done: list[str] = []
    out = tmp_path / "out.csv"
    running = True
    while running:
        kind = (["worker", "window", "engine"] * kills)[len(done)] if len(done) < kills else "none"
        resume = [f"--resume={list_runs(paths.runs_dir())[0].id}"] if done else []
        with decide(tmp_path, engine, out, *resume, watched=kind == "window") as process:
            running = follow(process, dice.randint(1, 3) if kind != "none" else 10**9)
            if running and kind == "engine":
                engine.kill()
                engine.start()  # the run pauses and goes on by itself
                done.append(kind)
                running = follow(process, dice.randint(1, 2))
            if running and kind == "window":
                kill_window(process)
            elif running:
                process.send_signal(signal.SIGKILL)
            if running and kind != "engine":
                done.append(kind)
            process.communicate()
    assert {"worker", "window", "engine"} <= set(done)
    assert len(done) == kills if rows > 1000 else len(done) >= 4  # a short run may end before its last kills
    (info,) = list_runs(paths.runs_dir())
    for totals in info.totals.values():
        assert totals == Totals(totals.ok, rows - totals.ok - empty(rows), 0, empty(rows))
        assert 0 < totals.unreadable < totals.ok
    assert out.read_bytes() == wanted
    export_csv(run_path(paths.runs_dir(), info.id), tmp_path / "again.csv")
    assert (tmp_path / "again.csv").read_bytes() == wanted
