"""``engine-env`` as a program."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from runtime_helpers import StandIn

from engine.runtime.places import read_mark, set_state
from engine.runtime.status import find_environment


def engine_env(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "engine.cli", "engine-env", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
    )


def events(done: subprocess.CompletedProcess[str]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_a_life_at_a_terminal(stand_in: StandIn) -> None:
    lock, wheels = ("--lock", stand_in.lock), ("--wheels", stand_in.wheels)
    assert "none" in engine_env("status", *lock).stdout
    missing = engine_env("verify", *lock)
    assert (missing.returncode, "engine-env install" in missing.stderr) == (2, True)

    made = engine_env("install", *lock, *wheels)
    assert made.returncode == 0, made.stderr
    assert "ready: torch 2.14.0, transformers 5.20.2, vllm 0.33.0; 4 packages" in made.stderr
    python = Path(made.stdout.strip())
    assert python == stand_in.places.complete(stand_in.spec.id) / "bin/python"

    status = json.loads(engine_env("status", *lock, "--json").stdout)
    assert (status["python"], status["wanted"]) == (str(python), stand_in.spec.id)
    assert [one["state"] for one in status["environments"]] == ["complete"]

    (python.parent.parent / "lib").rename(python.parent.parent / "gone")
    broken = engine_env("verify", *lock, "--json")
    assert broken.returncode == 2
    assert not json.loads(broken.stdout)["good"]
    repaired = engine_env("repair", *lock, *wheels)
    assert repaired.returncode == 0, repaired.stderr
    assert "it works" in engine_env("verify", *lock, "--contents").stdout

    assert engine_env("remove", *lock).returncode == 0
    assert not python.parent.exists()
    assert engine_env("remove", *lock).returncode == 2
    assert engine_env("remove", "--all", *lock).returncode == 0


def test_a_program_reads_events(stand_in: StandIn) -> None:
    made = engine_env("install", "--lock", stand_in.lock, "--wheels", stand_in.wheels, "--json")
    told = events(made)
    assert {"environment_progress", "environment_ready"} <= {event["event"] for event in told}
    assert told[-1]["event"] == "environment_ready"
    assert told[-1]["versions"]["vllm"] == "0.33.0"


def test_install_finishes_a_repair_that_was_killed(stand_in: StandIn) -> None:
    given = ("install", "--lock", stand_in.lock, "--wheels", stand_in.wheels)
    assert engine_env(*given).returncode == 0
    folder = stand_in.places.complete(stand_in.spec.id)
    mark = read_mark(folder)
    assert mark is not None
    set_state(folder, mark, "repairing")
    again = engine_env(*given)
    assert again.returncode == 0, again.stderr
    assert "going on with a repair" in again.stderr
    assert find_environment(stand_in.spec, stand_in.places) is not None


def test_an_error_is_an_event_too(stand_in: StandIn) -> None:
    (stand_in.wheels / "torch-2.14.0-py3-none-any.whl").unlink()
    failed = engine_env("install", "--lock", stand_in.lock, "--wheels", stand_in.wheels, "--json")
    assert failed.returncode == 2
    assert events(failed)[-1]["code"] == "env.package_missing"
