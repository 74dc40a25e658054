"""What an engine environment is to hold: a lock with hashes, and what is known about it."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from engine.errors import InputError

LOCK_NAME, FACTS_NAME = "engine.lock", "engine.json"
_PIN = re.compile(r"^([A-Za-z0-9][A-Za-z0-9._-]*)==(\S+)")
_HASH = re.compile(r"--hash=sha256:[0-9a-f]{64}\b")
_ID_DIGITS = 12  # hexadecimal; 48 bits tell the few locks of a user apart


@dataclass(frozen=True, slots=True)
class FileFact:
    """What a file should be: ``sha256=...`` in the way of RECORD, and its bytes (None where a record is silent)."""

    digest: str
    size: int | None


@dataclass(frozen=True, slots=True)
class EnvironmentSpec:
    """A lock and its figures.

    Attributes:
        lock: the file; requirements with hashes, wheels only.
        id: name of the environment's folder: a title and the first digits of the lock's hash.
        pins: version of each package; names as PEP 503 spells them.
        pythons: versions of Python that the lock was resolved for, best first.
        glibc: the oldest that all wheels accept; None when not known.
        download_bytes: of all wheels; None when not known.
        unpacked_bytes: of all files of an environment; None when not known.
        exceptions: files, relative to site-packages, whose wheels' records are wrong, and what they really are.
    """

    lock: Path
    lock_sha256: str
    id: str
    pins: Mapping[str, str]
    pythons: tuple[str, ...] = ("3.12", "3.13")
    glibc: tuple[int, int] | None = None
    download_bytes: int | None = None
    unpacked_bytes: int | None = None
    exceptions: Mapping[str, FileFact] = field(default_factory=dict)


def default_lock() -> Path:
    """The lock that came with the program: beside this file when installed, in ``packaging`` in a source tree."""
    installed = Path(__file__).with_name(LOCK_NAME)
    return installed if installed.is_file() else Path(__file__).parents[2] / "packaging" / LOCK_NAME


def load_spec(lock: Path | None = None) -> EnvironmentSpec:
    """Read a lock and the facts beside it (``engine.json``), which count only when they are about this very lock.

    Raises:
        InputError: a file cannot be read, or a line of the lock is no pin with a hash.
    """
    path = (lock or default_lock()).absolute()
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InputError("env.lock_unreadable", "{path}: {why}", path=path, why=error.strerror or error) from error
    digest = hashlib.sha256(content).hexdigest()
    pins = _pins(content.decode("utf-8", "replace"), path)
    facts = _facts(path.with_name(FACTS_NAME), digest)
    glibc = facts.get("glibc")
    return EnvironmentSpec(
        lock=path,
        lock_sha256=digest,
        id=f"{facts.get('title', 'engine')}-{digest[:_ID_DIGITS]}",
        pins=pins,
        pythons=tuple(facts.get("pythons", ("3.12", "3.13"))),
        glibc=(glibc[0], glibc[1]) if glibc else None,
        download_bytes=facts.get("download_bytes"),
        unpacked_bytes=facts.get("unpacked_bytes"),
        exceptions={path: FileFact(*fact) for path, fact in facts.get("record_exceptions", {}).items()},
    )


def normal_name(name: str) -> str:
    """A package's name as PEP 503 spells it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _pins(text: str, path: Path) -> dict[str, str]:
    pins: dict[str, str] = {}
    for line in text.replace("\\\n", " ").splitlines():
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        match = _PIN.match(line)
        if match is None or not _HASH.search(line):
            raise InputError(
                "env.lock_line",
                "{path}: not a pinned package with hashes: {line}",
                remedy="make the lock with uv pip compile --generate-hashes",
                path=path,
                line=line.strip()[:80],
            )
        pins[normal_name(match[1])] = match[2]
    if not pins:
        raise InputError("env.lock_empty", "{path}: names no package", path=path)
    return pins


def _facts(path: Path, digest: str) -> dict[str, Any]:
    if not path.is_file():
        return {}
    try:
        facts: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return facts if facts.get("lock_sha256") == digest else {}
    except (OSError, ValueError, AttributeError) as error:
        raise InputError("env.facts_unreadable", "{path}: {why}", path=path, why=error) from error
