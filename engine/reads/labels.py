"""Which token a label is at its slot, checked against the engine's tokenizer before anything is read.

A read looks at one position. So each label must be exactly one token there, and the labels of a question must be
different tokens. Both are found by tokenizing the text around the slot with each label in turn: everything but one
position must stay the same. Alone the slot follows the empty thought block; on a joint canvas it ends a line ``k: ``.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from engine.domain.question import Question
from engine.errors import InputError
from engine.reads.canvas import Specials

EMPTY_THOUGHT = "<|channel>thought\n<channel|>"
END_OF_TURN = "<turn|>"
PAD = "<pad>"

Tokenize = Callable[[str], Awaitable[tuple[int, ...]]]


@dataclass(frozen=True, slots=True)
class Line:
    """How one line of a joint canvas tokenizes.

    Attributes:
        prefix: token ids before the label.
        labels: token id of each label of the line's question at the slot.
    """

    prefix: tuple[int, ...]
    labels: tuple[int, ...]


async def find_specials(tokenize: Tokenize) -> Specials:
    """The token ids of the thought block, end-of-turn and pad.

    Raises:
        InputError: the model has no such tokens (it is no DiffusionGemma).
    """
    single: dict[str, int] = {}
    for text in (END_OF_TURN, PAD):
        ids = await tokenize(text)
        if len(ids) != 1:
            raise InputError(
                "reads.no_such_token",
                "the engine's model has no token {token}: it is {count} tokens there",
                remedy="reads need a DiffusionGemma model",
                token=text,
                count=len(ids),
            )
        single[text] = ids[0]
    return Specials(await tokenize(EMPTY_THOUGHT), single[END_OF_TURN], single[PAD])


async def alone_labels(tokenize: Tokenize, questions: Sequence[Question]) -> tuple[tuple[int, ...], ...]:
    """Token ids of each question's labels as the first token after the thought block, in the questions' order.

    Raises:
        InputError: a label is not one token there, or two labels of a question are the same token.
    """
    before = await tokenize(EMPTY_THOUGHT)
    known: dict[str, int] = {}
    found: list[tuple[int, ...]] = []
    for question in questions:
        for label in question.labels:
            if label not in known:
                after = await tokenize(EMPTY_THOUGHT + label)
                if after[:-1] != before:
                    raise _not_one_token(question, label, after[len(before) :] or after, "at the start of the reply")
                known[label] = after[-1]
        found.append(_distinct(question, tuple(known[label] for label in question.labels), "at the start of the reply"))
    return tuple(found)


async def newline_token(tokenize: Tokenize) -> int:
    """The token that ends a line of a joint canvas.

    Raises:
        InputError: a newline is more than one token.
    """
    ids = await tokenize("\n")
    if len(ids) != 1:
        raise InputError(
            "reads.newline_not_one_token",
            "a newline is {count} tokens in the engine's tokenizer, so questions cannot share a canvas",
            remedy="read the questions alone",
            count=len(ids),
        )
    return ids[0]


class JointLines:
    """The lines ``1: label`` to ``n: label`` for every label that the questions use.

    One text per label holds all the lines, so at most 38 texts are tokenized whatever the number of questions, and
    each label is seen with the newline that follows it on the canvas.
    """

    def __init__(self, newline: int, runs: dict[str, list[tuple[int, ...]]]) -> None:
        self.newline = newline
        self._runs = runs

    @classmethod
    async def open(cls, tokenize: Tokenize, questions: Sequence[Question]) -> JointLines:
        """Tokenizes the lines and checks every question at every number that it can have.

        Raises:
            InputError: a newline or a label is not one token, or two labels of a question are the same token.
        """
        newline = await newline_token(tokenize)
        runs: dict[str, list[tuple[int, ...]]] = {}
        for question in questions:
            for label in question.labels:
                if label not in runs:
                    text = "".join(f"{number}: {label}\n" for number in range(1, len(questions) + 1))
                    lines = _split(await tokenize(text), newline)
                    if len(lines) != len(questions):
                        raise _not_one_token(question, label, await tokenize(f"1: {label}\n"), 'on a line "1: "')
                    runs[label] = lines
        found = cls(newline, runs)
        for place, question in enumerate(questions, start=1):
            for number in range(1, place + 1):
                found.line(number, question)
        return found

    def line(self, number: int, question: Question) -> Line:
        """The line of ``question`` when it is number ``number`` of its canvas.

        Raises:
            InputError: a label is not one token there.
        """
        where = f'on a line "{number}: "'
        runs = [self._runs[label][number - 1] for label in question.labels]
        # The shortest line shows where the label starts; a line that differs before its last token is at fault.
        prefix = min(runs, key=len)[:-1]
        for label, run in zip(question.labels, runs, strict=True):
            if not run or run[:-1] != prefix:
                raise _not_one_token(question, label, run, where)
        return Line(prefix, _distinct(question, tuple(run[-1] for run in runs), where))


def _split(ids: Sequence[int], newline: int) -> list[tuple[int, ...]]:
    """The ids of each line, without its newline; what follows the last newline must be nothing."""
    lines: list[tuple[int, ...]] = []
    start = 0
    for position, token in enumerate(ids):
        if token == newline:
            lines.append(tuple(ids[start:position]))
            start = position + 1
    return lines if start == len(ids) else []


def _distinct(question: Question, ids: tuple[int, ...], where: str) -> tuple[int, ...]:
    for place, token in enumerate(ids):
        if (twin := ids.index(token)) != place:
            raise InputError(
                "reads.labels_not_distinct",
                'question "{question}": the labels "{label}" and "{other}" are the same token {token} {where}',
                remedy="this tokenizer cannot read such a question",
                question=question.id,
                label=question.labels[place],
                other=question.labels[twin],
                token=token,
                where=where,
            )
    return ids


def _not_one_token(question: Question, label: str, tokens: Sequence[int], where: str) -> InputError:
    return InputError(
        "reads.label_not_one_token",
        'question "{question}": the label "{label}" is not exactly one token {where} (token ids {tokens})',
        remedy="this tokenizer cannot read such a question",
        question=question.id,
        label=label,
        tokens=list(tokens),
        where=where,
    )
