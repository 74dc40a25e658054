"""The words that a read puts to the model. One wording per question type, versioned, stored with every run.

The state comes first and is followed by one blank line, so that the engine's prefix cache serves every question of a
row. Whatever spells out a control token is put to the model as text (``plain_text``). Question ids are never shown to
the model: an odd id changes answers. The demo model is trained on these very words (``tools/train_demo``); a changed
word is a new ``WORDING``.
"""

from __future__ import annotations

from collections.abc import Sequence

from engine.domain.question import Choice, Noul, Question, Score
from engine.reads.plain_text import as_text

WORDING = 1

NOUL_REPLY = "Answer with one word: yes or no."
CHOICE_REPLY = "Answer with the letter of one option."
SCORE_REPLY = "Answer with the number of one level."
JOINT_REPLY = "Answer every question on a line of its own: its number, a colon, the answer."


def question_text(question: Question, number: int | None = None) -> str:
    """The question with its criteria, without the reply instruction.

    Args:
        number: 1-based place on a joint canvas; None when the question is read alone.
    """
    head = "Question" if number is None else f"Question {number}"
    return "\n".join([f"{head}: {question.instructions}", *_criteria(question)])


def alone_prompt(state: str, question: Question) -> str:
    """The user message of one question read alone."""
    return as_text(f"{state}\n\n{question_text(question)}\n{reply_instruction(question)}")


def joint_prompt(state: str, questions: Sequence[Question]) -> str:
    """The user message of several questions that share a canvas, numbered from 1 in their order."""
    blocks = [
        f"{question_text(question, number)}\n{reply_instruction(question)}"
        for number, question in enumerate(questions, start=1)
    ]
    return as_text("\n\n".join([state, *blocks, JOINT_REPLY]))


def reply_instruction(question: Question) -> str:
    """The line that tells the model which label to write."""
    match question:
        case Noul():
            return NOUL_REPLY
        case Choice():
            return CHOICE_REPLY
        case Score():
            return SCORE_REPLY


def _criteria(question: Question) -> list[str]:
    match question:
        case Noul(true_means=true_means, false_means=false_means):
            pairs = (("yes", true_means), ("no", false_means))
            return [f"{label}: {text}" for label, text in pairs if text]
        case Choice(options=options):
            return [
                f"{label}. {option.name}" + (f": {option.description}" if option.description else "")
                for label, option in zip(question.labels, options, strict=True)
            ]
        case Score(levels=levels):
            return [f"{label}. {level}" for label, level in zip(question.labels, levels, strict=True)]
