"""The shapes of DiffusionGemma 26B-A4B, what tensor parallelism makes of them, and how Marlin pads them.

Standard library only and no import of ours: the numeric self-test reads this file inside the engine's environment,
where the rest of the program is not installed.

Source of the numbers: the checkpoint's ``config.json``. Source of the pad rules: vLLM 0.33.0,
``model_executor/layers/quantization/utils/marlin_utils.py`` (``marlin_padded_nk``, ``marlin_moe_padded_intermediate``).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

LAYERS = 30
FULL_LAYERS = 5  # full attention; the other 25 have a sliding window
HIDDEN = 2816
INTERMEDIATE = 2112  # the dense MLP that stands beside the experts in every layer
EXPERTS = 128
EXPERTS_PER_TOKEN = 8
MOE_INTERMEDIATE = 704
QUERY_HEADS = 16
HEAD, FULL_HEAD = 256, 512
KV_HEADS, FULL_KV_HEADS = 8, 2
VOCAB = 262_144
WINDOW = 1024
MAX_CONTEXT = 262_144
CANVAS = 256

TENSOR_PARALLEL = (1, 2, 4, 8)  # divisors of 16 query heads, 704 and 2112


@dataclass(frozen=True, slots=True)
class Shard:
    """One weight matrix of one card: ``n`` outputs, ``k`` inputs, how often the model has it."""

    name: str
    n: int
    k: int
    count: int

    @property
    def parameters(self) -> int:
        return self.n * self.k * self.count


def round_up(value: int, multiple: int) -> int:
    return -(-value // multiple) * multiple


def marlin_dense_pad(n: int, k: int) -> tuple[int, int]:
    """The shape that Marlin stores a dense matrix in.

    Its thread tiles cover (n % 64, k % 128) or (n % 128, k % 64); a shape that is neither is filled with zeros up to
    the smaller of the two.
    """
    tiles = ((64, 128), (128, 64))
    shapes = [(round_up(n, tile_n), round_up(k, tile_k)) for tile_n, tile_k in tiles]
    return min(shapes, key=lambda shape: (math.prod(shape), sum(shape)))


def marlin_moe_pad(intermediate: int) -> int:
    """The width that Marlin stores an expert's shard in: the next multiple of 64."""
    return round_up(intermediate, 64)


def qkv_width(tp: int, *, full: bool) -> int:
    """Outputs of the fused query, key and value projection on one card; a key-value head is never split."""
    head = FULL_HEAD if full else HEAD
    kv_heads = max(1, (FULL_KV_HEADS if full else KV_HEADS) // tp)
    return head * (QUERY_HEADS // tp + 2 * kv_heads)


def dense_shards(tp: int) -> tuple[Shard, ...]:
    """Every dense matrix of the 30 layers on one card of ``tp``, before padding."""
    sliding = LAYERS - FULL_LAYERS
    return (
        Shard("qkv of a sliding layer", qkv_width(tp, full=False), HIDDEN, sliding),
        Shard("qkv of a full layer", qkv_width(tp, full=True), HIDDEN, FULL_LAYERS),
        Shard("output of a sliding layer", HIDDEN, QUERY_HEADS * HEAD // tp, sliding),
        Shard("output of a full layer", HIDDEN, QUERY_HEADS * FULL_HEAD // tp, FULL_LAYERS),
        Shard("gate and up", 2 * INTERMEDIATE // tp, HIDDEN, LAYERS),
        Shard("down", HIDDEN, INTERMEDIATE // tp, LAYERS),
    )


def needs_padding(tp: int) -> tuple[bool, bool]:
    """Whether any dense matrix, and whether the experts, must be padded for Marlin at ``tp``."""
    dense = any(marlin_dense_pad(shard.n, shard.k) != (shard.n, shard.k) for shard in dense_shards(tp))
    width = MOE_INTERMEDIATE // tp
    return dense, marlin_moe_pad(width) != width
