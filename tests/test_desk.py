"""The one script: a second start asks nobody, and a machine without a display is told what to do."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
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
    (tmp_path / "table.csv").write_text("text\nA row.\n")
    done = subprocess.run(
        [DESK, "decide", "no-such-form.json", "table.csv", "--out", "out.csv"],
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


INTERRUPTED = """
import importlib.abc, os, signal, sys
import app.__main__

class Interrupter(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == "app.bootstrap":
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Interrupter())
sys.argv = ["app"]
app.__main__.main()
"""


def test_ctrl_c_while_the_window_is_coming_up_ends_without_a_traceback() -> None:
    env = {**os.environ, "QT_QPA_PLATFORM": "offscreen"}
    done = subprocess.run([sys.executable, "-c", INTERRUPTED], cwd=ROOT, env=env, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (-signal.SIGINT, b"")


@pytest.mark.parametrize("made_by_desk", [True, False])
def test_an_environment_of_somebody_else_keeps_what_lies_in_it(tmp_path: Path, made_by_desk: bool) -> None:
    """``uv pip sync`` removes what the lock lacks; that is right only for an environment that ./desk made."""
    shutil.copy(DESK, tmp_path)
    shutil.copytree(ROOT / "packaging", tmp_path / "packaging")
    called = tmp_path / "called"
    uv = tmp_path / "bin" / "uv"
    uv.parent.mkdir()
    uv.write_text(
        f'#!/bin/sh\necho "$*" >> {called}\n'
        f'[ "$1" = venv ] && mkdir -p .venv/bin && ln -sf {sys.executable} .venv/bin/python\nexit 0\n'
    )
    uv.chmod(0o755)
    python = tmp_path / ".venv/bin/python"
    if not made_by_desk:
        python.parent.mkdir(parents=True)
        python.symlink_to(sys.executable)
    env = {**os.environ, "PATH": f"{uv.parent}:{os.environ['PATH']}", "DESK_PYTHON": sys.executable}
    for _ in range(2):  # the second time with changed locks
        # There is no app in this folder: what follows the installation fails, and is not of interest.
        subprocess.run([tmp_path / "desk", "--help"], cwd=tmp_path, env=env, capture_output=True, check=False)
        with (tmp_path / "packaging/app.lock").open("a") as lock:
            lock.write("# changed\n")
    verbs = [line.split()[1] for line in called.read_text().splitlines() if line.startswith("pip ")]
    assert verbs == (["sync", "sync"] if made_by_desk else ["install", "install"])
