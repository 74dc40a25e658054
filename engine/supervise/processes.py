"""Finding, watching and naming processes. Linux only (sessions, pidfds, /proc through psutil)."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import psutil

import engine
from engine.supervise import proctable

GROUP_MARK = "DIFFUSION_DESK_GROUP"  # environment variable that every process of a group inherits

VLLM_TITLE = "VLLM::"  # how vLLM's processes call themselves: VLLM::EngineCore, VLLM::Worker_TP0

# Isolated from the environment and without site-packages, which would take longer to load than all the rest.
_GUARDIAN = (
    "import sys; sys.path.append(sys.argv.pop(1)); "
    "from engine.supervise import guardian; sys.exit(guardian.main(sys.argv[1:]))"
)

# Two readings of one process's start may differ by the clock tick it is counted in and by a step of the wall clock.
CREATE_TIME_TOLERANCE_S = 1.0


def launcher_argv(argv: Sequence[str], death_signal: signal.Signals) -> list[str]:
    """``argv`` behind the launcher that ties the program to this process."""
    script = Path(__file__).with_name("exec_launcher.py")
    return [sys.executable, "-I", "-S", str(script), str(os.getpid()), str(int(death_signal)), *argv]


def guardian_argv(report: int, options: Sequence[object]) -> list[str]:
    """A guardian that outlives this process; it gets its program on stdin. See :mod:`engine.supervise.guardian`.

    Args:
        report: descriptor of the pipe that it tells its news to.
        options: its signal, grace, log limit and pid folder.
    """
    root = str(Path(engine.__file__).parent.parent)
    fixed = [sys.executable, "-I", "-S", "-c", _GUARDIAN, root, str(os.getpid()), str(report)]
    return [*fixed, *map(str, options)]


def child_environment(extra: Mapping[str, str]) -> dict[str, str]:
    """This process's environment and ``extra``, with our packages importable from any working directory."""
    root = str(Path(engine.__file__).parent.parent)
    paths = [root, *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(dict.fromkeys(paths)), "PYTHONUNBUFFERED": "1", **extra}


def create_time(pid: int) -> float | None:
    """Seconds since the epoch at which the process started; None when there is none (a zombie counts as none)."""
    try:
        process = psutil.Process(pid)
        return None if process.status() == psutil.STATUS_ZOMBIE else process.create_time()
    except psutil.Error:
        return None


def alive(pid: int, created: float) -> bool:
    """Whether this very process lives: the pid exists and was not reused."""
    seen = create_time(pid)
    return seen is not None and abs(seen - created) <= CREATE_TIME_TOLERANCE_S


def find_members(
    session: int | None,
    mark: str,
    *,
    below: int | None = None,
    known: Mapping[int, float] | None = None,
    orphans_of: int | None = None,
) -> list[psutil.Process]:
    """Living processes of a group, by any of what it can be known by.

    Args:
        session: the session id, or None when the leader is gone and the number may have been reused.
        mark: the value of ``GROUP_MARK`` in the group's environment; a process that sets its title may overwrite it.
        below: of a guardian that lives; all its descendants count, but not itself.
        known: process numbers and start times that were seen in the group.
        orphans_of: a session whose leader is gone; of it, those count that call themselves vLLM's.
    """
    family = set(proctable.descendants(below)) if below is not None else set()
    return [
        process
        for process in psutil.process_iter()
        if process.pid not in (os.getpid(), below)
        and (process.pid in family or _belongs(process, session, mark, known or {}, orphans_of))
    ]


def _belongs(
    process: psutil.Process, session: int | None, mark: str, known: Mapping[int, float], orphans_of: int | None
) -> bool:
    try:
        if process.status() == psutil.STATUS_ZOMBIE:
            return False
        seen = known.get(process.pid)
        if seen is not None and abs(process.create_time() - seen) <= CREATE_TIME_TOLERANCE_S:
            return True
        its = os.getsid(process.pid)
        if (session is not None and its == session) or process.environ().get(GROUP_MARK) == mark:
            return True
        return its == orphans_of and title(process).startswith(VLLM_TITLE)
    except (psutil.Error, OSError):  # gone meanwhile, or another user's
        return False


def title(process: psutil.Process) -> str:
    """The first word of its command line, which a process may choose itself (``VLLM::EngineCore``); empty when gone."""
    try:
        line = process.cmdline()
    except psutil.Error:
        return ""
    return line[0].strip() if line else ""


def send(processes: Iterable[psutil.Process], number: signal.Signals) -> None:
    """Send a signal to each that still lives (psutil checks that the pid was not reused)."""
    for process in processes:
        with contextlib.suppress(psutil.Error):
            process.send_signal(number)


async def wait_gone(pids: Iterable[int], timeout_s: float | None) -> bool:
    """Wait for processes, children or not, to end.

    A pidfd becomes readable when its process ends, even if nobody reaps it (man 2 pidfd_open), so nothing polls.

    Returns:
        False when some still live after ``timeout_s`` seconds.
    """
    try:
        async with asyncio.timeout(timeout_s):
            for pid in pids:
                await _wait_pid(pid)
    except TimeoutError:
        return False
    return True


async def _wait_pid(pid: int) -> None:
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        await readable(descriptor)
    finally:
        os.close(descriptor)


async def readable(descriptor: int) -> None:
    """Wait until a descriptor can be read, or has come to its end. Several tasks may wait for the same."""
    loop = asyncio.get_running_loop()
    ended: asyncio.Future[None] = loop.create_future()

    def resolve() -> None:
        if not ended.done():
            ended.set_result(None)

    own = os.dup(descriptor)  # a loop has one reader for each number
    loop.add_reader(own, resolve)
    try:
        await ended
    finally:
        loop.remove_reader(own)
        os.close(own)


def exit_text(code: int) -> str:
    """``exit code 3`` or ``killed by SIGKILL`` for a return code as ``subprocess`` gives it."""
    if code >= 0:
        return f"exit code {code}"
    try:
        return f"killed by {signal.Signals(-code).name}"
    except ValueError:
        return f"killed by signal {-code}"
