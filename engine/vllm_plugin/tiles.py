"""The part ``tiles``: all tensor-parallel ranks cut a step's canvases into the same tiles.

Stock's sampler computes a step in tiles, so many canvases each as the memory that is free *on its own rank* allows
(``DiffusionSampler.__call__``: half of the free bytes over width * vocabulary * 12). Each tile of canvases that denoise
on ends in an all-reduce over the ranks (the soft embedding of self-conditioning). A rank with less free memory, say the
one whose card drives the display, makes more tiles than the others and waits for ever, or adds up what does not belong
together. One canvas is always one tile; hence the old rule of one sequence at tensor parallel 2 and more.

Here every rank takes the minimum over the ranks instead. It is agreed on the host, whenever the canvases of a step
differ in number or width from those of the step before: all ranks are given the same batches in the same order, so they
agree at the same steps.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from vllm.distributed.parallel_state import get_tp_group

from engine.vllm_plugin.parts import Config, HookedSampler, HookedState, PartRequired

Shape = tuple[int, ...]


def install(state: HookedState, sampler: HookedSampler, config: Config) -> str:
    """Hangs the part in where there are several ranks.

    Raises:
        PartRequired: it cannot be, and the engine was told to serve several sequences at once.
    """
    if config.world == 1:
        return "one rank"
    try:
        group = get_tp_group().cpu_group

        def agree(free: int) -> int:
            return minimum_over_ranks(free, group)

        tiles = UniformTiles(sampler, agree)
        tiles.hang_in()
    except Exception as error:
        if state.max_num_reqs == 1:
            raise
        raise PartRequired(
            f"the ranks cannot agree on the sampler's tiles ({error}): with --tensor-parallel-size {config.world} "
            "start with --max-num-seqs 1"
        ) from error
    return f"the same on {config.world} ranks"


def minimum_over_ranks(free: int, group: Any) -> int:
    """The least of the ranks' numbers; every rank of the group must call it. Waits for the slowest.

    Args:
        group: of processes, with a backend for tensors on the host.
    """
    least = torch.tensor([free], dtype=torch.int64)
    torch.distributed.all_reduce(least, op=torch.distributed.ReduceOp.MIN, group=group)
    return int(least.item())


class UniformTiles:
    """Answers the sampler's question for free memory with what the ranks have agreed on.

    Args:
        agree: from this rank's free bytes to all ranks' minimum.
    """

    def __init__(self, sampler: HookedSampler, agree: Callable[[int], int]) -> None:
        self._sampler, self._agree = sampler, agree
        self._step = sampler.step
        self._ask = torch.accelerator.get_memory_info
        self._shape: Shape = ()
        self._free = 0
        self._inside = False

    def hang_in(self) -> None:
        """From now on steps ask here."""
        self._sampler.step = self.step
        # Stock asks torch by this name, once in a step; others who ask get the driver's answer as before.
        torch.accelerator.get_memory_info = self.memory_info

    def step(self, logits: Any, batch: Any, draft_logits: Any) -> Any:
        """One call of the sampler."""
        shape = self.shape(batch)
        if len(shape) < 2:  # one canvas is one tile, whatever is free
            return self._step(logits, batch, draft_logits)
        if shape != self._shape:
            self._free = self._agree(self._ask()[0])
            self._shape = shape
        self._inside = True
        try:
            return self._step(logits, batch, draft_logits)
        finally:
            self._inside = False

    def shape(self, batch: Any) -> Shape:
        """The widths of the step's canvases, ascending."""
        if batch.num_draft_tokens == 0:
            return ()
        count = batch.num_reqs
        rows = np.diff(batch.cu_num_logits_np[: count + 1])
        slots = batch.idx_mapping_np[:count][rows > 0]
        return tuple(sorted(self._sampler.diffusion_states.canvas_width_np[slots].tolist()))

    def memory_info(self, *args: Any, **options: Any) -> tuple[int, int]:
        """(free, all) bytes; free as agreed, while a step with several canvases is being sampled."""
        free, whole = self._ask(*args, **options)
        return (self._free if self._inside else free), whole
