"""The note on disk that says which processes are ours, so that the next start can end what a crash left behind."""

from __future__ import annotations

import json
import os
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

PATTERN = "group-*.json"


@dataclass(frozen=True, slots=True)
class PidRecord:
    """One engine group.

    Attributes:
        pid: of the group's leader; also its session and process group id.
        create_time: of the leader, seconds since the epoch.
        owner_pid, owner_create_time: of the process that started it.
        mark: the value of ``GROUP_MARK`` in its environment.
        argv: its command line (no secrets: keys travel in the environment).
        port: the TCP port it serves, or None.
        started: ISO 8601, UTC.
        guardian_pid, guardian_create_time: of the guardian above the leader; 0 in notes of older programs.
        members: number and start time of processes that were seen in the group; may be older than the group is.
        boot: which start of the machine this was; empty in notes of older programs.
    """

    pid: int
    create_time: float
    owner_pid: int
    owner_create_time: float
    mark: str
    argv: tuple[str, ...]
    port: int | None
    started: str
    guardian_pid: int = 0
    guardian_create_time: float = 0.0
    members: tuple[tuple[int, float], ...] = ()
    boot: str = ""


def boot_id() -> str:
    """Differs between two starts of the machine; empty where the system does not tell."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return ""


def pid_file(directory: Path, pid: int) -> Path:
    """Where the note of the group led by ``pid`` lies."""
    return directory / f"group-{pid}.json"


def write_record(path: Path, record: PidRecord) -> None:
    """Write atomically: a reader sees the whole record or none. Raises OSError."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".group-")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(asdict(record), file)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def read_record(path: Path) -> PidRecord | None:
    """The record, or None for a file that is missing, broken or of another version."""
    try:
        fields = json.loads(path.read_text(encoding="utf-8"))
        argv, members = tuple(fields["argv"]), fields.get("members", ())
        return PidRecord(**{**fields, "argv": argv, "members": tuple((int(pid), float(at)) for pid, at in members)})
    except (OSError, ValueError, TypeError, KeyError):
        return None
