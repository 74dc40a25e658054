"""What a crash left behind: engine groups whose owner is gone. Swept at every start of a window or command.

Only processes that a pid file of ours names are touched, and only when the file's owner is dead. The leader must have
the very start time of the file; once the leader is gone its number may belong to someone else, so then a process must
carry the group's mark.
"""

from __future__ import annotations

import signal
from dataclasses import dataclass
from pathlib import Path

import psutil

from engine.supervise import processes
from engine.supervise.pidfile import PATTERN, PidRecord, read_record


@dataclass(frozen=True, slots=True)
class Leftover:
    """A group that nobody owns any more.

    Attributes:
        path: its pid file.
        processes: its living members; empty when only the file was left.
    """

    path: Path
    record: PidRecord
    processes: tuple[psutil.Process, ...]


def find_leftovers(pid_dir: Path) -> list[Leftover]:
    """Groups noted in ``pid_dir`` whose owner does not live. Touches nothing."""
    found = []
    for path in sorted(pid_dir.glob(PATTERN)):
        record = read_record(path)
        if record is not None and not processes.alive(record.owner_pid, record.owner_create_time):
            session = record.pid if processes.alive(record.pid, record.create_time) else None
            found.append(Leftover(path, record, tuple(processes.find_members(session, record.mark))))
    return found


async def sweep(pid_dir: Path, *, grace_s: float = 5.0, kill_s: float = 5.0) -> list[Leftover]:
    """End every leftover group (TERM, then KILL) and remove its pid file.

    Returns:
        the groups that had living processes, for a note to the user.
    """
    swept = []
    for leftover in find_leftovers(pid_dir):
        if leftover.processes:
            swept.append(leftover)
            processes.send(leftover.processes, signal.SIGTERM)
            if not await processes.wait_gone([member.pid for member in leftover.processes], grace_s):
                remaining = processes.find_members(None, leftover.record.mark)
                processes.send([*leftover.processes, *remaining], signal.SIGKILL)
                if not await processes.wait_gone([member.pid for member in remaining], kill_s):
                    continue  # keep the note: the next start tries again
        leftover.path.unlink(missing_ok=True)
    return swept
