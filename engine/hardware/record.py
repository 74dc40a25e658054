"""Recorded machines: a machine as JSON, read strictly. The planner, ``doctor --machine`` and the tests live on them.

A record names nobody: UUIDs are replaced, the home folder is ``~``, a process is known by its program's name.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, fields, is_dataclass, replace
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from engine.domain.hardware import Disk, Driver, Gpu, GpuLink, Host, Machine
from engine.errors import InputError, UserError
from engine.paths import resources_dir

SCHEMA_VERSION = 1
MAX_BYTES = 1_000_000  # eight cards take 15 kB


class _Record(BaseModel):
    """The file. Extra fields and other types are refused, in the dataclasses below it too."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)

    schema_version: int
    name: str = ""
    driver: Driver
    gpus: tuple[Gpu, ...] = ()
    links: tuple[GpuLink, ...] = ()
    host: Host


def recorded_machines() -> dict[str, Path]:
    """The machines that come with the program: file stem to file, sorted."""
    return {path.stem: path for path in sorted((resources_dir() / "machines").glob("*.json"))}


def load_machine(path: Path) -> Machine:
    """Read a recorded machine.

    Raises:
        InputError: cannot be read, no JSON, of another schema version, or a field is missing, unknown or wrong; the
            message names file and field.
    """
    try:
        if path.stat().st_size > MAX_BYTES:
            raise InputError(
                "machine.too_big", "{path}: a record has at most {limit} bytes", path=str(path), limit=MAX_BYTES
            )
        raw = path.read_bytes()
    except OSError as error:
        raise InputError(
            "machine.unreadable", "cannot read {path}: {detail}", path=str(path), detail=error.strerror or str(error)
        ) from error
    return parse_machine(raw, str(path))


def parse_machine(raw: bytes, source: str) -> Machine:
    """Read a record from its bytes; ``source`` names it in messages. Raises InputError."""
    _check_version(raw, source)
    try:
        record = _Record.model_validate_json(raw)
    except ValidationError as error:
        first = error.errors()[0]
        raise InputError(
            "machine.field",
            "{source}: {place}: {problem}",
            source=source,
            place=_place(first["loc"]),
            problem=_lower(first["msg"]),
            value=repr(first.get("input"))[:60],
        ) from error
    machine = Machine(record.driver, record.host, record.gpus, record.links, record.name)
    for place, problem in _contradictions(machine):
        raise InputError(
            "machine.contradiction", "{source}: {place}: {problem}", source=source, place=place, problem=problem
        )
    return machine


def dump_machine(machine: Machine) -> str:
    """The record as text; :func:`parse_machine` gives the machine back. Nothing is hidden: see :func:`anonymous`."""
    known = asdict(machine)
    record = {"schema_version": SCHEMA_VERSION, "name": machine.name, **known}
    return json.dumps(record, indent=1, ensure_ascii=False) + "\n"


def save_machine(machine: Machine, path: Path) -> None:
    """Write the record of a machine, without what identifies a person. An existing file is kept.

    Raises:
        UserError: the file exists, or cannot be written.
    """
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(dump_machine(anonymous(machine)))
    except FileExistsError as error:
        raise UserError(
            "machine.exists", "{path} exists", remedy="name a file that is not there yet", path=str(path)
        ) from error
    except OSError as error:
        raise UserError(
            "machine.unwritable", "cannot write {path}: {detail}", path=str(path), detail=error.strerror or str(error)
        ) from error


def anonymous(machine: Machine) -> Machine:
    """The same machine with counted UUIDs, and ``~`` for the home folder; it plans like the original."""
    names = {gpu.uuid: _counted(gpu.uuid, number) for number, gpu in enumerate(machine.gpus, start=1)}
    gpus = tuple(replace(gpu, uuid=names[gpu.uuid]) for gpu in machine.gpus)
    links = tuple(replace(link, first=names[link.first], second=names[link.second]) for link in machine.links)
    disks = tuple(replace(disk, path=_without_home(disk)) for disk in machine.host.disks)
    return replace(machine, gpus=gpus, links=links, host=replace(machine.host, disks=disks))


def _counted(uuid: str, number: int) -> str:
    return f"{uuid.split('-')[0]}-00000000-0000-0000-0000-{number:012d}"


def _without_home(disk: Disk) -> str:
    home = str(Path.home())
    inside = disk.path == home or disk.path.startswith(home.rstrip("/") + "/")
    return "~" + disk.path[len(home.rstrip("/")) :] if inside else disk.path


def _check_version(raw: bytes, source: str) -> None:
    try:
        given = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise InputError("machine.no_json", "{source}: no JSON: {detail}", source=source, detail=str(error)) from error
    version = given.get("schema_version") if isinstance(given, dict) else None
    if type(version) is not int:
        raise InputError(
            "machine.no_version",
            "{source}: schema_version: no recorded machine has none",
            remedy="record one with `doctor --record FILE`",
            source=source,
        )
    if version != SCHEMA_VERSION:
        raise InputError(
            "machine.version",
            "{source}: schema_version: {version}; this program reads {known}",
            remedy="record the machine again with the newest program",
            source=source,
            version=version,
            known=SCHEMA_VERSION,
        )


def _contradictions(machine: Machine) -> Iterator[tuple[str, str]]:
    """Place and problem of what no machine can be."""
    yield from _negatives(machine, "")
    seen: set[str] = set()
    for number, gpu in enumerate(machine.gpus):
        place = f"gpus[{number}]"
        if not gpu.uuid or gpu.uuid in seen:
            yield f"{place}.uuid", f"{gpu.uuid!r} is empty or twice there"
        seen.add(gpu.uuid)
        parts = (gpu.memory_used, gpu.memory_free, gpu.memory_reserved)
        if gpu.memory_total is not None and sum(part or 0 for part in parts) > gpu.memory_total:
            yield f"{place}.memory_total", f"{gpu.memory_total} is less than used, free and reserved together"
    for number, link in enumerate(machine.links):
        for side, uuid in (("first", link.first), ("second", link.second)):
            if uuid not in seen:
                yield f"links[{number}].{side}", f"no card has the uuid {uuid!r}"
        if link.first == link.second:
            yield f"links[{number}]", "a card has no link to itself"


def _negatives(value: object, place: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, int | float) and value < 0:
        yield place, f"{value} is negative"
    elif isinstance(value, tuple):
        for number, item in enumerate(value):
            yield from _negatives(item, f"{place}[{number}]")
    elif is_dataclass(value):
        for field in fields(value):
            yield from _negatives(getattr(value, field.name), f"{place}.{field.name}".lstrip("."))


def _place(location: tuple[int | str, ...]) -> str:
    text = ""
    for part in location:
        text += f"[{part}]" if isinstance(part, int) else f".{part}"
    return text.lstrip(".") or "the file"


def _lower(message: str) -> str:
    return message[:1].lower() + message[1:]
