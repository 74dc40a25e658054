"""What a checkpoint's folder should hold: files, sizes and hashes of one commit; and where our own notes lie in it.

A folder looks like this (``.desk`` is ours, everything else is what an engine reads)::

    config.json  model-00001-of-00006.safetensors ...
    .desk/manifest.json    what belongs here, as the hub said it
    .desk/journal.jsonl    what is proven so far
    .desk/lock             held by the process that writes
    .desk/parts/<hash>-<path>.part   files under way, named by their content
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from engine.errors import InputError

if TYPE_CHECKING:
    from hashlib import _Hash

HashSource = Literal["hub", "cache", "self"]

NO_COMMIT = "0" * 40  # of files that were adopted and that nobody knows the commit of
_SHA256 = r"^[0-9a-f]{64}$"
_SHA1 = r"^[0-9a-f]{40}$"


class RemoteFile(BaseModel):
    """One file of a checkpoint.

    Attributes:
        path: relative, with ``/``.
        size: bytes.
        sha256: of its content, for what the hub keeps as large files.
        git_sha1: git's blob id, for the small ones: sha1 of ``blob <size>\\0`` and the content (git hash-object).
        source: who named the hash: the hub, a hub cache on disk (files are named by it there), or we ourselves from
            the file as it was found (that proves only that nothing has changed since).
    """

    model_config = ConfigDict(frozen=True)

    path: str
    size: int = Field(ge=0)
    sha256: str | None = Field(default=None, pattern=_SHA256)
    git_sha1: str | None = Field(default=None, pattern=_SHA1)
    source: HashSource = "hub"

    @field_validator("path")
    @classmethod
    def _inside(cls, path: str) -> str:
        pure = PurePosixPath(path)
        if not path or pure.is_absolute() or ".." in pure.parts or pure.parts[0] == ".desk" or "\0" in path:
            raise ValueError(f"{path!r} does not stay inside the folder")
        return path

    @property
    def tag(self) -> str:
        """The hash by which the content is known; empty when nobody named one."""
        return self.sha256 or self.git_sha1 or ""

    @property
    def key(self) -> str:
        """Names the part: by its content, and by its path too, since two files may hold the same."""
        return f"{self.tag}-{hashlib.sha256(self.path.encode()).hexdigest()[:8]}"

    def hasher(self) -> _Hash:
        """A fresh hash object whose digest will be ``tag``."""
        if self.sha256 is None and self.git_sha1 is not None:
            hasher = hashlib.sha1(usedforsecurity=False)
            hasher.update(b"blob %d\0" % self.size)
            return hasher
        return hashlib.sha256()


class Manifest(BaseModel):
    """The files of one commit of one repository."""

    model_config = ConfigDict(frozen=True)

    version: Literal[1] = 1
    checkpoint: str
    repo: str
    commit: str
    files: tuple[RemoteFile, ...]

    @property
    def total_bytes(self) -> int:
        return sum(file.size for file in self.files)


@dataclass(frozen=True, slots=True)
class Folder:
    """The paths inside a checkpoint's folder."""

    root: Path

    @property
    def state(self) -> Path:
        return self.root / ".desk"

    @property
    def manifest(self) -> Path:
        return self.state / "manifest.json"

    @property
    def journal(self) -> Path:
        return self.state / "journal.jsonl"

    @property
    def lock(self) -> Path:
        return self.state / "lock"

    @property
    def parts(self) -> Path:
        return self.state / "parts"

    def final(self, file: RemoteFile) -> Path:
        return self.root / file.path

    def part(self, file: RemoteFile) -> Path:
        return self.parts / f"{file.key}.part"

    def load(self) -> Manifest | None:
        """What belongs here; None when nothing was written yet.

        Raises:
            InputError: the manifest is not one of ours.
        """
        try:
            return Manifest.model_validate_json(self.manifest.read_bytes())
        except FileNotFoundError:
            return None
        except ValidationError as error:
            raise InputError(
                "checkpoint.bad_manifest",
                "{path} cannot be read: {why}",
                remedy="delete that file: the next download asks the hub again and keeps every file that is right",
                path=self.manifest,
                why=str(error.errors()[0]["msg"]),
            ) from error

    def save(self, manifest: Manifest) -> None:
        """Replaces the manifest in one step, durably."""
        self.state.mkdir(parents=True, exist_ok=True)
        text = json.dumps(manifest.model_dump(exclude_none=True), indent=1)
        staged = self.manifest.with_suffix(".new")
        with staged.open("w", encoding="utf-8") as out:
            out.write(text)
            out.flush()
            os.fsync(out.fileno())
        staged.replace(self.manifest)
        sync_folder(self.state)


def sync_folder(path: Path) -> None:
    """Makes renames inside a folder durable (man 2 fsync: a file's entry needs its own)."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
