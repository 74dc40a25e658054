"""Native reads (/v1/systemone): questions about a state, answered from one look at their label slots.

Words, canvas, labels and noise are those of ``engine.reads``, so a read through token ids with draw 0's noise gives
the same numbers (a test holds this).
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from engine.domain.question import Question
from engine.embedded.engine import EmbeddedEngine
from engine.embedded.generate import Committed, GenerationRequest
from engine.embedded.parameters import check_text
from engine.embedded.refusals import Refused
from engine.reads.canvas import CANVAS_STEP, Canvas, Specials, alone_canvas, even_runs, fits, joint_canvas
from engine.reads.labels import JointLines, alone_labels
from engine.reads.noise import prompt_noise
from engine.reads.prompt import alone_prompt, joint_prompt

Groups = tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class LabelRead:
    """What one slot says.

    Attributes:
        shares: of the labels, summing to 1; a label that two tokens mean counts its likelier one.
        label_mass: probability of all label tokens over the whole vocabulary.
    """

    question: Question
    position: int
    shares: tuple[float, ...]
    label_mass: float
    argmax_is_label: bool


@dataclass(frozen=True, slots=True)
class CanvasRead:
    """One canvas, looked at once."""

    width: int
    reads: tuple[LabelRead, ...]
    input_tokens: int
    output_tokens: int


@dataclass(frozen=True, slots=True)
class _Plan:
    """A canvas to look at: its prompt with the thought block, and for each question the ids that mean each label."""

    questions: tuple[Question, ...]
    prompt_ids: tuple[int, ...]
    canvas: Canvas
    seeded: tuple[int, ...]
    groups: tuple[Groups, ...]

    @property
    def max_tokens(self) -> int:
        """As vLLM asks: up to the last label; a canvas read alone shows its end of turn too."""
        return self.canvas.slots[-1] + (2 if len(self.canvas.slots) == 1 else 1)


class NativeReader:
    """Reads questions the way /v1/systemone does."""

    def __init__(self, engine: EmbeddedEngine) -> None:
        tokenizer = engine.tokenizer
        self._engine = engine
        self._specials = Specials(tokenizer.thought_ids, tokenizer.end_of_turn, tokenizer.pad)

    async def read(
        self, questions: Sequence[Question], state: Any, *, instructions: str | None, joint: bool
    ) -> list[CanvasRead]:
        """One canvas per question, or shared canvases.

        Raises:
            Refused: a prompt is too long for the window; nothing has been read.
            InputError: a label is not one token; nothing has been read.
        """
        text = state if isinstance(state, str) else json.dumps(state, ensure_ascii=False)
        check_text(text, self._engine.tokenizer, self._engine.model.config)
        plans = await (self._joint if joint else self._alone)(questions, text, instructions)
        return [await self._look(plan) for plan in plans]

    async def _alone(self, questions: Sequence[Question], state: str, instructions: str | None) -> list[_Plan]:
        labels = await alone_labels(self._tokenize, questions)
        canvas = alone_canvas(self._specials, CANVAS_STEP)
        return [
            self._plan((question,), alone_prompt(state, question), instructions, canvas, (tuple((i,) for i in ids),))
            for question, ids in zip(questions, labels, strict=True)
        ]

    async def _joint(self, questions: Sequence[Question], state: str, instructions: str | None) -> list[_Plan]:
        alone = await alone_labels(self._tokenize, questions)
        lines = await JointLines.open(self._tokenize, questions)
        served = self._engine.model.config.canvas_length

        def prefixes(start: int, stop: int) -> list[tuple[int, ...]]:
            return [lines.line(number, question).prefix for number, question in enumerate(questions[start:stop], 1)]

        def fits_run(start: int, stop: int) -> bool:
            return fits([len(prefix) for prefix in prefixes(start, stop)], served)

        plans = []
        for start, stop in even_runs(len(questions), fits_run):
            run = tuple(questions[start:stop])
            groups = tuple(
                tuple(tuple(dict.fromkeys(pair)) for pair in zip(lines.line(number, question).labels, ids, strict=True))
                for number, (question, ids) in enumerate(zip(run, alone[start:stop], strict=True), 1)
            )
            canvas = joint_canvas(prefixes(start, stop), lines.newline, self._specials, served)
            plans.append(self._plan(run, joint_prompt(state, run), instructions, canvas, groups))
        return plans

    def _plan(
        self,
        questions: tuple[Question, ...],
        text: str,
        instructions: str | None,
        canvas: Canvas,
        groups: tuple[Groups, ...],
    ) -> _Plan:
        config = self._engine.model.config
        system = [{"role": "system", "content": instructions}] if instructions else []
        prompt = self._engine.tokenizer.prompt_ids([*system, {"role": "user", "content": text}])
        ids = (*prompt, *self._specials.thought)
        if len(ids) + canvas.width > config.max_model_len:
            raise Refused(
                "state: the prompt has {length} tokens and the canvas {width}; the window holds {limit}",
                length=len(ids),
                width=canvas.width,
                limit=config.max_model_len,
            )
        noise = prompt_noise(prompt, len(canvas.slots), config.vocab_size)
        return _Plan(questions, ids, canvas, canvas.seeded(noise), groups)

    async def _look(self, plan: _Plan) -> CanvasRead:
        label_ids = sorted({i for groups in plan.groups for group in groups for i in group})
        outcome = await self._engine.collect(
            GenerationRequest(
                prompt_ids=plan.prompt_ids,
                max_tokens=plan.max_tokens,
                width=plan.canvas.width,
                seed_canvas=plan.seeded,
                max_steps=1,
                read_only=True,
                ignore_eos=True,
                logprob_ids=tuple(label_ids),
            )
        )
        reads = tuple(
            _label_read(question, position, groups, outcome)
            for question, position, groups in zip(plan.questions, plan.canvas.slots, plan.groups, strict=True)
        )
        return CanvasRead(plan.canvas.width, reads, len(plan.prompt_ids), len(outcome.token_ids))

    async def _tokenize(self, text: str) -> tuple[int, ...]:
        return tuple(self._engine.tokenizer.encode(text))


def _label_read(question: Question, position: int, groups: Groups, outcome: Committed) -> LabelRead:
    found = {entry.token_id: entry.logprob for entry in outcome.logprobs[position]}
    best = [max(found[i] for i in group) for group in groups]
    weights = [math.exp(logprob - max(best)) for logprob in best]
    labels = {i for group in groups for i in group}
    return LabelRead(
        question=question,
        position=position,
        shares=tuple(weight / math.fsum(weights) for weight in weights),
        label_mass=math.fsum(math.exp(found[i]) for i in labels),
        argmax_is_label=outcome.token_ids[position] in labels,
    )
