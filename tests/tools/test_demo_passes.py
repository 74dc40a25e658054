"""Training's passes are those of the shipped model, and a short training repeats itself bit for bit.

Needs torch and transformers: run where they are (``packaging/vllm-cpu.sh`` brings them); skipped elsewhere.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.parity.reference_process import reference_python
from tests.tools.demo_files import DEMO, ROOT

PASSES = """
import sys, torch
from transformers import DiffusionGemmaForBlockDiffusion
from tools.train_demo.losses import prompt_mask
from tools.train_demo.model import denoise, encode, head, use_traceable_kernels
from tools.train_demo.passes import Passes
torch.manual_seed(0)
model = DiffusionGemmaForBlockDiffusion.from_pretrained(sys.argv[1], dtype=torch.float32)
use_traceable_kernels(model, "sdpa")
size = model.config.text_config.vocab_size
ids, canvas = torch.randint(0, size, (3, 40)), torch.randint(0, size, (3, 16))
lengths = torch.tensor([40, 33, 20])
mask = prompt_mask(lengths, 40, 16)
passes = Passes(model)
with torch.no_grad():
    prefix, hidden = encode(model, ids)
    own, own_hidden = passes.encode(ids)
    print((hidden - own_hidden).abs().max().item())
    wide = mask.expand(-1, -1, 16, -1).contiguous()
    first = denoise(model, canvas, torch.zeros(3, 16, size), lengths, prefix, mask)
    decoded = passes.decode(canvas, torch.zeros(3, 16, hidden.shape[-1]), lengths, own, wide)
    print((head(model, decoded) - first).abs().max().item())
    second = denoise(model, canvas, torch.softmax(first / 0.7, -1), lengths, prefix, mask)
    soft = passes.soft_embedding(decoded, torch.full((3, 1, 1), 0.7), torch.ones(3, 1, 1))
    print((head(model, passes.decode(canvas, soft, lengths, own, wide)) - second).abs().max().item())
    print((second - first).abs().max().item())
    loss, right = passes.losses(decoded, canvas)
    expected = torch.nn.functional.cross_entropy(first.flatten(0, 1), canvas.flatten(), reduction="none")
    print((loss.flatten() - expected).abs().max().item())
"""


def run(*argv: str) -> str:
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "TRANSFORMERS_VERBOSITY": "error"}
    done = subprocess.run(
        [reference_python(), *argv], cwd=ROOT, capture_output=True, text=True, check=False, env=environment, timeout=440
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


@pytest.mark.parity
def test_the_passes_of_training_are_those_of_the_model() -> None:
    encoded, first, second, conditioned, loss = map(float, run("-c", PASSES, str(DEMO)).split()[-5:])
    assert max(encoded, first, second, loss) < 1e-3
    assert conditioned > 0.1  # self-conditioning does something


@pytest.mark.parity
@pytest.mark.timeout(900)  # two trainings, each of which imports torch; minutes on a busy machine
def test_a_training_of_some_steps_repeats_itself_bit_for_bit(tmp_path: Path) -> None:
    weights = []
    for name in ("first", "second"):
        out = tmp_path / name
        run(
            "-m", "tools.train_demo.train", "--out", str(out), "--steps", "3", "--batch", "8", "--tokens", "1500",
            "--workers", "1", "--tokenizer-samples", "2000", "--evaluate", "0",
        )  # fmt: skip
        weights.append((out / "model.safetensors").read_bytes())
    assert weights[0] == weights[1]


def test_the_interpreter_of_the_application_needs_no_torch() -> None:
    """The held-out questions are made without torch, so the benchmark's file can be checked anywhere."""
    script = "import sys, tools.train_demo.held_out_set; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
