"""What is proven about the files of a folder, one JSON object a line, appended only.

A process that is killed loses nothing that it had written: the kernel has it. A machine that loses power may. So a
part file's length is believed while the machine has not been started anew (the kernel's boot id, man 4 random, stands
in the journal); after a new start only what was synced is.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class Boot(_Record):
    """The folder was opened while the machine ran under this boot id; empty where the kernel tells none."""

    event: Literal["boot"] = "boot"
    boot: str


class Durable(_Record):
    """The first ``at`` bytes of the part with this key are on the disk itself."""

    event: Literal["durable"] = "durable"
    key: str
    at: int = Field(ge=0)


class Done(_Record):
    """The file had this hash when it had this size and time of change; either another, and it is checked again."""

    event: Literal["done"] = "done"
    path: str
    tag: str
    size: int = Field(ge=0)
    mtime_ns: int


Record = Boot | Durable | Done
_RECORDS: TypeAdapter[Record] = TypeAdapter(Annotated[Record, Field(discriminator="event")])


@dataclass(slots=True)
class Proven:
    """All records so far, folded.

    Attributes:
        boot: of the last opening; None for a new journal.
        durable: bytes by the key of a part.
        done: the last mark by path.
    """

    boot: str | None = None
    durable: dict[str, int] = field(default_factory=dict)
    done: dict[str, Done] = field(default_factory=dict)

    def take(self, record: Record) -> None:
        match record:
            case Boot():
                self.boot = record.boot
            case Durable():
                self.durable[record.key] = record.at
            case Done():
                self.done[record.path] = record


def replay(data: bytes) -> Proven:
    """What a journal says. A last line without its end was torn by a kill and never counts; nor does a foreign one."""
    proven = Proven()
    whole = data[: data.rfind(b"\n") + 1]
    for line in whole.splitlines():
        try:
            proven.take(_RECORDS.validate_json(line))
        except ValidationError:
            continue
    return proven


def boot_id() -> str:
    """The kernel's id of this boot; empty when it tells none (then nothing unsynced is believed)."""
    try:
        return BOOT_ID.read_text(encoding="ascii").strip()
    except OSError:
        return ""


class Journal:
    """An open journal; made by :meth:`open`.

    Attributes:
        proven: what it says, kept up to date.
    """

    def __init__(self, descriptor: int, proven: Proven) -> None:
        self._descriptor = descriptor
        self.proven = proven

    @classmethod
    def open(cls, path: Path) -> Self:
        """Reads what is there, cuts a torn end off, and stands ready to append. The caller holds the folder's lock."""
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        data = path.read_bytes()
        os.ftruncate(descriptor, data.rfind(b"\n") + 1)
        os.lseek(descriptor, 0, os.SEEK_END)
        return cls(descriptor, replay(data))

    def append(self, *records: Record) -> None:
        """Adds records in one write. Raises OSError when the disk is full."""
        self._write("".join(f"{record.model_dump_json()}\n" for record in records).encode())
        self._take(records)

    def _take(self, records: Iterable[Record]) -> None:
        for record in records:
            self.proven.take(record)

    def _write(self, data: bytes) -> None:
        while data:
            data = data[os.write(self._descriptor, data) :]

    def close(self) -> None:
        """May be called twice."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1
