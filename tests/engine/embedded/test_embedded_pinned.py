"""Reads of several denoise steps: the template stays, and what the model thinks of it reaches no later step."""

from __future__ import annotations

import numpy as np
import pytest

from engine.embedded.engine import EmbeddedEngine
from engine.embedded.generate import Committed, Generation, GenerationRequest
from engine.embedded.sampler import CanvasSampler, SamplerConfig

V = 50


def sampler(pinned: tuple[int, ...], steps: int) -> CanvasSampler:
    canvas = np.arange(8, dtype=np.int64)
    return CanvasSampler(SamplerConfig(), canvas, V, np.random.default_rng(0), pinned=pinned, max_steps=steps)


def test_pinned_slots_keep_their_token_and_have_no_step_before() -> None:
    state = sampler((0, 2, 3, 5, 6, 7), 4)
    random = np.random.default_rng(1)
    for number in range(1, 5):
        step = state.step(random.normal(0, 1, (8, V)).astype(np.float32))
        assert state.canvas[[0, 2, 3, 5, 6, 7]].tolist() == [0, 2, 3, 5, 6, 7]
        assert state.previous[[0, 2, 3, 5, 6, 7]].max() == 0.0
        assert state.previous[[1, 4]].sum(axis=-1) == pytest.approx([1.0, 1.0], rel=1e-5)
        # Entropy and argmax are still those of the distribution, also at the pinned slots.
        assert step.entropy.min() > 0.1
        assert step.converged is (number == 4)


def test_without_pins_every_slot_is_conditioned_on_itself() -> None:
    state = sampler((), 2)
    state.step(np.random.default_rng(1).normal(0, 1, (8, V)).astype(np.float32))
    assert state.previous.sum(axis=-1) == pytest.approx(np.ones(8), rel=1e-5)


def read(engine: EmbeddedEngine, *, steps: int, seed: int) -> Committed:
    """One label slot, all else pinned."""
    tokenizer = engine.tokenizer
    prompt = tokenizer.prompt_ids([{"role": "user", "content": "Is water wet?\n\nAnswer with one word: yes or no."}])
    canvas = (17, tokenizer.end_of_turn, *(tokenizer.pad,) * 14)
    request = GenerationRequest(
        prompt_ids=(*prompt, *tokenizer.thought_ids),
        max_tokens=2,
        width=16,
        seed_canvas=canvas,
        pinned=tuple(range(1, 16)),
        max_steps=steps,
        read_only=True,
        ignore_eos=True,
        logprob_ids=tuple(tokenizer.encode("yes")),
        random_seed=seed,
    )
    generation = Generation(engine.model, tokenizer, request)
    while (found := generation.advance()) is None:
        pass
    return found


def test_a_read_of_several_steps_goes_on_from_the_first(demo_engine: EmbeddedEngine) -> None:
    once, again = read(demo_engine, steps=1, seed=0), read(demo_engine, steps=4, seed=0)
    assert once.logprobs[0][0].logprob != again.logprobs[0][0].logprob
    assert read(demo_engine, steps=1, seed=9) == once  # one step draws nothing
    assert read(demo_engine, steps=4, seed=0) == again
