"""A checkpoint in vLLM's own model, loaded by vLLM's own loader. Runs with the engine's interpreter.

    checkpoint_in_engine.py FOLDER

The CPU build has no kernels for FP8, and refuses the scheme before it makes a parameter. Which kernel computes is
nothing to the loader: the two places that choose one are left out here, so parameters and loading are as on a card.
Prints, as JSON, the parameters that were left untouched and those that do not hold what the files say.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch
from safetensors import safe_open
from vllm.config import set_current_vllm_config
from vllm.distributed import parallel_state
from vllm.engine.arg_utils import EngineArgs
from vllm.model_executor.layers.quantization.compressed_tensors import compressed_tensors
from vllm.model_executor.layers.quantization.compressed_tensors.compressed_tensors_moe import (
    compressed_tensors_moe_w8a8_fp8 as experts_fp8,
)
from vllm.model_executor.layers.quantization.compressed_tensors.schemes import compressed_tensors_w8a8_fp8 as dense_fp8
from vllm.model_executor.model_loader import get_model_loader
from vllm.model_executor.model_loader.utils import initialize_model

UNTOUCHED = 0x7F  # in every byte: a number that is none, in FP8 and bf16 and float32 alike or close to it


def as_on_a_card() -> None:
    """What would ask for a GPU."""
    compressed_tensors.CompressedTensorsConfig._check_scheme_supported = lambda *args, **named: True
    dense_fp8.init_fp8_linear_kernel = lambda *args, **named: SimpleNamespace(input_quant_key=lambda: None)
    experts_fp8.select_fp8_moe_backend = lambda *args, **named: (None, None)


def raw(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.detach().contiguous().reshape(-1).view(torch.uint8)


def same(one: torch.Tensor, other: torch.Tensor) -> bool:
    return one.dtype == other.dtype and torch.equal(raw(one), raw(other))


def stacked(files: dict[str, torch.Tensor], text: Any) -> Iterator[tuple[str, torch.Tensor]]:
    """What the model's parameters are made of: their names, and what the files hold for them."""
    for number in range(text.num_hidden_layers):
        at, ours = f"model.layers.{number}", f"model.decoder.layers.{number}"
        for end in ("weight", "weight_scale"):
            parts = [f"{ours}.self_attn.{part}_proj.{end}" for part in "qkv"]
            parts[2] = parts[2] if parts[2] in files else parts[1]  # values are keys
            yield f"{at}.self_attn.qkv_proj.{end}", torch.cat([files[part] for part in parts])
            yield f"{at}.self_attn.o_proj.{end}", files[f"{ours}.self_attn.o_proj.{end}"]
            yield (
                f"{at}.mlp.gate_up_proj.{end}",
                torch.cat([files[f"{ours}.mlp.{part}_proj.{end}"] for part in ("gate", "up")]),
            )
            experts = [f"{ours}.experts.{expert}" for expert in range(text.num_experts)]
            both = [torch.cat([files[f"{one}.{part}_proj.{end}"] for part in ("gate", "up")]) for one in experts]
            yield f"{at}.experts.routed_experts.w13_{end}", torch.stack(both)
            down = [files[f"{one}.down_proj.{end}"] for one in experts]
            yield f"{at}.experts.routed_experts.w2_{end}", torch.stack(down)
        for name in ("router.scale", "router.per_expert_scale", "layer_scalar", "router.proj.weight"):
            yield f"{at}.{name}", files[f"{ours}.{name}"]


def main(folder: Path) -> dict[str, Any]:
    as_on_a_card()
    config = EngineArgs(
        model=str(folder),
        dtype="bfloat16",
        enforce_eager=True,
        max_model_len=1024,
        limit_mm_per_prompt={"image": 0, "video": 0},
    ).create_engine_config()
    with set_current_vllm_config(config), tempfile.NamedTemporaryFile() as meeting:
        parallel_state.init_distributed_environment(1, 0, f"file://{meeting.name}", 0, "gloo")
        parallel_state.initialize_model_parallel(1)
        model = initialize_model(vllm_config=config)
        parameters = dict(model.named_parameters()) | dict(model.named_buffers())
        for parameter in model.parameters():
            raw(parameter.data).fill_(UNTOUCHED)
        get_model_loader(config.load_config).load_weights(model, config.model_config)
    files: dict[str, torch.Tensor] = {}
    for path in sorted(folder.glob("*.safetensors")):
        with safe_open(path, "pt") as file:
            files |= {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118  # it is no dict
    untouched = [name for name, found in model.named_parameters() if bool((raw(found) == UNTOUCHED).all())]
    wrong, seen = [], 0
    for name, expected in stacked(files, config.model_config.hf_text_config):
        seen += 1
        if name not in parameters or not same(parameters[name].to(expected.dtype), expected):
            wrong.append(name)
    return {"parameters": len(parameters), "untouched": untouched, "compared": seen, "wrong": wrong}


if __name__ == "__main__":
    sys.stdout.write(json.dumps(main(Path(sys.argv[1]))) + "\n")
