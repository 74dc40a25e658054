"""What a run keeps about the engine and the program, for its manifest."""

from __future__ import annotations

import asyncio
import hashlib
from pathlib import Path
from typing import Any

from engine import paths
from engine.batch.tables import file_sha256
from engine.checkpoints.manifest import Folder
from engine.cli.engines import EMBEDDED, OpenEngine
from engine.cli.version import version
from engine.errors import UserError
from engine.reads.reader import Reader


async def engine_facts(engine: OpenEngine, choice: str, reader: Reader) -> dict[str, Any]:
    """``{"program", "model", "checkpoint": {...}, "served": {...}}``; what is not known is left out.

    Args:
        choice: what ``--engine`` said.
    """
    facts: dict[str, Any] = {"program": version(), "model": engine.model}
    if choice == EMBEDDED:
        root: Path | None = paths.demo_model_dir()
    else:
        cards = await engine.client.models()
        root = Path(cards[0].root) if cards and cards[0].root else None
    if root is not None and root.is_dir():
        facts["checkpoint"] = await asyncio.to_thread(_checkpoint, root)
    elif root is not None:
        facts["checkpoint"] = {"name": str(root)}
    if reader.served is not None:
        facts["served"] = {"vocabulary": reader.served.vocab_size, "canvas": reader.served.canvas_length}
    return facts


def _checkpoint(root: Path) -> dict[str, Any]:
    """A folder of a model: by our own notes where we fetched it, else by its small files and its single weights."""
    try:
        noted = Folder(root).load()
    except UserError:
        noted = None
    if noted is not None:
        lines = "".join(f"{file.path} {file.tag}\n" for file in sorted(noted.files, key=lambda file: file.path))
        digest = hashlib.sha256(lines.encode()).hexdigest()
        return {"name": noted.checkpoint, "repo": noted.repo, "commit": noted.commit, "files_sha256": digest}
    found = {"name": root.name}
    # Weights in many shards are tens of gigabytes: their index stands for them.
    for name in ("config.json", "model.safetensors", "model.safetensors.index.json"):
        if (root / name).is_file():
            found[f"{name} sha256"] = file_sha256(root / name)
    return found
