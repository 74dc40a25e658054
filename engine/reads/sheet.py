"""A sheet: the questions that one canvas answers, with everything about them that does not depend on the row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from engine.client.wire import DiffusionArgs, GenerateRequest, ReadFrame, SamplingParams
from engine.domain.question import Question
from engine.errors import InputError
from engine.reads.canvas import Canvas, Specials, alone_canvas, even_runs, fits, joint_canvas
from engine.reads.labels import JointLines, Tokenize, alone_labels
from engine.reads.prompt import alone_prompt, joint_prompt

MAX_LABEL_IDS = 128  # logprob_token_ids of one request, vLLM 0.33.0


@dataclass(frozen=True)
class Sheet:
    """What one canvas asks.

    Attributes:
        questions: one when read alone.
        canvas: its slots are in the order of the questions.
        groups: per question, per label, the token ids that count as the label; the first is the label at the slot.
        joint: whether the questions are read together.
    """

    questions: tuple[Question, ...]
    canvas: Canvas
    groups: tuple[tuple[tuple[int, ...], ...], ...]
    joint: bool

    @cached_property
    def question_ids(self) -> tuple[str, ...]:
        return tuple(question.id for question in self.questions)

    @cached_property
    def label_ids(self) -> tuple[int, ...]:
        """Every token id whose logprob a read of this sheet asks for."""
        return tuple(sorted({token for question in self.groups for group in question for token in group}))

    def prompt(self, state: str) -> str:
        """The user message."""
        return joint_prompt(state, self.questions) if self.joint else alone_prompt(state, self.questions[0])

    def request(
        self, prompt_ids: Sequence[int], noise: Sequence[int], spare: int | None = None, steps: int = 1
    ) -> GenerateRequest:
        """The read itself.

        Args:
            prompt_ids: with the thought block.
            noise: one token per slot.
            spare: one more id to ask for, see ``served.Served.spare_id``.
            steps: denoise steps; the template is pinned through them, so that only the label slots change.
        """
        ids = self.label_ids if spare is None or spare in self.label_ids else (*self.label_ids, spare)
        # The last step reads every slot; as many tokens come back as there are up to the last slot, and vLLM's own
        # single reads ask for two.
        wanted = max(self.canvas.slots[-1] + 1, 2)
        return GenerateRequest(
            token_ids=tuple(prompt_ids),
            sampling_params=SamplingParams(
                max_tokens=wanted,
                logprobs=len(ids),
                logprob_token_ids=ids,
                extra_args=DiffusionArgs(
                    diffusion_seed_canvas=self.canvas.seeded(noise),
                    diffusion_canvas_length=self.canvas.width,
                    diffusion_max_steps=steps,
                    diffusion_pinned=self.canvas.pinned if self.joint or steps > 1 else None,
                ),
            ),
        )

    def frame(self, spare: int | None, steps: int) -> ReadFrame:
        """``request`` without its prompt and canvas."""
        return ReadFrame(self.request((0,), (0,) * len(self.canvas.slots), spare, steps))


async def alone_sheets(
    tokenize: Tokenize, questions: Sequence[Question], specials: Specials, length: int
) -> tuple[Sheet, ...]:
    """One sheet per question.

    Raises:
        InputError: a label is not one token.
    """
    labels = await alone_labels(tokenize, questions)
    canvas = alone_canvas(specials, length)
    return tuple(
        Sheet((question,), canvas, (tuple((token,) for token in ids),), joint=False)
        for question, ids in zip(questions, labels, strict=True)
    )


async def joint_sheets(
    tokenize: Tokenize, questions: Sequence[Question], specials: Specials, served: int
) -> tuple[Sheet, ...]:
    """The fewest sheets that hold all questions, as even as possible; numbers start at 1 on each.

    Raises:
        InputError: a label or a newline is not one token, or not even one question fits the served canvas.
    """
    lines = await JointLines.open(tokenize, questions)
    alone = await alone_labels(tokenize, questions)

    def run_fits(start: int, stop: int) -> bool:
        return fits(
            [len(lines.line(number, question).prefix) for number, question in enumerate(questions[start:stop], 1)],
            served,
        )

    runs = even_runs(len(questions), run_fits)
    for start, stop in runs:
        if not run_fits(start, stop):
            raise InputError(
                "reads.canvas_too_short",
                'question "{question}": its answer line does not fit the served canvas of {served} slots',
                remedy="read the questions alone, or serve a longer canvas",
                question=questions[start].id,
                served=served,
            )
    return tuple(_joint_sheet(questions[a:b], alone[a:b], lines, specials, served) for a, b in runs)


def _joint_sheet(
    questions: Sequence[Question],
    alone: Sequence[tuple[int, ...]],
    lines: JointLines,
    specials: Specials,
    served: int,
) -> Sheet:
    found = [lines.line(number, question) for number, question in enumerate(questions, start=1)]
    groups = tuple(
        # A label counts without its leading space too, as at the start of a reply.
        tuple(tuple(dict.fromkeys(pair)) for pair in zip(line.labels, ids, strict=True))
        for line, ids in zip(found, alone, strict=True)
    )
    canvas = joint_canvas([line.prefix for line in found], lines.newline, specials, served)
    return Sheet(tuple(questions), canvas, groups, joint=True)
