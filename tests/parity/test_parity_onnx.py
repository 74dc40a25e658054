"""The ONNX graphs against transformers' own model, with its caches and masks: the same logits to 1e-4."""

from __future__ import annotations

import json
import random
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from onnxruntime import InferenceSession
from tokenizers import Tokenizer

sys.path.insert(0, str(Path(__file__).parent))
from reference_process import DEMO, run_reference  # the folder is no package

TOLERANCE = 1e-4
PROMPT = (
    "<bos><|turn>user\nClause A: The fee is 30 euros.\nClause B: The fee is 45 euros.\n\n"
    "Question: Do they differ?\nAnswer with one word: yes or no.<turn|>\n<|turn>model\n<|channel>thought\n<channel|>"
)
# Prompt and canvas lengths: around a word, around a page, beyond the sliding window of 512.
LENGTHS = ((1, 16), (5, 1), (40, 16), (57, 64), (300, 32), (511, 16), (512, 16), (513, 16), (700, 64))


@dataclass(frozen=True)
class Case:
    """One prompt and canvas; the second pass is conditioned on the first one at this temperature."""

    prompt: NDArray[np.int64]
    canvas: NDArray[np.int64]
    temperature: float


def all_cases() -> list[Case]:
    size = json.loads((DEMO / "config.json").read_text(encoding="utf-8"))["text_config"]["vocab_size"]
    tokenizer = Tokenizer.from_file(str(DEMO / "tokenizer.json"))
    r = np.random.default_rng(5)
    cases = [
        Case(r.integers(0, size, (1, p)), r.integers(0, size, (1, c)), float(r.uniform(0.4, 0.8))) for p, c in LENGTHS
    ]
    prompt = np.array([tokenizer.encode(PROMPT, add_special_tokens=False).ids], np.int64)
    noise = random.Random(1).randrange(size)
    seeded = np.array([[noise, 6, *[0] * 14]], np.int64)  # the canvas of a read: noise, end of turn, pads
    return [*cases, Case(prompt, seeded, 0.8), Case(prompt, r.integers(0, size, (1, 64)), 0.6)]


def tempered(logits: NDArray[np.float32], temperature: float) -> NDArray[np.float32]:
    scaled = logits / np.float32(temperature)
    p = np.exp(scaled - scaled.max(axis=-1, keepdims=True))
    result: NDArray[np.float32] = (p / p.sum(axis=-1, keepdims=True)).astype(np.float32)
    return result


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """What transformers says about all cases."""
    folder = tmp_path_factory.mktemp("parity")
    arrays: dict[str, Any] = {}
    for i, case in enumerate(all_cases()):
        arrays |= {f"prompt_{i}": case.prompt, f"canvas_{i}": case.canvas, f"temperature_{i}": case.temperature}
    np.savez(folder / "cases.npz", **arrays)
    run_reference(Path(__file__).with_name("reference.py"), DEMO, folder / "cases.npz", folder / "out.npz")
    return np.load(folder / "out.npz")


@pytest.fixture(scope="module")
def sessions() -> tuple[InferenceSession, InferenceSession]:
    encode, denoise = (
        InferenceSession(str(DEMO / f"{name}.onnx"), providers=["CPUExecutionProvider"])
        for name in ("encode", "denoise")
    )
    return encode, denoise


@pytest.mark.parity
@pytest.mark.parametrize("i", range(len(LENGTHS) + 2))
def test_logits_agree_with_and_without_self_conditioning(
    reference: Any, sessions: tuple[InferenceSession, InferenceSession], i: int
) -> None:
    case = all_cases()[i]
    encode, denoise = sessions
    names = [output.name for output in encode.get_outputs()]
    prefix = dict(zip(names, encode.run(None, {"prompt_ids": case.prompt}), strict=True))
    size = reference[f"first_{i}"].shape[-1]

    def run(previous: NDArray[np.float32]) -> NDArray[np.float32]:
        length = np.array([case.prompt.shape[1]], np.int64)
        feed = {"canvas_ids": case.canvas, "prev_probs": previous, "prompt_len": length, **prefix}
        return np.asarray(denoise.run(None, feed)[0])

    first = run(np.zeros((*case.canvas.shape, size), np.float32))
    assert np.abs(first - reference[f"first_{i}"]).max() <= TOLERANCE
    second = run(tempered(first, case.temperature))
    assert np.abs(second - reference[f"second_{i}"]).max() <= TOLERANCE
    assert np.abs(second - first).max() > 10 * TOLERANCE  # self-conditioning does something


@pytest.mark.parity
def test_transformers_reads_the_same_prompt_and_generation_settings(tmp_path: Path) -> None:
    """The checkpoint's tokenizer and generation configuration load in transformers and mean the same there."""
    script = (
        "import json, sys\n"
        "from transformers import AutoTokenizer, DiffusionGemmaForBlockDiffusion\n"
        "tok = AutoTokenizer.from_pretrained(sys.argv[1])\n"
        "model = DiffusionGemmaForBlockDiffusion.from_pretrained(sys.argv[1])\n"
        "config = model.generation_config\n"
        "chat = [{'role': 'user', 'content': 'Hi'}]\n"
        "ids = tok.apply_chat_template(chat, add_generation_prompt=True, return_dict=False)\n"
        "print(json.dumps({'ids': ids, 'steps': config.max_denoising_steps, 'eos': config.eos_token_id,\n"
        "    'bound': config.sampler_config.entropy_bound, 'canvas': model.config.canvas_length}))\n"
    )
    told = json.loads(run_reference("-c", script, DEMO).strip().splitlines()[-1])
    tokenizer = Tokenizer.from_file(str(DEMO / "tokenizer.json"))
    expected = tokenizer.encode("<bos><|turn>user\nHi<turn|>\n<|turn>model\n", add_special_tokens=False).ids
    settings = json.loads((DEMO / "generation_config.json").read_text(encoding="utf-8"))
    assert told == {
        "ids": expected,
        "steps": settings["max_denoising_steps"],
        "eos": settings["eos_token_id"],
        "bound": settings["sampler_config"]["entropy_bound"],
        "canvas": 64,
    }
