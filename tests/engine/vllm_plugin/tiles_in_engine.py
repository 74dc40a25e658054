"""One of two tensor-parallel ranks with vLLM's own sampler and all-reduce, on the CPU.

    tiles_in_engine.py FOLDER RANK PARTS

Steps with three canvases, with two of them and with one. Rank 0 pretends to have memory for one canvas at a time, rank
1 for all. Prints ``ready`` before the steps; then as JSON the soft embeddings after each, the same from one rank that
holds the whole embedding, and how often the ranks agreed.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import torch
from engine_rig import Rig
from vllm.config import VllmConfig, set_current_vllm_config
from vllm.distributed.parallel_state import get_tp_group, init_distributed_environment, initialize_model_parallel

from engine.vllm_plugin import tiles
from engine.vllm_plugin.parts import Config, install_parts
from engine.vllm_plugin.protocol import PARTS_VARIABLE

RANKS, CANVASES = 2, 3
STEPS = ([0, 1, 2], [0, 1, 2], [0, 2], [1])  # slots
VOCABULARY, HIDDEN, CANVAS = 40, 6, 8
TILE = CANVAS * VOCABULARY * 12 * 2  # free bytes for one canvas, by the sampler's own rule
FREE = (TILE, TILE * CANVASES)


def join(folder: Path, rank: int) -> None:
    """Two ranks become one tensor-parallel group."""
    os.environ["VLLM_DIST_IDENT"] = folder.name  # of their shared memory; vLLM's launcher sets it otherwise
    init_distributed_environment(RANKS, rank, f"file://{folder / 'group'}", rank, "gloo")
    initialize_model_parallel(RANKS)


def rig(rank: int | None, parts: str) -> Rig:
    """The sampler of a rank that holds its half of the embedding; of one that holds all for None."""
    made = Rig({}, canvas=CANVAS, vocabulary=VOCABULARY, hidden=HIDDEN, rank=rank or 0)
    sampler: Any = made.sampler
    whole = torch.randn(VOCABULARY, HIDDEN, generator=torch.Generator().manual_seed(3))
    if rank is None:
        sampler.embed_weight = whole
        return made
    half = VOCABULARY // RANKS
    sampler.embed_weight = whole[rank * half : (rank + 1) * half]
    sampler.sc_vocab_start, sampler.sc_vocab_end = rank * half, (rank + 1) * half
    sampler.tp_size, sampler.tp_group_name = RANKS, get_tp_group().unique_name
    made.state.max_num_reqs = CANVASES
    config = Config.of_process(rank=rank, world=RANKS, version="0.33.0", variables={PARTS_VARIABLE: parts})
    made.installed = install_parts(made.state, sampler, config)
    return made


def soft_embeds(made: Rig) -> list[Any]:
    """Of all slots, after each step."""
    for slot in range(CANVASES):
        made.add(slot)
    found = []
    for number, slots in enumerate(STEPS):
        made.step(slots, made.logits(len(slots) * CANVAS, number))
        found.append(made.states.self_conditioning_embeds[:CANVASES].tolist())
    return found


def main(folder: Path, rank: int, parts: str) -> None:
    agreed = []
    agree = tiles.minimum_over_ranks

    def counted(free: int, group: Any) -> int:
        agreed.append(free)
        return agree(free, group)

    tiles.minimum_over_ranks = counted
    torch.accelerator.get_memory_info = lambda *_: (FREE[rank], 1 << 40)
    with set_current_vllm_config(VllmConfig()):
        join(folder, rank)
        made = rig(rank, parts)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    found = {"installed": made.installed, "embeds": soft_embeds(made), "agreed": agreed}
    sys.stdout.write(json.dumps({**found, "alone": soft_embeds(rig(None, ""))}) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
