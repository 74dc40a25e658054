"""Our sampler on the ONNX graphs against transformers' ``generate``, step by step, given the same random numbers: the
canvas that goes in, the argmax, which slots are accepted, the entropies, the step behind which it stops."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.embedded.model import DemoModel
from engine.embedded.sampler import CanvasSampler, SamplerConfig
from engine.embedded.tokenizer import DemoTokenizer

sys.path.insert(0, str(Path(__file__).parent))
from reference_process import DEMO, run_reference  # the folder is no package

pytestmark = pytest.mark.parity

ENTROPY = 1e-3  # nats
# Where transformers itself decided by less, the sixth digit of a logit decides, and either way is right.
MARGIN, GAP = 1e-4, 1e-3
TEXTS = (
    "Hello!",
    "Who are you?",
    "Tell me a story about a fox.",
    "Name three fruits.",
    "What is 7 plus 5?",
    "What is a river?",
    "The fee is 30 euros.\n\nQuestion: Is the fee 30 euros?\nAnswer with one word: yes or no.",
    "Tell me a story about two friends and a boat on a lake.",
)
SETTINGS: tuple[dict[str, Any], ...] = (
    {},
    {},
    {},
    {"stability_threshold": 2},
    {"stability_threshold": 0},
    {"entropy_bound": 1.0},
    {"max_denoising_steps": 6, "t_max": 1.0, "t_min": 0.2},
    {"confidence_threshold": 0.2},
)
CANVASES = (1, 1, 2, 1, 1, 1, 1, 2)
FIELDS = {
    "max_denoising_steps": "max_steps",
    "entropy_bound": "entropy_bound",
    "stability_threshold": "stability",
    "confidence_threshold": "confidence",
    "t_min": "t_min",
    "t_max": "t_max",
}


class Scripted:
    """The random numbers of the reference, in its order; stands for ``numpy.random.Generator``."""

    def __init__(self, uniform: Any, noise: Any) -> None:
        self._uniform, self._noise = iter(uniform), iter(noise)

    def random(self, shape: tuple[int, int]) -> Any:
        return next(self._uniform).reshape(shape)

    def integers(self, low: int, high: int, size: int) -> Any:
        drawn = next(self._noise)
        assert (low, size) == (0, len(drawn))
        assert drawn.max() < high
        return drawn


@pytest.fixture(scope="module")
def loaded() -> tuple[DemoModel, DemoTokenizer]:
    return DemoModel(DEMO), DemoTokenizer(DEMO)


@pytest.fixture(scope="module")
def prompts(loaded: tuple[DemoModel, DemoTokenizer]) -> list[list[int]]:
    _, tokenizer = loaded
    return [
        [*tokenizer.prompt_ids([{"role": "user", "content": text}]), *(tokenizer.thought_ids if i % 2 else ())]
        for i, text in enumerate(TEXTS)
    ]


@pytest.fixture(scope="module")
def reference(prompts: list[list[int]], tmp_path_factory: pytest.TempPathFactory) -> Any:
    """What transformers does."""
    folder = tmp_path_factory.mktemp("sampler")
    cases = [
        {"prompt": prompt, "seed": i, "canvases": canvases, "settings": settings}
        for i, (prompt, canvases, settings) in enumerate(zip(prompts, CANVASES, SETTINGS, strict=True))
    ]
    (folder / "cases.json").write_text(json.dumps(cases))
    script = Path(__file__).with_name("reference_sampler.py")
    run_reference(script, DEMO, folder / "cases.json", folder / "out.npz")
    with np.load(folder / "out.npz") as answers:
        return dict(answers)


def test_most_canvases_can_be_compared(reference: Any) -> None:
    margins = [rows.min() for name, rows in reference.items() if name.startswith("margin")]
    assert len(margins) == sum(CANVASES)
    assert sum(margin >= MARGIN for margin in margins) >= 0.7 * len(margins)


@pytest.mark.parametrize("i", range(len(TEXTS)))
def test_every_step_is_transformers_own(
    reference: Any, loaded: tuple[DemoModel, DemoTokenizer], prompts: list[list[int]], i: int
) -> None:
    model, _ = loaded
    ids, size = prompts[i], model.config.vocab_size
    config = replace(model.config.sampler, **{FIELDS[name]: value for name, value in SETTINGS[i].items()})
    for j in range(CANVASES[i]):
        seen = {name: reference[f"{name}_{i}_{j}"] for name in ("canvas", "argmax", "accepted", "entropy", "finished")}
        margins, gaps = reference[f"margin_{i}_{j}"], reference[f"gap_{i}_{j}"]
        if margins.min() < MARGIN:
            pytest.skip(f"transformers decided by {margins.min():.1e} nats on canvas {j}")
        script = Scripted(reference[f"uniform_{i}_{j}"], reference[f"noise_{i}_{j}"])
        compare(model, config, ids, size, seen, gaps, script)
        ids = [*ids, *seen["argmax"][-1].tolist()]


def compare(
    model: DemoModel, config: SamplerConfig, ids: list[int], size: int, seen: Any, gaps: Any, script: Any
) -> None:
    """Runs our loop over one canvas and holds every step against transformers' step."""
    prefix = model.encode(ids)
    sampler = CanvasSampler(config, seen["canvas"][0].copy(), size, script)
    steps = len(seen["canvas"])
    for t in range(steps):
        assert sampler.canvas.tolist() == seen["canvas"][t].tolist()
        step = sampler.step(model.denoise(prefix, sampler.canvas, sampler.previous))
        assert step.number == t + 1
        sure = gaps[t] > GAP
        assert step.argmax[sure].tolist() == seen["argmax"][t][sure].tolist()
        assert step.accepted.tolist() == seen["accepted"][t].tolist()
        assert np.abs(step.entropy - seen["entropy"][t]).max() <= ENTROPY
        assert step.converged == (t == steps - 1)
    assert seen["finished"][-1] or steps == config.max_steps
