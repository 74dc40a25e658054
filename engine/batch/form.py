"""The form file: JSON in, ``Form`` out, and back. Every fault is named by file, place, limit and value."""

from __future__ import annotations

import difflib
import hashlib
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, NoReturn

from pydantic import ValidationError

from engine.batch.columns import ROW_ID, question_columns
from engine.batch.files import check_file, read_at_most
from engine.batch.form_versions import migrated
from engine.batch.form_wire import FORMAT_VERSION, WireChoice, WireForm, WireMethod, WireNoul, WireScore
from engine.domain.form import Form
from engine.domain.picture import PictureColumn
from engine.domain.question import (
    MAX_LEVELS,
    MAX_OPTIONS,
    MAX_QUESTIONS,
    MIN_LEVELS,
    MIN_OPTIONS,
    Choice,
    Noul,
    Option,
    Question,
    Score,
)
from engine.domain.reading import Method
from engine.errors import InputError

MAX_BYTES = 4 * 1024 * 1024  # a form is written by hand
MAX_ID = 100  # characters; ids become column names
_SHOWN = 60  # characters of a faulty value in a message
_PICTURES = 'pictures are named by a column of the table: "pictures": {{"column": "..."}}'


def load_form(path: Path) -> Form:
    """Read a form file.

    Raises:
        InputError: unreadable, no JSON (with line and column), or not a valid form.
    """
    return parse_form(read_json(path), str(path))


def read_json(path: Path) -> object:
    """The JSON of a file that a person wrote: a form, or a request.

    Raises:
        InputError: unreadable, too big, or no JSON (with line and column).
    """
    return _parse_json(_bytes(path), str(path))  # may be a pipe


def form_sha256(path: Path) -> str:
    """SHA-256 of the file's bytes, in hex.

    Raises:
        InputError: as ``read_json``; it is a pipe, which whoever read the form has used up.
    """
    check_file(path)
    return hashlib.sha256(_bytes(path)).hexdigest()


def _bytes(path: Path) -> bytes:
    try:
        raw = read_at_most(path, MAX_BYTES)
    except OSError as error:
        raise InputError(
            "form.unreadable", "cannot read {path}: {detail}", path=str(path), detail=error.strerror
        ) from error
    if len(raw) > MAX_BYTES:
        message = "{path} has more than {limit} bytes; a form has at most so many"
        raise InputError("form.too_big", message, path=str(path), limit=MAX_BYTES)
    return raw


def parse_form(obj: object, source: str) -> Form:
    """Check a form given as JSON values.

    Args:
        source: where it comes from, for messages.

    Raises:
        InputError: names the place as a JSON path (``questions[2].criteria``), the limit and the value.
    """
    _check_text(obj, source)
    if isinstance(obj, Mapping):
        obj = migrated(obj, source)
    try:
        wire = WireForm.model_validate(obj)
    except ValidationError as error:
        _refuse(error, source)
    limit(wire.questions, 1, MAX_QUESTIONS, "questions", "questions", source)
    questions = tuple(_question(each, f"questions[{at}]", source) for at, each in enumerate(wire.questions))
    _check_ids(questions, source)
    pictures = None if wire.pictures is None else PictureColumn(**wire.pictures.model_dump())
    method = Method(**wire.method.model_dump())
    return Form(wire.name, wire.state, questions, wire.group, method, wire.document, pictures)


def dump_form(form: Form) -> dict[str, Any]:
    """The form as JSON values; ``parse_form`` gives the same form back."""
    dumped: dict[str, Any] = {
        "version": FORMAT_VERSION,
        "name": form.name,
        "state": form.state,
        "questions": [_dump_question(question) for question in form.questions],
    }
    if form.group is not None:
        dumped["group"] = form.group
    if form.document is not None:
        dumped["document"] = form.document
    if form.pictures is not None:
        shown = asdict(form.pictures)
        dumped["pictures"] = {name: value for name, value in shown.items() if value}
    method = form.method
    dumped["method"] = {name: getattr(method, name) for name in WireMethod.model_fields}
    return dumped


def check_columns(form: Form, columns: Sequence[str], source: str) -> None:
    """Check that the columns of gold, group and pictures exist. (Those of the template are checked by ``RowTemplate``.)

    Raises:
        InputError: names the field, the column that is missing and the nearest one that exists.
    """
    wanted = [(f"questions[{at}].gold", question.gold) for at, question in enumerate(form.questions)]
    pictures = form.pictures.column if form.pictures is not None else None
    for place, column in [*wanted, ("group", form.group), ("pictures.column", pictures)]:
        if column is not None and column not in columns:
            raise unknown_column(column, columns, f"{source}: {place}")


def unknown_column(column: str, columns: Sequence[str], where: str) -> InputError:
    """The error for a column that the table has not got."""
    near = difflib.get_close_matches(column, columns, n=1, cutoff=0.5)
    remedy = "did you mean {nearest}?" if near else "the table has: {columns}"
    return InputError(
        "form.unknown_column",
        "{where}: the table has no column {column}",
        remedy=remedy,
        where=where,
        column=_show(column),
        nearest=_show(near[0]) if near else "",
        columns=", ".join(columns[:20]) + (", ..." if len(columns) > 20 else ""),
    )


def limit(items: Sequence[object] | Mapping[str, str], low: int, high: int, what: str, place: str, source: str) -> None:
    """Refuse a list that is too short or too long; the code is ``form.too_many_<what>`` or ``form.too_few_<what>``."""
    if not low <= len(items) <= high:
        kind = "few" if len(items) < low else "many"
        raise InputError(
            f"form.too_{kind}_{what}",
            "{source}: {place}: {count} {what}; allowed are {low} to {high}",
            source=source,
            place=place,
            count=len(items),
            what=what,
            low=low,
            high=high,
        )


def _question(wire: WireNoul | WireChoice | WireScore, place: str, source: str) -> Question:
    criteria = f"{place}.criteria"
    match wire:
        case WireNoul(criteria=texts):
            return Noul(wire.id, wire.instructions, texts.true, texts.false, wire.gold, wire.threshold)
        case WireChoice(criteria=options):
            limit(options, MIN_OPTIONS, MAX_OPTIONS, "options", criteria, source)
            named = options if isinstance(options, dict) else dict.fromkeys(options, "")
            _check_names(list(options), "option", criteria, source)
            return Choice(
                wire.id, wire.instructions, tuple(Option(*each) for each in named.items()), wire.gold, wire.threshold
            )
        case WireScore(criteria=levels):
            limit(levels, MIN_LEVELS, MAX_LEVELS, "levels", criteria, source)
            _check_names(levels, "level", criteria, source)
            _check_level(wire.threshold, len(levels) - 1, place, source)
            return Score(wire.id, wire.instructions, tuple(levels), wire.gold, wire.threshold)


def _check_names(names: Sequence[str], what: str, place: str, source: str) -> None:
    """Option and level names: something to see, on one line, once each."""
    for at, name in enumerate(names):
        if not name.strip() or not name.isprintable():
            reason = (
                "is empty" if not name.strip() else "holds a character that cannot be printed, such as a line break"
            )
            raise InputError(
                f"form.bad_{what}",
                "{source}: {place}: {what} {number} {reason}: {value}",
                source=source,
                place=place,
                what=what,
                number=at + 1,
                reason=reason,
                value=_show(name),
            )
        if name in names[:at]:
            raise InputError(
                f"form.duplicate_{what}",
                "{source}: {place}: {what} {value} occurs twice",
                source=source,
                place=place,
                what=what,
                value=_show(name),
            )


def _check_level(threshold: float | None, highest: int, place: str, source: str) -> None:
    if threshold is not None and threshold > highest:
        message = "{source}: {place}.threshold: {value} is over the highest level {limit}"
        raise InputError("form.threshold", message, source=source, place=place, value=threshold, limit=highest)


def _check_ids(questions: Sequence[Question], source: str) -> None:
    """Ids become column names: not empty, printable, and no column of the export may occur twice."""
    owners: dict[str, str] = {ROW_ID: "the export's own column"}
    ids: set[str] = set()
    for at, question in enumerate(questions):
        where = {"source": source, "place": f"questions[{at}].id", "value": _show(question.id)}
        if question.id in ids:
            raise InputError("form.duplicate_id", "{source}: {place}: the id {value} occurs twice", **where)
        ids.add(question.id)
        if not question.id.strip() or not question.id.isprintable() or len(question.id) > MAX_ID:
            message = "{source}: {place}: {value} ({count} characters); an id has 1 to {limit} printable characters"
            raise InputError("form.bad_id", message, limit=MAX_ID, count=len(question.id), **where)
        for column in question_columns(question):
            if column in owners:
                message = "{source}: {place}: {value} needs the column {column}, which belongs to {owner}"
                raise InputError(
                    "form.column_clash",
                    message,
                    remedy="choose another id",
                    column=column,
                    owner=owners[column],
                    **where,
                )
            owners[column] = f"question {question.id!r}"


def _dump_question(question: Question) -> dict[str, Any]:
    dumped: dict[str, Any] = {"id": question.id, "type": question.type, "instructions": question.instructions}
    match question:
        case Noul(true_means=true, false_means=false):
            if true or false:
                dumped["criteria"] = {"true": true, "false": false}
        case Choice(options=options):
            dumped["criteria"] = {option.name: option.description for option in options}
        case Score(levels=levels):
            dumped["criteria"] = list(levels)
    if question.gold is not None:
        dumped["gold"] = question.gold
    if question.threshold is not None:
        dumped["threshold"] = question.threshold
    return dumped


def _parse_json(raw: bytes, source: str) -> object:
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        message = "{source}: byte {position} is not UTF-8"
        raise InputError("form.not_utf8", message, source=source, position=error.start) from error

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, value in pairs:
            if key in found:
                message = "{source}: the key {key} occurs twice in one object"
                raise InputError("form.duplicate_key", message, source=source, key=_show(key))
            found[key] = value
        return found

    try:
        return json.loads(text, object_pairs_hook=once)
    except json.JSONDecodeError as error:
        nothing = (error.lineno, error.colno) == (1, 1)  # not even its beginning: another file was meant
        raise InputError(
            "form.not_json",
            "{source}: no valid JSON at line {line}, column {column}: {detail}",
            remedy="forms are written in JSON, and stand before the table where both are named" if nothing else "",
            source=source,
            line=error.lineno,
            column=error.colno,
            detail=error.msg,
        ) from error
    except ValueError as error:  # behind JSONDecodeError: Python reads no number of more digits than its limit
        message = "{source}: a number has more than {limit} digits"
        raise InputError("form.long_number", message, source=source, limit=sys.get_int_max_str_digits()) from error
    except RecursionError as error:
        raise InputError("form.too_deep", "{source}: nested too deeply", source=source) from error


def _check_text(obj: object, source: str) -> None:
    """JSON can spell halves of characters (``\\ud800``), which no file, table or request can hold."""
    try:
        json.dumps(obj, ensure_ascii=False, default=str).encode()
    except UnicodeEncodeError as error:
        found = error.object[max(0, error.start - 20) : error.start]
        message = "{source}: behind {found} stands half of a character (U+{half:04X})"
        half = ord(error.object[error.start])
        raise InputError("form.surrogate", message, source=source, found=_show(found), half=half) from error


def _refuse(error: ValidationError, source: str) -> NoReturn:
    """Raise the first of pydantic's findings in our words."""
    found = error.errors(include_url=False)[0]
    # A tagged union puts the tag into the location; it is no part of the file.
    steps = [step for at, step in enumerate(found["loc"]) if not (at == 2 and found["loc"][0] == "questions")]
    value = found["input"]
    if found["type"] == "union_tag_invalid":
        steps.append("type")
        value = found["ctx"]["tag"]
    path = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps).lstrip(".")
    missing = found["type"] == "missing"
    raise InputError(
        "form.missing_field" if missing else f"form.{found['type']}",
        "{source}: {place}: {reason}" + ("" if missing else "; got {value}"),
        source=source,
        place=path or "the whole file",
        reason="this field is missing" if missing else _reason(found["type"], found["msg"], found.get("ctx", {})),
        remedy=_PICTURES if found["type"] == "extra_forbidden" and steps[-1] in ("image", "images") else "",
        value=_show(value),
    ) from error


def _reason(kind: str, message: str, context: Mapping[str, Any]) -> str:
    """Words for the findings that users meet; pydantic's own for the others."""
    match kind:
        case "extra_forbidden":
            return "this field is unknown"
        case "string_too_short" | "string_pattern_mismatch":
            return "must not be empty"
        case "union_tag_not_found":
            return "the field type is missing (noul, choice or score)"
        case "union_tag_invalid":
            return "must be noul, choice or score"
        case "model_type" | "model_attributes_type" | "dict_type":
            return "must be an object"
        case "list_type":
            return "must be a list"
        case "string_type":
            return "must be a text"
        case "too_short":
            return f"needs at least {context.get('min_length')}"
        case _:
            return message[:1].lower() + message[1:]


def _show(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
