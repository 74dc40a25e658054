"""A checkpoint of random weights: the same on every run, as its configuration says, and as vLLM's loader takes it."""

from __future__ import annotations

import json
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.paths import demo_model_dir
from tools import random_checkpoint

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "engine" / "vllm_plugin"))
from plugin_process import environment, python  # noqa: E402  # the folder is no package


def made(folder: Path, layers: int = 2, precision: str = "fp8", seed: int = 0) -> dict[str, tuple[str, Any]]:
    """Kind and bytes of every tensor, by name."""
    whole = random_checkpoint.write(demo_model_dir(), folder, layers=layers, precision=precision, seed=seed)
    found: dict[str, tuple[str, Any]] = {}
    for path in sorted(folder.glob("*.safetensors")):
        data = path.read_bytes()
        (length,) = struct.unpack("<Q", data[:8])
        header = json.loads(data[8 : 8 + length])
        header.pop("__metadata__")
        start = 8 + length
        assert max(about["data_offsets"][1] for about in header.values()) == len(data) - start
        for name, about in header.items():
            first, last = about["data_offsets"]
            found[name] = (about["dtype"], np.frombuffer(data[start + first : start + last], np.uint8))
    index = json.loads((folder / "model.safetensors.index.json").read_text())
    assert index["weight_map"].keys() == found.keys()
    assert index["metadata"]["total_size"] == whole == sum(len(data) for _, data in found.values())
    return found


def floats(kind: str, data: Any) -> Any:
    if kind == "F32":
        return data.view("<f4")
    if kind == "BF16":
        return (data.view("<u2").astype(np.uint32) << 16).view(np.float32)
    sign, exponent, fraction = data >> 7, ((data >> 3) & 15).astype(int), (data & 7) / 8
    size = np.where(exponent == 0, fraction * 2.0**-6, (1 + fraction) * 2.0 ** (exponent - 7))
    return np.where(sign == 1, -size, size)


def test_the_same_seed_gives_the_same_bytes_and_another_gives_others(tmp_path: Path) -> None:
    one, again, other = (made(tmp_path / name, seed=seed) for name, seed in (("a", 1), ("b", 1), ("c", 2)))
    assert all(np.array_equal(one[name][1], again[name][1]) for name in one)
    assert not any(np.array_equal(one[name][1], other[name][1]) for name in one if len(one[name][1]) > 16)
    layers = [one[f"model.decoder.layers.{number}.mlp.up_proj.weight"][1] for number in range(2)]
    assert not np.array_equal(*layers), "no two tensors are alike"


def test_values_are_normal_and_products_keep_their_size(tmp_path: Path) -> None:
    found = made(tmp_path)
    hidden = json.loads((demo_model_dir() / "config.json").read_text())["text_config"]["hidden_size"]
    name = "model.decoder.layers.1.self_attn.q_proj"
    weight = floats(*found[f"{name}.weight"]).reshape(-1, hidden)
    scale = floats(*found[f"{name}.weight_scale"])
    assert len(scale) == len(weight)
    assert np.abs(weight).max() <= random_checkpoint.FP8_LARGEST
    whole = weight * scale[:, None]
    assert whole.std() == pytest.approx(hidden**-0.5, rel=0.05)
    assert np.abs(whole.mean()) < 0.01 * hidden**-0.5
    embedding = floats(*found["model.decoder.embed_tokens.weight"])
    assert embedding.std() == pytest.approx(random_checkpoint.EMBEDDING, rel=0.02)
    assert floats(*found["model.decoder.norm.weight"]).mean() == pytest.approx(random_checkpoint.LAST, rel=0.05)


def test_bf16_has_the_same_names_without_scales_and_no_quantization(tmp_path: Path) -> None:
    fp8, plain = made(tmp_path / "fp8"), made(tmp_path / "bf16", precision="bf16")
    assert {name for name in fp8 if not name.endswith(".weight_scale")} == plain.keys()
    assert {kind for kind, _ in plain.values()} == {"BF16"}
    configs = [json.loads((tmp_path / name / "config.json").read_text()) for name in ("fp8", "bf16")]
    assert ["quantization_config" in config for config in configs] == [True, False]
    assert [len(config["text_config"]["layer_types"]) for config in configs] == [2, 2]
    assert (tmp_path / "fp8" / "tokenizer.json").exists()


def test_more_layers_than_there_are_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="--layers 7: the configuration has 1 to 6"):
        made(tmp_path, layers=7)


@pytest.mark.vllm_cpu
@pytest.mark.timeout(600)
def test_vllms_own_loader_fills_every_parameter_with_what_the_files_say(tmp_path: Path) -> None:
    made(tmp_path / "fp8")
    command = [python(), ROOT / "tests" / "tools" / "checkpoint_in_engine.py", tmp_path / "fp8"]
    ran = subprocess.run(
        command, capture_output=True, text=True, timeout=600, check=False, env=environment(), cwd=tmp_path
    )
    assert ran.returncode == 0, ran.stderr[-4000:]
    told = json.loads(ran.stdout.splitlines()[-1])
    # Scales of an FP8 cache have a default, and no checkpoint of this model holds any.
    assert [name for name in told["untouched"] if ".self_attn.attn." not in name] == []
    assert told["wrong"] == []
    assert told["compared"] == 2 * 14
