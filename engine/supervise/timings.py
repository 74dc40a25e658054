"""How long starts have taken on this machine, phase by phase: what the ETA of the next one is learned from.

One JSON file, replaced in one step. It is a convenience: a file that is damaged, or of a newer program, means that
nothing is known, and a disk that is full that nothing is learned. A file of a newer program is left as it is.
"""

from __future__ import annotations

import json
import os
import statistics
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from engine import paths
from engine.domain.plan import LaunchPlan

VERSION = 1
KEPT = 5  # starts of a kind; the median of them is one that really happened, and an odd one does not move it
KINDS = 64  # of starts; the oldest goes

Seconds = Annotated[float, Field(ge=0.0, allow_inf_nan=False)]


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid")

    version: Literal[1] = 1
    starts: dict[str, list[dict[str, Seconds]]] = Field(default_factory=dict)


class StartTimings:
    """The starts of one kind.

    Args:
        key: of the kind; see :func:`start_key`.
        path: default ``start-times.json`` in the data folder.
    """

    def __init__(self, key: str, path: Path | None = None) -> None:
        self._key, self._path = key, path or paths.data_dir() / "start-times.json"

    def usual(self) -> dict[str, float]:
        """The median seconds of each phase over the last starts; empty when there was none."""
        known = self._load()
        starts = known.starts.get(self._key, []) if known else []
        phases = dict.fromkeys(phase for start in starts for phase in start)
        return {phase: statistics.median_low([start.get(phase, 0.0) for start in starts]) for phase in phases}

    def add(self, taken: Mapping[str, float]) -> None:
        """Remember a start that became ready."""
        known = self._load()
        if known is None:
            return
        starts = [*known.starts.pop(self._key, []), {phase: round(seconds, 3) for phase, seconds in taken.items()}]
        known.starts[self._key] = starts[-KEPT:]  # at the end: it is the youngest
        for key in list(known.starts)[:-KINDS]:
            del known.starts[key]
        with suppress(OSError):
            self._save(known)

    def _load(self) -> _File | None:
        """None: the file is of a newer program."""
        try:
            data = json.loads(self._path.read_bytes())
            if isinstance(data, dict) and isinstance(data.get("version"), int) and data["version"] > VERSION:
                return None
            return _File.model_validate(data)
        except (OSError, ValueError, ValidationError):
            return _File()

    def _save(self, known: _File) -> None:
        handle, temporary = tempfile.mkstemp(dir=self._path.parent, prefix=".start-times-")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(known.model_dump_json(indent=1))
            os.replace(temporary, self._path)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise


def start_key(plan: LaunchPlan, python: str | Path, checkpoint: str | Path) -> str:
    """What starts must have in common to take as long: how the model is laid out, its files, the environment.

    Args:
        python: interpreter of the engine's environment.
        checkpoint: folder of the model.
    """
    layout = f"{plan.checkpoint} tp{plan.tensor_parallel} dp{plan.data_parallel} {plan.card_class} {len(plan.phases)}"
    return " | ".join((layout, str(checkpoint), str(python)))
