"""The manifest of a run: everything that another machine needs to repeat it, as JSON. docs/export.md describes it."""

from __future__ import annotations

import json
import platform
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from engine.batch.files import read_at_most
from engine.batch.form import parse_form
from engine.batch.selection import Selection
from engine.batch.tables import TableFormat
from engine.domain.form import Form
from engine.domain.reading import Method
from engine.domain.run import Round
from engine.errors import InputError
from engine.store.runs import RunView

VERSION = 1
KIND = "diffusion-desk run manifest"
MAX_BYTES = 64 * 1024 * 1024  # a form of the largest size, with its rounds and the facts of its engine


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a repetition takes from a manifest.

    Attributes:
        table_sha256: of the table's bytes.
        table_format: how it was read.
        wording: version of the words put to the model.
    """

    path: Path
    run: str
    form: Form
    form_sha256: str
    method: Method
    selection: Selection
    table_name: str
    table_sha256: str
    table_format: TableFormat
    wording: int


def manifest_of(view: RunView) -> dict[str, Any]:
    """The manifest of a stored run; JSON values only, and no path of this machine."""
    spec, info = view.spec, view.info()
    return {
        "kind": KIND,
        "version": VERSION,
        "run": view.id,
        "name": spec.name,
        "state": info.state,
        "created": view.created,
        "rows": view.rows,
        "table": {
            "name": Path(spec.table_path).name,
            "sha256": spec.table_sha256,
            "format": dict(spec.table_format),
            "columns": list(spec.columns),
            "selection": dict(spec.selection),
        },
        "form": dict(spec.form),
        "form_sha256": spec.form_sha256,
        "method": asdict(spec.method),
        "wording": spec.wording,
        "engine": {"name": spec.engine, **spec.facts},
        "rounds": [_round(each, spec.questions) for each in view.rounds()],
        "totals": {question: asdict(each) for question, each in info.totals.items()},
        "reviewed": len(view.labels()),
        "written_by": {"python": platform.python_version(), "system": f"{platform.system()} {platform.machine()}"},
    }


def manifest_text(view: RunView) -> str:
    """``manifest_of`` as the text of its file."""
    return json.dumps(manifest_of(view), ensure_ascii=False, indent=2) + "\n"


def read_manifest(path: Path) -> Manifest:
    """A manifest that an export wrote.

    Raises:
        InputError: unreadable, not a manifest, of another version, or its form is faulty.
    """
    try:
        raw = read_at_most(path, MAX_BYTES)
        if len(raw) > MAX_BYTES:
            raise _bad(path, f"it has more than {MAX_BYTES} bytes")
        obj = json.loads(raw)
    except OSError as error:
        detail = error.strerror or str(error)
        message = "cannot read {path}: {detail}"
        raise InputError("manifest.unreadable", message, path=str(path), detail=detail) from error
    except (ValueError, RecursionError) as error:
        raise _bad(path, f"it is no JSON ({error})") from error
    if not isinstance(obj, dict) or obj.get("kind") != KIND:
        raise _bad(path, "it does not say that it is one")
    if obj.get("version") != VERSION:
        raise _bad(path, f"its version is {obj.get('version')}, and this program reads version {VERSION}")
    try:
        return _parsed(path, obj)
    except InputError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise _bad(path, f"a part is missing or of another shape ({error})") from error


def _parsed(path: Path, obj: dict[str, Any]) -> Manifest:
    table = obj["table"]
    known = {each.name for each in fields(TableFormat)}
    fmt: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value
        for key, value in table["format"].items()
        if key in known
    }
    form = parse_form(obj["form"], str(path))
    return Manifest(
        path=path,
        run=str(obj["run"]),
        form=form,
        form_sha256=str(obj["form_sha256"]),
        method=Method(**obj["method"]),
        selection=Selection(**table["selection"]),
        table_name=str(table["name"]),
        table_sha256=str(table["sha256"]),
        table_format=TableFormat(**fmt),
        wording=int(obj["wording"]),
    )


def _bad(path: Path, detail: str) -> InputError:
    remedy = "`export RUN --out FILE.json` writes one"
    return InputError(
        "manifest.bad", "{path} is no run manifest: {detail}", remedy=remedy, path=str(path), detail=detail
    )


def _round(each: Round, questions: tuple[str, ...]) -> dict[str, Any]:
    return {
        "number": each.number,
        "kind": each.kind,
        "questions": [questions[place] for place in each.questions],
        "answers": each.answers,
        "method": asdict(each.method),
        "engine": each.engine,
        "started": each.started,
        "ended": each.ended,
    }
