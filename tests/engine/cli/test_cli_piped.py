"""A table on stdin: its bytes are the table's, whatever the terminal's encoding."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from engine import paths
from engine.cli.main import BAD_INPUT
from engine.store.runs import RunView, list_runs, run_path

FORM = {
    "version": 2,
    "name": "test",
    "state": "{{ text }}",
    "questions": [{"id": "late", "type": "noul", "instructions": "Late?"}],
}


@pytest.fixture
def form(tmp_path: Path) -> Path:
    path = tmp_path / "form.json"
    path.write_text(json.dumps(FORM))
    return path


@pytest.mark.parametrize("terminal", ["C.UTF-8", "C"])
def test_the_encoding_is_of_what_is_piped(form: Path, tmp_path: Path, terminal: str) -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "engine.cli", "decide", form, "-", "--queue", "--encoding", "cp1252", "--out", "o.csv"],
        input='text\r\n"spät\r\nda"\r\n'.encode("cp1252"),
        capture_output=True,
        env={**os.environ, "LC_ALL": terminal, "PYTHONPATH": str(Path(__file__).parents[3])},
        cwd=tmp_path,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr.decode()
    (info,) = list_runs(paths.runs_dir())
    with RunView(run_path(paths.runs_dir(), info.id)) as view:
        assert Path(view.spec.table_path).read_bytes() == 'text\r\n"spät\r\nda"\r\n'.encode("cp1252")


def test_a_closed_stdin_holds_no_table(form: Path, tmp_path: Path) -> None:
    ended = subprocess.run(
        ["sh", "-c", '"$0" -m engine.cli decide "$1" - --out o.csv <&-', sys.executable, form],
        capture_output=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])},
        cwd=tmp_path,
        text=True,
        check=False,
    )
    assert (ended.returncode, ended.stdout) == (BAD_INPUT, "")
    assert "stdin holds no table" in ended.stderr
    assert "Traceback" not in ended.stderr
