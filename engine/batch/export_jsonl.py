"""A run as JSON lines: one object a row, numbers as numbers, and the answers that later rounds replaced."""

from __future__ import annotations

import json
from itertools import batched
from pathlib import Path
from typing import Any

from engine.batch.export_rows import PAGE, ExportTable
from engine.domain.reading import Reading
from engine.store.runs import RunView

EARLIER = "_earlier"


def write_json_lines(table: ExportTable, part: Path, view: RunView) -> None:
    """Write all rows. A row with earlier answers has them under ``_earlier``, a list in the order of their reading."""
    encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
    rounds = len(view.rounds()) > 1
    with part.open("w", encoding="utf-8", newline="\n") as file:
        for page in batched(table.rows(), PAGE):
            earlier = _earlier(view, page[0][0], page[-1][0]) if rounds else {}
            for cells in page:
                record: dict[str, Any] = dict(zip(table.names, cells, strict=True))
                if cells[0] in earlier:
                    record[EARLIER] = earlier[cells[0]]
                file.write(encode(record) + "\n")


def _earlier(view: RunView, first: Any, last: Any) -> dict[Any, list[dict[str, Any]]]:
    found: dict[Any, list[dict[str, Any]]] = {}
    for (row, _), readings in view.earlier(first, last).items():
        found.setdefault(row, []).extend(map(_as_json, readings))
    return found


def _as_json(reading: Reading) -> dict[str, Any]:
    return {
        "question": reading.question_id,
        "round": reading.round,
        "status": reading.status,
        "value": reading.value,
        "shares": list(reading.shares),
        "label_mass": reading.label_mass,
        "argmax_is_label": reading.argmax_is_label,
        "entropy": reading.entropy,
        "draws": reading.draws,
        "method": reading.method,
        "error": reading.error,
    }
