"""Become another program that dies with the parent. Run as a script, standard library only, imported by nothing.

    python -I -S exec_launcher.py PARENT_PID SIGNAL PROGRAM [ARGUMENT ...]

``prctl(PR_SET_PDEATHSIG)`` (man 2 prctl) survives ``execve`` and needs no ``preexec_fn``. The signal is sent when the
*thread* that forked us ends, so the caller forks from its main thread. The caller also makes the new session, so that
the process group exists by the time its ``Popen`` returns. Exit codes as in a shell: 125 the parent is gone already or
the arguments are wrong, 127 the program cannot be started.
"""

from __future__ import annotations

import ctypes
import os
import sys

PR_SET_PDEATHSIG = 1  # linux/prctl.h


def main(argv: list[str]) -> int:
    """Arm the death signal, make sure that the parent still lives, and exec."""
    parent, death_signal, command = int(argv[1]), int(argv[2]), argv[3:]
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_PDEATHSIG, death_signal, 0, 0, 0) != 0:
        sys.stderr.write(f"launcher: prctl failed: {os.strerror(ctypes.get_errno())}\n")
        return 125
    if os.getppid() != parent:  # it died between the fork and the prctl: no signal will come
        return 125
    try:
        os.execvp(command[0], command)
    except OSError as error:
        sys.stderr.write(f"launcher: cannot start {command[0]}: {error.strerror}\n")
    return 127


if __name__ == "__main__":
    sys.exit(main(sys.argv))
