"""``decide --resume`` beside a worker: the run that is still being written is named, with its process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from engine import paths
from engine.batch.prepare import PreparedRun, prepare
from engine.batch.selection import Selection
from engine.cli.main import BAD_INPUT, UNFINISHED, run

NOBODY = "http://127.0.0.1:9"
FORM = {
    "version": 2,
    "name": "t",
    "state": "{{ text }}",
    "questions": [{"id": "q", "type": "noul", "instructions": "?"}],
}


@pytest.fixture
def ready(tmp_path: Path) -> PreparedRun:
    (tmp_path / "form.json").write_text(json.dumps(FORM), encoding="utf-8")
    (tmp_path / "table.csv").write_text("text\nhello\nworld\n")
    return prepare(tmp_path / "form.json", tmp_path / "table.csv", engine="a fake")


def said(folder: Path, capsys: pytest.CaptureFixture[str], *more: str, engine: str = "embedded") -> tuple[int, str]:
    """The exit code of a ``decide`` over the table, and what it says; checks that it starts no engine."""
    files = [str(folder / "form.json"), str(folder / "table.csv"), "--out", str(folder / "out.csv")]
    code = run(["decide", *files, "--engine", engine, *more])
    assert list(paths.logs_dir().glob("engine*")) == [], "an engine was started"
    return code, capsys.readouterr().err


@pytest.mark.parametrize("state", ["running", "paused", "unfinished"])
@pytest.mark.parametrize("named", [False, True])
def test_a_run_with_a_worker_is_said_to_be_worked_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], ready: PreparedRun, state: str, named: bool
) -> None:
    """Also between the moment in which a worker opens a run and the one in which it says that it runs."""
    with ready.create(paths.runs_dir()) as store:
        store.set_state(state)  # type: ignore[arg-type]
        code, words = said(tmp_path, capsys, f"--resume={store.id}" if named else "--resume")
        assert code == BAD_INPUT
        assert f"run {store.id} is still being worked on by process {os.getpid()}" in words
        assert f"kill -INT {os.getpid()}" in words
        assert "no unfinished run" not in words
        assert len(words.strip().splitlines()) == 2


def test_once_its_worker_is_gone_it_is_gone_on_with(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], ready: PreparedRun
) -> None:
    worker = f"""
import sys
from pathlib import Path
sys.path.insert(0, {str(Path(__file__).parents[3])!r})
from engine import paths
from engine.batch.prepare import prepare
folder = Path({str(tmp_path)!r})
store = prepare(folder / "form.json", folder / "table.csv", engine="a fake").create(paths.runs_dir())
store.set_state("running")
print(store.id, flush=True)
sys.stdin.read()
"""
    with subprocess.Popen(
        [sys.executable, "-c", worker], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout is not None
        run_id = child.stdout.readline().strip()
        code, words = said(tmp_path, capsys, "--resume")
        assert (code, f"run {run_id} is still being worked on by process {child.pid}" in words) == (BAD_INPUT, True)
        child.kill()
        child.wait()
    # Nobody answers there: it is as far as it goes without an engine of our own.
    code, words = said(tmp_path, capsys, "--resume", engine=NOBODY)
    assert code == UNFINISHED
    assert "worked on" not in words


def test_a_run_that_nobody_works_on_comes_first(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], ready: PreparedRun
) -> None:
    with ready.create(paths.runs_dir()):
        pass
    with ready.create(paths.runs_dir()):
        code, words = said(tmp_path, capsys, "--resume", engine=NOBODY)
    assert (code, "worked on" in words) == (UNFINISHED, False)


@pytest.mark.parametrize("other", ["form", "table", "rows"])
def test_somebody_elses_work_is_not_meant(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], ready: PreparedRun, other: str
) -> None:
    more = []
    if other == "rows":
        selected = prepare(
            tmp_path / "form.json", tmp_path / "table.csv", engine="a fake", selection=Selection(first=1)
        )
        store, more = selected.create(paths.runs_dir()), ["--first", "2"]
    else:
        store = ready.create(paths.runs_dir())
        if other == "form":
            (tmp_path / "form.json").write_text(json.dumps({**FORM, "name": "another"}), encoding="utf-8")
        else:
            (tmp_path / "table.csv").write_text("text\nhello\n")
    with store:
        code, words = said(tmp_path, capsys, *more, "--resume")
    assert code == BAD_INPUT
    assert "there is no unfinished run" in words
