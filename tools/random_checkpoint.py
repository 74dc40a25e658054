"""Writes a checkpoint of random weights that every number of cards reads alike.

    python -m tools.random_checkpoint LIKE OUT [--layers 6] [--precision fp8|bf16] [--seed 0]

``LIKE`` is a folder with a DiffusionGemma's configuration and tokenizer; ``OUT`` gets the same with fewer layers, and
weights. vLLM's own ``--load-format dummy`` draws on every rank anew, so that one card and two hold different models;
these weights are drawn by their names. Six layers of the 26B shape are 6.4 GB, and take the time of writing that.

The names are those of the published FP8 checkpoint: experts one by one, with a ``.weight_scale`` [out, 1] of float32
beside each FP8 matrix. The vision tower is left out: serve it text-only. Needs numpy.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import shutil
import struct
import sys
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np
import numpy.typing as npt

Bytes = npt.NDArray[np.uint8]
Shape = tuple[int, ...]

COPIED = ("tokenizer.json", "tokenizer_config.json", "chat_template.jinja", "generation_config.json")
QUANTIZATION: Mapping[str, Any] = {
    "quant_method": "compressed-tensors",
    "format": "float-quantized",
    "quantization_status": "compressed",
    "config_groups": {
        "group_0": {
            "targets": ["Linear"],
            "weights": {"num_bits": 8, "type": "float", "strategy": "channel", "symmetric": True, "dynamic": False},
            "input_activations": {
                "num_bits": 8,
                "type": "float",
                "strategy": "token",
                "symmetric": True,
                "dynamic": True,
            },
        }
    },
    "ignore": ["lm_head", "re:.*embed.*", "re:.*router.*", "re:.*vision_tower.*", "re:.*self_conditioning.*"],
}
"""Of ``config.json``, where ``LIKE`` has none: weights by channel, inputs by token."""

EMBEDDING = 0.05  # standard deviation, as trained embeddings have it
BRANCH = 0.5  # what a block adds, beside a stream whose root mean square is 1 (canvas) to 2.7 (prompt)
LAST = 0.05  # the last norm: at 2,816 wide, logits spread by about 0.13 nats. Two ranks of the CPU build in bf16 differ
# from one by up to 0.3 of that spread, by rounding alone (six narrow layers); a wrong shard would by several times it.
QUERY = 0.1  # of the norm of queries, the only scale in attention: its logits get a deviation of 1.6 and 2.3
ROUTER = 2.0  # standard deviation of the router's logits: some experts count more than others, as in a trained one
FP8_LARGEST, FP8_SIGMA = 448.0, 96.0  # of E4M3; 4.6 standard deviations are inside
THREADS = 8


@dataclass(frozen=True, slots=True)
class Tensor:
    """One tensor to be written.

    Attributes:
        mean, deviation: of its values, which are normal.
        kind: ``F8_E4M3``, ``BF16`` or ``F32``, safetensors' words.
    """

    name: str
    shape: Shape
    deviation: float
    mean: float = 0.0
    kind: str = "BF16"

    @property
    def size(self) -> int:
        """Bytes."""
        return int(np.prod(self.shape)) * {"F8_E4M3": 1, "BF16": 2, "F32": 4}[self.kind]


def matrix(name: str, rows: int, columns: int, fp8: bool) -> Iterator[Tensor]:
    """A linear layer whose outputs are about as large as its inputs; with the scales of its rows where it is FP8."""
    deviation = columns**-0.5
    if not fp8:
        yield Tensor(f"{name}.weight", (rows, columns), deviation)
        return
    yield Tensor(f"{name}.weight", (rows, columns), FP8_SIGMA, kind="F8_E4M3")
    scale = deviation / FP8_SIGMA  # spread by a tenth: a scale of another row is seen
    yield Tensor(f"{name}.weight_scale", (rows, 1), scale / 10, scale, "F32")


def norm(name: str, size: int, mean: float = 1.0) -> Tensor:
    """Weights of a norm, spread by a tenth."""
    return Tensor(f"{name}.weight", (size,), mean / 10, mean)


def layer(text: Mapping[str, Any], number: int, fp8: bool) -> Iterator[Tensor]:
    """Every tensor of one layer.

    Args:
        text: ``text_config`` of the configuration.
    """
    hidden, at = text["hidden_size"], f"model.decoder.layers.{number}"
    own = {**text, **_own(text, number)}
    heads, kv, size = text["num_attention_heads"], own["num_key_value_heads"], own["head_dim"]
    yield from matrix(f"{at}.self_attn.q_proj", heads * size, hidden, fp8)
    yield from matrix(f"{at}.self_attn.k_proj", kv * size, hidden, fp8)
    if text["layer_types"][number] == "sliding_attention":  # elsewhere values are keys before their norm
        yield from matrix(f"{at}.self_attn.v_proj", kv * size, hidden, fp8)
    yield from matrix(f"{at}.self_attn.o_proj", hidden, heads * size, fp8)
    for part in ("q_norm", "k_norm"):
        yield norm(f"{at}.self_attn.{part}", size, QUERY if part == "q_norm" else 1.0)
    for part in ("input_layernorm", "pre_feedforward_layernorm", "pre_feedforward_layernorm_2"):
        yield norm(f"{at}.{part}", hidden)
    for part in ("post_attention_layernorm", "post_feedforward_layernorm"):
        yield norm(f"{at}.{part}", hidden, BRANCH)
    for part in ("post_feedforward_layernorm_1", "post_feedforward_layernorm_2"):
        yield norm(f"{at}.{part}", hidden)
    yield from _gated(f"{at}.mlp", hidden, text["intermediate_size"], fp8)
    for expert in range(text["num_experts"]):
        yield from _gated(f"{at}.experts.{expert}", hidden, text["moe_intermediate_size"], fp8)
    yield Tensor(
        f"{at}.router.proj.weight", (text["num_experts"], hidden), ROUTER
    )  # its input is scaled by hidden^-1/2
    yield Tensor(f"{at}.router.scale", (hidden,), 0.1, 1.0)
    yield Tensor(f"{at}.router.per_expert_scale", (text["num_experts"],), 0.1, 1.0)
    yield Tensor(f"{at}.layer_scalar", (1,), 0.01, 1.0)


def _own(text: Mapping[str, Any], number: int) -> dict[str, int]:
    """What differs from layer to layer, by the layer's number, which may be written with leading zeros."""
    for key, found in (text.get("per_layer_config") or {}).items():
        if int(key) == number:
            return dict(found)
    return {}


def _gated(name: str, hidden: int, inner: int, fp8: bool) -> Iterator[Tensor]:
    yield from matrix(f"{name}.gate_proj", inner, hidden, fp8)
    yield from matrix(f"{name}.up_proj", inner, hidden, fp8)
    yield from matrix(f"{name}.down_proj", hidden, inner, fp8)


def around(config: Mapping[str, Any]) -> Iterator[Tensor]:
    """What is no layer."""
    text = config["text_config"]
    hidden, inner = text["hidden_size"], config.get("self_conditioning_size") or text["intermediate_size"]
    yield Tensor("model.decoder.embed_tokens.weight", (text["vocab_size"], hidden), EMBEDDING)
    yield norm("model.decoder.norm", hidden, LAST)
    yield norm("model.decoder.self_conditioning.pre_norm", hidden)
    yield from _gated("model.decoder.self_conditioning", hidden, inner, fp8=False)


def fewer_layers(config: Mapping[str, Any], layers: int, precision: str) -> dict[str, Any]:
    """The configuration of the checkpoint.

    Raises:
        ValueError: there are not so many layers.
    """
    text = dict(config["text_config"])
    if not 0 < layers <= text["num_hidden_layers"]:
        raise ValueError(f"--layers {layers}: the configuration has 1 to {text['num_hidden_layers']}")
    own = {key: found for key, found in (text.get("per_layer_config") or {}).items() if int(key) < layers}
    kept = {"num_hidden_layers": layers, "layer_types": text["layer_types"][:layers], "per_layer_config": own}
    made = {**config, "text_config": {**text, **kept}, "dtype": "bfloat16"}
    made.pop("quantization_config", None)
    if precision == "fp8":
        made["quantization_config"] = config.get("quantization_config") or dict(QUANTIZATION)
    return made


def values(tensor: Tensor, seed: int) -> Bytes:
    """The tensor's bytes: drawn by its name, so every run and every machine has the same."""
    digest = hashlib.sha256(f"{seed} {tensor.name}".encode()).digest()
    source = np.random.Generator(np.random.PCG64(int.from_bytes(digest[:8], "little")))
    count = int(np.prod(tensor.shape))
    if tensor.kind == "F32":
        drawn = source.normal(tensor.mean, tensor.deviation, count).astype("<f4")
        return drawn.view(np.uint8)
    if tensor.kind == "F8_E4M3":
        return fp8_table()[source.integers(0, 256, count, np.uint8)]
    table = bf16_table(tensor.mean, tensor.deviation)
    return table[source.integers(0, 1 << 16, count, np.uint16)].view(np.uint8)


def quantiles(count: int) -> npt.NDArray[np.float64]:
    """[count] of the standard normal distribution: picked evenly they are drawn from it."""
    normal = NormalDist()
    return np.array([normal.inv_cdf((place + 0.5) / count) for place in range(count)])


@cache
def _normal() -> npt.NDArray[np.float64]:
    return quantiles(1 << 16)


@cache
def bf16_table(mean: float, deviation: float) -> npt.NDArray[np.uint16]:
    """[65536] values of a normal distribution as bfloat16: the upper half of a float32, rounded to nearest."""
    bits = (mean + deviation * _normal()).astype("<f4").view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype("<u2")


@cache
def fp8_table() -> Bytes:
    """[256] codes of a normal distribution with deviation ``FP8_SIGMA`` in E4M3: sign, 4 bits from 2**-7, 3 bits."""
    codes = np.arange(0x7F)  # 0x7F is no number
    exponent, fraction = codes >> 3, (codes & 7) / 8
    sizes = np.where(exponent == 0, fraction * 2.0**-6, (1 + fraction) * 2.0 ** (exponent - 7.0))
    wanted = FP8_SIGMA * quantiles(256)
    nearest = np.abs(np.abs(wanted)[:, None] - sizes[None, :]).argmin(axis=1)
    return np.where(wanted < 0, nearest | 0x80, nearest).astype(np.uint8)


def write_file(path: Path, tensors: list[Tensor], seed: int) -> dict[str, int]:
    """One safetensors file: length of the header, header, data. Where the tensors lie, by name: their sizes."""
    header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    end = 0
    for tensor in tensors:
        header[tensor.name] = {
            "dtype": tensor.kind,
            "shape": list(tensor.shape),
            "data_offsets": [end, end + tensor.size],
        }
        end += tensor.size
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with path.open("wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for tensor in tensors:
            file.write(values(tensor, seed).data)
    return {tensor.name: tensor.size for tensor in tensors}


def write(like: Path, out: Path, *, layers: int, precision: str, seed: int = 0) -> int:
    """The whole checkpoint; its bytes.

    Raises:
        ValueError: the configuration has not so many layers.
    """
    config = fewer_layers(json.loads((like / "config.json").read_text()), layers, precision)
    out.mkdir(parents=True, exist_ok=True)
    parts = [
        [*around(config)],
        *([*layer(config["text_config"], number, precision == "fp8")] for number in range(layers)),
    ]
    names = [f"model-{number + 1:05}-of-{len(parts):05}.safetensors" for number in range(len(parts))]
    with ThreadPoolExecutor(THREADS) as pool:
        sizes = [*pool.map(lambda name, tensors: write_file(out / name, tensors, seed), names, parts)]
    where = {tensor: name for name, found in zip(names, sizes, strict=True) for tensor in found}
    whole = sum(sum(found.values()) for found in sizes)
    index = {"metadata": {"total_size": whole}, "weight_map": where}
    (out / "model.safetensors.index.json").write_text(json.dumps(index))
    for name in COPIED:
        if (like / name).exists():
            shutil.copy(like / name, out / name)
    (out / "config.json").write_text(json.dumps(config, indent=1))  # last: with it the checkpoint is one
    return whole


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("like", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--layers", type=int, default=6)
    parser.add_argument("--precision", choices=("fp8", "bf16"), default="fp8")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    began = time.monotonic()
    whole = write(given.like, given.out, layers=given.layers, precision=given.precision, seed=given.seed)
    size = f"{given.layers} layers, {given.precision}, {whole / 1e9:.2f} GB"
    print(f"{given.out}: {size}, {time.monotonic() - began:.1f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
