"""What was open when the window was left: the form with its unsaved edits and the table, kept over a crash too.

Unlike a form file a draft may be incomplete (a question without text, two options of one name), so it has a shape of
its own: the dataclasses' fields as JSON. A draft that cannot be read is set aside, never overwritten.
"""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from engine import paths
from engine.batch.selection import Selection
from engine.domain.form import Form
from engine.domain.question import Choice, Noul, Option, Question, Score
from engine.domain.reading import Method
from engine.errors import InputError

VERSION = 1


@dataclass(frozen=True, slots=True)
class Draft:
    """The state of the builder.

    Attributes:
        path: the form's file, or None.
        edited: whether the form has edits that no file holds.
        table: the open table, or None, and how it is read where the user overruled a guess.
        selection: which of its rows are read, as ``Selection.as_json`` gives it.
    """

    form: Form
    path: Path | None = None
    edited: bool = False
    table: Path | None = None
    reading: Mapping[str, object] = field(default_factory=dict)
    selection: Mapping[str, Any] = field(default_factory=dict)


def draft_file() -> Path:
    return paths.data_dir() / "decisions-draft.json"


def save_draft(draft: Draft) -> None:
    """Replace the draft in one step.

    Raises:
        OSError: it cannot be written; the old one stays.
    """
    form = draft.form
    dumped = {
        "version": VERSION,
        "form": {
            **dataclasses.asdict(form),
            "questions": [{"type": each.type, **dataclasses.asdict(each)} for each in form.questions],
        },
        "path": None if draft.path is None else str(draft.path),
        "edited": draft.edited,
        "table": None if draft.table is None else str(draft.table),
        "reading": dict(draft.reading),
        "selection": dict(draft.selection),
    }
    path = draft_file()
    part = path.with_suffix(f".{os.getpid()}.part")
    try:
        part.write_text(json.dumps(dumped, ensure_ascii=False), encoding="utf-8")
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def load_draft() -> Draft | None:
    """The draft, or None when there is none that can be read; one that cannot is renamed to ``*.bad``."""
    path = draft_file()
    try:
        return _draft(json.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError, InputError):
        if path.is_file():
            path.replace(path.with_suffix(".bad"))
        return None


def _draft(dumped: Any) -> Draft:
    if dumped["version"] != VERSION:
        raise ValueError("another version")
    raw = dict(dumped["form"])
    questions = tuple(_question(dict(each)) for each in raw.pop("questions"))
    form = Form(questions=questions, method=Method(**raw.pop("method")), **raw)
    return Draft(
        form,
        Path(dumped["path"]) if dumped["path"] else None,
        bool(dumped["edited"]),
        Path(dumped["table"]) if dumped["table"] else None,
        dict(dumped["reading"]),
        Selection(**dumped.get("selection", {})).as_json(),  # a draft of an older version has none
    )


def _question(fields: dict[str, Any]) -> Question:
    match fields.pop("type"):
        case "noul":
            return Noul(**fields)
        case "choice":
            options = tuple(Option(**option) for option in fields.pop("options"))
            return Choice(options=options, **fields)
        case "score":
            return Score(levels=tuple(fields.pop("levels")), **fields)
        case other:
            raise ValueError(f"no question type {other}")
