"""Making an environment with the real uv: the whole way, interrupted in every manner, and refused."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
from index_helpers import Index, served
from runtime_helpers import MINOR, Heard, StandIn, refused
from wheel_helpers import STAND_INS, Wheel, module

from engine import paths
from engine.runtime.create import Order, create
from engine.runtime.places import read_mark, set_state
from engine.runtime.status import find_environment, list_environments
from engine.runtime.uv import Source, log_file
from engine.supervise.processes import wait_gone
from engine.supervise.program import run_program

HELD = "ballast-1.0-py3-none-any.whl"
OTHERS = {wheel.file_name for wheel in STAND_INS} - {HELD}


def uv_processes(stand_in: StandIn) -> list[psutil.Process]:
    """Processes of uv that work on the test's environments."""
    root = str(stand_in.places.root)
    return [process for process in psutil.process_iter(["cmdline"]) if root in (process.info["cmdline"] or ())]


def online(stand_in: StandIn, index: Index) -> Order:
    """An order from an index; with a Python, so that none is fetched."""
    return stand_in.order(source=Source(index.url), python=Path(sys.executable))


async def others_kept(index: Index, heard: Heard) -> None:
    """Until uv holds all wheels but the one that is held back."""
    await index.reached.wait()
    heard.waiting_for = len(OTHERS)
    await heard.enough.wait()


async def cancelled_in_the_middle(stand_in: StandIn, index: Index, heard: Heard) -> None:
    index.held = {HELD}
    async with asyncio.TaskGroup() as tasks:
        task = tasks.create_task(create(online(stand_in, index), heard))
        await others_kept(index, heard)
        task.cancel()


async def command_in_the_middle(stand_in: StandIn, index: Index) -> asyncio.subprocess.Process:
    """``engine-env install`` as a process, with all wheels in uv's cache but one."""
    index.held = {HELD}
    arguments = ["install", "--lock", str(stand_in.lock), "--index", index.url, "--python", sys.executable, "--json"]
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "engine.cli", "engine-env", *arguments), stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    async for line in process.stdout:
        event = json.loads(line)
        if event.get("phase") == "fetch" and event["packages_done"] == len(OTHERS) and index.reached.is_set():
            return process
    raise AssertionError("the command ended too early")


async def test_an_environment_is_made_and_runs(stand_in: StandIn, heard: Heard) -> None:
    made = await create(stand_in.order(), heard)
    assert made.path == stand_in.places.complete(stand_in.spec.id)
    assert heard.phases == ["checks", "uv", "python", "fetch", "install", "files", "verify"]
    ran = await run_program([str(made.python), "-I", "-c", "import vllm; print(vllm.__version__)"], timeout_s=240)
    assert ran.output == "0.33.0\n"
    assert made.mark.packages == 4
    assert made.mark.bytes > 1_000_000
    assert made.mark.versions == {"torch": "2.14.0", "transformers": "5.20.2", "vllm": "0.33.0"}
    assert find_environment(stand_in.spec, stand_in.places) == made


async def test_nothing_but_the_environment_is_left(stand_in: StandIn) -> None:
    made = await create(stand_in.order())
    assert {entry.name for entry in stand_in.places.root.iterdir()} == {made.path.name, ".lock"}
    assert not list(paths.runtime_dir().glob("group-*.json"))


async def test_a_complete_environment_is_given_as_it_is(stand_in: StandIn, heard: Heard) -> None:
    made = await create(stand_in.order())
    log_file().unlink()
    assert await create(stand_in.order(), heard) == made
    assert not heard.progress_seen
    assert not log_file().exists()


async def test_progress_counts_bytes_and_packages(stand_in: StandIn, heard: Heard) -> None:
    stand_in.relock(unpacked_bytes=1_100_000)
    async with served(stand_in.wheels) as index:
        index.held = {HELD}
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(create(online(stand_in, index), heard))
            await others_kept(index, heard)
            index.let_go()
    fetching = [seen for seen in heard.progress_seen if seen.phase == "fetch"]
    assert all(0 <= seen.bytes_done <= 1_100_000 and seen.bytes_total == 1_100_000 for seen in fetching)
    assert fetching[-1].packages == 4
    counts = [seen.packages_done for seen in fetching]
    assert counts == sorted(counts)
    last = [seen for seen in heard.progress_seen if seen.phase == "install"][-1]
    assert (last.packages_done, last.bytes_done) == (4, 1_100_000)


async def test_cancelled_it_keeps_what_is_there_and_goes_on(stand_in: StandIn, heard: Heard) -> None:
    async with served(stand_in.wheels) as index:
        await cancelled_in_the_middle(stand_in, index, heard)
        assert not uv_processes(stand_in)
        assert find_environment(stand_in.spec, stand_in.places) is None
        assert [one.mark.state for one in list_environments(stand_in.places)] == ["partial"]
        await _resumes(stand_in, index)


async def _resumes(stand_in: StandIn, index: Index) -> None:
    index.let_go()
    made = await create(stand_in.order(source=Source(index.url), python=Path(sys.executable)))
    assert made.mark.state == "complete"
    assert index.fetched == dict.fromkeys([*OTHERS, HELD], 1)
    assert not stand_in.places.partial(stand_in.spec.id).exists()
    assert not stand_in.places.cache.exists()


async def test_killed_it_takes_uv_with_it_and_goes_on(stand_in: StandIn) -> None:
    async with served(stand_in.wheels) as index:
        process = await command_in_the_middle(stand_in, index)
        running = uv_processes(stand_in)
        assert running
        process.kill()
        await process.communicate()
        assert await wait_gone([one.pid for one in running], 120)
        assert [one.mark.state for one in list_environments(stand_in.places)] == ["partial"]
        await _resumes(stand_in, index)


async def test_ctrl_c_ends_the_command_in_order(stand_in: StandIn) -> None:
    async with served(stand_in.wheels) as index:
        process = await command_in_the_middle(stand_in, index)
        process.send_signal(signal.SIGINT)
        output, _ = await process.communicate()
        assert process.returncode == 130
        events = [json.loads(line) for line in output.splitlines()]
        assert events[-1] == {"event": "environment_cancelled"}
        assert not uv_processes(stand_in)
        await _resumes(stand_in, index)


async def test_what_a_power_cut_left_damaged_is_fetched_again(stand_in: StandIn, heard: Heard) -> None:
    async with served(stand_in.wheels) as index:
        await cancelled_in_the_middle(stand_in, index, heard)
        module_file = next(stand_in.places.cache.glob("archive-v0/*/transformers/__init__.py"))
        content = module_file.read_bytes()
        module_file.write_bytes(b"#" * len(content))  # the size is right
        index.let_go()
        made = await create(online(stand_in, index), heard)
        assert (made.site_packages / "transformers/__init__.py").read_bytes() == content
        assert any("transformers" in note for note in heard.notes)


async def test_only_one_at_a_time(stand_in: StandIn) -> None:
    with stand_in.places.locked(), refused("env.locked") as caught:
        await create(stand_in.order())
    assert caught.value.params["pid"] == str(os.getpid())


async def test_a_folder_that_is_not_ours_is_left_alone(stand_in: StandIn) -> None:
    foreign = stand_in.places.partial(stand_in.spec.id)
    foreign.mkdir(parents=True)
    (foreign / "thesis.txt").write_text("mine")
    with refused("env.not_ours"):
        await create(stand_in.order())
    assert (foreign / "thesis.txt").read_text() == "mine"


async def test_a_name_that_is_taken_is_found_before_the_download(stand_in: StandIn, heard: Heard) -> None:
    foreign = stand_in.places.complete(stand_in.spec.id)
    foreign.mkdir(parents=True)
    with refused("env.not_ours"):
        await create(stand_in.order(), heard)
    assert heard.phases == []


async def test_what_was_about_to_be_removed_is_made_anew(stand_in: StandIn) -> None:
    """A kill between the word and the deed of a removal."""
    made = await create(stand_in.order())
    set_state(made.path, made.mark, "removing")
    (made.path / "old").touch()
    again = await create(stand_in.order())
    assert again.mark.state == "complete"
    assert not (again.path / "old").exists()


async def test_an_engine_that_cannot_be_imported_is_no_environment(stand_in: StandIn) -> None:
    stand_in.relock(*STAND_INS[1:], module("vllm", "0.33.0", "raise OSError('libcuda.so.1: not found')"))
    with refused("env.not_right") as caught:
        await create(stand_in.order())
    assert "libcuda.so.1: not found" in caught.value.message
    assert find_environment(stand_in.spec, stand_in.places) is None


async def test_half_a_repair_is_not_taken_for_an_environment(stand_in: StandIn) -> None:
    made = await create(stand_in.order())
    mark = read_mark(made.path)
    assert mark is not None
    set_state(made.path, mark, "repairing")
    assert find_environment(stand_in.spec, stand_in.places) is None
    with refused("env.half_repaired"):
        await create(stand_in.order())


async def test_scripts_run_from_the_final_folder(stand_in: StandIn) -> None:
    tool = Wheel("tool", "1.0", {"tool.py": b"def main():\n    print('hello')\n"}, {"tool": "tool:main"})
    stand_in.relock(*STAND_INS, tool)
    made = await create(stand_in.order())
    ran = await run_program([str(made.path / "bin/tool")], timeout_s=240)
    assert ran.output == "hello\n"
    assert MINOR in made.site_packages.parent.name
