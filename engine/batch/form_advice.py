"""What experience says against a form that is valid: said before the run, never in the way of one."""

from __future__ import annotations

from dataclasses import dataclass

from engine.domain.form import Form
from engine.domain.question import Choice, Noul, Question, Score

MANY_OPTIONS = 10
_UNKNOWN = ("unknown", "unclear", "none", "other", "neither", "cannot", "can't", "not ", "n/a", "undecided", "unsure")


@dataclass(frozen=True, slots=True)
class Advice:
    """One piece of advice.

    Attributes:
        place: of what it is about, as in the form file (``questions[2]``, ``method``).
        code: stable: ``unknown``, ``criteria``, ``order``, ``draws``, ``joint``, ``gold``.
    """

    place: str
    code: str
    text: str


def advise(form: Form) -> tuple[Advice, ...]:
    """The advice on a form, in its order."""
    found: list[Advice] = []
    for at, question in enumerate(form.questions):
        found += _on_question(question, f"questions[{at}]", rotate=form.method.rotate)
    method = form.method
    if method.joint and len(form.questions) > 1:
        found.append(Advice("method.joint", "joint", "joint answers interfere: look at the interference check first"))
    if method.wire == "native" and method.draws == "auto":
        found.append(Advice("method.draws", "draws", "the native wire makes one draw: no standard error, no agreement"))
    if all(question.gold is None for question in form.questions):
        text = "without a gold column nothing says how often the answers are right; a hundred labelled rows are a start"
        found.append(Advice("questions", "gold", text))
    return tuple(found)


def _on_question(question: Question, place: str, *, rotate: bool) -> list[Advice]:
    found = []
    match question:
        case Noul(true_means=true, false_means=false):
            if not true and not false:
                text = "say what yes and no mean; a text that says neither is a no only if you say so"
                found.append(Advice(f"{place}.criteria", "criteria", text))
        case Choice():
            if not has_unknown(question):
                text = (
                    'no option fits a text that says nothing of it: add one, such as "unknown", or such rows are forced'
                )
                found.append(Advice(f"{place}.criteria", "unknown", text))
            if len(question.options) >= MANY_OPTIONS and not rotate:
                text = "many options: their order can decide; see the option-order check, or read with rotate"
                found.append(Advice(f"{place}.criteria", "order", text))
        case Score():
            pass
    return found


def has_unknown(question: Choice) -> bool:
    """Whether an option is there for texts that fit no other one."""
    names = [option.name.casefold() for option in question.options]
    return any(name.startswith(word) or f" {word}" in name for name in names for word in _UNKNOWN)
