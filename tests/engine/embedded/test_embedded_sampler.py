"""The sampler against numbers worked out by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.embedded.sampler import CanvasSampler, SamplerConfig, accept, log_softmax, sample
from engine.errors import UserError

CONFIG = SamplerConfig(max_steps=4, t_max=0.8, t_min=0.4, entropy_bound=0.1, stability=1, confidence=0.005)
FILE = {
    "max_denoising_steps": 24,
    "t_max": 0.9,
    "t_min": 0.3,
    "stability_threshold": 2,
    "confidence_threshold": 0.01,
    "sampler_config": {"_cls_name": "EntropyBoundSamplerConfig", "entropy_bound": 0.2},
}


def peaked(tokens: list[int], vocab: int = 5, margin: float = 50.0) -> np.ndarray:
    logits = np.zeros((len(tokens), vocab), np.float32)
    logits[np.arange(len(tokens)), tokens] = margin
    return logits


def start(tokens: list[int], config: SamplerConfig = CONFIG, vocab: int = 5, **options: object) -> CanvasSampler:
    return CanvasSampler(config, np.array(tokens), vocab, np.random.default_rng(1), **options)  # type: ignore[arg-type]


def test_the_numbers_of_generation_config() -> None:
    assert SamplerConfig.from_generation_config(FILE) == SamplerConfig(24, 0.9, 0.3, 0.2, 2, 0.01)


def test_another_sampler_is_refused() -> None:
    with pytest.raises(UserError, match="Confidence"):
        SamplerConfig.from_generation_config({**FILE, "sampler_config": {"_cls_name": "ConfidenceSampler"}})


def test_a_missing_number_is_named() -> None:
    with pytest.raises(UserError, match="t_max"):
        SamplerConfig.from_generation_config({key: value for key, value in FILE.items() if key != "t_max"})


def test_temperature_falls_linearly_and_ends_above_t_min() -> None:
    assert [CONFIG.temperature(step) for step in range(4)] == pytest.approx([0.8, 0.7, 0.6, 0.5])


def test_log_softmax_of_one_to_three() -> None:
    assert log_softmax(np.array([[0.0, math.log(3)]])) == pytest.approx(np.log([[0.25, 0.75]]))


def test_acceptance_sums_the_entropies_before_a_slot() -> None:
    # ascending: .03 (before: 0), .05 (.03), .2 (.08), .5 (.28 > .1)
    assert accept(np.array([0.5, 0.05, 0.03, 0.2]), 0.1).tolist() == [False, True, True, True]


def test_the_surest_slot_is_always_accepted() -> None:
    assert accept(np.array([6.0, 5.0]), 0.1).tolist() == [False, True]


@given(st.lists(st.floats(0, 8), min_size=1, max_size=20), st.floats(0.01, 2))
def test_accepted_slots_are_the_surest_ones(entropies: list[float], bound: float) -> None:
    accepted = accept(np.array(entropies), bound)
    assert accepted.any()
    worst = max(e for e, taken in zip(entropies, accepted, strict=True) if taken)
    assert all(e >= worst for e, taken in zip(entropies, accepted, strict=True) if not taken)


def test_temperature_comes_first_everywhere() -> None:
    # At 0.8 the logits 0 and 0.8 ln 2 become 0 and ln 2: probabilities 1/3 and 2/3.
    sampler = start([0], vocab=2)
    step = sampler.step(np.array([[0.0, 0.8 * math.log(2)]]))
    assert sampler.previous == pytest.approx(np.array([[1 / 3, 2 / 3]]))
    assert step.entropy == pytest.approx([math.log(3) - 2 / 3 * math.log(2)])
    assert step.temperature == pytest.approx(0.8)
    assert (step.number, step.argmax.tolist()) == (1, [1])


def test_the_first_step_has_no_step_before() -> None:
    assert not start([1, 2]).previous.any()


def test_accepted_slots_take_a_sample_and_the_rest_fresh_noise() -> None:
    twin = np.random.default_rng(1)
    picked = sample(np.full((3, 5), 0.2), twin)
    noise = twin.integers(0, 5, 3)
    sampler = start([0, 0, 0])
    logits = peaked([3, 3, 3])
    logits[1:] = 0.0  # uniform: entropy ln 5, far over the bound, but nothing stands before the first of them
    step = sampler.step(logits)
    assert step.accepted.tolist() == [True, True, False]
    assert sampler.canvas.tolist() == [3, picked[1], noise[2]]


def test_the_answer_is_the_argmax_not_the_sample() -> None:
    sampler = start([0] * 200, vocab=2)
    step = sampler.step(np.tile(np.array([[0.01, 0.0]], np.float32), (200, 1)))
    assert step.argmax.tolist() == [0] * 200
    assert set(sampler.canvas.tolist()) == {0, 1}


def test_sampling_follows_the_probabilities() -> None:
    probs = np.tile(np.array([[0.1, 0.0, 0.6, 0.3]]), (20_000, 1))
    counts = np.bincount(sample(probs, np.random.default_rng(5)), minlength=4) / 20_000
    assert counts == pytest.approx([0.1, 0.0, 0.6, 0.3], abs=0.02)  # 5 standard errors of 0.0035


def test_stable_and_confident_ends_at_the_second_step() -> None:
    sampler = start([0, 0])
    assert [sampler.step(peaked([3, 4])).converged for _ in range(2)] == [False, True]


def test_a_changed_argmax_is_not_stable() -> None:
    sampler = start([0, 0])
    canvases = [[3, 4], [3, 2], [3, 2]]
    assert [sampler.step(peaked(tokens)).converged for tokens in canvases] == [False, False, True]


def test_higher_stability_wants_more_equal_canvases() -> None:
    config = SamplerConfig(max_steps=9, stability=2)
    sampler = start([0], config)
    assert [sampler.step(peaked([3])).converged for _ in range(3)] == [False, False, True]


def test_stable_but_unsure_goes_on_to_the_last_step() -> None:
    sampler = start([0])
    assert [sampler.step(peaked([3], margin=1.0)).converged for _ in range(4)] == [False, False, False, True]


def test_a_cap_ends_earlier_and_leaves_the_schedule() -> None:
    sampler = start([0], max_steps=1)
    step = sampler.step(peaked([3], margin=1.0))
    assert step.converged
    assert step.temperature == pytest.approx(0.8)


def test_a_cap_above_the_configuration_changes_nothing() -> None:
    sampler = start([0], max_steps=99)
    assert [sampler.step(peaked([3], margin=1.0)).converged for _ in range(4)] == [False, False, False, True]


def test_pinned_slots_keep_their_seed() -> None:
    sampler = start([4, 0, 4], pinned=[0, 2])
    for _ in range(3):
        sampler.step(peaked([1, 1, 1]))
        assert sampler.canvas[[0, 2]].tolist() == [4, 4]
    assert sampler.canvas[1] == 1
