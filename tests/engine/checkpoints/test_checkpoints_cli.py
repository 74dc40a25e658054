"""``download`` as a program: a worker that is steered, lines for people, exit codes, and a token that stays secret."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from hub_helpers import COMMIT, REPO, HubProcess, cli, make_checkpoint, same_files, shard_names

from engine.checkpoints.catalogue import entry
from engine.supervise import processes
from engine.supervise.protocol import (
    DownloadCancelled,
    DownloadFinished,
    DownloadProgress,
    DownloadStarted,
    RunFailed,
    RunPaused,
    RunResumed,
    WorkerEvent,
)
from engine.supervise.worker import Worker

MB = 1_000_000
HOLD = 3 * MB  # of the 5: what is to be stopped must not end by itself
TOKEN = "hf_abcdefghijklmnop"


def run(*arguments: str, env: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    whole = {**os.environ, **(env or {})}
    return subprocess.run(cli(*arguments), capture_output=True, text=True, env=whole, check=False)


async def spawn(hub: HubProcess, tmp_path: Path) -> Worker:
    arguments = ["download", "--endpoint", hub.url, "--to", str(tmp_path / "model"), "--no-cache"]
    return await Worker.spawn(arguments, log_path=tmp_path / "worker.log")


async def test_a_worker_is_paused_and_resumed(hub: HubProcess, tmp_path: Path) -> None:
    hub.settings(rate=2 * MB, hold=HOLD)
    worker = await spawn(hub, tmp_path)
    seen: list[WorkerEvent] = []
    async for event in worker.events():
        if isinstance(event, DownloadProgress) and event.rate and not any(isinstance(e, RunPaused) for e in seen):
            worker.send("pause")
        if isinstance(event, RunPaused) and not any(isinstance(e, RunPaused) for e in seen):
            hub.settings(hold=None)
            worker.send("resume")
        seen.append(event)
    kinds = [type(event) for event in seen if not isinstance(event, DownloadProgress)]
    assert kinds == [DownloadStarted, RunPaused, RunResumed, DownloadFinished]
    last = seen[-1]
    assert isinstance(last, DownloadFinished)
    assert (last.commit, last.files, last.fetched_bytes) == (COMMIT, 6, last.total_bytes)
    assert same_files(tmp_path / "model", hub.repo)
    assert await worker.wait() == 0


async def test_a_worker_is_cancelled_and_another_goes_on(hub: HubProcess, tmp_path: Path) -> None:
    hub.settings(rate=2 * MB, hold=HOLD)
    worker = await spawn(hub, tmp_path)
    last: WorkerEvent | None = None
    async for event in worker.events():
        last = event
        if isinstance(event, DownloadProgress) and event.rate:
            worker.send("cancel")
    assert isinstance(last, DownloadCancelled)
    assert 0 < last.done_bytes < last.total_bytes
    assert await worker.wait() == 130
    hub.settings(rate=None, hold=None)
    events = [event async for event in (await spawn(hub, tmp_path)).events()]
    assert isinstance(events[0], DownloadStarted)
    assert events[0].done_bytes == last.done_bytes
    assert isinstance(events[-1], DownloadFinished)
    assert events[-1].fetched_bytes == last.total_bytes - last.done_bytes


async def test_a_worker_ends_with_its_parent(hub: HubProcess, tmp_path: Path) -> None:
    hub.settings(rate=MB, hold=HOLD)
    arguments = cli("--endpoint", hub.url, "--to", str(tmp_path / "model"), "--no-cache", "--worker")
    owner = (
        "import asyncio, os, sys\n"
        "from pathlib import Path\n"
        "from engine.supervise.worker import Worker\n"
        "async def main():\n"
        "    worker = await Worker.spawn_program(sys.argv[2:], log_path=Path(sys.argv[1]))\n"
        "    async for event in worker.events():\n"
        "        if event.event == 'download_started':\n"
        "            print(worker.pid, flush=True)\n"
        "asyncio.run(main())\n"
    )
    argv = [sys.executable, "-c", owner, str(tmp_path / "log"), *arguments]
    pid = _first_line_then_kill(argv)
    assert await processes.wait_gone([pid], 120)


def _first_line_then_kill(argv: list[str]) -> int:
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        number = int(parent.stdout.readline())
        parent.send_signal(signal.SIGKILL)
    return number


async def test_a_hub_that_refuses_is_a_last_word(hub: HubProcess, tmp_path: Path) -> None:
    hub.settings(api=[{"kind": "html"}])
    events = [event async for event in (await spawn(hub, tmp_path)).events()]
    assert isinstance(events[-1], RunFailed)
    assert events[-1].code == "hub.not_a_hub"


def test_people_read_lines_and_get_the_folder(hub: HubProcess, desk_home: Path) -> None:
    done = run("--endpoint", hub.url, "--no-cache")
    assert done.returncode == 0
    folder = entry("fp8").folder
    assert done.stdout == f"{folder}\n"
    assert f"{REPO}: 6 files, 5.0 MB, into {folder}" in done.stderr
    assert "every hash is right" in done.stderr
    assert desk_home in folder.parents
    done = run("--verify")
    assert done.returncode == 0
    assert f"right      {shard_names(2)[0]}" in done.stdout
    (folder / shard_names(2)[0]).write_bytes(b"?")
    done = run("--verify", "--json")
    assert done.returncode == 2
    assert json.loads(done.stdout.splitlines()[-1])["code"] == "checkpoint.not_right"
    done = run("--endpoint", hub.url, "--no-cache", "--json")
    assert json.loads(done.stdout.splitlines()[-1])["fetched_bytes"] == 3 * MB


def test_interrupted_at_a_terminal(hub: HubProcess, tmp_path: Path) -> None:
    hub.settings(rate=MB, hold=HOLD)
    arguments = cli("--endpoint", hub.url, "--to", str(tmp_path / "model"), "--no-cache")
    with subprocess.Popen(arguments, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        assert "6 files" in process.stderr.readline()
        process.send_signal(signal.SIGINT)
        assert "stopped: " in process.stderr.read()
    assert process.returncode == 130


def test_adopt_asks_no_network(tmp_path: Path) -> None:
    make_checkpoint(tmp_path / "here" / "model", (3000,))
    done = run("--adopt", str(tmp_path / "here"), "--to", str(tmp_path / "model"), "--json")
    assert done.returncode == 0, done.stdout
    assert json.loads(done.stdout.splitlines()[-1])["event"] == "download_finished"
    assert same_files(tmp_path / "model", tmp_path / "here" / "model")
    done = run("--adopt", str(tmp_path / "here"), "--to", str(tmp_path / "model"), "--checkpoint", "nvfp4")
    assert done.returncode == 2
    assert "holds no NVFP4 DiffusionGemma, but model (DiffusionGemma, fp8)" in done.stderr


def test_the_token_of_the_users_hub_tools_is_used_and_never_shown(hub: HubProcess, tmp_path: Path) -> None:
    hub.settings(gated=TOKEN)
    arguments = ("--to", str(tmp_path / "model"), "--no-cache", "--json")
    refused = run("--endpoint", hub.url, *arguments, env={"HF_TOKEN": TOKEN})
    assert refused.returncode == 2, "a mirror given by hand does not get the hub's token"
    assert json.loads(refused.stdout.splitlines()[-1])["code"] == "hub.forbidden"
    done = run(*arguments, env={"HF_TOKEN": TOKEN, "HF_ENDPOINT": hub.url})
    assert done.returncode == 0, done.stdout
    assert same_files(tmp_path / "model", hub.repo)
    kept = b"".join(path.read_bytes() for path in (tmp_path / "model" / ".desk").rglob("*") if path.is_file())
    assert TOKEN not in f"{refused.stdout}{refused.stderr}{done.stdout}{done.stderr}{kept!r}"
    requests = hub.counts()["requests"]
    assert {each["authorization"] for each in requests if each["server"] == "cdn"} == {None}


@pytest.mark.parametrize("arguments", [("--endpoint", "ftp://x"), ("--checkpoint", "fp4"), ("--adopt", "/nowhere")])
def test_wrong_input_is_exit_code_two(arguments: tuple[str, ...]) -> None:
    assert run(*arguments).returncode == 2
