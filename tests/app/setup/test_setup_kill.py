"""The window is killed with SIGKILL in every step; the next one goes on where it was."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from setup_world import World, free_port

from engine.supervise.processes import child_environment

WINDOW = Path(__file__).with_name("setup_window.py")
HOLD = 5_000_000  # bytes of some 16 million: a download that is to be killed must not end before
STEPS = ("detect", "plan", "engine", "checkpoint", "preflight", "launch", "probe")


class Window:
    """A running window process."""

    def __init__(self, **env: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, str(WINDOW)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**child_environment({}), **env},
            text=True,
        )
        self.last: dict[str, Any] = {}

    def call(self, name: str, *args: object, **given: object) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps({"call": name, "args": args, "with": given}) + "\n")
        self.process.stdin.flush()

    def until(self, what: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
        """Read what it says until it says this."""
        assert self.process.stdout is not None
        while not (self.last and what(self.last)):
            line = self.process.stdout.readline()
            assert line, f"the window ended; its last words: {self.last}"
            self.last = json.loads(line)
        return self.last

    def until_step(self, step: str, phase: str = "done") -> dict[str, Any]:
        found = self.until(lambda said: said["steps"][step] in (phase, "failed"))
        assert found["steps"][step] == phase, found
        return found

    def kill(self) -> None:
        """As the out-of-memory killer would; what it had started must end by itself."""
        family = psutil.Process(self.process.pid).children(recursive=True)
        self.process.kill()
        with self.process:  # waits, and closes the pipes
            pass
        _, alive = psutil.wait_procs(family, timeout=120)
        assert not alive, alive

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        with self.process:
            assert self.process.stdout is not None
            self.process.stdout.read()
        assert self.process.wait() == 0


@pytest.fixture
def windows() -> Iterator[Callable[..., Window]]:
    opened: list[Window] = []

    def make(**env: str) -> Window:
        opened.append(Window(**env))
        return opened[-1]

    yield make
    for window in opened:
        if window.process.poll() is None:
            window.process.send_signal(signal.SIGKILL)
        with window.process:  # closes the pipes
            pass


def test_killed_in_every_step_and_continued(
    world: World, windows: Callable[..., Window], desk_home: Path, tmp_path: Path
) -> None:
    port, gate = free_port(), tmp_path / "gate"

    window = windows()  # detect
    window.until(lambda said: said["steps"]["detect"] in ("running", "done"))
    window.kill()

    window = windows()  # plan
    window.until_step("plan")
    window.call("wish", context=65_536)
    window.call("set_port", port)
    window.until(lambda said: said["context"] == 65_536)
    window.call("set_wheels", str(world.wheels))
    window.call("show_step", "engine")
    window.until(lambda said: stored(desk_home)["step"] == "engine")
    window.kill()

    window = windows()  # engine
    assert window.until_step("plan")["context"] == 65_536
    window.until(lambda said: said["steps"]["checkpoint"] == "open")
    window.call("install")
    window.until(lambda said: said["steps"]["engine"] == "running" and said["work"])
    window.kill()
    assert stored(desk_home)["active"] == "engine"

    window = windows()  # nobody asks for anything: it goes on by itself
    window.until_step("engine")
    world.hub.settings(rate=500_000, hold=HOLD)
    window.call("fetch")  # checkpoint
    window.until(lambda said: said["work"].get("checkpoint", ["", 0])[1] > 300_000)
    window.kill()
    served = world.hub.served()
    world.hub.settings(rate=None, hold=None)

    window = windows()
    window.until_step("checkpoint")
    total = sum(
        path.stat().st_size for path in world.hub.repo.iterdir() if path.suffix in (".json", ".safetensors", ".jinja")
    )
    assert world.hub.served() - served < total, "what was there was not fetched again"
    window.call("check")  # preflight
    window.until(lambda said: said["steps"]["preflight"] in ("running", "done"))
    window.kill()

    runs, second = tmp_path / "runs", tmp_path / "second card"
    testing = {"STAND_IN_SELFTEST": f"hold={second}", "STAND_IN_SELFTEST_LOG": str(runs)}
    window = windows(STAND_IN_VLLM=f"hold={gate}", **testing)
    window.until_step("checkpoint")
    window.call("launch")  # launch, in its self-test
    window.until(lambda said: said["work"].get("launch", ["", 0, ""])[2].startswith("card 2 of 2: "))
    window.kill()
    assert runs.read_text().split() == ["0", "1"]
    assert stored(desk_home)["active"] == "launch"

    second.touch()
    window = windows(STAND_IN_VLLM=f"hold={gate}", **testing)
    window.until(lambda said: said["work"].get("launch", [""])[0] == "Loading the weights")
    assert runs.read_text().split() == ["0", "1", "1"], "the card that had passed is not tested again"
    window.kill()
    assert stored(desk_home)["active"] == "launch"

    gate.touch()
    window = windows(STAND_IN_VLLM=f"hold={gate}")
    window.until(lambda said: said["steps"]["probe"] == "running")  # probe
    assert window.last["engine"][:2] == ["vllm", "ready"]
    window.kill()
    assert stored(desk_home)["active"] == "probe"

    window = windows()
    said = window.until_step("probe")
    assert said["chat"]
    assert said["engine"][:2] == ["vllm", "ready"]
    assert all(said["steps"][step] == "done" for step in ("detect", "plan", "engine", "checkpoint", "launch", "probe"))
    pid = said["engine"][2]
    assert psutil.pid_exists(pid)
    window.close()
    assert not psutil.pid_exists(pid)
    assert stored(desk_home)["active"] is None


def test_a_damaged_memory_is_set_aside(world: World, windows: Callable[..., Window], desk_home: Path) -> None:
    (desk_home / "setup.json").write_text('{"schema_version": 1, "step": "nowhere"')
    window = windows()
    window.until_step("plan")
    window.close()
    assert (desk_home / "setup.json.damaged").exists()
    assert os.listdir(desk_home / "logs")


def stored(home: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((home / "setup.json").read_text())
    return found
