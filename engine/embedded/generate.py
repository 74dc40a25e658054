"""One request, worked off in small units: encode the prompt, denoise a step, commit a canvas, until the answer ends.

A unit is short (tens of milliseconds), so that whoever drives it can serve others, or stop, in between.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from engine.embedded.live import LivePublisher
from engine.embedded.model import DemoModel, Prefix
from engine.embedded.sampler import CanvasSampler, Floats, Ids, Step, log_softmax
from engine.embedded.text import TextStream
from engine.embedded.tokenizer import DemoTokenizer


@dataclass(frozen=True, slots=True)
class GenerationRequest:
    """What a checked request asks of the model.

    Attributes:
        prompt_ids: with the thought block, where the endpoint appends one.
        max_tokens: of the answer.
        width: canvas slots.
        seed_canvas: first tokens of the first canvas; None for noise.
        pinned: slots of the seed that never change.
        max_steps: denoise steps a canvas; None for the model's own number.
        read_only: one canvas is the whole answer, its end tokens do not count.
        stop: strings that end the answer.
        stop_ids: token ids that end it, besides the model's own.
        ignore_eos: the model's end tokens do not end the answer.
        keep_stop: the stop string or token is part of the text.
        skip_special: special tokens are left out of the text.
        logprob_ids: tokens whose log-probability is wanted at every slot.
        top_logprobs: so many likeliest tokens at every slot; None when no log-probabilities are wanted.
        live_id: the name under which frames are published; None for no frames.
        random_seed: of the noise; None for a fresh one. Not on the wire: vLLM refuses seeds, tests want them.
    """

    prompt_ids: tuple[int, ...]
    max_tokens: int
    width: int
    seed_canvas: tuple[int, ...] | None = None
    pinned: tuple[int, ...] = ()
    max_steps: int | None = None
    read_only: bool = False
    stop: tuple[str, ...] = ()
    stop_ids: frozenset[int] = frozenset()
    ignore_eos: bool = False
    keep_stop: bool = False
    skip_special: bool = True
    logprob_ids: tuple[int, ...] = ()
    top_logprobs: int | None = None
    live_id: str | None = None
    random_seed: int | None = None

    @property
    def wants_logprobs(self) -> bool:
        return self.top_logprobs is not None or bool(self.logprob_ids)


@dataclass(frozen=True, slots=True)
class TokenLogprob:
    """Log-probability (natural, full vocabulary) of one token at one slot; ``rank`` 1 is the likeliest."""

    token_id: int
    logprob: float
    rank: int


@dataclass(frozen=True, slots=True)
class Committed:
    """A canvas of the answer.

    Attributes:
        token_ids: what it adds, up to and including an end token.
        text: what it adds to the text; an end token or stop string is left out.
        logprobs: for each token, the committed one first, then those asked for. Empty when none are wanted.
        finish_reason: set on the last canvas.
        stop_reason: the stop string or token id that ended the answer; None for the primary end token or the length.
    """

    token_ids: tuple[int, ...]
    text: str
    logprobs: tuple[tuple[TokenLogprob, ...], ...] = ()
    finish_reason: Literal["stop", "length"] | None = None
    stop_reason: int | str | None = None


@dataclass(slots=True)
class Counters:
    """Totals since the start, counted as vLLM 0.33.0 counts them (v1/spec_decode/metrics.py, core/sched/scheduler.py).

    Attributes:
        denoise_steps: passes over a canvas; the pass that commits one counts too, except for a read.
        canvas_positions: slots of those passes.
        committed_tokens: slots of committed canvases, those behind an end token included.
        prompt_tokens, generation_tokens: of the requests.
    """

    denoise_steps: int = 0
    canvas_positions: int = 0
    committed_tokens: int = 0
    prompt_tokens: int = 0
    generation_tokens: int = 0

    def count_pass(self, width: int, *, commits: bool = False) -> None:
        self.denoise_steps += 1
        self.canvas_positions += width
        if commits:
            self.committed_tokens += width


@dataclass(slots=True)
class _Canvas:
    prefix: Prefix
    sampler: CanvasSampler


@dataclass(slots=True)
class _Progress:
    answer: list[int] = field(default_factory=list)
    frames: int = 0


class Generation:
    """The state of one request. ``advance`` until a ``Committed`` with a finish reason comes out."""

    def __init__(
        self,
        model: DemoModel,
        tokenizer: DemoTokenizer,
        request: GenerationRequest,
        *,
        counters: Counters | None = None,
        live: LivePublisher | None = None,
        rng: np.random.Generator | None = None,
    ) -> None:
        self.request = request
        self._model = model
        self._counters = counters or Counters()
        self._live = live if request.live_id else None
        self._rng = rng or np.random.default_rng(request.random_seed)
        self._canvas: _Canvas | None = None
        self._progress = _Progress()
        self._text = TextStream(tokenizer, request.stop, skip_special=request.skip_special, keep_stop=request.keep_stop)

    @property
    def frames(self) -> int:
        """Frames published so far."""
        return self._progress.frames

    def advance(self) -> Committed | None:
        """Does one unit of work: encode, or one denoise step. Returns a canvas when that step commits one."""
        if self._canvas is None:
            self._canvas = self._start_canvas()
            return None
        prefix, sampler = self._canvas.prefix, self._canvas.sampler
        logits = self._model.denoise(prefix, sampler.canvas, sampler.previous)
        step = sampler.step(logits)
        self._publish(step)
        request, width = self.request, len(step.argmax)
        self._counters.count_pass(width, commits=step.converged and request.read_only)
        if not step.converged:
            return None
        if not request.read_only:
            self._counters.count_pass(width, commits=True)
        self._canvas = None
        return self._commit(step, logits)

    def _start_canvas(self) -> _Canvas:
        request, answer = self.request, self._progress.answer
        if not answer:
            self._counters.prompt_tokens += len(request.prompt_ids)
        prefix = self._model.encode((*request.prompt_ids, *answer))
        config = self._model.config
        if request.seed_canvas is not None and not answer:
            first: Ids = np.asarray(request.seed_canvas, np.int64)
            pinned = request.pinned
        else:
            width = min(request.width, config.max_model_len - prefix.length)
            first, pinned = self._rng.integers(0, config.vocab_size, width), ()
        sampler = CanvasSampler(
            config.sampler, first, config.vocab_size, self._rng, pinned=pinned, max_steps=request.max_steps
        )
        return _Canvas(prefix, sampler)

    def _publish(self, step: Step) -> None:
        if self._live is not None and self.request.live_id is not None:
            self._progress.frames += 1
            self._live.send(self.request.live_id, self._progress.frames, step)

    def _commit(self, step: Step, logits: Floats) -> Committed:
        """Cuts the canvas at its first end token, and the text at a stop string."""
        kept, reason, stop_id = self._cut(step.argmax.tolist())
        self._progress.answer += kept
        self._counters.generation_tokens += len(kept)
        ended_by_token = reason == "stop"
        text, matched = self._text.add(kept, final=reason is not None, last_is_stop=ended_by_token)
        if matched is not None:
            reason = "stop"
        return Committed(
            token_ids=tuple(kept),
            text=text,
            logprobs=self._logprobs(step, logits, len(kept)),
            finish_reason=reason,
            stop_reason=stop_id if matched is None else matched,
        )

    def _cut(self, canvas: Sequence[int]) -> tuple[list[int], Literal["stop", "length"] | None, int | None]:
        request, eos = self.request, self._model.config.eos_ids
        room = min(
            request.max_tokens - len(self._progress.answer),
            self._model.config.max_model_len - len(request.prompt_ids) - len(self._progress.answer),
        )
        for place, token in enumerate(canvas, start=1):
            if not request.ignore_eos and token in eos:
                return list(canvas[:place]), "stop", None if token == eos[0] else token
            if token in request.stop_ids:
                return list(canvas[:place]), "stop", token
            if place >= room:
                return list(canvas[:place]), "length", None
        return list(canvas), None, None

    def _logprobs(self, step: Step, logits: Floats, count: int) -> tuple[tuple[TokenLogprob, ...], ...]:
        """Of the converging step: at temperature 1 for a read, else at the step's own (as vLLM 0.33.0 does)."""
        request = self.request
        if not request.wants_logprobs:
            return ()
        temperature = 1.0 if request.read_only else step.temperature
        rows = log_softmax(logits[:count].astype(np.float64) / temperature)
        return tuple(_row_logprobs(row, int(step.argmax[slot]), request) for slot, row in enumerate(rows))


def _row_logprobs(row: Floats, committed: int, request: GenerationRequest) -> tuple[TokenLogprob, ...]:
    """The committed token first, then the ids asked for (explicit ones win over the likeliest)."""
    wanted: Sequence[int] = request.logprob_ids
    if not wanted and request.top_logprobs:
        wanted = np.argsort(-row, kind="stable")[: request.top_logprobs].tolist()
    ids = dict.fromkeys((committed, *wanted))
    return tuple(TokenLogprob(i, float(row[i]), int((row > row[i]).sum()) + 1) for i in ids)
