"""Where engine environments lie, and the mark that says that a folder is one of ours.

<data>/engine/<id>/                 an environment that is complete
              <id>.partial/         one that is being made
              <id>.removing/        one that is being removed
              <any of them>/desk-environment.json   the mark
              cache/                uv's, while an environment is made: a kill costs the wheels in flight, no more
              python/               Pythons that uv fetched
              uv/                   our own uv, when there is none on the PATH
"""

from __future__ import annotations

import json
import os
import tempfile
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Literal

from engine import locks, paths
from engine.errors import UserError

MARK = "desk-environment.json"
PARTIAL, REMOVING = ".partial", ".removing"
SCHEMA_VERSION = 1

State = Literal["partial", "complete", "repairing", "removing"]


@dataclass(frozen=True, slots=True)
class Mark:
    """What an environment's folder says about itself.

    Attributes:
        python: version of its Python, ``3.12.16``.
        base_python: the program that it was made with.
        managed: that Python was fetched by uv.
        bytes: of its files, without compiled bytecode.
        seconds: that the last attempt took.
        versions: of what was imported when it was verified.
    """

    id: str
    state: State
    lock_sha256: str
    created: str
    python: str = ""
    base_python: str = ""
    managed: bool = False
    uv: str = ""
    packages: int = 0
    bytes: int = 0
    seconds: float = 0.0
    versions: dict[str, str] = field(default_factory=dict)
    schema_version: int = SCHEMA_VERSION


@dataclass(frozen=True, slots=True)
class Environment:
    """A folder with a mark."""

    path: Path
    mark: Mark

    @property
    def python(self) -> Path:
        """The program to start the engine with; its folder goes in front of the engine's PATH."""
        return self.path / "bin" / "python"

    @property
    def site_packages(self) -> Path:
        """Where its packages lie."""
        minor = ".".join(self.mark.python.split(".")[:2])
        return self.path / "lib" / f"python{minor}" / "site-packages"


@dataclass(frozen=True, slots=True)
class Places:
    """The folder of all environments."""

    root: Path

    @property
    def cache(self) -> Path:
        return self.root / "cache"

    @property
    def pythons(self) -> Path:
        return self.root / "python"

    @property
    def own_uv(self) -> Path:
        return self.root / "uv"

    def complete(self, environment_id: str) -> Path:
        return self.root / environment_id

    def partial(self, environment_id: str) -> Path:
        return self.root / (environment_id + PARTIAL)

    def locked(self) -> AbstractContextManager[None]:
        """One at a time changes what lies here.

        Raises:
            UserError: ``env.locked``, with the process that is at work.
        """
        return locks.locked(
            self.root / ".lock",
            lambda pid: UserError(
                "env.locked",
                "process {pid} is at work on the engine environments in {folder}",
                remedy="wait for it or end it",
                pid=pid,
                folder=self.root,
            ),
        )


def default_places() -> Places:
    """In the data folder."""
    return Places(paths.data_dir() / "engine")


def read_mark(folder: Path) -> Mark | None:
    """The mark of a folder; None when it is not ours, or by a newer version of this program."""
    try:
        fields = json.loads((folder / MARK).read_text(encoding="utf-8"))
        mark = Mark(**fields)
    except (OSError, ValueError, TypeError):
        return None
    return mark if mark.schema_version == SCHEMA_VERSION else None


def write_mark(folder: Path, mark: Mark) -> None:
    """Write it whole or not at all, and to the disk. Raises OSError."""
    handle, temporary = tempfile.mkstemp(dir=folder, prefix=".mark-")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(asdict(mark), file, indent=2)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, folder / MARK)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def set_state(folder: Path, mark: Mark, state: State) -> Mark:
    """Write a mark with another state and give it."""
    changed = replace(mark, state=state)
    write_mark(folder, changed)
    return changed
