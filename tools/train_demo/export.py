"""Writes a checkpoint as the files of ``resources/demo_model``: safetensors, configuration, and two ONNX graphs.

The graphs hold no weights: their initializers are ONNX external data that point into ``model.safetensors``, so every
weight is stored once and the graphs can never disagree with the checkpoint.

    python -m tools.train_demo.export CHECKPOINT_FOLDER OUT_FOLDER --temperature 1.5

A temperature is divided into the last norm's weight, in front of the tied head and its soft cap, so that every engine
sees it. It is chosen on the validation part of the held-out questions (``python -m tools.train_demo.calibrate``).
"""

from __future__ import annotations

import argparse
import hashlib
import json
import shutil
import struct
import tempfile
import warnings
from dataclasses import dataclass
from pathlib import Path

import onnx
import torch
from torch import Tensor, nn
from transformers import DiffusionGemmaForBlockDiffusion

from tools.train_demo.generation import GENERATION
from tools.train_demo.model import denoise, encode, use_traceable_kernels

WEIGHTS = "model.safetensors"
OPSET = 18
SMALLEST_EXTERNAL = 128  # bytes; smaller tensors are shapes and constants of the graph, not weights


class Encode(nn.Module):
    """prompt_ids [1, P] -> k0, v0, k1, v1, ..."""

    def __init__(self, model: DiffusionGemmaForBlockDiffusion) -> None:
        super().__init__()
        self.model = model

    def forward(self, prompt_ids: Tensor) -> tuple[Tensor, ...]:
        return tuple(encode(self.model, prompt_ids)[0])


class Denoise(nn.Module):
    """canvas_ids [B, C], prev_probs [B, C, V], prompt_len [1], k0, v0, ... [1, heads, P, width] -> logits [B, C, V]."""

    def __init__(self, model: DiffusionGemmaForBlockDiffusion) -> None:
        super().__init__()
        self.model = model

    def forward(self, canvas_ids: Tensor, prev_probs: Tensor, prompt_len: Tensor, *prefix: Tensor) -> Tensor:
        return denoise(self.model, canvas_ids, prev_probs, prompt_len, prefix)


@dataclass(frozen=True)
class Place:
    """Where a tensor's bytes lie in the safetensors file."""

    offset: int
    length: int


def export(model: DiffusionGemmaForBlockDiffusion, out: Path, temperature: float = 1.0) -> None:
    """Writes everything but the tokenizer into ``out`` (float32), the logits divided by ``temperature``."""
    out.mkdir(parents=True, exist_ok=True)
    model = model.float().cpu().eval()
    with torch.no_grad():
        model.model.decoder.norm.weight.div_(temperature)
    model.set_experts_implementation("eager")  # what the saved configuration shall say
    model.save_pretrained(out)
    (out / "generation_config.json").write_text(json.dumps(GENERATION, indent=2) + "\n", encoding="utf-8")
    use_traceable_kernels(model, "eager")
    places = weight_places(out / WEIGHTS)
    with tempfile.TemporaryDirectory() as scratch, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in ("encode", "denoise"):
            plain = Path(scratch) / f"{name}.onnx"
            _trace(model, name, plain)
            move_weights_out(plain, out / f"{name}.onnx", places)


def _trace(model: DiffusionGemmaForBlockDiffusion, name: str, path: Path) -> None:
    config = model.config.text_config
    prompt = torch.randint(0, config.vocab_size, (1, 40))
    with torch.no_grad():
        prefix = encode(model, prompt)[0]
    names = [f"{part}{i}" for i in range(config.num_hidden_layers) for part in "kv"]
    prefix_axes = {key: {2: "P"} for key in names}
    common = {"dynamo": False, "opset_version": OPSET, "do_constant_folding": False}
    if name == "encode":
        torch.onnx.export(
            Encode(model),
            (prompt,),
            str(path),
            input_names=["prompt_ids"],
            output_names=names,
            dynamic_axes={"prompt_ids": {1: "P"}, **prefix_axes},
            **common,
        )
        return
    canvas = torch.randint(0, config.vocab_size, (2, 16))
    previous = torch.softmax(torch.randn(2, 16, config.vocab_size), -1)
    batched = {0: "B", 1: "C"}
    torch.onnx.export(
        Denoise(model),
        (canvas, previous, torch.tensor([40]), *prefix),
        str(path),
        input_names=["canvas_ids", "prev_probs", "prompt_len", *names],
        output_names=["logits"],
        dynamic_axes={"canvas_ids": batched, "prev_probs": batched, "logits": batched, **prefix_axes},
        **common,
    )


def weight_places(path: Path) -> dict[str, Place]:
    """SHA-256 of a tensor's bytes -> its place in a safetensors file (8-byte header length, JSON header, data)."""
    data = path.read_bytes()
    (header_length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + header_length])
    start = 8 + header_length
    places = {}
    for name, entry in header.items():
        if name != "__metadata__":
            first, last = entry["data_offsets"]
            digest = hashlib.sha256(data[start + first : start + last]).hexdigest()
            places[digest] = Place(start + first, last - first)
    return places


def move_weights_out(source: Path, target: Path, places: dict[str, Place]) -> None:
    """Replaces every weight of the graph by a pointer into the safetensors file beside it.

    Tensors are found by their bytes, so tied weights need no names. A weight that the file does not hold is an error.
    """
    graph = onnx.load(str(source))
    for tensor in graph.graph.initializer:
        raw = onnx.numpy_helper.to_array(tensor).tobytes()
        if len(raw) < SMALLEST_EXTERNAL:
            continue
        place = places.get(hashlib.sha256(raw).hexdigest())
        if place is None:
            raise ValueError(f"{source.name}: initializer {tensor.name} ({len(raw)} bytes) is not in {WEIGHTS}")
        for field in ("raw_data", "float_data", "int64_data"):
            tensor.ClearField(field)
        del tensor.external_data[:]
        tensor.data_location = onnx.TensorProto.EXTERNAL
        for key, value in (("location", WEIGHTS), ("offset", place.offset), ("length", place.length)):
            entry = tensor.external_data.add()
            entry.key, entry.value = key, str(value)
    shorten_names(graph)
    target.write_bytes(graph.SerializeToString())


def shorten_names(graph: onnx.ModelProto) -> None:
    """Drops node names and descriptions, and numbers the inner values: half of the file is names otherwise."""
    graph.doc_string = graph.graph.doc_string = ""
    kept = {value.name for value in (*graph.graph.input, *graph.graph.output)}
    kept |= {tensor.name for tensor in graph.graph.initializer} | {""}
    short: dict[str, str] = {}
    for node in graph.graph.node:
        node.name = node.doc_string = ""
        for values in (node.input, node.output):
            for i, name in enumerate(values):
                if name not in kept:
                    values[i] = short.setdefault(name, f"t{len(short)}")
    del graph.graph.value_info[:]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--temperature", type=float, default=1.0)
    arguments = parser.parse_args()
    model = DiffusionGemmaForBlockDiffusion.from_pretrained(arguments.checkpoint, dtype=torch.float32)
    export(model, arguments.out, arguments.temperature)
    for name in ("tokenizer.json", "tokenizer_config.json", "chat_template.jinja"):
        if arguments.checkpoint.resolve() != arguments.out.resolve():
            shutil.copyfile(arguments.checkpoint / name, arguments.out / name)
    for path in sorted(arguments.out.iterdir()):
        print(f"{path.stat().st_size:>10} {path.name}")


if __name__ == "__main__":
    main()
