"""The process table as /proc shows it. Standard library only and quick to import: the guardian lives on it.

Process numbers are reused; a number and its start time together are not. Layout of the files: man 5 proc_pid_stat.
"""

from __future__ import annotations

import os
import signal

Stat = tuple[str, int, int, int]  # state, parent, session, start in clock ticks since boot

_STATE, _PARENT, _SESSION, _START = 0, 1, 3, 19  # fields behind the name in parentheses
_ENDED = frozenset("ZX")


def read_stat(pid: int) -> Stat | None:
    """What is to be known of a process; None when there is none."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            data = file.read()
    except OSError:
        return None
    # The name may hold spaces and parentheses, the fields behind it do not.
    fields = data[data.rfind(b")") + 2 :].split()
    return fields[_STATE].decode(), int(fields[_PARENT]), int(fields[_SESSION]), int(fields[_START])


def table() -> dict[int, Stat]:
    """Every process, zombies too."""
    found = {}
    for name in os.listdir("/proc"):
        if name.isdecimal():
            stat = read_stat(int(name))
            if stat is not None:
                found[int(name)] = stat
    return found


def descendants(root: int) -> dict[int, int]:
    """Living children of a process, their children and so on; from number to start time.

    Below a child subreaper this misses nobody: whoever loses its parent becomes the subreaper's own child.
    """
    processes = table()
    children: dict[int, list[int]] = {}
    for pid, stat in processes.items():
        children.setdefault(stat[1], []).append(pid)
    found, waiting = {}, list(children.get(root, ()))
    while waiting:
        pid = waiting.pop()
        waiting += children.get(pid, ())
        if processes[pid][0] not in _ENDED:
            found[pid] = processes[pid][3]
    return found


def send(pid: int, start: int, number: int) -> None:
    """Send a signal to this very process: one that got the number of a dead one is spared."""
    try:
        descriptor = os.pidfd_open(pid)
    except OSError:
        return
    try:
        stat = read_stat(pid)  # the descriptor is open: from here on the number cannot change hands
        if stat is not None and stat[3] == start:
            signal.pidfd_send_signal(descriptor, number)
    except OSError:  # it ended meanwhile, or has become another user's
        pass
    finally:
        os.close(descriptor)
