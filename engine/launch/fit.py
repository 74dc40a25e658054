"""What DiffusionGemma 26B-A4B takes of a card's memory. Pure arithmetic; all results in bytes per card.

    inside the utilisation:   weights + activations + KV cache = utilisation x total
    outside of it:            CUDA context, canvas buffers, and what other programs hold

vLLM gives the KV cache whatever the utilisation leaves, so the cache is the rest of the sum, and the context follows
from it. Anchors that were seen on real cards: 2x RTX 3090 (4.4077 GiB of KV at 0.82), H100 (43.52 GiB at 0.90),
25.83 GiB of weights on one card, 13.56 GiB text-only at TP=2 with Marlin, 24.75 GiB text-only at TP=1 without.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from engine.domain.hardware import GIB
from engine.domain.plan import CheckpointKind
from engine.launch.shapes import (
    CANVAS,
    EXPERTS,
    FULL_HEAD,
    FULL_KV_HEADS,
    FULL_LAYERS,
    HEAD,
    HIDDEN,
    INTERMEDIATE,
    KV_HEADS,
    LAYERS,
    MAX_CONTEXT,
    MOE_INTERMEDIATE,
    VOCAB,
    WINDOW,
    dense_shards,
    marlin_dense_pad,
    marlin_moe_pad,
)

DRIVER_RESERVE = round(0.4 * GIB)
"""NVML's total less torch's: a 24 GB card says 24.0 and gives 23.56 to 23.7, an RTX 5090 31.84 and about 31.4."""

WSL2_HIDDEN = round(1.31 * GIB)
"""What Windows keeps of a card under WSL2 without showing it (club-3090's WSL setup notes)."""

CUDA_CONTEXT = round(0.71 * GIB)
"""What a rank takes of its card before vLLM 0.33.0 looks at the memory (v1/worker/gpu_worker.py, ``init_device``): the
CUDA context, NCCL's buffers and the handles of cuBLAS, all outside the utilisation. Measured on an H200 (132 SMs), two
cards, P2P off: 139.09 of 139.80 GiB were free then. A context grows with the number of SMs, so it is an upper bound for
smaller cards; nobody measured a 3090."""

VISION = round(1.06 * GIB)
"""The vision tower in bfloat16, whole on every card; ``--limit-mm-per-prompt`` with zeros leaves it out."""

ROPE_CACHES = (HEAD + FULL_HEAD) * MAX_CONTEXT * 2
"""cos and sin in bfloat16 for both head sizes over all positions: 0.375 GiB, whole on every card."""

SELF_CONDITIONING = 3 * INTERMEDIATE * HIDDEN * 2
"""The self-conditioning MLP (gate, up, down) in bfloat16: 0.033 GiB, whole on every card."""

ROUTERS = LAYERS * EXPERTS * HIDDEN * 2
"""Router matrices in bfloat16: 0.02 GiB, whole on every card."""

NVFP4_BYTES = 0.5 + 1 / 16
"""Bytes of a parameter in NVFP4: four bits, and one FP8 scale for sixteen of them."""

ONE_CANVAS = 1.3 * GIB
"""Logits of one canvas of 256 outside the utilisation: bfloat16 64 and 128 MiB, up to four float32 copies of 256 MiB,
probabilities 128 MiB."""

SOFTCAP_EAGER, SOFTCAP_FUSED = 0.875 * GIB, 0.375 * GIB
"""Held by each canvas of a step while its logits are made: bfloat16 128 MiB and three float32 copies of 256 MiB, or
one where torch compiles the softcap (vLLM 0.33.0, models/diffusion_gemma.py, ``_softcap_logits``)."""

LOGITS, TILE = 0.25 * GIB, 1.05 * GIB
"""The sampler keeps float32 logits of every canvas and works on as many at once as free memory allows, at least one
(the same file, ``DiffusionSampler.__call__``)."""

SAFETY = 0.02
"""Share of a card that stays free beside the canvas buffers: fragmentation, and what a desktop takes later."""

BATCHES_IN_FLIGHT = 2
"""vLLM 0.33.0 schedules one step ahead (config/vllm.py), so the window layers keep two batches of tokens; 0.24: 1."""

ACTIVATIONS_PER_1024 = 0.1 * GIB
"""Growth of the profiled activations with the batch: about 1.9 GiB at 8192 tokens on an H100, 1.27 GiB at 2048."""


@dataclass(frozen=True, slots=True)
class Weights:
    """What is resident after loading, by part."""

    experts: int
    expert_scales: int
    dense: int
    embedding: int
    replicated: int
    vision: int

    @property
    def total(self) -> int:
        return self.experts + self.expert_scales + self.dense + self.embedding + self.replicated + self.vision


@dataclass(frozen=True, slots=True)
class KvPool:
    """What a KV cache holds.

    Attributes:
        blocks: whole blocks that fit.
        concurrency: sequences of the full context that fit at once.
        tokens: vLLM's "GPU KV cache size"; concurrency x context, no capacity in a plain sense, since the sliding
            layers keep a window only.
    """

    blocks: int
    concurrency: float
    tokens: int


def weights(
    checkpoint: CheckpointKind, tp: int, *, marlin: bool, vision: bool = True, expert_parallel: int = 1
) -> Weights:
    """Weights of one card.

    Args:
        tp: tensor parallel size; every shard is padded by Marlin's rules where ``marlin`` is set.
        marlin: FP8 and NVFP4 weights are unpacked by Marlin (compute capability 8.0 to 8.8).
        expert_parallel: cards that share the experts whole, instead of splitting each.
    """
    width = MOE_INTERMEDIATE // tp
    if marlin:
        width = marlin_moe_pad(width)
    experts = EXPERTS // expert_parallel
    quantised = NVFP4_BYTES if checkpoint == "nvfp4" else 1.0
    scale_bytes = 0 if checkpoint == "nvfp4" else 2 if marlin else 4  # NVFP4 counts its scales in NVFP4_BYTES
    return Weights(
        experts=round(LAYERS * experts * 3 * width * HIDDEN * quantised),
        expert_scales=LAYERS * experts * (2 * width + HIDDEN) * scale_bytes,
        dense=round(_dense_parameters(tp, marlin=marlin) * quantised),
        embedding=VOCAB * HIDDEN * 2 // tp,
        replicated=ROUTERS + SELF_CONDITIONING + ROPE_CACHES,
        vision=VISION if vision else 0,
    )


def _dense_parameters(tp: int, *, marlin: bool) -> int:
    total = 0
    for shard in dense_shards(tp):
        n, k = marlin_dense_pad(shard.n, shard.k) if marlin else (shard.n, shard.k)
        total += n * k * shard.count
    return total


def kv_layout(tp: int) -> tuple[int, int, int]:
    """(bytes of a block, tokens of a block of a full layer, of a sliding layer).

    vLLM 0.33.0 sorts the 30 layers into six groups of five (five sliding, one full) whose blocks have equal bytes: the
    smaller kind takes more tokens to a block. Keys and values are both stored in bfloat16, also where they are equal.
    """
    layers = FULL_LAYERS  # of every group
    token_full = layers * max(1, FULL_KV_HEADS // tp) * FULL_HEAD * 2 * 2
    token_sliding = layers * max(1, KV_HEADS // tp) * HEAD * 2 * 2
    largest = max(token_full, token_sliding)
    smallest_block = 16
    return smallest_block * largest, smallest_block * largest // token_full, smallest_block * largest // token_sliding


def kv_blocks(context: int, tp: int, batched_tokens: int, *, in_flight: int = BATCHES_IN_FLIGHT) -> int:
    """Blocks that one sequence of ``context`` tokens needs."""
    _, full, sliding = kv_layout(tp)
    window = min(WINDOW - 1 + in_flight * batched_tokens, context)
    groups_sliding = (LAYERS - FULL_LAYERS) // FULL_LAYERS
    return math.ceil(context / full) + groups_sliding * (math.ceil(window / sliding) + 1)


def kv_bytes(context: int, tp: int, batched_tokens: int, *, in_flight: int = BATCHES_IN_FLIGHT) -> int:
    """KV cache of one sequence of ``context`` tokens."""
    return kv_blocks(context, tp, batched_tokens, in_flight=in_flight) * kv_layout(tp)[0]


def kv_pool(budget: float, context: int, tp: int, batched_tokens: int, *, in_flight: int = BATCHES_IN_FLIGHT) -> KvPool:
    """What ``budget`` bytes hold, as vLLM logs it at the start."""
    blocks = max(0, int(budget)) // kv_layout(tp)[0]
    concurrency = blocks / kv_blocks(context, tp, batched_tokens, in_flight=in_flight)
    return KvPool(blocks, concurrency, int(concurrency * context))


def max_context(budget: float, tp: int, batched_tokens: int) -> int:
    """The longest single sequence that ``budget`` bytes hold; 0 when not even one token fits."""
    blocks = max(0, int(budget)) // kv_layout(tp)[0]
    low, high = 0, MAX_CONTEXT
    while low < high:
        middle = (low + high + 1) // 2
        if kv_blocks(middle, tp, batched_tokens) <= blocks:
            low = middle
        else:
            high = middle - 1
    return low


def activations(base: float, batched_tokens: int) -> int:
    """What the profile run adds beside the weights; :data:`CUDA_CONTEXT` was there before it, and is no part of this.

    Args:
        base: bytes at 2048 batched tokens; a property of the class of card.
    """
    return round(base + ACTIVATIONS_PER_1024 * (batched_tokens - 2048) / 1024)


def canvas_buffers(sequences: int, canvas: int, *, eager: bool) -> int:
    """What denoising takes outside the utilisation, on each card.

    One canvas of 256 takes 1.3 GiB. More canvases cost less than that each, since the sampler takes them one after the
    other where memory is short; over several cards too, where the ranks agree on it (docs/plugin.md, ``tiles``).
    """
    softcap = (SOFTCAP_EAGER if eager else SOFTCAP_FUSED) * sequences
    return round(max(ONE_CANVAS, softcap, LOGITS * sequences + TILE) * canvas / CANVAS)


def room_beside(utilisation: float, total: int) -> float:
    """Bytes for canvases on an idle card of ``total`` bytes: what utilisation, CUDA context and a margin leave."""
    return (1 - utilisation - SAFETY) * total - CUDA_CONTEXT


def sequences_beside(room: float, most: int, canvas: int, *, eager: bool) -> int:
    """As many requests at once as fit into the memory beside the utilisation, 1 to ``most``.

    Args:
        room: bytes.
    """
    fitting = (n for n in range(most, 1, -1) if canvas_buffers(n, canvas, eager=eager) <= room)
    return next(fitting, 1)


def torch_total(nvml_total: int, reserved: int | None, *, wsl2: bool) -> int:
    """What torch sees of a card: NVML's total less what the driver keeps, and less what WSL2 hides.

    Args:
        reserved: as the driver says it; None where it does not (then :data:`DRIVER_RESERVE`).
    """
    return nvml_total - (DRIVER_RESERVE if reserved is None else reserved) - (WSL2_HIDDEN if wsl2 else 0)


def safe_utilisation(free: int, total: int, buffers: int) -> float:
    """The largest utilisation, to the hundredth below, that leaves CUDA context, canvases and a margin free now."""
    return max(0.0, math.floor(((free - CUDA_CONTEXT - buffers) / total - SAFETY) * 100 + 1e-9) / 100)
