"""An engine and everything it starts, as one thing: launched, watched, stopped, and proved gone.

The leader has a session and a process group of its own. Above it stands a guardian (``guardian.py``), which ends all of
it when we die or the leader does, and below which nothing gets lost. All processes carry a mark in their environment,
too, and are noted by number and start time, for the day when somebody kills the guardian. The output goes to a file,
never to a pipe: a grandchild that outlives the leader would hold the pipe open and any wait on it for ever.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import threading
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, Self
from uuid import uuid4

import psutil

from engine.errors import UserError
from engine.supervise import processes, proctable
from engine.supervise.logs import LIMIT_BYTES, rotate, tail
from engine.supervise.memory import CardAfter
from engine.supervise.pidfile import PidRecord, boot_id, pid_file, write_record

StopStep = Literal["none", "term", "kill"]

ORPHAN_GRACE_S = 5.0  # from the first signal to KILL, once we are dead; nobody waits for an answer then
START_S = 60.0  # for the guardian to say that the program runs: it takes 40 ms, on a machine out of memory much longer
REST_S = 2.0  # from TERM to KILL for what is left of an engine whose leader has had its time, or has crashed
_GUARDIAN_S = 5.0


@dataclass(frozen=True, slots=True)
class StopOutcome:
    """How a group ended.

    Attributes:
        step: what was needed: ``none`` (all gone already), ``term`` or ``kill``.
        exit_code: of the leader, as ``subprocess`` gives it; None when it was never reaped.
        survivors: pids that no signal ended (uninterruptible in a driver, or another user's).
        cards: the memory of the cards afterwards, where somebody watched it.
    """

    step: StopStep
    exit_code: int | None
    survivors: tuple[int, ...] = ()
    cards: tuple[CardAfter, ...] = ()

    @property
    def clean(self) -> bool:
        """Whether no process is left."""
        return not self.survivors

    @property
    def left(self) -> str:
        """What is left of the cards' memory, in words; empty when all is back."""
        return "; ".join(str(card) for card in self.cards if not card.back)


class _Guardian:
    """The guardian and its pipe, which says what becomes of the leader. Threads may ask at the same time.

    Attributes:
        leader: the leader's number, once it runs.
        code: the leader's return code, once it has ended; the guardian's own when that was killed and cannot tell.
        silent: the latter has happened.
    """

    def __init__(self, process: subprocess.Popen[bytes], report: int) -> None:
        self.process, self.report = process, report
        self.leader: int | None = None
        self.code: int | None = None
        self.silent = False
        self._open = True
        self._guard = threading.RLock()

    def hear(self, timeout_s: float = 0.0) -> bool:
        """Take in what it says; False when nothing came in time or it has nothing to say any more."""
        with self._guard:
            if not self._open:
                return False
            poller = select.poll()
            poller.register(self.report, select.POLLIN)
            if not poller.poll(timeout_s * 1000):
                return False
            said = os.read(self.report, 4096)
            for line in said.decode().splitlines():  # each is one short write, so it comes whole
                word, number = line.split()
                if word == "pid":
                    self.leader = int(number)
                else:
                    self.code = int(number)
            if not said:
                self.close()
            return True

    def close(self) -> None:
        """Reap it; it has ended or is about to. May be called twice."""
        with self._guard:
            if self._open:
                self._open = False
                own = self.process.wait()
                os.close(self.report)
                self.silent = self.code is None
                self.code = own if self.code is None else self.code

    async def ended(self, timeout_s: float) -> bool:
        """Wait for its end; False when it takes longer."""
        return not self._open or await processes.wait_gone([self.process.pid], timeout_s)


class EngineGroup:
    """A running group; made by :meth:`launch`."""

    def __init__(self, guardian: _Guardian, record: PidRecord, log_path: Path, pid_path: Path) -> None:
        self._guardian = guardian
        self._pid_path = pid_path
        self._known: dict[int, float] = {}
        self._guard = threading.Lock()  # of what is known: members are asked for on threads too
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
        log_limit: int = LIMIT_BYTES,
    ) -> Self:
        """Start a program as the leader of a new group. Takes some 40 ms, until the program runs.

        Args:
            argv: the program and its arguments; no secrets, everybody can read them.
            log_path: where its stdout and stderr go; the log of the start before is kept beside it.
            pid_dir: where the pid file goes.
            env: added to our environment; the place for secrets.
            inherit: without it ``env`` is the whole environment.
            port: noted in the pid file.
            pass_fds: open files that it inherits under the same numbers.
            death_signal: what the group gets when we die, some seconds before KILL; and the leader when its guardian
                does.
            log_limit: bytes; a longer log keeps its beginning and its end.

        Raises:
            UserError: the log or pid file cannot be written, or no process can be started.
        """
        mark = uuid4().hex
        added = {**(env or {}), processes.GROUP_MARK: mark}
        whole = processes.child_environment(added) if inherit else added
        options = (int(death_signal), ORPHAN_GRACE_S, log_limit, pid_dir)
        try:
            guardian = _popen(argv, log_path, whole, pass_fds, options)
        except OSError as error:
            raise UserError(
                "engine.cannot_launch", "cannot start {program}: {why}", program=argv[0], why=str(error)
            ) from error
        record = _record(guardian, mark, argv, port, _leader(guardian, log_path))
        group = cls(guardian, record, log_path, pid_file(pid_dir, record.pid))
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

    @property
    def guardian_pid(self) -> int:
        return self.record.guardian_pid

    def exit_code(self) -> int | None:
        """The leader's return code as ``subprocess`` gives it; None while it runs.

        A guardian that was killed cannot tell: then it is the guardian's own.
        """
        while self._guardian.code is None and self._guardian.hear():
            pass
        return self._guardian.code

    @property
    def unguarded(self) -> bool:
        """Whether the guardian has ended without a word about the leader: somebody has killed it."""
        return self._guardian.silent

    async def wait(self) -> int:
        """Wait until the leader ends, or its guardian does; see :meth:`exit_code`."""
        while (code := self.exit_code()) is None:
            await processes.readable(self._guardian.report)
        return code

    def members(self) -> list[psutil.Process]:
        """All living processes of the group, without the guardian.

        Once the leader is reaped its number may be given to another session's leader; then its session counts no more.
        """
        reused = self.exit_code() is not None and psutil.pid_exists(self.pid)
        guarded = processes.alive(self.guardian_pid, self.record.guardian_create_time)
        found = processes.find_members(
            None if reused else self.pid,
            self.record.mark,
            below=self.guardian_pid if guarded else None,
            known=self._noted(()),
        )
        self._noted(found)
        return found

    def note_members(self) -> list[psutil.Process]:
        """Who is below the guardian now, but for the leader; noted on disk too.

        So the next start finds even those that hide (see ``leftovers``). Takes some milliseconds.
        """
        if self.exit_code() is not None:
            return []
        found = []
        for pid in proctable.descendants(self.guardian_pid):
            with suppress(psutil.Error):
                found.append(psutil.Process(pid))
        noted = replace(self.record, members=tuple(sorted(self._noted(found).items())))
        if noted != self.record:
            with suppress(OSError):  # a full disk: the mark and the session are still there
                write_record(self._pid_path, noted)
                self.record = noted
        return [member for member in found if member.pid != self.pid]

    @property
    def seen(self) -> frozenset[int]:
        """Numbers of all processes that were ever seen in the group."""
        return frozenset({self.pid, *self._noted(())})

    def _noted(self, found: Sequence[psutil.Process]) -> dict[int, float]:
        """Everybody seen so far, with the start times; those found now are added."""
        with self._guard:
            for process in found:
                with suppress(psutil.Error):
                    self._known[process.pid] = process.create_time()
            return dict(self._known)

    def log_tail(self, lines: int = 15) -> str:
        """The last lines of this start's log."""
        return tail(self.log_path, lines, inode=self._log_inode)

    async def stop(self, *, grace_s: float = 10.0, kill_s: float = 5.0, leader_first: bool = False) -> StopOutcome:
        """End the whole group: TERM, up to ``grace_s`` seconds, KILL, up to ``kill_s``, then look who is left.

        Args:
            leader_first: the first TERM is for the leader only, which ends its own processes in its own order; the
                whole group gets one after ``grace_s``, and has ``REST_S`` then. vLLM's workers must not hear it: one
                that leaves in the middle of a step leaves the others waiting in a collective.
        """
        step: StopStep = "none"
        if leader_first and self.exit_code() is None:
            step, members = "term", self.members()
            processes.send([member for member in members if member.pid == self.pid], signal.SIGTERM)
            await processes.wait_gone([member.pid for member in members], grace_s)
            grace_s = REST_S
        for number, seconds in ((signal.SIGTERM, grace_s), (signal.SIGKILL, kill_s)):
            members = self.members()
            if not members:
                break
            step = "term" if number is signal.SIGTERM else "kill"
            self._signal(number, members)
            await processes.wait_gone([member.pid for member in members], seconds)
        if not await self._guardian.ended(_GUARDIAN_S):
            self._guardian.process.kill()  # it waits for what nothing ends
        return self._outcome(step)

    def kill_now(self) -> StopOutcome:
        """End the group at once and without a loop: for an exit that cannot wait."""
        members = self.members()
        self._signal(signal.SIGKILL, members)
        psutil.wait_procs([member for member in members if member.pid != self.pid], timeout=_GUARDIAN_S)
        with suppress(subprocess.TimeoutExpired):
            self._guardian.process.wait(timeout=_GUARDIAN_S)
        self._guardian.process.kill()  # one that is gone is not meant: Popen knows
        return self._outcome("kill" if members else "none")

    def _signal(self, number: signal.Signals, members: Sequence[psutil.Process]) -> None:
        # The group at once, so that none forks away in between; then those that left it.
        with suppress(ProcessLookupError, PermissionError):
            if self.exit_code() is None or any(_group_of(member) == self.pid for member in members):
                os.killpg(self.pid, number)
        processes.send([member for member in members if _group_of(member) != self.pid], number)

    def _outcome(self, step: StopStep) -> StopOutcome:
        survivors = tuple(sorted(member.pid for member in self.members()))
        self.exit_code()
        self._guardian.close()
        if not survivors:
            self._pid_path.unlink(missing_ok=True)
        return StopOutcome(step, self.exit_code(), survivors)


def _group_of(process: psutil.Process) -> int | None:
    try:
        return os.getpgid(process.pid)
    except OSError:
        return None


def _popen(
    argv: Sequence[str], log_path: Path, env: dict[str, str], pass_fds: Sequence[int], options: Sequence[object]
) -> _Guardian:
    log_path.parent.mkdir(parents=True, exist_ok=True)
    rotate(log_path)
    report, told = os.pipe()
    try:
        with ExitStack() as stack:
            stack.callback(os.close, told)
            log = stack.enter_context(log_path.open("ab"))
            process = subprocess.Popen(
                processes.guardian_argv(told, options),
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=env,
                pass_fds=(told, *pass_fds),
                start_new_session=True,
            )
    except BaseException:
        os.close(report)
        raise
    assert process.stdin is not None
    with suppress(BrokenPipeError), process.stdin as stdin:  # one that died at once is noticed by its silence
        stdin.write(b"".join(os.fsencode(part) + b"\0" for part in argv))
    return _Guardian(process, report)


def _leader(guardian: _Guardian, log_path: Path) -> int:
    """The leader's number, once it runs."""
    guardian.hear(START_S)
    if guardian.leader is None:
        guardian.process.kill()
        guardian.close()
        raise UserError(
            "engine.no_guardian",
            "the guardian of a process did not start; the end of its log:\n{log}",
            remedy="see whether the machine is out of memory",
            log=tail(log_path, 5),
        )
    return guardian.leader


def _record(guardian: _Guardian, mark: str, argv: Sequence[str], port: int | None, pid: int) -> PidRecord:
    return PidRecord(
        pid=pid,
        create_time=processes.create_time(pid) or 0.0,
        owner_pid=os.getpid(),
        owner_create_time=processes.create_time(os.getpid()) or 0.0,
        mark=mark,
        argv=tuple(argv),
        port=port,
        started=datetime.now(UTC).isoformat(timespec="seconds"),
        guardian_pid=guardian.process.pid,
        guardian_create_time=processes.create_time(guardian.process.pid) or 0.0,
        boot=boot_id(),
    )
