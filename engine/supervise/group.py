"""An engine and everything it starts, as one thing: launched, watched, stopped, and proved gone.

The group is its own session and process group; its leader dies with us (``exec_launcher``); all its processes carry a
mark in their environment, so that even one that made a session of its own is found. Its output goes to a file, never
to a pipe: a grandchild that outlives the leader would hold the pipe open and any wait on it for ever.
"""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, Self
from uuid import uuid4

import psutil

from engine.errors import BugError, UserError
from engine.supervise import processes
from engine.supervise.logs import rotate, tail
from engine.supervise.pidfile import PidRecord, pid_file, write_record

StopStep = Literal["none", "term", "kill"]


@dataclass(frozen=True, slots=True)
class StopOutcome:
    """How a group ended.

    Attributes:
        step: what was needed: ``none`` (all gone already), ``term`` or ``kill``.
        exit_code: of the leader, as ``subprocess`` gives it; None when it was never reaped.
        survivors: pids that no signal ended (uninterruptible in a driver, or another user's).
    """

    step: StopStep
    exit_code: int | None
    survivors: tuple[int, ...] = ()

    @property
    def clean(self) -> bool:
        return not self.survivors


class EngineGroup:
    """A running group; made by :meth:`launch`."""

    def __init__(self, process: subprocess.Popen[bytes], record: PidRecord, log_path: Path, pid_path: Path) -> None:
        self._process = process
        self._pid_path = pid_path
        self.record = record
        self.log_path = log_path
        self._log_inode = log_path.stat().st_ino  # another start with the same log path renames ours

    @classmethod
    def launch(
        cls,
        argv: Sequence[str],
        *,
        log_path: Path,
        pid_dir: Path,
        env: Mapping[str, str] | None = None,
        inherit: bool = True,
        port: int | None = None,
        pass_fds: Sequence[int] = (),
        death_signal: signal.Signals = signal.SIGKILL,
    ) -> Self:
        """Start a program as the leader of a new group. Call from the main thread.

        Args:
            argv: the program and its arguments; no secrets, everybody can read them.
            log_path: where its stdout and stderr go; the log of the start before is kept beside it.
            pid_dir: where the pid file goes.
            env: added to our environment; the place for secrets.
            inherit: without it ``env`` is the whole environment.
            port: noted in the pid file.
            pass_fds: open files that it inherits under the same numbers.
            death_signal: what the leader gets when we die.

        Raises:
            UserError: the log or pid file cannot be written, or no process can be started.
            BugError: not called from the main thread (the death signal would come when that thread ends).
        """
        if threading.current_thread() is not threading.main_thread():
            raise BugError("supervise.thread", "an engine group is launched from the main thread only")
        mark = uuid4().hex
        added = {**(env or {}), processes.GROUP_MARK: mark}
        whole = processes.child_environment(added) if inherit else added
        try:
            process = _popen(argv, log_path, whole, pass_fds, death_signal)
        except OSError as error:
            raise UserError(
                "engine.cannot_launch", "cannot start {program}: {why}", program=argv[0], why=str(error)
            ) from error
        record = _record(process.pid, mark, argv, port)
        group = cls(process, record, log_path, pid_file(pid_dir, process.pid))
        try:
            write_record(group._pid_path, record)
        except OSError as error:
            group.kill_now()
            raise UserError(
                "engine.pid_file", "cannot write {path}: {why}", path=group._pid_path, why=str(error)
            ) from error
        return group

    @property
    def pid(self) -> int:
        return self.record.pid

    def exit_code(self) -> int | None:
        """The leader's return code as ``subprocess`` gives it; None while it runs."""
        return self._process.poll()

    async def wait(self) -> int:
        """Wait until the leader ends; its return code."""
        await processes.wait_gone([self.pid], None)
        return self._process.wait()  # it has ended: this reaps it at once

    def members(self) -> list[psutil.Process]:
        """All living processes of the group.

        Once the leader is reaped its number may be given to another session's leader; then only the mark counts. (Not
        always before: a process may overwrite the memory of its environment, as those do that set their title.)
        """
        reused = self._process.poll() is not None and psutil.pid_exists(self.pid)
        return processes.find_members(None if reused else self.pid, self.record.mark)

    def log_tail(self, lines: int = 15) -> str:
        """The last lines of this start's log."""
        return tail(self.log_path, lines, inode=self._log_inode)

    async def stop(self, *, grace_s: float = 10.0, kill_s: float = 5.0) -> StopOutcome:
        """End the whole group: TERM, up to ``grace_s`` seconds, KILL, up to ``kill_s``, then look who is left."""
        step: StopStep = "none"
        for number, seconds in ((signal.SIGTERM, grace_s), (signal.SIGKILL, kill_s)):
            members = self.members()
            if not members:
                break
            step = "term" if number is signal.SIGTERM else "kill"
            self._signal(number, members)
            await processes.wait_gone([member.pid for member in members], seconds)
        return self._outcome(step)

    def kill_now(self) -> StopOutcome:
        """End the group at once and without a loop: for an exit that cannot wait."""
        members = self.members()
        self._signal(signal.SIGKILL, members)
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=5.0)  # first: psutil would reap the leader and lose its exit code
        psutil.wait_procs([member for member in members if member.pid != self.pid], timeout=5.0)
        return self._outcome("kill" if members else "none")

    def _signal(self, number: signal.Signals, members: Sequence[psutil.Process]) -> None:
        # The group at once, so that none forks away in between; then those that left it.
        with suppress(ProcessLookupError, PermissionError):
            if self._process.poll() is None or any(_group_of(member) == self.pid for member in members):
                os.killpg(self.pid, number)
        processes.send([member for member in members if _group_of(member) != self.pid], number)

    def _outcome(self, step: StopStep) -> StopOutcome:
        survivors = tuple(sorted(member.pid for member in self.members()))
        if not survivors:
            self._pid_path.unlink(missing_ok=True)
        return StopOutcome(step, self._process.poll(), survivors)


def _group_of(process: psutil.Process) -> int | None:
    try:
        return os.getpgid(process.pid)
    except OSError:
        return None


def _popen(
    argv: Sequence[str], log_path: Path, env: dict[str, str], pass_fds: Sequence[int], death_signal: signal.Signals
) -> subprocess.Popen[bytes]:
    log_path.parent.mkdir(parents=True, exist_ok=True)
    rotate(log_path)
    with ExitStack() as stack:
        log = stack.enter_context(log_path.open("ab"))
        return subprocess.Popen(
            processes.launcher_argv(argv, death_signal),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            env=env,
            pass_fds=tuple(pass_fds),
            start_new_session=True,
        )


def _record(pid: int, mark: str, argv: Sequence[str], port: int | None) -> PidRecord:
    return PidRecord(
        pid=pid,
        create_time=processes.create_time(pid) or 0.0,
        owner_pid=os.getpid(),
        owner_create_time=processes.create_time(os.getpid()) or 0.0,
        mark=mark,
        argv=tuple(argv),
        port=port,
        started=datetime.now(UTC).isoformat(timespec="seconds"),
    )
