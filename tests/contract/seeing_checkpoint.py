"""A tiny checkpoint that sees: the demo model, the vision tower that its file holds already, with weights large enough
to matter, and what its processor needs. Made when a test wants it; it sees colours and shapes, and understands none.
"""

from __future__ import annotations

import json
import random
import shutil
import struct
from pathlib import Path
from typing import Any

from engine.paths import demo_model_dir

SOFT_TOKENS = 70  # the smallest number of places of a picture that the processor knows
PICTURE, BEGIN, END, VIDEO = "<|image|>", "<|image>", "<image|>", "<|video|>"
# The processor wants these names from its tokenizer, though nothing is heard.
SOUND = {"audio_token": "<|audio|>", "boa_token": "<|audio>", "eoa_token": "<audio|>"}
TOWER = ("model.encoder.embed_vision.", "model.encoder.vision_tower.")
_COPIED = ("generation_config.json",)


def make_seeing(folder: Path, seed: int = 1) -> Path:
    """The checkpoint in a folder that is made here."""
    source = demo_model_dir()
    folder.mkdir(parents=True)
    for name in _COPIED:
        shutil.copy(source / name, folder / name)
    tokenizer = json.loads((source / "tokenizer.json").read_text(encoding="utf-8"))
    ids = _add_tokens(tokenizer)
    _write(folder / "tokenizer.json", tokenizer)
    _write(folder / "tokenizer_config.json", _tokenizer_config(source))
    _write(folder / "config.json", _config(source, ids))
    _write(folder / "processor_config.json", _processor_config())
    (folder / "chat_template.jinja").write_text(_template(source), encoding="utf-8")
    _write_weights(source / "model.safetensors", folder / "model.safetensors", random.Random(seed))
    return folder


def _add_tokens(tokenizer: dict[str, Any]) -> dict[str, int]:
    """Adds what is missing behind the last id; the ids of all of them."""
    known = {each["content"]: each["id"] for each in tokenizer["added_tokens"]}
    first = len(tokenizer["model"]["vocab"])
    missing = [token for token in (PICTURE, BEGIN, END, VIDEO, *SOUND.values()) if token not in known]
    for place, token in enumerate(missing):
        plain = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
        tokenizer["added_tokens"].append({"id": first + place, "content": token, **plain})
        known[token] = first + place
    return known


def _tokenizer_config(source: Path) -> dict[str, Any]:
    config = json.loads((source / "tokenizer_config.json").read_text(encoding="utf-8"))
    config["additional_special_tokens"] += [BEGIN, END, VIDEO, *SOUND.values()]
    named = {"image_token": PICTURE, "boi_token": BEGIN, "eoi_token": END, **SOUND}
    return {**config, **named, "extra_special_tokens": named, "processor_class": "Gemma4Processor"}


def _config(source: Path, ids: dict[str, int]) -> dict[str, Any]:
    config = json.loads((source / "config.json").read_text(encoding="utf-8"))
    config |= {"image_token_id": ids[PICTURE], "boi_token_id": ids[BEGIN], "eoi_token_id": ids[END]}
    config["video_token_id"] = ids[VIDEO]
    config["vision_config"]["default_output_length"] = SOFT_TOKENS
    return config


def _processor_config() -> dict[str, Any]:
    sizes = {"patch_size": 16, "pooling_kernel_size": 3}
    return {
        "processor_class": "Gemma4Processor",
        "image_seq_length": SOFT_TOKENS,
        "image_processor": {
            "image_processor_type": "Gemma4ImageProcessor",
            "max_soft_tokens": SOFT_TOKENS,
            **sizes,
        },
        "video_processor": {"video_processor_type": "Gemma4VideoProcessor", "max_soft_tokens": SOFT_TOKENS, **sizes},
        "feature_extractor": {"feature_extractor_type": "Gemma4AudioFeatureExtractor"},
    }


def _template(source: Path) -> str:
    """The demo's own template, which leaves out what is no text, with a place for each picture."""
    template = (source / "chat_template.jinja").read_text(encoding="utf-8")
    text = "{% if p.type == 'text' %}{{ p.text }}{% endif %}"
    assert text in template
    return template.replace(text, "{% if p.type == 'text' %}{{ p.text }}{% else %}" + PICTURE + "{% endif %}")


def _write_weights(source: Path, target: Path, noise: random.Random) -> None:
    """The file as it is, with another vision tower: matrices of unit gain instead of the tiny ones of the start.

    The format: 8 bytes of length, a JSON header with the place of every tensor, then their bytes.
    """
    data = bytearray(source.read_bytes())
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + length])
    for name, tensor in header.items():
        if not name.startswith(TOWER) or len(tensor["shape"]) != 2:
            continue
        assert tensor["dtype"] == "F32", name
        rows, columns = tensor["shape"]
        begin, end = (8 + length + at for at in tensor["data_offsets"])
        values = [noise.gauss(0.0, columns**-0.5) for _ in range(rows * columns)]
        data[begin:end] = struct.pack(f"<{rows * columns}f", *values)
    target.write_bytes(data)


def _write(path: Path, values: dict[str, Any]) -> None:
    path.write_text(json.dumps(values, ensure_ascii=False, indent=1), encoding="utf-8")
