"""``tools/card_check.py`` against stand-ins: what it prints of a start, of kills, of an engine that never comes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from engine.hardware.record import recorded_machines
from engine.paths import demo_model_dir
from engine.supervise.pidfile import PATTERN

ROOT = Path(__file__).parents[2]
sys.path += [str(ROOT / "tests" / name) for name in ("fakes", "engine/launch")]
from launch_helpers import FILES  # noqa: E402  # these folders are no packages
from stand_in_engine import FAKES, make_environment  # noqa: E402

TREE = {"hold": None, "modes": []}


@pytest.fixture
def python(tmp_path: Path) -> Path:
    """An interpreter whose vllm is the stand-in that can answer."""
    make_environment(tmp_path / "env", {name: text for name, text in FILES.items() if name != "__init__.py"})
    return tmp_path / "env" / "bin" / "python"


@pytest.fixture
def tree(python: Path) -> Path:
    """The same whose vllm is a tree of four processes."""
    (package,) = (python.parents[1] / "lib").glob("*/site-packages/vllm")
    (package / "entrypoints" / "cli" / "main.py").write_text((FAKES / "stand_in_tree.py").read_text())
    return python


def begun(
    what: str, python: Path, *more: str, serve: str = "", tree: object = None, tool: str = "card_check"
) -> subprocess.Popen[str]:
    machine = f"--machine {recorded_machines()['2x3090-pcie']} --skip-preflight {serve}"
    given = [*what.split(), "--python", str(python), "--model", str(demo_model_dir()), "--serve", machine, *more]
    return subprocess.Popen(
        [sys.executable, "-m", f"tools.{tool}", *given],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "STAND_IN_TREE": json.dumps(tree or TREE)},
    )


def card_check(what: str, python: Path, *more: str, serve: str = "") -> tuple[int, str]:
    """Exit status and output."""
    running = begun(what, python, *more, serve=serve)
    said, _ = running.communicate(timeout=240)
    return running.returncode, said


def test_a_plan_is_walked_through(python: Path, desk_home: Path) -> None:
    code, said = card_check("plan", python, "--", "--load-format", "dummy")
    assert code == 0, said
    assert "  Loading the weights\n" in said
    assert "phases, seconds: before the first phase " in said
    assert "chat: 1 canvases" in said
    assert "reads, canvas: " in said
    assert "reads, native: " in said
    assert said.rstrip().endswith("clean: True")
    assert not list((desk_home / "run").glob(PATTERN))


def test_every_kill_is_a_row(tree: Path, desk_home: Path) -> None:
    code, said = card_check("kills", tree, "--victims", "worker", "guardian", "command")
    assert code == 0, said
    rows = [line.strip("| ").split(" | ") for line in said.splitlines() if line.startswith("| ")][1:]
    assert [(row[0], row[-1]) for row in rows] == [
        ("worker", "nothing"),
        ("guardian", "nothing"),
        ("command", "nothing"),
    ]
    assert all(float(seconds) >= 0 for row in rows for seconds in row[1:4] if seconds != "-")
    assert [row[1] == "-" for row in rows] == [False, False, True], "nobody is left to notice the last one"
    assert not list((desk_home / "run").glob(PATTERN))


def test_after_two_starts_that_fail_no_third_is_tried(python: Path, desk_home: Path) -> None:
    victims = ["--victims", "api server", "guardian", "command"]
    code, said = card_check("kills", python, *victims, serve="--env STAND_IN_VLLM=die")
    assert code == 1
    assert said.count("NOT READY: engine.died_at_start: a card ran out of memory") == 2, said
    assert said.count("  | torch.OutOfMemoryError") == 2, "the end of the log is shown"
    assert [line.strip("| ").rsplit(" | ", 1)[-1] for line in said.splitlines()[-3:]] == ["not started"] * 3
    assert not list((desk_home / "run").glob(PATTERN))


def test_stopped_from_outside_it_says_how_far_it_came_and_ends_its_engine(tree: Path, desk_home: Path) -> None:
    running = begun("plan", tree, tree={"hold": "memory", "modes": []})
    assert running.stdout is not None
    assert any(line.endswith("Making the KV cache\n") for line in running.stdout)
    running.send_signal(signal.SIGTERM)
    said, _ = running.communicate(timeout=240)
    assert running.returncode == 130
    assert "phases, seconds: before the first phase " in said
    assert "Available KV cache memory" in said
    assert not list((desk_home / "run").glob(PATTERN))


def test_a_start_that_fails_before_the_engine_shows_no_log_of_an_earlier_one(python: Path, desk_home: Path) -> None:
    (desk_home / "logs").mkdir(parents=True, exist_ok=True)
    (desk_home / "logs" / "engine-vllm.log").write_text("an earlier start\n")
    code, said = card_check("graphs", python, serve="--cards 9")
    assert code == 1
    assert "NOT READY: plan.card_index" in said
    assert "an earlier start" not in said


def test_the_live_canvas_check_starts_its_server_in_the_same_way(python: Path, desk_home: Path) -> None:
    serve = "--env STAND_IN_VLLM=die"
    running = begun("--what cost", python, "--", "--load-format", "dummy", serve=serve, tool="live_check")
    said, _ = running.communicate(timeout=240)
    assert running.returncode == 1
    assert said.count("  | torch.OutOfMemoryError") == 1, said
    assert "Traceback" not in said
    assert not list((desk_home / "run").glob(PATTERN))
