"""The entropy-bound sampler: how a canvas of noise becomes text.

It follows ``generate`` of transformers' ``DiffusionGemmaForBlockDiffusion`` (and vLLM 0.33.0's sampler, which agrees),
step by step: temper, sample, accept by entropy, renoise the rest, stop when stable and confident. What is committed
is the argmax canvas, not the sampled one. C is the canvas width, V the vocabulary.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.errors import UserError

Floats = NDArray[np.floating[Any]]
Ids = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class SamplerConfig:
    """The numbers of generation_config.json.

    Attributes:
        max_steps: denoise steps after which a canvas is committed as it is.
        t_max, t_min: temperature of the first step, and what the linear schedule runs towards.
        entropy_bound: nats; positions are accepted in order of entropy while the sum of those before is at most this.
        stability: how many earlier argmax canvases must equal the present one.
        confidence: nats; the mean entropy of a confident canvas is below this.
    """

    max_steps: int = 48
    t_max: float = 0.8
    t_min: float = 0.4
    entropy_bound: float = 0.1
    stability: int = 1
    confidence: float = 0.005

    @classmethod
    def from_generation_config(cls, config: Mapping[str, Any]) -> SamplerConfig:
        """Reads the file's keys.

        Raises:
            UserError: another sampler is asked for, or a number is missing.
        """
        sampler = config.get("sampler_config") or {}
        if "EntropyBound" not in sampler.get("_cls_name", ""):
            raise UserError(
                "embedded.sampler_unknown",
                "generation_config.json: sampler_config asks for {name!r}; only the entropy-bound sampler is known",
                name=sampler.get("_cls_name", ""),
            )
        try:
            return cls(
                max_steps=int(config["max_denoising_steps"]),
                t_max=float(config["t_max"]),
                t_min=float(config["t_min"]),
                entropy_bound=float(sampler["entropy_bound"]),
                stability=int(config["stability_threshold"]),
                confidence=float(config["confidence_threshold"]),
            )
        except KeyError as error:
            raise UserError(
                "embedded.sampler_incomplete", "generation_config.json: {key} is missing", key=error.args[0]
            ) from error

    def temperature(self, step: int) -> float:
        """Temperature of step ``step`` (from 0): linear from t_max, ending one notch above t_min."""
        left = max(self.max_steps - step, 1)
        return self.t_min + (self.t_max - self.t_min) * left / self.max_steps


@dataclass(frozen=True, slots=True)
class Step:
    """What one denoise step found.

    Attributes:
        number: 1 for the first step of the canvas.
        argmax: [C] likeliest token of every slot.
        accepted: [C] whether the slot keeps its sampled token.
        entropy: [C] nats of the tempered distribution.
        temperature: of this step.
        converged: the argmax canvas is to be committed.
    """

    number: int
    argmax: Ids
    accepted: NDArray[np.bool_]
    entropy: Floats
    temperature: float
    converged: bool


class CanvasSampler:
    """The state of one canvas between denoise steps.

    Attributes:
        canvas: [C] token ids to denoise next.
        previous: [C, V] tempered probabilities of the step before (self-conditioning); zeros before the first, which
            the model takes for "no step before" exactly.
    """

    def __init__(
        self,
        config: SamplerConfig,
        canvas: Ids,
        vocab_size: int,
        rng: np.random.Generator,
        *,
        pinned: Sequence[int] = (),
        max_steps: int | None = None,
    ) -> None:
        """Starts a canvas.

        Args:
            canvas: [C] first token ids: noise, or a seed.
            rng: source of the sampled tokens and the fresh noise; injected, so that a run can be repeated.
            pinned: slots that keep their first token on every step.
            max_steps: an earlier end than the configuration's; the temperature schedule stays as it is.
        """
        self.canvas = canvas
        self.previous: Floats = np.zeros((len(canvas), vocab_size), np.float32)
        self._config = config
        self._vocab_size = vocab_size
        self._rng = rng
        self._seed = canvas.copy()
        self._pinned = np.asarray(list(pinned), np.int64)
        self._last = min(max_steps or config.max_steps, config.max_steps)
        self._history: deque[Ids] = deque(maxlen=config.stability)
        self._steps = 0

    def step(self, logits: Floats) -> Step:
        """Takes the model's [C, V] logits for ``canvas`` and moves the state one step on."""
        config = self._config
        temperature = config.temperature(self._steps)
        self._steps += 1
        tempered = logits / np.float32(temperature)
        log_probs = log_softmax(tempered)
        probs = np.exp(log_probs)
        entropy = -(probs * log_probs).sum(axis=-1)
        argmax = tempered.argmax(axis=-1).astype(np.int64)
        accepted = accept(entropy, config.entropy_bound)
        converged = self._is_settled(argmax, float(entropy.mean())) or self._steps >= self._last
        self._history.append(argmax)
        self._renoise(probs, accepted)
        self.previous = probs
        # A pinned slot says its seed token; what the model would have said there must not reach the next step
        # (vLLM 0.33.0, diffusion_gemma.py, zeroes the soft embedding of pinned slots).
        self.previous[self._pinned] = 0.0
        return Step(self._steps, argmax, accepted, entropy, temperature, converged)

    def _is_settled(self, argmax: Ids, mean_entropy: float) -> bool:
        """Stable (the last ``stability`` argmax canvases equal this one) and confident."""
        seen = self._config.stability == 0 or len(self._history) == self._config.stability
        stable = seen and all(
            np.array_equal(before, argmax) for before in list(self._history)[: self._config.stability]
        )
        return stable and mean_entropy < self._config.confidence

    def _renoise(self, probs: Floats, accepted: NDArray[np.bool_]) -> None:
        """Accepted slots take a sample, all others fresh noise over the whole vocabulary; pins stay."""
        sampled = sample(probs, self._rng)
        noise = self._rng.integers(0, self._vocab_size, len(self.canvas))
        self.canvas = np.where(accepted, sampled, noise).astype(np.int64)
        self.canvas[self._pinned] = self._seed[self._pinned]


def accept(entropy: Floats, bound: float) -> NDArray[np.bool_]:
    """Which slots are sure enough: in ascending order, while the sum of the entropies before one is at most ``bound``.

    The surest slot is always accepted.
    """
    order = np.argsort(entropy, kind="stable")
    ascending = entropy[order]
    accepted = np.zeros(len(entropy), np.bool_)
    accepted[order] = np.cumsum(ascending) - ascending <= bound
    return accepted


def sample(probs: Floats, rng: np.random.Generator) -> Ids:
    """One token per row of [C, V] probabilities, by the inverse of the cumulated distribution."""
    cumulated = np.cumsum(probs, axis=-1, dtype=np.float64)
    threshold = rng.random((len(probs), 1)) * cumulated[:, -1:]
    picked: Ids = np.minimum((cumulated <= threshold).sum(axis=-1), probs.shape[-1] - 1).astype(np.int64)
    return picked


def log_softmax(logits: Floats) -> Floats:
    """Log-probabilities along the last axis."""
    shifted = logits - logits.max(axis=-1, keepdims=True)
    result: Floats = shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
    return result
