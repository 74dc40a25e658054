"""From the questions of a systemone request to domain questions, and from label probabilities to its answers.

Shapes and limits are vLLM 0.33.0's (entrypoints/openai/decisions/question_types.py).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from engine.domain.question import (
    MAX_LEVELS,
    MAX_OPTIONS,
    MAX_QUESTIONS,
    MIN_LEVELS,
    Choice,
    Noul,
    Option,
    Question,
    Score,
)
from engine.embedded.refusals import Refused
from engine.embedded.wire import QuestionBody


def parse_questions(specs: Mapping[str, QuestionBody]) -> tuple[Question, ...]:
    """The questions in their order.

    Raises:
        Refused: none or too many, an unknown type or field, criteria of the wrong shape; names the question.
    """
    if not specs:
        raise Refused("questions: at least one is needed")
    if len(specs) > MAX_QUESTIONS:
        raise Refused("questions: at most {limit}, not {count}", limit=MAX_QUESTIONS, count=len(specs))
    return tuple(_parse(question_id, spec) for question_id, spec in specs.items())


def answer(question: Question, shares: Sequence[float], label_mass: float) -> dict[str, Any]:
    """The answer as the wire has it.

    Args:
        shares: probability of each label among the labels; sums to 1.
        label_mass: probability of the labels together over the whole vocabulary.
    """
    common = {
        "type": question.type,
        "probabilities": dict(zip(question.answers, shares, strict=True)),
        "confidence": max(shares) * label_mass,
    }
    match question:
        case Noul():
            return common | {"noul": shares[0]}
        case Choice():
            best = max(range(len(shares)), key=shares.__getitem__)
            return common | {"choice": question.answers[best]}
        case Score():
            return common | {
                "score": sum(level * share for level, share in enumerate(shares)),
                "legend": {str(level): name for level, name in enumerate(question.levels)},
            }


def _parse(question_id: str, spec: QuestionBody) -> Question:
    if not question_id:
        raise Refused("questions: an id is empty")
    if spec.model_extra:
        raise Refused("question {id!r}: unknown fields {names}", id=question_id, names=sorted(spec.model_extra))
    instructions = "" if spec.instructions is None else str(spec.instructions)
    match spec.type:
        case "noul":
            return _noul(question_id, instructions, spec.criteria)
        case "choice":
            return Choice(question_id, instructions, _options(question_id, spec.criteria))
        case "score":
            return Score(question_id, instructions, _levels(question_id, spec.criteria))
        case other:
            raise Refused("question {id!r}: type {type!r} is none of noul, choice, score", id=question_id, type=other)


def _noul(question_id: str, instructions: str, criteria: Any) -> Noul:
    if criteria is not None and not (isinstance(criteria, dict) and criteria.keys() <= {"true", "false"}):
        raise Refused("question {id!r}: noul criteria hold the keys true and false at most", id=question_id)
    texts = criteria or {}
    return Noul(question_id, instructions, _text(texts.get("true")), _text(texts.get("false")))


def _options(question_id: str, criteria: Any) -> tuple[Option, ...]:
    if not isinstance(criteria, dict) or not criteria:
        raise Refused("question {id!r}: choice criteria map option names to a description or null", id=question_id)
    _limit(question_id, len(criteria), MAX_OPTIONS)
    return tuple(Option(str(name), _text(description)) for name, description in criteria.items())


def _levels(question_id: str, criteria: Any) -> tuple[str, ...]:
    if not isinstance(criteria, list) or len(criteria) < MIN_LEVELS:
        raise Refused(
            "question {id!r}: score criteria are a list of {least} levels or more", id=question_id, least=MIN_LEVELS
        )
    levels = tuple(str(level) for level in criteria)
    if len(set(levels)) != len(levels):
        raise Refused("question {id!r}: two levels have the same name", id=question_id)
    _limit(question_id, len(levels), MAX_LEVELS)
    return levels


def _limit(question_id: str, count: int, most: int) -> None:
    if count > most:
        raise Refused("question {id!r}: at most {most} options, not {count}", id=question_id, most=most, count=count)


def _text(value: Any) -> str:
    return "" if value is None else str(value)
