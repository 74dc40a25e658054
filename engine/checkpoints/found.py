"""Checkpoints that lie on this machine already: plain folders, folders of hub tools, and hub caches.

A hub cache (``models--owner--name/snapshots/<commit>/`` with links into ``blobs/``) names every file by its hash, and
a folder that hub tools filled keeps the hash beside it (``.cache/huggingface/download/<file>.metadata``: commit, hash,
time), so both can be verified without a network. For any other folder nobody says what the bytes should be.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.checkpoints.catalogue import wanted
from engine.checkpoints.manifest import RemoteFile
from engine.errors import InputError

MOST_DEPTH = 7  # <disk>/models/huggingface/hub/models--a--b/snapshots/<commit>
ARCHITECTURE = "DiffusionGemma"

_SNAPSHOT = re.compile(r"models--(?P<owner>[^/]+?)--(?P<name>[^/]+)/snapshots/(?P<commit>[0-9a-f]{40})$")
_HEX = re.compile(r"(?:[0-9a-f]{40}|[0-9a-f]{64})$")
_KINDS = (("nvfp4", "nvfp4"), ("int-quantized", "int8"), ("float-quantized", "fp8"))


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file of a found checkpoint.

    Attributes:
        path: relative to the checkpoint, with ``/``.
        tag: the hash that a hub tool noted for it; empty when nobody did.
    """

    path: str
    size: int
    tag: str

    def as_remote(self) -> RemoteFile:
        """With the noted hash; only for files that have one."""
        if len(self.tag) == 64:
            return RemoteFile(path=self.path, size=self.size, sha256=self.tag, source="cache")
        return RemoteFile(path=self.path, size=self.size, git_sha1=self.tag, source="cache")


@dataclass(frozen=True, slots=True)
class Found:
    """A folder that looks like a checkpoint.

    Attributes:
        kind: ``fp8``, ``int8``, ``nvfp4``, or empty for another format.
        ours: it is a DiffusionGemma.
        repo, commit: where a hub tool had it from; empty when nobody noted it.
        dangling: names of links that lead nowhere.
    """

    folder: Path
    kind: str
    ours: bool
    repo: str
    commit: str
    files: tuple[FoundFile, ...]
    dangling: tuple[str, ...]

    @property
    def total_bytes(self) -> int:
        return sum(file.size for file in self.files)


def find(root: Path) -> tuple[Found, ...]:
    """Every checkpoint in a folder and its subfolders, largest first. Links to folders are followed.

    Raises:
        InputError: there is no such folder.
    """
    if not root.is_dir():
        raise InputError("adopt.no_folder", "{folder} is not a folder", folder=root)
    found = [_examine(folder) for folder in _folders(root)]
    return tuple(sorted(found, key=lambda each: (-each.total_bytes, str(each.folder))))


def format_of(folder: Path) -> str:
    """The kind of the checkpoint in a folder, by its ``config.json`` alone: ``fp8``, ``int8``, ``nvfp4`` or empty."""
    return _kind(_config(folder))


def _folders(root: Path) -> Iterator[Path]:
    seen: set[Path] = set()
    for place, folders, files in os.walk(root, followlinks=True):
        path = Path(place)
        real = path.resolve()
        depth = len(path.relative_to(root).parts)
        if real in seen or depth > MOST_DEPTH:
            folders.clear()
            continue
        seen.add(real)
        folders[:] = sorted(name for name in folders if name not in (".git", ".desk", "blobs"))
        if "config.json" in files and any(name.endswith(".safetensors") for name in files):
            yield path


def _examine(folder: Path) -> Found:
    match = _SNAPSHOT.search(folder.absolute().as_posix()) or _SNAPSHOT.search(folder.resolve().as_posix())
    config = _config(folder)
    files, dangling = [], []
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_dir() or not wanted(name):
            continue
        if path.exists():
            files.append(FoundFile(name, path.stat().st_size, _tag(folder, name)))
        else:
            dangling.append(name)
    return Found(
        folder=folder,
        kind=_kind(config),
        ours=any(ARCHITECTURE in str(each) for each in config.get("architectures") or ()),
        repo=f"{match['owner']}/{match['name']}" if match else "",
        commit=match["commit"] if match else _noted(folder, "config.json")[0],
        files=tuple(files),
        dangling=tuple(dangling),
    )


def _config(folder: Path) -> dict[str, Any]:
    try:
        config = json.loads((folder / "config.json").read_bytes())
    except (OSError, ValueError):
        return {}
    return config if isinstance(config, dict) else {}


def _kind(config: dict[str, Any]) -> str:
    """From ``quantization_config``: compressed-tensors names a format, ModelOpt an algorithm."""
    quantization = config.get("quantization_config")
    if not isinstance(quantization, dict):
        return ""
    said = f"{quantization.get('format', '')} {quantization.get('quant_algo', '')}".lower()
    return next((kind for sign, kind in _KINDS if sign in said), "")


def _tag(folder: Path, name: str) -> str:
    path = folder / name
    if path.is_symlink():
        blob = path.resolve()
        if blob.parent.name == "blobs" and _HEX.match(blob.name):
            return blob.name
    return _noted(folder, name)[1]


def _noted(folder: Path, name: str) -> tuple[str, str]:
    """Commit and hash that a hub tool noted beside a file; empty when it did not."""
    note = folder / ".cache" / "huggingface" / "download" / f"{name}.metadata"
    try:
        commit, tag = note.read_text(encoding="utf-8").split()[:2]
    except (OSError, ValueError):
        return "", ""
    return (commit if len(commit) == 40 else ""), (tag if _HEX.match(tag) else "")
