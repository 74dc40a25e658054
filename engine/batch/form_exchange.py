"""Forms from and to requests of the decision endpoints: System One and OpenAI Decisions (as vLLM 0.33.0 takes them).

A request asks about one text, a form about every row of a table. So the request's text becomes a sample beside the
form, whose state is the column ``text``; and what one side has and the other has not is said by name, never dropped
silently.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

from engine.batch.form import parse_form
from engine.batch.form_wire import FORMAT_VERSION
from engine.domain.form import Form
from engine.domain.picture import Picture, PictureColumn
from engine.domain.question import Choice, Noul, Question, Score
from engine.domain.reading import Method
from engine.errors import InputError
from engine.pictures import locate

Shape = Literal["system-one", "decisions"]
SHAPES: tuple[Shape, ...] = ("system-one", "decisions")
COLUMN = "text"

_TYPES = {"noul": "noul", "predicate": "noul", "choice": "choice", "score": "score"}
PICTURES = PictureColumn("pictures", separator="\n")

_SYSTEM_ONE, _DECISIONS = {"state", "questions", "images", "joint"}, {"input", "questions", "joint"}
_QUESTION_FIELDS = {
    "system-one": {"type", "instructions", "criteria"},
    "decisions": {"type", "instructions", "name", "choices", "levels"},
}


@dataclass(frozen=True, slots=True)
class Imported:
    """A form made from a request.

    Attributes:
        sample: the text that the request asks about.
        pictures: paths of the pictures that it shows, as a cell of the column ``pictures`` holds them (a line each).
        left_out: what the request has and a form has not, each by its place.
    """

    form: Form
    sample: str
    left_out: tuple[str, ...]
    pictures: str = ""


@dataclass(frozen=True, slots=True)
class Exported:
    """A request made from a form.

    Attributes:
        body: JSON values.
        left_out: what the form has and the request has not, each by its place.
    """

    body: dict[str, Any]
    left_out: tuple[str, ...]


def import_request(obj: object, source: str, *, name: str = "Imported questions") -> Imported:
    """The form behind a request body of either kind.

    Raises:
        InputError: it is neither; a question is not what the form can ask (named with its place).
    """
    if not isinstance(obj, Mapping) or "questions" not in obj or not ({"state", "input"} & obj.keys()):
        raise InputError(
            "exchange.unknown",
            "{source}: no request of System One (state, questions) or OpenAI Decisions (input, questions)",
            source=source,
        )
    shape: Shape = "system-one" if "state" in obj else "decisions"
    known = _SYSTEM_ONE if shape == "system-one" else _DECISIONS
    left_out = [f"{field}: a form has no such field" for field in obj if field not in known]
    pictures = _pictures(obj.get("images"), source, left_out) if shape == "system-one" else None
    if shape == "system-one":
        questions = _from_system_one(obj["questions"], source, left_out)
        sample = obj["state"] if isinstance(obj["state"], str) else json.dumps(obj["state"], ensure_ascii=False)
    else:
        questions = _from_decisions(obj["questions"], source, left_out)
        sample = _input_text(obj["input"], source, left_out)
    form = parse_form(
        {
            "version": FORMAT_VERSION,
            "name": name,
            "state": f"{{{{ {COLUMN} }}}}",
            "questions": questions,
            **({} if pictures is None else {"pictures": asdict(PICTURES)}),
            "method": {"joint": bool(obj.get("joint")), "wire": "native"},
        },
        source,
    )
    return Imported(form, sample, tuple(left_out), pictures or "")


def export_request(
    form: Form, shape: Shape, state: str, *, model: str = "", pictures: Sequence[Picture] = ()
) -> Exported:
    """The request that asks the form's questions about one text.

    Args:
        state: the text: a rendered row.
        model: id of the model; OpenAI Decisions demands one.
        pictures: of the row; they are written into the request.
    """
    left_out = _form_only(form)
    if form.pictures is not None and not pictures:
        left_out.append("pictures: of a row, and none is given")
    elif pictures and shape == "decisions":
        left_out.append("pictures: this endpoint takes text only")
    body: dict[str, Any] = {"model": model} if model else {}
    if shape == "system-one":
        body |= {"state": state, "questions": {question.id: _to_system_one(question) for question in form.questions}}
        if pictures:
            body["images"] = [picture.data_url for picture in pictures]
    else:
        body |= {} if model else {"model": "diffusiongemma"}
        questions = [_to_decisions(at, question, left_out) for at, question in enumerate(form.questions)]
        body |= {"input": state, "questions": questions}
    if form.method.joint:
        body["joint"] = True
    return Exported(body, tuple(left_out))


def _pictures(images: object, source: str, left_out: list[str]) -> str | None:
    """What the column of pictures holds; None for a request that shows none."""
    if images is None or images == []:
        return None
    if not isinstance(images, Sequence) or isinstance(images, str):
        raise _wrong(source, "images", "must be a list of URLs")
    kept = []
    for at, url in enumerate(images):
        try:
            locate(str(url), Path())
        except InputError:
            left_out.append(f"images[{at}]: no file of this computer; save it and name its path in the column pictures")
        else:
            kept.append(str(url))
    return "\n".join(kept)


def _from_system_one(questions: object, source: str, left_out: list[str]) -> list[dict[str, Any]]:
    if not isinstance(questions, Mapping):
        raise _wrong(source, "questions", "must be an object of questions by id")
    found = []
    for key, spec in questions.items():
        place = f"questions.{key}"
        made, criteria = _begun(spec, place, str(key), "system-one", source, left_out), spec.get("criteria")
        if criteria is not None:
            made["criteria"] = _texts(criteria)
        found.append(made)
    return found


def _from_decisions(questions: object, source: str, left_out: list[str]) -> list[dict[str, Any]]:
    if not isinstance(questions, Sequence) or isinstance(questions, str):
        raise _wrong(source, "questions", "must be a list")
    found = []
    for at, spec in enumerate(questions):
        place = f"questions[{at}]"
        named = spec.get("name") if isinstance(spec, Mapping) else None
        made = _begun(spec, place, named or f"q{at + 1}", "decisions", source, left_out)
        if made["type"] == "choice":
            made["criteria"] = _options(spec.get("choices"), f"{place}.choices", source, left_out)
        elif made["type"] == "score":
            made["criteria"] = _levels(spec.get("levels"), f"{place}.levels", source, left_out)
        found.append(made)
    return found


def _begun(
    spec: object, place: str, question_id: str, shape: Shape, source: str, left_out: list[str]
) -> dict[str, Any]:
    """A question of the form without its criteria."""
    if not isinstance(spec, Mapping):
        raise _wrong(source, place, "must be an object")
    kind = _TYPES.get(str(spec.get("type")))
    if kind is None:
        raise _wrong(source, f"{place}.type", f"{spec.get('type')!r} is no type of question that a form has")
    left_out += [f"{place}.{field}: a form has no such field" for field in spec if field not in _QUESTION_FIELDS[shape]]
    return {"id": question_id, "type": kind, "instructions": spec.get("instructions", "")}


def _texts(criteria: object) -> object:
    """System One's criteria: a description may be null there."""
    if isinstance(criteria, Mapping):
        return {str(key): "" if text is None else text for key, text in criteria.items()}
    return criteria


def _options(choices: object, place: str, source: str, left_out: list[str]) -> dict[str, str]:
    options: dict[str, str] = {}
    for at, choice in enumerate(_objects(choices, place, source)):
        value = choice.get("value")
        if isinstance(value, bool):
            left_out.append(f"{place}[{at}].value: true and false become texts")
            value = str(value).lower()
        if not isinstance(value, str) or value in options:
            raise _wrong(source, f"{place}[{at}].value", f"{value!r} is no text, or occurs twice")
        options[value] = choice.get("description") or ""
    return options


def _levels(levels: object, place: str, source: str, left_out: list[str]) -> list[str]:
    found = []
    for at, level in enumerate(_objects(levels, place, source)):
        label, description = str(level.get("label", "")), level.get("description")
        if description:
            left_out.append(f"{place}[{at}].description: written behind its label")
        found.append(f"{label}: {description}" if description else label)
    return found


def _objects(items: object, place: str, source: str) -> list[Mapping[str, Any]]:
    if not isinstance(items, Sequence) or isinstance(items, str) or not all(isinstance(i, Mapping) for i in items):
        raise _wrong(source, place, "must be a list of objects")
    return list(items)


def _input_text(given: object, source: str, left_out: list[str]) -> str:
    """The text of ``input``: a string, or messages of the user."""
    if isinstance(given, str):
        return given
    texts = []
    for at, message in enumerate(_objects(given, "input", source)):
        content = message.get("content", "")
        parts = [content] if isinstance(content, str) else _objects(content, f"input[{at}].content", source)
        for part in parts:
            if isinstance(part, str):
                texts.append(part)
            elif "text" in part:
                texts.append(str(part["text"]))
            else:
                left_out.append(f"input[{at}]: a part of type {part.get('type')} is no text")
    if len(texts) > 1:
        left_out.append("input: its texts are joined by blank lines")
    return "\n\n".join(texts)


def _to_system_one(question: Question) -> dict[str, Any]:
    spec: dict[str, Any] = {"type": question.type, "instructions": question.instructions}
    match question:
        case Noul(true_means=true, false_means=false):
            sides = {side: text for side, text in (("true", true), ("false", false)) if text}
            if sides:
                spec["criteria"] = sides
        case Choice(options=options):
            spec["criteria"] = {option.name: option.description or None for option in options}
        case Score(levels=levels):
            spec["criteria"] = list(levels)
    return spec


def _to_decisions(at: int, question: Question, left_out: list[str]) -> dict[str, Any]:
    spec: dict[str, Any] = {"type": question.type, "name": question.id, "instructions": question.instructions}
    match question:
        case Noul(true_means=true, false_means=false):
            spec["type"] = "predicate"
            lines = [f"{label}: {text}" for label, text in (("yes", true), ("no", false)) if text]
            if lines:
                spec["instructions"] = "\n".join([question.instructions, *lines])
                left_out.append(f"questions[{at}].criteria: a predicate has none; written into its instructions")
        case Choice(options=options):
            spec["choices"] = [
                {"value": option.name, **({"description": option.description} if option.description else {})}
                for option in options
            ]
        case Score(levels=levels):
            spec["levels"] = [{"label": level} for level in levels]
    return spec


def _form_only(form: Form) -> list[str]:
    """What no request has."""
    left_out = ["name: a request has none", "state: a request holds one text, not a template"]
    left_out += [f"{field}: a request has none" for field in ("group", "document") if getattr(form, field) is not None]
    for at, question in enumerate(form.questions):
        for field in ("gold", "threshold"):
            if getattr(question, field) is not None:
                left_out.append(f"questions[{at}].{field}: a request has none")
    default = replace(Method(), joint=form.method.joint, wire=form.method.wire)
    for field in Method.__dataclass_fields__:
        if getattr(form.method, field) != getattr(default, field):
            left_out.append(f"method.{field}: the server reads with one draw and one step")
    return left_out


def _wrong(source: str, place: str, reason: str) -> InputError:
    return InputError("exchange.wrong", "{source}: {place}: {reason}", source=source, place=place, reason=reason)
