"""The engine's parent: it outlives whoever dies, ends what is left, and goes.

    python -I -S -c "..." ROOT PARENT REPORT SIGNAL GRACE_S LOG_LIMIT PID_DIR

(the ``-c`` of ``processes.guardian_argv``, which makes this module importable). The program and its arguments come on
stdin, each ended by a zero byte: whoever kills by a name on the command line (``pkill -f vllm``) is not to meet the
guardian too. It is a child subreaper (man 2
PR_SET_CHILD_SUBREAPER): whatever the program starts and leaves without a parent becomes a child of the guardian,
whatever session it made and however it calls itself. So the guardian knows the whole tree at any time, and

- when the program ends, it ends what the program has left behind;
- when our parent (the window) ends, even by SIGKILL, or when it gets TERM, INT or HUP itself, it ends everything;
- when it is killed itself, the program gets SIGNAL (PR_SET_PDEATHSIG), and the window ends the rest.

To REPORT, a pipe, it writes ``pid N`` when the program runs and ``exit N`` when it has ended (a return code as
``subprocess`` gives it). Standard library only: it starts in 30 ms and is as small as a Python can be.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import select
import signal
import sys
import time

from engine.supervise import proctable

PR_SET_PDEATHSIG, PR_SET_NAME, PR_SET_CHILD_SUBREAPER = 1, 15, 36  # linux/prctl.h
REST_S = 3.0  # for what a program leaves behind, from TERM to KILL: a resource tracker has semaphores to unlink
GIVE_UP_S = 30.0  # after KILL: what lives on hangs in a driver, and nothing here can end it
LOOK_S = 5.0  # between two looks at the size of the log
STEP_S = 0.05
HEAD_BYTES = 1 << 20  # of a log that is cut: it says what was started
NO_PARENT, NO_PROGRAM = 125, 127  # exit codes, as a shell's


class Guardian:
    """One program and all that it starts.

    Args:
        parent: process number of whoever started us.
        report: descriptor of the pipe to it.
        first: the signal to end things with, before KILL.
        grace_s: between the two, once the parent is gone.
        log_limit: bytes; a log that grows beyond keeps its beginning and its end.
        pid_dir: where the note about the program lies that goes when nothing is left.
    """

    def __init__(self, parent: int, report: int, first: int, grace_s: float, log_limit: int, pid_dir: str) -> None:
        self._parent, self._report, self._first, self._grace_s = parent, report, first, grace_s
        self._log_limit, self._pid_dir = log_limit, pid_dir
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._leader = 0
        self._code: int | None = None
        self._wake, self._awake = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)

    def run(self, command: list[str]) -> int:
        """Start the program and stay until it and all of its own are gone; our exit code."""
        self._libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        self._libc.prctl(PR_SET_NAME, b"desk-guardian", 0, 0, 0)
        try:
            parent = os.pidfd_open(self._parent)
        except ProcessLookupError:
            return NO_PARENT
        if os.getppid() != self._parent:  # it died before we looked, and its number may be another's by now
            return NO_PARENT
        os.set_inheritable(self._report, False)
        signal.set_wakeup_fd(self._awake, warn_on_full_buffer=False)
        for number in (signal.SIGCHLD, signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, lambda *_: None)
        self._start(command)
        self._keep_only({0, 1, 2, self._report, self._wake, self._awake, parent})
        self._tell(f"pid {self._leader}")
        self._end(*self._watch(parent))
        if not proctable.descendants(os.getpid()):
            self._forget()
        return 128 - self._code if self._code is not None and self._code < 0 else self._code or 0

    def _start(self, command: list[str]) -> None:
        me = os.getpid()
        running, started = os.pipe2(os.O_CLOEXEC)
        self._leader = os.fork()
        if self._leader:
            os.close(started)
            os.read(
                running, 1
            )  # ends with the child's exec: before it, a TERM would meet our handler, not the program's
            os.close(running)
            return
        try:
            os.setsid()
            # Python ignores two of them, a shell SIGQUIT in what it starts with &; the program shall not.
            for number in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGQUIT):
                signal.signal(number, signal.SIG_DFL)
            self._libc.prctl(PR_SET_PDEATHSIG, self._first, 0, 0, 0)
            if os.getppid() == me:
                os.execvp(command[0], command)
        except OSError as error:
            os.write(2, f"launcher: cannot start {command[0]}: {error.strerror}\n".encode())
        finally:
            os._exit(NO_PROGRAM)

    def _keep_only(self, kept: set[int]) -> None:
        """Close what was meant for the program: a listening socket held here would keep its clients waiting."""
        for name in os.listdir("/proc/self/fd"):
            if int(name) not in kept:
                with contextlib.suppress(OSError):  # the descriptor of this very listing
                    os.close(int(name))

    def _watch(self, parent: int) -> tuple[int, float]:
        """Until something ends; the signal to go on with, and the time before KILL."""
        poller = select.poll()
        poller.register(parent, select.POLLIN)
        poller.register(self._wake, select.POLLIN)
        while True:
            ready = [descriptor for descriptor, _ in poller.poll(LOOK_S * 1000)]
            asked = self._woken()
            self._reap()
            if parent in ready or asked:
                return self._first, self._grace_s
            if self._code is not None:
                return signal.SIGTERM, REST_S
            self._trim()

    def _woken(self) -> bool:
        """Whether we were asked to go; signals write their numbers into the pipe."""
        try:
            return any(number != signal.SIGCHLD for number in os.read(self._wake, 4096))
        except BlockingIOError:
            return False

    def _reap(self) -> None:
        """Collect every ended child, ours by birth or by adoption."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            if pid == self._leader:
                self._code = os.waitstatus_to_exitcode(status)
                self._tell(f"exit {self._code}")

    def _end(self, number: int, grace_s: float) -> None:
        """End every descendant: the signal, KILL after the time, and again until none is left."""
        poller = select.poll()
        poller.register(self._wake, select.POLLIN)
        deadline = time.monotonic() + (grace_s if number != signal.SIGKILL else GIVE_UP_S)
        told: set[int] = set()
        if self._code is None:  # not reaped, so the number is still its own
            with contextlib.suppress(OSError):
                os.killpg(self._leader, number)  # at once, so that none forks away in between
        while True:
            self._reap()
            left = proctable.descendants(os.getpid())
            if not left:
                return
            if time.monotonic() >= deadline:
                if number == signal.SIGKILL:
                    return
                number, deadline = signal.SIGKILL, time.monotonic() + GIVE_UP_S
                told.clear()
            for pid, start in left.items():
                if pid not in told:
                    proctable.send(pid, start, number)
                    told.add(pid)
            poller.poll(STEP_S * 1000)
            self._woken()

    def _trim(self) -> None:
        """Cut the log when it is too long; everybody appends to it, so nobody minds. A few lines may be lost."""
        size = os.fstat(1).st_size
        if size <= self._log_limit:
            return
        head = min(HEAD_BYTES, self._log_limit // 4)
        with open("/proc/self/fd/1", "rb") as file:
            first = file.read(head)
            file.seek(max(head, size - self._log_limit // 4))
            last = file.read()
        first, last = first[: first.rfind(b"\n") + 1], last[last.find(b"\n") + 1 :]
        note = f"[cut: {size - len(first) - len(last)} bytes of this log were left out here]\n"
        os.ftruncate(1, 0)
        whole = first + note.encode() + last
        while whole:
            whole = whole[os.write(1, whole) :]

    def _tell(self, line: str) -> None:
        with contextlib.suppress(OSError):  # nobody listens any more
            os.write(self._report, line.encode() + b"\n")

    def _forget(self) -> None:
        with contextlib.suppress(OSError):
            os.unlink(os.path.join(self._pid_dir, f"group-{self._leader}.json"))


def main(argv: list[str]) -> int:
    """Run from the arguments and stdin; see the module."""
    parent, report, first, grace_s, log_limit, pid_dir = argv
    with open(0, "rb") as stdin:
        command = [os.fsdecode(part) for part in stdin.read().split(b"\0")[:-1]]
    if not command:  # whoever started us died while it spoke
        return NO_PARENT
    os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)  # it becomes stdin: the lowest number that is free
    return Guardian(int(parent), int(report), int(first), float(grace_s), int(log_limit), pid_dir).run(command)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
