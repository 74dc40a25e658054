"""The command line as real processes, with the embedded engine behind it."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from engine.supervise import processes

TIMEOUT_S = 600


@dataclass(frozen=True)
class Ended:
    """A command that ran to its end."""

    code: int
    out: str
    err: str

    @property
    def events(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.out.splitlines()]


@pytest.fixture
def desk() -> Callable[..., Ended]:
    """Runs ``diffusion-desk ARGUMENTS`` in the test's own data folder."""

    def run(*arguments: object, env: dict[str, str] | None = None) -> Ended:
        process = subprocess.run(
            [sys.executable, "-m", "app", *map(str, arguments)],
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            env=processes.child_environment(env or {}),
            check=False,
        )
        return Ended(process.returncode, process.stdout, process.stderr)

    return run


@pytest.fixture
def desk_process() -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Starts ``diffusion-desk ARGUMENTS`` with its stdout as a pipe; ended after the test."""
    started: list[subprocess.Popen[str]] = []

    def start(*arguments: object) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-m", "app", *map(str, arguments)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=processes.child_environment({}),
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


@pytest.fixture
def small(tmp_path: Path, root: Path) -> tuple[Path, Path]:
    """The contradictions form and the first 60 rows of its table."""
    example = root / "resources" / "examples" / "contradictions"
    with (example / "table.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    table = tmp_path / "small.csv"
    with table.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows[:61])
    return example / "form.json", table
