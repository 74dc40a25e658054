"""What is wrong with a form while it is being written, field by field, for the messages beside the fields.

The engine's own parser (``engine.batch.form``) stays the judge before a run; this is the same set of limits, said early
and all at once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QCoreApplication

from engine.domain.form import Form
from engine.domain.question import (
    MAX_LEVELS,
    MAX_OPTIONS,
    MAX_QUESTIONS,
    MIN_LEVELS,
    MIN_OPTIONS,
    Choice,
    Question,
    Score,
)


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing to mend.

    Attributes:
        question: index of the question, or None for the form itself.
        field: ``id``, ``instructions``, ``criteria``, ``criteria.3`` (the fourth option or level), ``gold``,
            ``threshold``, ``state``, ``group``, ``pictures``, ``questions``.
        text: for the user, translated.
    """

    question: int | None
    field: str
    text: str


def translate(context: str, text: str, /, **values: object) -> str:
    """Qt's translation of ``text`` (lupdate finds calls by this name) with its ``{name}`` fields filled in."""
    translated = QCoreApplication.translate(context, text)
    return translated.format(**values) if values else translated


def check_form(form: Form, columns: Sequence[str] | None = None) -> tuple[Problem, ...]:
    """Every problem of the form.

    Args:
        form: as it stands in the builder.
        columns: of the open table; None when no table is open, then columns are not checked.
    """
    found: list[Problem] = []
    if not form.questions:
        found.append(Problem(None, "questions", translate("FormCheck", "Add at least one question.")))
    if len(form.questions) > MAX_QUESTIONS:
        text = translate(
            "FormCheck", "{n} questions; {limit} is the limit.", n=len(form.questions), limit=MAX_QUESTIONS
        )
        found.append(Problem(None, "questions", text))
    if not form.state.strip():
        found.append(Problem(None, "state", translate("FormCheck", "Say what text of a row the questions are about.")))
    if form.group and columns is not None and form.group not in columns:
        found.append(Problem(None, "group", _no_column(form.group)))
    if form.pictures is not None and columns is not None and form.pictures.column not in columns:
        found.append(Problem(None, "pictures", _no_column(form.pictures.column)))
    ids = Counter(question.id for question in form.questions)
    for index, question in enumerate(form.questions):
        found += [Problem(index, field, text) for field, text in _question(question, ids, columns)]
    return tuple(found)


def _question(question: Question, ids: Counter[str], columns: Sequence[str] | None) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    if not question.id.strip():
        found.append(("id", translate("FormCheck", "Give the question an id; it names the columns of the export.")))
    elif question.id != question.id.strip():
        found.append(("id", translate("FormCheck", "An id has no spaces at its ends.")))
    elif ids[question.id] > 1:
        found.append(("id", translate("FormCheck", "Another question has the id “{id}” too.", id=question.id)))
    if not question.instructions.strip():
        found.append(("instructions", translate("FormCheck", "Write the question that the model answers.")))
    if question.gold and columns is not None and question.gold not in columns:
        found.append(("gold", _no_column(question.gold)))
    top = len(question.levels) - 1 if isinstance(question, Score) else 1
    if question.threshold is not None and not 0 <= question.threshold <= top:
        text = translate("FormCheck", "A threshold from 0 to {top}; got {value}.", top=top, value=question.threshold)
        found.append(("threshold", text))
    return found + _criteria(question)


def _criteria(question: Question) -> list[tuple[str, str]]:
    match question:
        case Choice(options=options):
            size = translate("FormCheck", "{n} options; a choice has {least} to {most}.")
            empty = translate("FormCheck", "This option has no name.")
            names = [option.name for option in options]
            return _size(size, len(names), MIN_OPTIONS, MAX_OPTIONS) + _texts(names, empty)
        case Score(levels=levels):
            size = translate("FormCheck", "{n} levels; a score has {least} to {most}.")
            empty = translate("FormCheck", "This level has no text.")
            return _size(size, len(levels), MIN_LEVELS, MAX_LEVELS) + _texts(levels, empty)
        case _:
            return []


def _size(text: str, count: int, least: int, most: int) -> list[tuple[str, str]]:
    inside = least <= count <= most
    return [] if inside else [("criteria", text.format(n=count, least=least, most=most))]


def _texts(texts: Sequence[str], empty: str) -> list[tuple[str, str]]:
    seen: set[str] = set()
    found: list[tuple[str, str]] = []
    for place, text in enumerate(texts):
        if not text.strip():
            found.append((f"criteria.{place}", empty))
        elif text in seen:
            found.append((f"criteria.{place}", translate("FormCheck", "“{text}” is there twice.", text=text)))
        seen.add(text)
    return found


def _no_column(name: str) -> str:
    return translate("FormCheck", "The table has no column “{name}”.", name=name)
