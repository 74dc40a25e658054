"""One read of one row, laid open; and what joint reading would cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from engine.domain.question import Choice, Question
from engine.domain.reading import Draw, Method, Reading

AUTO_MORE = 3  # looks that ``auto`` adds where the first one is unsure; docs/decisions-method.md


@dataclass(frozen=True, slots=True)
class PreviewFacts:
    """What the preview shows.

    Attributes:
        question: that was asked.
        prompt: the exact text that goes to the engine, special tokens written out.
        canvas: the tokens of the canvas as text, in order.
        slot: the place in ``canvas`` where the label is read.
        reading: the answer with its evidence.
        seconds: wall time of the read, all draws together.
        draws: what each draw saw, in the order of the question's labels.
        pictures: paths of those that the model was shown.
    """

    question: Question
    prompt: str
    canvas: tuple[str, ...]
    slot: int
    reading: Reading
    seconds: float
    draws: tuple[Draw, ...] = ()
    pictures: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class JointPrice:
    """A sample of rows read alone and jointly.

    Attributes:
        rows: of the sample.
        shift: mean absolute difference of the answers, 0 to 1; None when nothing was readable both ways.
        rank_correlation: Spearman's, alone against joint; None when there is none.
        flips, compared: how many likeliest answers changed, of how many.
        letter_copying: how much more often two choices give the same letter when read jointly, -1 to 1.
        advice: what follows from it, in one sentence.
    """

    rows: int
    shift: float | None
    rank_correlation: float | None
    flips: int
    compared: int
    letter_copying: float | None
    advice: str = ""


@dataclass(frozen=True, slots=True)
class TrialFacts:
    """One row with all questions, read alone and jointly.

    Attributes:
        row: 0-based.
        alone: per question, in order.
        joint: likewise; empty for a single question, and when it is refused.
        refusal: why nothing could be read jointly; else empty.
        alone_s, joint_s: seconds of all reads of the row, one after the other.
    """

    row: int
    alone: tuple[PreviewFacts, ...]
    joint: tuple[PreviewFacts, ...]
    refusal: str
    alone_s: float
    joint_s: float


def reads_per_row(questions: Sequence[Question], method: Method) -> tuple[int, int]:
    """The fewest and the most reads that a row takes on the canvas wire.

    ``auto`` makes one look, and three more where it is unsure; a choice that is rotated is read once per option, and
    its rotations are its further looks. Joint: when all questions fit one canvas.
    """
    turned = [len(each.options) if method.rotate and isinstance(each, Choice) else 1 for each in questions]
    if method.joint and turned:
        turned = [max(turned)]
    if method.draws == "auto":
        return sum(turned), sum(turns if turns > 1 else 1 + AUTO_MORE for turns in turned)
    return method.draws * sum(turned), method.draws * sum(turned)
