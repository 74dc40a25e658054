"""Which checkpoints there are: repository, format and about how large. Hashes come from the hub, see ``manifest``."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine import paths
from engine.errors import InputError

# What an engine reads of a repository; the rest (cards, pictures, other formats) stays where it is.
WANTED = (".safetensors", ".json", ".jinja", ".model", ".txt")

REQUIRED = ("config.json", "tokenizer.json")  # beside the shards; without these no engine starts


@dataclass(frozen=True, slots=True)
class CatalogueEntry:
    """One checkpoint.

    Attributes:
        kind: ``fp8``, ``int8`` or ``nvfp4``; ``CheckpointKind`` of a plan.
        repo, revision: on the hub.
        bytes: approximate size on disk; the exact one is known once a hub was asked.
        gated: the hub wants a licence accepted and a token.
    """

    kind: str
    title: str
    repo: str
    revision: str
    format: str
    bytes: int
    gated: bool
    note: str

    @property
    def folder(self) -> Path:
        """Where it lies unless the user says otherwise."""
        return checkpoints_dir() / self.repo.replace("/", "--")


def checkpoints_dir() -> Path:
    """The folder of all checkpoints."""
    return paths.data_dir() / "checkpoints"


def catalogue() -> Mapping[str, CatalogueEntry]:
    """Every checkpoint by its kind, in the order of preference."""
    text = Path(__file__).with_name("catalogue.toml").read_text(encoding="utf-8")
    tables: dict[str, dict[str, Any]] = tomllib.loads(text)
    return {kind: CatalogueEntry(kind=kind, **table) for kind, table in tables.items()}


def entry(kind: str) -> CatalogueEntry:
    """The checkpoint of this kind.

    Raises:
        InputError: there is none.
    """
    known = catalogue()
    if kind not in known:
        raise InputError(
            "checkpoint.unknown",
            "there is no checkpoint {kind}",
            remedy="one of {known}",
            kind=kind,
            known=", ".join(known),
        )
    return known[kind]


def wanted(path: str) -> bool:
    """Whether a file of a repository belongs to the checkpoint."""
    return path.endswith(WANTED) and not path.startswith(".")
