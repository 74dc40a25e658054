"""The one script: a second start asks nobody, and a machine without a display is told what to do."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
DESK = ROOT / "desk"


@pytest.fixture
def ready_environment() -> None:
    if not (ROOT / ".venv/.desk-stamp").exists():
        pytest.skip("the environment was not made by ./desk")


def test_a_second_start_calls_no_installer(ready_environment: None, tmp_path: Path) -> None:
    called = tmp_path / "called"
    for name in ("uv", "pip", "apt-get", "curl"):
        fake = tmp_path / name
        fake.write_text(f"#!/bin/sh\necho {name} >> {called}\nexit 1\n")
        fake.chmod(0o755)
    env = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    done = subprocess.run([DESK, "--help"], env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "decide" in done.stdout
    assert not called.exists()


def test_relative_paths_are_those_of_the_caller(ready_environment: None, tmp_path: Path) -> None:
    done = subprocess.run(
        [DESK, "decide", "no-such-form.json", "no-such-table.csv", "--out", "out.csv"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "no-such-form.json" in done.stderr


def test_without_a_display_the_command_line_is_named(ready_environment: None) -> None:
    gone = {"DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"}
    env = {name: value for name, value in os.environ.items() if name not in gone}
    done = subprocess.run([DESK], env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "display" in done.stderr
    assert "--help" in done.stderr
