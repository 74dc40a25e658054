"""The guardian as a process: what it says, whom it collects, how it keeps a log short, and that it is light."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from engine.supervise import guardian, processes, proctable
from engine.supervise.group import EngineGroup
from engine.supervise.start_log import LogFollower

SHELL = ["/bin/sh", "-c"]


def launch(folder: Path, *argv: str, **more: int) -> EngineGroup:
    return EngineGroup.launch(argv, log_path=folder / "engine.log", pid_dir=folder, **more)  # type: ignore[arg-type]


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    reader, writer = os.pipe()
    yield reader, writer
    os.close(reader)
    os.close(writer)


async def test_it_says_how_the_program_ended(tmp_path: Path) -> None:
    for line, code in (("exit 0", 0), ("exit 7", 7), ("kill -9 $$", -signal.SIGKILL), ("kill -TERM $$", -15)):
        group = launch(tmp_path, *SHELL, line)
        assert await group.wait() == code
        assert (await group.stop()).exit_code == code


async def test_it_has_a_name_and_stands_above_the_program(tmp_path: Path) -> None:
    group = launch(tmp_path, "/bin/sleep", "60")
    above = psutil.Process(group.guardian_pid)
    assert above.name() == "desk-guardian"
    assert [child.pid for child in above.children()] == [group.pid]
    assert os.getsid(group.pid) == group.pid != os.getsid(above.pid)
    await group.stop()


async def test_whoever_loses_its_parent_becomes_its_own_and_is_collected(tmp_path: Path, pipe: tuple[int, int]) -> None:
    """A daemon with a session of its own and an empty environment, whose parent is gone."""
    reader, writer = pipe
    line = f"(setsid env -i /bin/sleep 60 &); echo up > /proc/self/fd/{writer}; exec sleep 60"
    group = EngineGroup.launch([*SHELL, line], log_path=tmp_path / "engine.log", pid_dir=tmp_path, pass_fds=[writer])
    assert os.read(reader, 3) == b"up\n"
    found = proctable.descendants(group.guardian_pid)
    assert group.pid in found
    assert len(found) == 2
    assert {member.pid for member in group.members()} == set(found)
    os.kill(group.pid, signal.SIGKILL)
    assert await processes.wait_gone(found, 120)
    assert (await group.stop()).step == "none", "it has ended them without us"


async def test_the_program_gets_usual_signals_and_no_files_but_its_own(tmp_path: Path, pipe: tuple[int, int]) -> None:
    group = EngineGroup.launch(
        [*SHELL, "grep -E 'SigIgn|SigBlk' /proc/self/status; ls /proc/self/fd"],
        log_path=tmp_path / "engine.log",
        pid_dir=tmp_path,
        pass_fds=[pipe[0]],
    )
    assert await group.wait() == 0
    said = group.log_tail().split()
    assert said[1] == "0000000000000000", "nothing is blocked"
    assert said[3] == "0000000000000000", "nothing is ignored"
    assert {int(number) for number in said[4:]} == {0, 1, 2, pipe[0], 3 if pipe[0] != 3 else 4}
    await group.stop()


async def test_it_holds_no_file_that_was_meant_for_the_program(tmp_path: Path, pipe: tuple[int, int]) -> None:
    group = EngineGroup.launch(
        ["/bin/sleep", "60"], log_path=tmp_path / "engine.log", pid_dir=tmp_path, pass_fds=[pipe[1]]
    )
    inode = os.fstat(pipe[1]).st_ino
    held = {
        pid: [os.stat(f"/proc/{pid}/fd/{name}").st_ino for name in os.listdir(f"/proc/{pid}/fd")]
        for pid in (group.pid, group.guardian_pid)
    }
    assert inode in held[group.pid]
    assert inode not in held[group.guardian_pid]
    await group.stop()


def test_without_its_parent_it_starts_nothing(tmp_path: Path) -> None:
    touched = tmp_path / "touched"
    argv = processes.guardian_argv(1, (int(signal.SIGKILL), 1.0, 1000, tmp_path))
    argv[argv.index(str(os.getpid()))] = "1"  # alive, but not its parent
    done = subprocess.run(argv, input=f"/bin/touch\0{touched}\0".encode(), check=False, capture_output=True)
    assert done.returncode == guardian.NO_PARENT
    assert not touched.exists()


@pytest.mark.parametrize("said", [b"", b"/bin/tou"])
def test_half_a_command_is_none(tmp_path: Path, said: bytes) -> None:
    """As when the window is killed while it says it."""
    argv = processes.guardian_argv(1, (int(signal.SIGKILL), 1.0, 1000, tmp_path))
    done = subprocess.run(argv, input=said, check=False, capture_output=True)
    assert (done.returncode, done.stdout) == (guardian.NO_PARENT, b"")


async def test_its_command_line_does_not_name_the_program(tmp_path: Path) -> None:
    """So whoever kills all that is called so spares the one that cleans up; and any argument arrives as it is."""
    arguments = ["vllm serve", "", "zwei\nZeilen", "ü", os.fsdecode(b"\xff"), "$HOME 'x' \"y\""]
    group = launch(tmp_path, sys.executable, "-c", "import signal; signal.pause()", *arguments)
    assert psutil.Process(group.pid).cmdline()[3:] == arguments
    assert "vllm" not in " ".join(psutil.Process(group.guardian_pid).cmdline())
    assert os.readlink(f"/proc/{group.pid}/fd/0") == "/dev/null"
    await group.stop()


def trim(log: int, folder: Path, limit: int) -> None:
    """One look of a guardian whose stdout is this open log."""
    saved = os.dup(1)
    try:
        os.dup2(log, 1)
        guardian.Guardian(os.getpid(), 1, int(signal.SIGKILL), 0.0, limit, str(folder))._trim()
    finally:
        os.dup2(saved, 1)
        os.close(saved)


def test_a_log_that_grows_too_long_keeps_its_beginning_and_its_end(tmp_path: Path) -> None:
    path, limit = tmp_path / "engine.log", 40_000
    lines = [f"line {number:06}" for number in range(10_000)]
    with path.open("ab") as log, path.open("ab") as engine:
        engine.write("\n".join(lines[:9_999]).encode() + b"\n")
        engine.flush()
        follower = LogFollower(path)
        assert len(list(follower.lines())) == 9_999
        trim(log.fileno(), tmp_path, limit)
        engine.write(lines[-1].encode() + b"\n")
    left = path.read_text().splitlines()
    assert path.stat().st_size < limit
    assert left[0] == lines[0]
    assert left[-1] == lines[-1], "the engine goes on writing at the end"
    (note,) = (line for line in left if line.startswith("[cut: "))
    kept = [line for line in left if line != note]
    assert kept == [*lines[: left.index(note)], *lines[-(len(kept) - left.index(note)) :]], "whole lines, in order"
    dropped = sum(len(line) + 1 for line in lines) - sum(len(line) + 1 for line in kept)
    assert note == f"[cut: {dropped} bytes of this log were left out here]"
    assert list(follower.lines()) == [lines[-1]]


def test_a_log_within_its_limit_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "engine.log"
    with path.open("ab") as log:
        log.write(b"0123456789")
        log.flush()
        trim(log.fileno(), tmp_path, 10)
    assert path.read_bytes() == b"0123456789"


def test_it_needs_the_standard_library_only_and_little_of_it() -> None:
    code = "import sys; sys.path.append(sys.argv[1]); from engine.supervise import guardian; print(*sys.modules)"
    root = str(Path(guardian.__file__).parents[2])
    done = subprocess.run([sys.executable, "-I", "-S", "-c", code, root], check=True, capture_output=True, text=True)
    loaded = {name.split(".")[0] for name in done.stdout.split()}
    assert loaded - {"engine"} <= sys.stdlib_module_names | {"__main__"}
    assert not loaded & {"subprocess", "asyncio", "typing", "dataclasses", "json", "re", "logging"}, (
        "it is to start fast"
    )
