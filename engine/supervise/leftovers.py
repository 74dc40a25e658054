"""What a crash left behind: engine groups whose owner is gone. Swept at every start of a window or command.

Usually a group's guardian has ended everything by then. This is for the day when somebody killed the guardian too.
Only groups that a pid file of ours names are touched, and only when the file's owner is dead. A process of such a group
carries its mark, or was noted in the file by number and start time, or stands below its guardian, or is in the session
of a leader that has the very start time of the file. Once the leader is gone, another program's session may get its
number; then a session's processes count only if they call themselves vLLM's, which overwrite their mark.
"""

from __future__ import annotations

import signal
from dataclasses import dataclass
from pathlib import Path

import psutil

from engine.supervise import processes, proctable
from engine.supervise.pidfile import PATTERN, PidRecord, boot_id, read_record


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
            found.append(Leftover(path, record, tuple(_members(record))))
    return found


def _members(record: PidRecord) -> list[psutil.Process]:
    if record.boot not in ("", boot_id()):
        return []  # the machine was started anew since: whoever has these numbers now is not ours
    led = processes.alive(record.pid, record.create_time)
    return processes.find_members(
        record.pid if led else None,
        record.mark,
        below=record.guardian_pid if _guarded(record) else None,
        known=dict(record.members),
        orphans_of=None if proctable.read_stat(record.pid) else record.pid,
    )


def _guarded(record: PidRecord) -> bool:
    return record.guardian_pid > 0 and processes.alive(record.guardian_pid, record.guardian_create_time)


async def sweep(pid_dir: Path, *, grace_s: float = 5.0, kill_s: float = 5.0) -> list[Leftover]:
    """End every leftover group (TERM, then KILL) and remove its pid file.

    Returns:
        the groups that had living processes, for a note to the user.
    """
    swept = []
    for leftover in find_leftovers(pid_dir):
        if leftover.processes:
            swept.append(leftover)
            if not await _end(leftover, grace_s, kill_s):
                continue  # keep the note: the next start tries again
        if _guarded(leftover.record):  # it goes when there is nothing left to guard, unless something is wrong with it
            guardian = psutil.Process(leftover.record.guardian_pid)
            if not await processes.wait_gone([guardian.pid], kill_s):
                processes.send([guardian], signal.SIGKILL)
        leftover.path.unlink(missing_ok=True)
    return swept


async def _end(leftover: Leftover, grace_s: float, kill_s: float) -> bool:
    """Whether all of it is gone."""
    processes.send(leftover.processes, signal.SIGTERM)
    await processes.wait_gone([member.pid for member in leftover.processes], grace_s)
    remaining = {*_members(leftover.record), *(member for member in leftover.processes if member.is_running())}
    processes.send(remaining, signal.SIGKILL)
    return await processes.wait_gone([member.pid for member in remaining], kill_s)
