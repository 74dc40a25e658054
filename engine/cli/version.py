"""The program's version, installed or in a source tree."""

from __future__ import annotations

import tomllib
from importlib import metadata
from pathlib import Path

import engine

DISTRIBUTION = "diffusion-desk"


def version() -> str:
    """``0.1.0``, or ``0.1.0 (source tree)`` when the program runs without being installed."""
    project = Path(engine.__file__).parent.parent / "pyproject.toml"
    if project.is_file():
        found: str = tomllib.loads(project.read_text(encoding="utf-8"))["project"]["version"]
        return f"{found} (source tree)"
    try:
        return metadata.version(DISTRIBUTION)
    except metadata.PackageNotFoundError:
        return "unknown"
