"""``serve --engine vllm`` as real processes: a stand-in with vLLM's command line, log and wire behind our launcher."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from engine.checkpoints.catalogue import entry
from engine.cli.main import BAD_INPUT, INTERRUPTED, NOT_STARTED, OK, run
from engine.cli.vllm_launch import retry_options
from engine.client.http import EngineClient
from engine.domain.diagnosis import Retry
from engine.domain.plan import EnvVar, Flag, Wishes
from engine.hardware.record import recorded_machines
from engine.launch.command import MODEL_NAME
from engine.paths import demo_model_dir
from engine.supervise.lifecycle import KEY_VARIABLE
from engine.supervise.pidfile import PATTERN
from engine.supervise.ports import bind_port
from engine.supervise.processes import child_environment

sys.path += [str(Path(__file__).parents[2] / name) for name in ("fakes", "engine/launch", "engine/local")]
from launch_helpers import FILES  # these folders are no packages
from local_world import make_checkpoint
from local_world import make_environment as make_stored_environment
from stand_in_engine import make_environment

KEY = "open sesame"
Serve = Callable[..., "Served"]


class Served:
    """A running ``serve``; its events as they come."""

    def __init__(self, arguments: list[str], env: dict[str, str]) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "engine.cli", *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=child_environment(env),
        )
        self.events: list[dict[str, Any]] = []

    def until(self, event: str, **fields: object) -> dict[str, Any]:
        """Reads on until it says this."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.events.append(json.loads(line))
            said = self.events[-1]
            if said["event"] == event and all(said[name] == value for name, value in fields.items()):
                return said
        raise AssertionError(f"it ended without {event}: {self.events} {self.end()[1]}")

    def named(self, event: str) -> list[dict[str, Any]]:
        return [said for said in self.events if said["event"] == event]

    def end(self) -> tuple[int, str]:
        """The exit code and stderr."""
        out, err = self.process.communicate(timeout=600)
        self.events += [json.loads(line) for line in out.splitlines()] if out.startswith("{") else []
        return self.process.returncode, out + err


@pytest.fixture
def python(tmp_path: Path) -> Path:
    """An interpreter whose vllm is the stand-in, with every fix in its files."""
    make_environment(tmp_path / "env", {name: text for name, text in FILES.items() if name != "__init__.py"})
    return tmp_path / "env" / "bin" / "python"


@pytest.fixture
def serve(python: Path) -> Iterator[Serve]:
    started: list[Served] = []

    def start(*arguments: object, mode: str = "", as_json: bool = True) -> Served:
        given = ["serve", "--engine", "vllm", "--machine", str(recorded_machines()["2x3090-pcie"]), "--port", "0"]
        given += ["--checkpoint", str(demo_model_dir()), "--python", str(python), "--env", f"STAND_IN_VLLM={mode}"]
        given += ["--json"] if as_json else []
        started.append(Served([*given, *map(str, arguments)], {KEY_VARIABLE: KEY}))
        return started[-1]

    yield start
    for each in started:
        if each.process.poll() is None:
            each.process.kill()
        each.process.communicate()


def nothing_is_left(home: Path, python: Path) -> bool:
    """No pid file, and no process of the engine's interpreter."""
    lines = [" ".join(process.info["cmdline"] or ()) for process in psutil.process_iter(["cmdline"])]
    return not list((home / "run").glob(PATTERN)) and not any(str(python) in line for line in lines)


async def test_it_starts_says_its_phases_serves_and_stops(serve: Serve, desk_home: Path, python: Path) -> None:
    served = serve("--context", "65536", "--", "--load-format", "dummy")
    ready = served.until("ready")
    assert served.named("planned")[0]["context"] == 65_536
    phases = [said["phase"] for said in served.named("start_progress")]
    assert list(dict.fromkeys(phases)) == served.named("planned")[0]["phases"]
    command = psutil.Process(ready["pid"]).cmdline()
    assert command[-2:] == ["--load-format", "dummy"]
    assert KEY not in command
    async with EngineClient(ready["url"], api_key=KEY) as client:
        assert [card.id for card in await client.models()] == [MODEL_NAME]
    served.process.send_signal(signal.SIGTERM)
    code, said = served.end()
    assert code == OK, said
    assert [event["event"] for event in served.events[-2:]] == ["stopping", "stopped"]
    assert served.events[-1]["clean"]
    assert nothing_is_left(desk_home, python)


def test_lines_for_people(serve: Serve) -> None:
    served = serve(as_json=False)
    assert served.process.stdout is not None
    assert served.process.stdout.readline().startswith("vLLM answers at http://127.0.0.1:")
    served.process.send_signal(signal.SIGINT)
    code, said = served.end()
    assert code == OK
    assert "[4/9] Loading the weights" in said
    assert "✓ Loading the weights" in said
    assert "\r" not in said, "no line is rewritten where no terminal is"
    assert said.rstrip().endswith("stopped")


def test_a_failed_start_names_cause_and_next_try(serve: Serve, desk_home: Path, python: Path) -> None:
    served = serve(mode="die")
    code, said = served.end()
    assert code == NOT_STARTED, said
    (failed,) = served.named("engine_failed")
    assert failed["diagnosis"]["rule"] == "oom"
    assert failed["during"] == "start"
    assert "2x NVIDIA GeForce RTX 3090" in failed["message"]
    assert "one_sequence" not in {remedy["action"] for remedy in failed["diagnosis"]["remedies"]}, "it is so already"
    assert failed["retry"]["options"] == ["--text-only"], "the weights themselves did not fit"
    assert nothing_is_left(desk_home, python)
    again = serve(*failed["retry"]["options"])
    again.until("ready")


def test_a_failed_start_in_words(serve: Serve) -> None:
    code, said = serve(mode="die", as_json=False).end()
    assert code == NOT_STARTED
    assert "vLLM did not start: a card ran out of memory" in said
    assert "the same command with: --text-only" in said
    assert "Traceback" not in said


def test_what_the_log_does_not_explain_keeps_its_own_words(serve: Serve) -> None:
    served = serve(mode="other")
    assert served.end()[0] == NOT_STARTED
    (failed,) = served.named("engine_failed")
    assert failed["code"] == "engine.other_model"
    assert "serves another, not diffusiongemma" in failed["message"]
    assert not failed["diagnosis"]["known"]
    assert failed["diagnosis"]["tail"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_stopped_in_its_start_it_leaves_nothing(
    serve: Serve, desk_home: Path, python: Path, tmp_path: Path, number: signal.Signals
) -> None:
    served = serve(mode=f"hold={tmp_path / 'gate'}")
    served.until("start_progress", fraction=0.42)
    served.process.send_signal(number)
    code, said = served.end()
    assert code == INTERRUPTED, said
    assert served.events[-1]["event"] == "stopped"
    assert nothing_is_left(desk_home, python)


def test_an_engine_that_dies_while_it_serves_is_told(serve: Serve, desk_home: Path, python: Path) -> None:
    served = serve("--restarts", "0")
    os.kill(served.until("ready")["pid"], signal.SIGKILL)
    assert served.end()[0] == NOT_STARTED
    (failed,) = served.named("engine_failed")
    assert failed["during"] == "serving"
    assert "0 restarts" in failed["message"]
    assert not served.named("restarting")
    assert nothing_is_left(desk_home, python)


async def test_one_that_crashes_comes_back_at_the_same_place_but_not_for_ever(
    serve: Serve, desk_home: Path, python: Path
) -> None:
    served = serve("--restarts", "1")
    first = served.until("ready")
    os.kill(first["pid"], signal.SIGKILL)
    second = served.until("ready")
    assert second["url"] == first["url"]
    assert second["pid"] != first["pid"]
    assert "SIGKILL" in served.named("crashed")[0]["reason"]
    (again,) = served.named("restarting")
    assert (again["number"], again["limit"], again["clean"]) == (1, 1, True)
    async with EngineClient(second["url"], api_key=KEY) as client:
        assert [card.id for card in await client.models()] == [MODEL_NAME]
    os.kill(second["pid"], signal.SIGKILL)
    assert served.end()[0] == NOT_STARTED
    assert len(served.named("crashed")) == 2
    assert len(served.named("restarting")) == 1
    (failed,) = served.named("engine_failed")
    assert "not started again after 1 restarts within 10 minutes" in failed["message"]
    assert "SIGKILL" in failed["message"]
    assert nothing_is_left(desk_home, python)


def test_one_that_dies_of_our_own_parts_comes_back_without_them(serve: Serve, desk_home: Path, python: Path) -> None:
    served = serve("--restarts", "1")
    first = served.until("ready")
    assert "--model-class-overrides" in psutil.Process(first["pid"]).cmdline()
    said = (
        "Traceback (most recent call last):",
        '  File "/opt/engine/vllm_plugin/live.py", line 40, in step',
        "KeyError: 'entropies'",
    )
    with Path(first["log"]).open("a") as file:
        file.writelines(f"(EngineCore pid=9) ERROR 11-29 18:03:40 [core.py:8] {line}\n" for line in said)
    os.kill(first["pid"], signal.SIGKILL)
    second = served.until("ready")
    assert "--model-class-overrides" not in psutil.Process(second["pid"]).cmdline()
    assert second["url"] == first["url"]
    assert any("without Diffusion Desk's parts" in note["text"] for note in served.named("note"))
    served.process.send_signal(signal.SIGTERM)
    assert served.end()[0] == OK
    assert nothing_is_left(desk_home, python)


def test_stopped_while_it_waits_to_start_again_it_leaves_nothing(serve: Serve, desk_home: Path, python: Path) -> None:
    served = serve(as_json=False)
    assert served.process.stdout is not None
    assert served.process.stdout.readline().startswith("vLLM answers at http://127.0.0.1:")
    (leader,) = [each for each in psutil.process_iter(["cmdline"]) if (each.info["cmdline"] or [""])[0] == str(python)]
    leader.kill()
    assert served.process.stderr is not None
    said = ""
    for line in served.process.stderr:
        said += line
        if line.startswith("restart 1 of 2 in 2 s"):
            break
    served.process.send_signal(signal.SIGTERM)
    code, rest = served.end()
    assert code == OK, rest
    assert "vLLM died: " in said
    assert rest.rstrip().endswith("stopped")
    assert nothing_is_left(desk_home, python)


def test_a_plan_that_ran_out_of_memory_is_not_started_again(serve: Serve, tmp_path: Path) -> None:
    served = serve(mode=f"oom={tmp_path / 'gate'}")
    served.until("ready")
    (tmp_path / "gate").touch()
    assert served.end()[0] == NOT_STARTED
    (failed,) = served.named("engine_failed")
    assert failed["diagnosis"]["rule"] == "oom"
    assert failed["retry"] is not None, "another plan is offered instead"
    assert served.named("crashed")
    assert not served.named("restarting")


def test_a_taken_port_is_in_the_way_and_skipped_it_has_a_remedy(serve: Serve) -> None:
    with bind_port() as taken:
        port = taken.getsockname()[1]
        served = serve("--port", port)
        assert served.end()[0] == BAD_INPUT
        assert "preflight.port" in {finding["code"] for finding in served.named("finding")}
        served = serve("--port", port, "--skip-preflight")
        assert served.end()[0] == NOT_STARTED
        (failed,) = served.named("engine_failed")
        assert failed["diagnosis"]["rule"] == "port"
        assert str(port) in failed["message"]
        assert failed["retry"]["options"] == ["--port", "0"]


def test_an_engine_without_a_fix_is_refused_unless_told(serve: Serve, python: Path) -> None:
    (packages,) = (python.parents[1] / "lib").glob("*/site-packages")
    (packages / "vllm" / "utils" / "diffusion.py").unlink()
    served = serve()
    assert served.end()[0] == BAD_INPUT
    assert served.events[-1]["code"] == "launch.fix_missing"
    served = serve("--skip-fixes-check")
    served.until("ready")
    assert served.named("fix_missing")


def test_what_is_named_wrongly_is_named(serve: Serve, tmp_path: Path) -> None:
    for arguments, code in (
        (["--checkpoint", tmp_path], "serve.checkpoint"),
        (["--python", sys.executable], "serve.no_vllm"),
        (["--python", tmp_path / "nothing"], "serve.no_vllm"),
        (["--env", "=x"], "serve.variable"),
        (["--sequences", "100"], "serve.no_plan"),
        (["--cards", "9"], "plan.card_index"),
        (["--machine", recorded_machines()["no-gpu"]], "serve.embedded"),
        (["--host", "203.0.113.9", "--skip-preflight"], "port.host"),
    ):
        served = serve(*arguments)
        exit_code, said = served.end()
        assert served.events[-1].get("code") == code or served.named("engine_failed")[0]["code"] == code, said
        assert exit_code in (BAD_INPUT, NOT_STARTED)
        assert "Traceback" not in said


def test_the_stored_state_is_enough_for_serve_and_chat(desk_home: Path) -> None:
    python = make_stored_environment().python
    env = {"DIFFUSION_DESK_MACHINE": str(recorded_machines()["2x3090-pcie"]), KEY_VARIABLE: KEY}
    started = Served(["serve", "--engine", "vllm", "--json"], env)
    assert started.end()[0] == BAD_INPUT
    assert started.events[-1]["code"] == "serve.no_checkpoint"
    make_checkpoint(entry("fp8").folder)
    said = Served(["chat", "Hello", "--engine", "vllm", "--max-tokens", "32"], env)
    code, text = said.end()
    assert code == OK, text
    assert "[4/9] Loading the weights" in text
    assert "numeric self-test, card 2 of 2" in text
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    served = Served(["serve", "--engine", "vllm", "--json", "--port", str(port)], env)
    assert served.until("ready")["url"] == f"http://127.0.0.1:{port}"
    assert not served.named("selftest_progress"), "both cards have passed"
    served.process.send_signal(signal.SIGTERM)
    assert served.end()[0] == OK
    assert nothing_is_left(desk_home, python)


def test_wrong_numbers_on_a_card_are_a_refusal(desk_home: Path) -> None:
    python = make_stored_environment().python
    make_checkpoint(entry("fp8").folder)
    env = {"DIFFUSION_DESK_MACHINE": str(recorded_machines()["2x3090-pcie"]), KEY_VARIABLE: KEY}
    command = ["serve", "--engine", "vllm", "--json", "--port", "0"]
    served = Served(command, env | {"STAND_IN_SELFTEST": "wrong"})
    code, _ = served.end()
    assert code == BAD_INPUT
    assert served.events[-1]["code"] == "selftest.failed"
    tested = served.named("selftest_progress")
    assert tested[-1]["done"] == tested[-1]["total"] > 20
    assert not served.named("start_progress")
    served = Served([*command, "--skip-self-test"], env | {"STAND_IN_SELFTEST": "wrong"})
    served.until("ready")
    served.process.send_signal(signal.SIGTERM)
    assert served.end()[0] == OK
    assert nothing_is_left(desk_home, python)


def test_options_of_vllm_are_refused_for_the_toy() -> None:
    for option in (["--python", "x"], ["--context", "4096"], ["--json"], ["--skip-self-test"], ["--", "--load-format"]):
        assert run(["serve", *option]) == BAD_INPUT


def test_a_next_try_is_written_as_options() -> None:
    before = Wishes(context=65_536)
    overrides = (
        Flag("--disable-custom-all-reduce", None, ""),
        EnvVar("NCCL_P2P_DISABLE", "1", ""),
        EnvVar("X", None, ""),
    )
    retry = Retry("p2p_off", Wishes(context=65_536, utilisation=0.78), overrides)
    assert retry_options(retry, before) == [
        *("--utilisation", "0.78", "--env", "NCCL_P2P_DISABLE=1", "--env", "X"),
        *("--", "--disable-custom-all-reduce"),
    ]
    stock = Retry("without_parts", before, (EnvVar("DESK_VLLM_PARTS", None, ""),))
    assert retry_options(stock, before) == ["--env", "DESK_VLLM_PARTS"]
