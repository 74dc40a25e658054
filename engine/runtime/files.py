"""Whether the files of an environment are what was installed, by the RECORD of each package (PEP 376, PEP 627).

Records are not always right: in vLLM 0.33.0's set one wheel gives wrong sizes of two of its own files, which the facts
beside the lock put right, and two wheels write the same path, where either one's contents will do.
"""

from __future__ import annotations

import base64
import csv
import hashlib
import os
import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from engine.runtime.spec import EnvironmentSpec, FileFact, normal_name

_ENDING = ".dist-info"
_THREADS = 4  # hashing lets go of the interpreter lock


@dataclass(frozen=True, slots=True)
class Damage:
    """Something that is not as it was installed.

    Attributes:
        package: its name, normalised.
        file: relative to the environment, or "" for the package as a whole.
        what: in words.
    """

    package: str
    file: str
    what: str

    def __str__(self) -> str:
        return f"{self.package}: {self.file + ' ' if self.file else ''}{self.what}"


@dataclass(frozen=True, slots=True)
class Inventory:
    """What an environment should hold.

    Attributes:
        files: for each path, relative to the environment, who claims it and with what contents.
        broken: packages that are missing, of another version, or without a record.
    """

    files: Mapping[str, tuple[tuple[str, FileFact], ...]]
    broken: tuple[Damage, ...]


class Scan:
    """How far a comparison is, told across threads.

    Attributes:
        done, total: bytes of the files looked at, and of all.
        stopped: set it, and the comparison ends soon; its result is then worth nothing.
    """

    def __init__(self) -> None:
        self.done = self.total = 0
        self.stopped = False
        self._lock = threading.Lock()

    def looked_at(self, size: int) -> None:
        """A file more."""
        with self._lock:
            self.done += size


def take_inventory(folder: Path, site_packages: Path, spec: EnvironmentSpec) -> Inventory:
    """Read the records of all packages of the lock."""
    there = _installed(site_packages)
    files: dict[str, tuple[tuple[str, FileFact], ...]] = {}
    broken = []
    for name, version in spec.pins.items():
        found, info = there.get(name, ("", site_packages))
        if not found:
            broken.append(Damage(name, "", "is missing"))
        elif public(found) != public(version):
            broken.append(Damage(name, "", f"is {found}, not {version}"))
        else:
            try:
                for path, fact in _record(folder, site_packages, info / "RECORD"):
                    files[path] = (*files.get(path, ()), (name, fact))
            except (OSError, ValueError):
                broken.append(Damage(name, "", "has no readable RECORD"))
    return Inventory(files, tuple(broken))


def find_damage(
    folder: Path, site_packages: Path, spec: EnvironmentSpec, *, contents: bool, scan: Scan | None = None
) -> tuple[Damage, ...]:
    """Compare an environment with its lock and its packages' records.

    Args:
        folder: the environment.
        contents: read every byte and compare hashes, else sizes only.
    """
    inventory = take_inventory(folder, site_packages, spec)
    inside = os.path.relpath(site_packages, folder)
    watched = scan or Scan()
    watched.total = sum(claims[-1][1].size or 0 for claims in inventory.files.values())
    known = {os.path.join(inside, path): fact for path, fact in spec.exceptions.items()}

    def look(item: tuple[str, tuple[tuple[str, FileFact], ...]]) -> Damage | None:
        path, claims = item
        if watched.stopped:
            return None
        allowed = [fact for _, fact in claims] + ([known[path]] if path in known else [])
        what = _file_damage(folder / path, allowed, contents=contents)
        watched.looked_at(claims[-1][1].size or 0)
        return Damage(claims[0][0], path, what) if what else None

    with ThreadPoolExecutor(_THREADS) as pool:
        return inventory.broken + tuple(filter(None, pool.map(look, inventory.files.items())))


def public(version: str) -> str:
    """A version without its local part (``2.14.0+cu130`` is 2.14.0)."""
    return version.partition("+")[0]


def _installed(site_packages: Path) -> dict[str, tuple[str, Path]]:
    """Version and metadata folder of each package."""
    found = {}
    for info in site_packages.glob(f"*{_ENDING}"):
        name, _, version = info.name.removesuffix(_ENDING).partition("-")
        found[normal_name(name)] = (version, info)
    return found


def _record(folder: Path, site_packages: Path, record: Path) -> Iterator[tuple[str, FileFact]]:
    for row in csv.reader(record.read_text(encoding="utf-8").splitlines()):
        if len(row) == 3 and row[1] and not row[0].endswith(".pyc"):
            path = os.path.relpath(os.path.normpath(site_packages / row[0]), folder)
            yield path, FileFact(row[1], int(row[2]) if row[2] else None)


def _file_damage(path: Path, allowed: list[FileFact], *, contents: bool) -> str:
    try:
        size = path.stat().st_size
        fitting = [fact for fact in allowed if fact.size in (None, size)]
        if not fitting:
            return f"has {size:,} bytes instead of {allowed[0].size:,}"
        if contents and _digest(path) not in {fact.digest for fact in fitting}:
            return "has other contents"
    except FileNotFoundError:
        return "is missing"
    except OSError as error:
        return f"cannot be read ({error.strerror})"
    return ""


def _digest(path: Path) -> str:
    """As RECORD writes it; wheels that uv accepts use sha256."""
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").digest()
    return "sha256=" + base64.urlsafe_b64encode(found).rstrip(b"=").decode()
