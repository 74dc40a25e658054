"""A run of the queue whose surroundings have changed while it waited: noted as failed before an engine is started."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from engine import paths
from engine.cli.main import OK, UNFINISHED, run
from engine.store.run_queue import RunQueue
from engine.store.runs import RunStore, run_path

FORM = {
    "version": 2,
    "name": "t",
    "state": "{{ text }}",
    "questions": [{"id": "q", "type": "noul", "instructions": "?"}],
}


@pytest.fixture
def queued(tmp_path: Path) -> str:
    """The id of a run that waits; it is to be written to ``out.csv``."""
    (tmp_path / "form.json").write_text(json.dumps(FORM), encoding="utf-8")
    (tmp_path / "table.csv").write_text("text\nhello\n")
    files = [str(tmp_path / "form.json"), str(tmp_path / "table.csv"), "--out", str(tmp_path / "out.csv")]
    assert run(["decide", *files, "--queue"]) == OK
    with RunQueue(paths.queue_file()) as queue:
        (entry,) = queue.entries()
    return entry.run


def note_after_work(capsys: pytest.CaptureFixture[str]) -> str:
    """What the queue notes about its run, which must have failed; checks that no engine was started."""
    capsys.readouterr()
    assert run(["queue", "work"]) == UNFINISHED
    assert "Traceback" not in capsys.readouterr().err
    assert list(paths.logs_dir().glob("engine*")) == [], "an engine was started"
    with RunQueue(paths.queue_file()) as queue:
        (entry,) = queue.entries()
    assert entry.state == "failed"
    return entry.note


def test_its_file_is_there_by_now(queued: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "out.csv").write_text("mine")
    assert f"{tmp_path / 'out.csv'} exists" in note_after_work(capsys)
    assert (tmp_path / "out.csv").read_text() == "mine"


def test_its_folder_is_gone(queued: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with RunQueue(paths.queue_file()) as queue:
        queue.amend(queued, {"out": str(tmp_path / "none" / "out.csv")})
    assert "there is no folder" in note_after_work(capsys)


def test_somebody_else_works_on_it(queued: str, capsys: pytest.CaptureFixture[str]) -> None:
    with RunStore.open(run_path(paths.runs_dir(), queued)):
        assert "is still being worked on by process" in note_after_work(capsys)


def test_it_was_deleted(queued: str, capsys: pytest.CaptureFixture[str]) -> None:
    run_path(paths.runs_dir(), queued).unlink()
    assert f"there is no run {queued}" in note_after_work(capsys)
