"""The worker protocol: what a worker says on stdout and hears on stdin, one JSON object a line.

The lines are described in docs/architecture.md; both ends use these models. Unknown fields are ignored, so that a
window of one version can watch a worker of the next.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError


class _Event(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")

    def line(self) -> str:
        """The event as its line, without the line end."""
        return self.model_dump_json()


class StatusCounts(_Event):
    """Answers by status."""

    ok: int = 0
    unreadable: int = 0
    error: int = 0
    skipped: int = 0


class RunStarted(_Event):
    """The run is open. ``done`` of ``total`` answers (rows times questions) are there already."""

    event: Literal["started"] = "started"
    run: str
    rows: int
    questions: tuple[str, ...]
    done: int
    total: int
    resumed: bool


class RunProgress(_Event):
    """How far it is; ``rate`` in answers a second, ``eta_s`` None while unknown."""

    event: Literal["progress"] = "progress"
    done: int
    total: int
    rate: float
    eta_s: float | None
    ok: int
    unreadable: int
    error: int
    skipped: int


class RunPaused(_Event):
    """Nothing is asked for now: by command, or because the engine is gone."""

    event: Literal["paused"] = "paused"
    reason: str


class RunResumed(_Event):
    """It goes on."""

    event: Literal["resumed"] = "resumed"


class Note(_Event):
    """Something worth showing that changes nothing."""

    event: Literal["note"] = "note"
    text: str


class RunFinished(_Event):
    """Every row is answered and exported.

    Attributes:
        out: path of the CSV.
        totals: by question id.
        metrics: by question id, where the form names a gold column; see docs/cli.md.
    """

    event: Literal["finished"] = "finished"
    run: str
    out: str
    totals: dict[str, StatusCounts]
    metrics: dict[str, dict[str, Any]] = Field(default_factory=dict)


class RunCancelled(_Event):
    """It was stopped; what is done is on disk and can be resumed."""

    event: Literal["cancelled"] = "cancelled"
    run: str
    done: int
    total: int


class RunFailed(_Event):
    """It ended with an error; answers so far, if any, are on disk.

    Attributes:
        run: the one of a queue that failed, and the next begins; empty: the worker itself ends.
    """

    event: Literal["failed"] = "failed"
    code: str
    message: str
    remedy: str = ""
    run: str = ""


class RunQueued(_Event):
    """The run is made and waits for ``queue work``."""

    event: Literal["queued"] = "queued"
    run: str


class QueueEnded(_Event):
    """Nothing waits any more: so many runs of the queue were finished by this worker, so many failed."""

    event: Literal["queue_ended"] = "queue_ended"
    finished: int
    failed: int


class DownloadStarted(_Event):
    """What is to be fetched is known. ``done_bytes`` of ``total_bytes`` are there already, verified or in part."""

    event: Literal["download_started"] = "download_started"
    checkpoint: str
    folder: str
    files: int
    done_bytes: int
    total_bytes: int


class DownloadProgress(_Event):
    """How far it is.

    Attributes:
        done_bytes: on disk, of ``total_bytes``.
        checked_bytes: read again for their hash since the start; only this moves while what is there is checked.
        rate: bytes a second from the network over the last half minute; ``eta_s`` None while unknown.
    """

    event: Literal["download_progress"] = "download_progress"
    done_bytes: int
    total_bytes: int
    checked_bytes: int
    files_done: int
    files: int
    rate: float
    eta_s: float | None


class DownloadFinished(_Event):
    """Every file is there and its hash is right; ``fetched_bytes`` came over the network in this process."""

    event: Literal["download_finished"] = "download_finished"
    checkpoint: str
    folder: str
    commit: str
    files: int
    total_bytes: int
    fetched_bytes: int


class DownloadCancelled(_Event):
    """It was stopped; what is there stays, and the same command goes on."""

    event: Literal["download_cancelled"] = "download_cancelled"
    checkpoint: str
    folder: str
    done_bytes: int
    total_bytes: int


class EnvironmentProgress(_Event):
    """How far the making or the repair of the engine's environment is; fields as of ``engine.runtime.progress``."""

    event: Literal["environment_progress"] = "environment_progress"
    phase: str
    packages_done: int = 0
    packages: int = 0
    bytes_done: int = 0
    bytes_total: int | None = None
    rate: float = 0.0
    eta_s: float | None = None


class EnvironmentReady(_Event):
    """The environment is complete."""

    event: Literal["environment_ready"] = "environment_ready"
    folder: str
    interpreter: str


class EnvironmentCancelled(_Event):
    """It was stopped; what is there stays, and the same command goes on."""

    event: Literal["environment_cancelled"] = "environment_cancelled"


EnvironmentEvent = EnvironmentProgress | EnvironmentReady | EnvironmentCancelled
DownloadEvent = DownloadStarted | DownloadProgress | DownloadFinished | DownloadCancelled
WorkerEvent = (
    RunStarted
    | RunProgress
    | RunPaused
    | RunResumed
    | Note
    | RunFinished
    | RunCancelled
    | RunFailed
    | RunQueued
    | QueueEnded
    | DownloadEvent
    | EnvironmentEvent
)
LAST_WORDS = (
    RunFinished,
    RunCancelled,
    RunFailed,
    RunQueued,
    QueueEnded,
    DownloadFinished,
    DownloadCancelled,
    EnvironmentReady,
    EnvironmentCancelled,
)
Command = Literal["pause", "resume", "cancel"]

_EVENTS: TypeAdapter[WorkerEvent] = TypeAdapter(Annotated[WorkerEvent, Field(discriminator="event")])


class _CommandLine(BaseModel):
    command: Command
    run: str = ""


def parse_event(line: str | bytes) -> WorkerEvent | None:
    """The event of a line; None for anything else (a library that prints must not end the watching)."""
    try:
        return _EVENTS.validate_json(line)
    except ValidationError:
        return None


def command_line(command: Command, run: str = "") -> str:
    """A command as its line, without the line end.

    Args:
        run: the run that is meant; empty: whichever is under way.
    """
    return _CommandLine(command=command, run=run).model_dump_json(exclude_defaults=True)


def parse_command(line: str | bytes) -> Command | None:
    """The command of a line; None for anything else."""
    try:
        return _CommandLine.model_validate_json(line).command
    except ValidationError:
        return None


def meant_for(line: str | bytes, run: str) -> bool:
    """Whether a line is for this run: a command that names another came when that had ended."""
    try:
        named = _CommandLine.model_validate_json(line).run
    except ValidationError:
        return True
    return named in ("", run)
