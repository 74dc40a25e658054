"""A process that watches itself while a file says so, and the table of what it saw."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tools import profile_reads
from tools.profile_watch import FOLDER, SAMPLE

PROGRAM = """
import sys
def spin():
    while True:
        sum(range(1000))
sys.stdout.write("up\\n")
sys.stdout.flush()
spin()
"""
LIMIT_S = 240.0


def until(there: Callable[[], bool]) -> None:
    end = time.monotonic() + LIMIT_S
    while not there():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_a_process_tells_where_it_was(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    site = profile_reads._site(tmp_path)
    base = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    env = {**base, FOLDER: str(tmp_path), "PYTHONPATH": str(site)}
    with subprocess.Popen([sys.executable, "-c", PROGRAM], env=env, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "up\n"
            assert not list(tmp_path.glob("frames-*"))
            profile_reads._switched(tmp_path / SAMPLE, 1.0)
            frames = tmp_path / f"frames-{process.pid}.json"
            until(frames.exists)
        finally:
            process.kill()
    found = json.loads(frames.read_text())
    assert found["samples"] > 3
    assert found["parts"] == {}  # no vLLM in it
    own = {place for thread, place, _ in found["stacks"] if thread == "main"}
    assert any(place.startswith("spin (<string>:") for place in own)
    profile_reads.report(tmp_path, 5)
    told = capsys.readouterr().out
    assert "spin (<string>:" in told
    assert f"{found['samples']} samples" in told
    assert not frames.exists()
