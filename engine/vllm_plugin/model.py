"""The model class that vLLM loads instead of its own: stock, plus the parts that ``DESK_VLLM_PARTS`` names.

Written against vLLM 0.32.0 and 0.33.0, ``model_executor/models/diffusion_gemma.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import vllm
from vllm.distributed.parallel_state import get_tp_group
from vllm.model_executor.models.diffusion_gemma import (
    DiffusionGemmaForConditionalGeneration,
    DiffusionGemmaModelState,
    DiffusionSampler,
)

from engine.vllm_plugin.parts import Config, Step, install_parts, warn_of_cut_canvases


class DeskSampler(DiffusionSampler):
    """Stock's sampler with the places that :class:`engine.vllm_plugin.parts.HookedSampler` describes."""

    step: Step
    on_add: list[Callable[[int, Any], None]]

    def hook(self) -> None:
        """Makes the places; a call runs stock until a part has wrapped it."""
        self.step = super().__call__
        self.on_add = []

    def add_request(self, req_idx: int, sampling_params: Any) -> None:
        """As stock."""
        super().add_request(req_idx, sampling_params)
        for hear in self.on_add:
            hear(req_idx, sampling_params)

    def __call__(self, logits: Any, input_batch: Any, draft_logits: Any = None) -> Any:
        """As stock."""
        return self.step(logits, input_batch, draft_logits)


class DeskModelState(DiffusionGemmaModelState):
    """Stock's model state; its sampler is a :class:`DeskSampler` when a part is switched on."""

    on_remove: list[Callable[[int], None]]

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.on_remove = []

    def custom_sampler(self, sampler: Any) -> Any:
        """As stock, with the parts installed."""
        made, rejection = super().custom_sampler(sampler)
        group = get_tp_group()
        config = Config.of_process(rank=group.rank_in_group, world=group.world_size, version=vllm.__version__)
        if config.parts:
            made.__class__ = DeskSampler  # stock makes it with a dozen arguments of its own
            made.hook()
            install_parts(self, made, config)
            if config.rank == 0:
                warn_of_cut_canvases(self.max_num_reqs, made.canvas_length, self.max_num_tokens)
        return made, rejection

    def remove_request(self, req_id: str) -> None:
        """As stock."""
        slot = self._req_id_to_index.get(req_id)
        super().remove_request(req_id)
        if slot is not None:
            for hear in self.on_remove:
                hear(slot)


class DeskDiffusionGemma(DiffusionGemmaForConditionalGeneration):
    """Stock's model with :class:`DeskModelState`."""

    @staticmethod
    def get_model_state_cls() -> type[DeskModelState]:
        """As vLLM asks for it."""
        return DeskModelState
