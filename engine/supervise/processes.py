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

GROUP_MARK = "DIFFUSION_DESK_GROUP"  # environment variable that every process of a group inherits

# Two readings of one process's start may differ by the clock tick it is counted in and by a step of the wall clock.
CREATE_TIME_TOLERANCE_S = 1.0


def launcher_argv(argv: Sequence[str], death_signal: signal.Signals) -> list[str]:
    """``argv`` behind the launcher that ties the program to this process."""
    script = Path(__file__).with_name("exec_launcher.py")
    return [sys.executable, "-I", "-S", str(script), str(os.getpid()), str(int(death_signal)), *argv]


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


def find_members(session: int | None, mark: str) -> list[psutil.Process]:
    """Living processes of a group: of its session, or carrying its mark (one that made a session of its own).

    Args:
        session: the session id, or None when the leader is gone and the number may have been reused.
        mark: the value of ``GROUP_MARK`` in the group's environment.
    """
    return [process for process in psutil.process_iter() if _belongs(process, session, mark)]


def _belongs(process: psutil.Process, session: int | None, mark: str) -> bool:
    if process.pid == os.getpid():
        return False
    try:
        if process.status() == psutil.STATUS_ZOMBIE:
            return False
        if session is not None and os.getsid(process.pid) == session:
            return True
        return process.environ().get(GROUP_MARK) == mark
    except (psutil.Error, OSError):  # gone meanwhile, or another user's
        return False


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
    loop = asyncio.get_running_loop()
    ended: asyncio.Future[None] = loop.create_future()

    def resolve() -> None:
        if not ended.done():
            ended.set_result(None)

    loop.add_reader(descriptor, resolve)
    try:
        await ended
    finally:
        loop.remove_reader(descriptor)
        os.close(descriptor)


def exit_text(code: int) -> str:
    """``exit code 3`` or ``killed by SIGKILL`` for a return code as ``subprocess`` gives it."""
    if code >= 0:
        return f"exit code {code}"
    try:
        return f"killed by {signal.Signals(-code).name}"
    except ValueError:
        return f"killed by signal {-code}"
