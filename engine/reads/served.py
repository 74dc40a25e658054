"""What the engine serves that a read must know: vocabulary size, canvas length, and a quirk of vLLM 0.32.

vLLM 0.33.0 says neither size over HTTP. The first guess is the model's ``config.json`` when the model card's ``root``
is a folder on this machine, else the released checkpoint's numbers. A guess is always checked, since the server may
run elsewhere or with ``--diffusion-config``: vLLM refuses a seed token or a label id that is not below the vocabulary
size, and a canvas that is longer than the served one, each with status 400 before anything runs. A wrong guess is
corrected by bisection with such requests (about twenty, once per run).
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from engine.client.http import EngineClient
from engine.client.wire import DiffusionArgs, GenerateRequest, GenerateResponse, ModelCard, SamplingParams
from engine.domain.chat import Message
from engine.errors import EngineRefused, InputError
from engine.reads.canvas import CANVAS_STEP, Specials

RELEASED_VOCABULARY, RELEASED_CANVAS = 262_144, 256  # google/diffusiongemma-26B-A4B-it
MAX_VOCABULARY = 1 << 21
_PROBE_TEXT = "Answer with one word: yes or no."


@dataclass(frozen=True, slots=True)
class Served:
    """The facts about the served model.

    Attributes:
        vocab_size: of the configuration; noise is drawn below it.
        canvas_length: the longest canvas that the engine takes; when questions are read alone, only that it takes one
            of this length has been found out.
        spare_id: vLLM 0.32 cuts the answer to as many logprobs as ids were asked for, the argmax among them, so one
            label is lost. There one more id is asked for, this one; None where the engine returns all (0.33).
    """

    vocab_size: int
    canvas_length: int
    spare_id: int | None = None


async def find_served(client: EngineClient, specials: Specials, *, at_least: int, joint: bool) -> Served:
    """Finds out what the engine serves, with two reads when the first guess is right.

    Args:
        at_least: the canvas length that single reads want.
        joint: whether the exact served length matters.

    Raises:
        InputError: the engine takes no canvas of ``at_least`` slots.
        EngineRefused: it serves no reads through token ids (403: not started with --enable-scale-out).
        EngineUnreachable: nobody answers.
    """
    prompt = (await client.render([Message("user", _PROBE_TEXT)])) + specials.thought
    probe = _Probe(client, prompt, specials)
    guess = await asyncio.to_thread(_guess, await client.models())
    vocab_size = await probe.vocabulary(guess.vocab_size, at_least)
    canvas_length = await probe.canvas(max(guess.canvas_length, at_least), at_least) if joint else at_least
    return replace(await probe.quirk(vocab_size, at_least), canvas_length=canvas_length)


class _Probe:
    """Small reads that are made for whether they are refused."""

    def __init__(self, client: EngineClient, prompt: tuple[int, ...], specials: Specials) -> None:
        self._client = client
        self._prompt = prompt
        self._specials = specials
        self._answers: dict[tuple[int, int], GenerateResponse] = {}

    async def vocabulary(self, guess: int, width: int) -> int:
        """The vocabulary size: the least token id that is refused."""
        if not await self._takes(0, width):
            raise InputError(
                "reads.canvas_too_long",
                "the engine takes no canvas of {width} slots, which single reads use",
                remedy="serve a canvas of at least {width}, or shorten canvas_length in the form's method",
                width=width,
            )
        if await self._takes(guess - 1, width) and not await self._takes(guess, width):
            return guess
        return 1 + await _last(lambda token: self._takes(token, width), 0, MAX_VOCABULARY, step=1)

    async def canvas(self, guess: int, known: int) -> int:
        """The longest canvas up to ``guess`` that is taken, in steps of 16 when the guess itself is not."""
        if await self._takes(0, guess):
            return guess
        return await _last(lambda width: self._takes(0, width), known, guess, step=CANVAS_STEP)

    async def quirk(self, vocab_size: int, width: int) -> Served:
        """Whether the argmax pushes an asked id out of the answer."""
        for first in range(vocab_size - 1, vocab_size - 8, -2):
            # Rare ids: if the argmax were one of them, nothing could be pushed out and the answer would not tell.
            ids = (first - 1, first)
            response = await self._client.generate(self._request(0, width, ids))
            slot = _first_slot(response)
            if slot[0] not in ids:
                lost = not set(ids) <= set(slot[1])
                return Served(vocab_size, width, vocab_size - 1 if lost else None)
        return Served(vocab_size, width)

    async def _takes(self, token: int, width: int) -> bool:
        try:
            await self._client.generate(self._request(token, width, (0, 1)))
        except EngineRefused as refusal:
            if refusal.status in (400, 422):
                return False
            raise
        return True

    def _request(self, token: int, width: int, ids: tuple[int, int]) -> GenerateRequest:
        seed = (token, self._specials.end, *(self._specials.pad,) * (width - 2))
        return GenerateRequest(
            token_ids=self._prompt,
            sampling_params=SamplingParams(
                max_tokens=2,
                logprobs=2,
                logprob_token_ids=ids,
                extra_args=DiffusionArgs(diffusion_seed_canvas=seed, diffusion_canvas_length=width),
            ),
        )


async def _last(takes: Callable[[int], Awaitable[bool]], low: int, high: int, *, step: int) -> int:
    """The last value that is taken, where ``low`` is taken and refusals begin somewhere up to ``high``."""
    while high - low > step:
        middle = low + max((high - low) // (2 * step), 1) * step
        if await takes(middle):
            low = middle
        else:
            high = middle
    return low


def _first_slot(response: GenerateResponse) -> tuple[int, Sequence[int]]:
    logprobs = response.choices[0].logprobs if response.choices else None
    if logprobs is None or not logprobs.content:
        raise EngineRefused("engine.incomplete_read", "the engine's answer to a read has no logprobs", status=200)
    slot = logprobs.content[0]
    return slot.token_id, [entry.token_id for entry in slot.top_logprobs]


def _guess(cards: Sequence[ModelCard]) -> Served:
    """Sizes from the first model's own folder when it lies on this machine, else the released checkpoint's."""
    config: dict[str, Any] = {}
    root = cards[0].root if cards else None
    if root and (path := Path(root) / "config.json").is_file():
        try:
            loaded = json.loads(path.read_bytes())
        except (OSError, ValueError):
            loaded = None  # unreadable for us is no reason not to read through the engine
        config = loaded if isinstance(loaded, dict) else {}
    text = config.get("text_config")
    vocab = (text if isinstance(text, dict) else config).get("vocab_size")
    canvas = config.get("canvas_length")
    return Served(
        vocab if isinstance(vocab, int) and vocab > 8 else RELEASED_VOCABULARY,
        canvas if isinstance(canvas, int) and canvas >= CANVAS_STEP else RELEASED_CANVAS,
    )
