"""The demo model's two onnxruntime graphs, and a cache of encoded prompts.

``encode`` runs once per prompt (causal), ``denoise`` once per step over the canvas (bidirectional, reading the
encoded prompt). P prompt tokens, C canvas slots, V vocabulary.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnxruntime import InferenceSession, SessionOptions  # type: ignore[attr-defined]

from engine.embedded.sampler import Floats, Ids, SamplerConfig
from engine.errors import UserError

# The encoder's attention scores grow with the square of the prompt: 2,048 tokens take 0.4 GB, 4,096 take 1.5 GB.
MAX_MODEL_LEN = 2048
CACHE_BYTES = 64 * 2**20
_THREADS = 2


@dataclass(frozen=True, slots=True)
class ModelConfig:
    """What config.json and generation_config.json say.

    Attributes:
        vocab_size: V, including ids that no text uses; noise is drawn over all of it.
        canvas_length: slots of a canvas.
        max_model_len: prompt and answer together, in tokens.
        eos_ids: ids that end an answer; the first is the primary one.
        max_new_tokens: ceiling of an answer whose request names none.
        sampler: the numbers of the denoise loop.
    """

    vocab_size: int
    canvas_length: int
    max_model_len: int
    eos_ids: tuple[int, ...]
    max_new_tokens: int
    sampler: SamplerConfig

    @classmethod
    def read(cls, folder: Path, max_model_len: int = MAX_MODEL_LEN) -> ModelConfig:
        """Reads the two files.

        Raises:
            UserError: a file is missing, broken or lacks a key.
        """
        config = _json(folder / "config.json")
        generation = _json(folder / "generation_config.json")
        try:
            text = config["text_config"]
            eos = generation["eos_token_id"]
            return cls(
                vocab_size=int(text["vocab_size"]),
                canvas_length=int(config["canvas_length"]),
                max_model_len=min(max_model_len, int(text["max_position_embeddings"])),
                eos_ids=tuple(eos) if isinstance(eos, list) else (int(eos),),
                max_new_tokens=int(generation.get("max_new_tokens", max_model_len)),
                sampler=SamplerConfig.from_generation_config(generation),
            )
        except KeyError as error:
            raise UserError(
                "embedded.config_incomplete",
                "{folder}: config.json or generation_config.json lacks {key}",
                folder=folder,
                key=error.args[0],
            ) from error


@dataclass(frozen=True, slots=True)
class Prefix:
    """An encoded prompt.

    Attributes:
        length: its tokens.
        tensors: the denoise graph's inputs k0, v0, k1, ... and prompt_len.
    """

    length: int
    tensors: Mapping[str, NDArray[Any]] = field(repr=False)

    @property
    def nbytes(self) -> int:
        return sum(tensor.nbytes for tensor in self.tensors.values())


class PrefixCache:
    """The encoded prompts used last, up to a number of bytes. A single larger one is kept alone."""

    def __init__(self, limit: int = CACHE_BYTES) -> None:
        self._limit = limit
        self._entries: OrderedDict[tuple[int, ...], Prefix] = OrderedDict()
        self._bytes = 0

    def get(self, ids: tuple[int, ...]) -> Prefix | None:
        found = self._entries.get(ids)
        if found is not None:
            self._entries.move_to_end(ids)
        return found

    def put(self, ids: tuple[int, ...], prefix: Prefix) -> None:
        self._bytes -= self._entries[ids].nbytes if ids in self._entries else 0
        self._entries[ids] = prefix
        self._entries.move_to_end(ids)
        self._bytes += prefix.nbytes
        while self._bytes > self._limit and len(self._entries) > 1:
            _, dropped = self._entries.popitem(last=False)
            self._bytes -= dropped.nbytes

    def __len__(self) -> int:
        return len(self._entries)


class DemoModel:
    """The graphs of one checkpoint folder. Used by one thread at a time."""

    def __init__(
        self,
        folder: Path,
        *,
        threads: int = _THREADS,
        max_model_len: int = MAX_MODEL_LEN,
        cache_bytes: int = CACHE_BYTES,
    ) -> None:
        """Loads both graphs.

        Args:
            folder: holds encode.onnx, denoise.onnx, their weights, config.json and generation_config.json.
            threads: cores that one pass may use.

        Raises:
            UserError: a file is missing or onnxruntime cannot read it.
        """
        self.folder = folder.resolve()
        self.config = ModelConfig.read(folder, max_model_len)
        self.cache = PrefixCache(cache_bytes)
        self._encode = _session(folder / "encode.onnx", threads)
        self._denoise = _session(folder / "denoise.onnx", threads)
        self._names = [output.name for output in self._encode.get_outputs()]

    def encode(self, ids: Sequence[int]) -> Prefix:
        """The prompt, encoded; from the cache when it was among the last ones."""
        key = tuple(ids)
        found = self.cache.get(key)
        if found is None:
            tensors = self._encode.run(None, {"prompt_ids": np.asarray([key], np.int64)})
            named = dict(zip(self._names, tensors, strict=True))
            found = Prefix(len(key), {**named, "prompt_len": np.asarray([len(key)], np.int64)})
            self.cache.put(key, found)
        return found

    def denoise(self, prefix: Prefix, canvas: Ids, previous: Floats) -> Floats:
        """One pass over the canvas.

        Args:
            canvas: [C] token ids.
            previous: [C, V] probabilities of the step before, zeros on the first.

        Returns:
            [C, V] float32 logits, soft-capped, not tempered.
        """
        feeds = {"canvas_ids": canvas[None], "prev_probs": previous[None], **prefix.tensors}
        logits: Floats = np.asarray(self._denoise.run(None, feeds)[0])[0]
        return logits


def _session(path: Path, threads: int) -> InferenceSession:
    options = SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    # Spinning workers would keep a core busy between two passes of a chat.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    if not path.is_file():
        raise UserError(
            "embedded.file_missing",
            "{path} is missing",
            remedy="reinstall the program or name a folder that holds a complete demo model",
            path=path,
        )
    try:
        return InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as error:
        raise UserError(
            "embedded.graph_broken", "{path} cannot be loaded: {reason}", path=path, reason=str(error)
        ) from error


def _json(path: Path) -> dict[str, Any]:
    try:
        loaded: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UserError(
            "embedded.config_broken", "{path} cannot be read: {reason}", path=path, reason=str(error)
        ) from error
    return loaded
