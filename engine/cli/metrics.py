"""How well a run did where its form names gold columns."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any


def metrics_of(path: Path, note: Callable[[str], None]) -> dict[str, dict[str, Any]]:
    return {}
