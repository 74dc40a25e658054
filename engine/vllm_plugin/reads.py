"""The part ``reads``: a step whose canvases are all reads takes a path of its own.

A read is a request for the log-probabilities of given ids after one look at a canvas that it brought along
(``diffusion_read_only``, ``diffusion_max_steps`` 1, ``logprob_token_ids``). Stock takes it through everything that a
canvas needs that denoises on: a self-conditioning MLP for each request (of nothing: there was no step before), logits
of every slot, a Gumbel draw, acceptance, and then, one read after the other and with several waits for the GPU each,
three passes over the vocabulary. On a step with nothing but reads all this comes down to

- the MLP's last norm over all canvases at once (what the MLP adds is zero),
- logits of the rows that are answered, the first ``max_tokens`` of a canvas,
- one pass over them (:mod:`engine.vllm_plugin.reads_kernel`),

and no wait for the GPU. What the rest of vLLM gets is the same as from stock. A step with anything else in it, say a
chat that denoises, is stock's. ``vllm_xargs``/``extra_args`` ``desk_stock: 1`` keeps a read from this path.
"""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from vllm.utils.torch_utils import async_tensor_h2d
from vllm.v1.outputs import LogprobsTensors
from vllm.v1.worker.gpu.sample.output import SamplerOutput

from engine.vllm_plugin.parts import LOGGER, Config, HookedSampler, HookedState
from engine.vllm_plugin.protocol import ASKED_BY
from engine.vllm_plugin.reads_kernel import Labels, read_rows
from engine.vllm_plugin.reads_slots import SlotWrites

STOCK = "desk_stock"
REPORT_S = 60.0  # between two lines on how many steps took which path

logger = logging.getLogger(LOGGER)


def install(state: HookedState, sampler: HookedSampler, config: Config) -> str:
    """Hangs the part in.

    Raises:
        ValueError: the server is set up in a way for which the path was not written.
    """
    settings = state.vllm_config
    if sampler.logits_mode:
        raise ValueError("--logprobs-mode asks for logits")
    if settings.lora_config is not None or settings.parallel_config.pipeline_parallel_size > 1:
        raise ValueError("adapters and pipeline parallel read all rows of the logits")
    FastReads(state, sampler).hang_in()
    SlotWrites(sampler).hang_in()
    return "on"


@dataclass(slots=True)
class Plan:
    """A step whose canvases are all reads.

    Attributes:
        batch: vLLM's input batch.
        decode: [canvases] places in the batch.
        rows: [4, rows answered] int64: row among the step's logits, slot, place in the batch, canvas position.
        counts: [canvases] rows answered of each.
        on_device: ``rows``, once the logits have been computed from them.
        hidden: [rows of the step, hidden size], from which stock would have computed its logits.
    """

    batch: Any
    decode: np.ndarray[Any, Any]
    rows: np.ndarray[Any, Any]
    counts: np.ndarray[Any, Any]
    on_device: torch.Tensor | None = None
    hidden: torch.Tensor | None = None


class Requests:
    """What is known of the request in every slot.

    Attributes:
        fast: [slots] whether it is a read that the path can take.
        answered: [slots] rows of its canvas that are answered.
        wanted: [slots] label ids; -1 for no log-probabilities at all.
    """

    def __init__(self, slots: int) -> None:
        self.fast = np.zeros(slots, dtype=bool)
        self.answered = np.zeros(slots, dtype=np.int64)
        self.wanted = np.full(slots, -1, dtype=np.int64)

    def add(self, slot: int, params: Any, width: int) -> None:
        """A request has come in.

        Args:
            width: of its canvas.
        """
        ids = params.logprob_token_ids or []
        self.fast[slot] = is_fast(params)
        self.answered[slot] = min(params.max_tokens or width, width)
        self.wanted[slot] = len(ids) if ids else -1 if params.logprobs is None else 0

    def remove(self, slot: int) -> None:
        """A request has gone."""
        self.fast[slot] = False


def is_fast(params: Any) -> bool:
    """Whether a request's sampling parameters ask for no more than the path gives."""
    extra = params.extra_args or {}
    return bool(
        extra.get("diffusion_read_only")
        and extra.get("diffusion_max_steps") == 1
        and not extra.get("diffusion_constrained")
        and not extra.get(STOCK)
        and not extra.get(ASKED_BY)  # frames are packed from what stock's step leaves behind
        and (params.logprob_token_ids or not params.logprobs)  # a top-k is stock's
        and params.prompt_logprobs is None
        and params.top_k <= 0
        and params.top_p >= 1.0
        and params.structured_outputs is None
    )


class FastReads:
    """Plans a step when its inputs are made, and carries the plan to the logits and the sampler."""

    def __init__(self, state: HookedState, sampler: HookedSampler) -> None:
        self._state: Any = state
        self._sampler, self._model = sampler, state.model
        self._requests = Requests(sampler.diffusion_states.max_num_reqs)
        self._plan: Plan | None = None
        self._step, self._prepare = sampler.step, state.prepare_inputs
        self._condition, self._logits = state._apply_self_conditioning, state.model.compute_logits
        self._broken = False
        self._counts, self._reported, self._report_at = [0, 0, 0], [0, 0, 0], 0.0

    def hang_in(self) -> None:
        """From now on steps are planned."""
        self._sampler.on_add.append(self.add)
        self._state.on_remove.append(self._requests.remove)
        self._sampler.step = self.step
        self._state.prepare_inputs = self.prepare_inputs
        self._state._apply_self_conditioning = self.condition
        self._model.compute_logits = self.compute_logits

    def add(self, slot: int, params: Any) -> None:
        """A request has come in."""
        self._requests.add(slot, params, int(self._sampler.diffusion_states.canvas_width_np[slot]))

    def prepare_inputs(self, batch: Any, req_states: Any) -> Any:
        """As stock, after planning the step."""
        self._plan = self.plan(batch)
        return self._prepare(batch, req_states)

    def plan(self, batch: Any) -> Plan | None:
        """The plan of a step; None when it is stock's."""
        if batch.num_draft_tokens == 0 or self._broken:
            return None
        count, requests = batch.num_reqs, self._requests
        starts, widths = batch.cu_num_logits_np[:count], np.diff(batch.cu_num_logits_np[: count + 1])
        decode = np.flatnonzero(widths)
        slots = batch.idx_mapping_np[decode]
        fast = requests.fast[slots]
        # A canvas that was cut short near the end of the window emits less than it was asked for.
        whole = widths[decode] == self._sampler.diffusion_states.canvas_width_np[slots]
        if not (fast.all() and whole.all()):
            self._counts[2] += int(fast.sum())
            self._report()
            return None
        counts = requests.answered[slots]
        owner = np.repeat(np.arange(len(decode)), counts)
        position = np.arange(len(owner)) - np.repeat(np.cumsum(counts) - counts, counts)
        rows = np.stack((starts[decode][owner] + position, slots[owner], decode[owner], position)).astype(np.int64)
        return Plan(batch, decode, rows, counts)

    def condition(self, slots: Any, places: Any, starts: Any, embeds: torch.Tensor, soft: torch.Tensor) -> None:
        """Self-conditioning: for reads only the norm that follows it, over the tokens of all canvases.

        Args:
            slots, places: [canvases] of the step's canvases, and where they are in the batch.
            starts: [requests + 1] of the requests' tokens.
            embeds: [tokens, hidden size], written in place.
            soft: [slots, canvas, hidden size].
        """
        if self._plan is None:
            self._condition(slots, places, starts, embeds, soft)
            return
        norm = self._model.self_conditioning.post_norm
        for first, last in _runs(starts[places], starts[places + 1]):
            embeds[first:last] = norm(embeds[first:last])

    def compute_logits(self, hidden: torch.Tensor) -> Any:
        """As stock; for a planned step of the answered rows only, and before the softcap."""
        plan = self._plan
        if plan is None or plan.on_device is not None or len(hidden) != plan.batch.cu_num_logits_np[-1]:
            return self._logits(hidden)
        plan.on_device, plan.hidden = async_tensor_h2d(plan.rows, device=hidden.device), hidden
        return self._model.logits_processor(self._model.lm_head, hidden[plan.on_device[0]])

    def step(self, logits: torch.Tensor, batch: Any, draft_logits: Any) -> Any:
        """One call of the sampler."""
        plan, self._plan = self._plan, None
        if plan is None or plan.on_device is None or plan.batch is not batch:
            return self._step(logits, batch, draft_logits)
        try:
            out = self._read(logits, plan, plan.on_device)
        except Exception:  # a kernel that this card's compiler does not take, say; stock can do the step over
            logger.exception("fast reads are off from now on: a step failed")
            self._broken = True
            return self._step(self._logits(plan.hidden), batch, draft_logits)
        self._counts[0] += 1
        self._counts[1] += len(plan.decode)
        self._report()
        return out

    def _read(self, logits: torch.Tensor, plan: Plan, rows: torch.Tensor) -> SamplerOutput:
        sampler, batch = self._sampler, plan.batch
        count = batch.num_reqs
        widths = np.diff(batch.cu_num_logits_np[: count + 1])
        prefills = np.flatnonzero(widths == 0)
        if len(prefills):
            sampler._finish_prefills(batch, prefills)
        wanted = self._requests.wanted[batch.idx_mapping_np[plan.decode]]
        ids = sampler.logprob_token_ids_state
        labels = Labels(ids.token_ids.gpu, ids.num_token_ids.gpu, rows[1], max(int(wanted.max()), 0))
        found = read_rows(logits, self._model.final_logit_softcapping, labels)
        # As wide as the canvases: vLLM takes a canvas as a whole and cuts it at max_tokens, behind the answered rows.
        # A tensor of its own: nothing here waits for the copy to the host that still reads the last step's.
        sampled = torch.zeros(count, int(widths.max()), dtype=torch.int32, device=logits.device)
        sampled[rows[2], rows[3]] = found.token_ids[:, 0].to(sampled.dtype)
        num_sampled = async_tensor_h2d(widths.astype(np.int32), device=logits.device)
        return SamplerOutput(
            sampled_token_ids=sampled,
            logprobs_tensors=self._logprobs(found, plan, count) if wanted.max() >= 0 else None,
            num_nans=None,
            num_sampled=num_sampled,
            num_rejected=torch.zeros_like(num_sampled),
        )

    @staticmethod
    def _logprobs(found: Any, plan: Plan, count: int) -> LogprobsTensors:
        answered = np.zeros(count, dtype=np.int64)
        answered[plan.decode] = plan.counts
        offsets = (np.cumsum(answered) - answered).tolist()
        return LogprobsTensors(found.token_ids, found.logprobs, found.ranks, cu_num_generated_tokens=offsets)

    def _report(self) -> None:
        now = time.monotonic()
        if self._counts != self._reported and now >= self._report_at:
            self._reported, self._report_at = self._counts.copy(), now + REPORT_S
            logger.info("fast reads: %d steps with %d reads; %d reads had to take stock's path", *self._counts)


def _runs(first: np.ndarray[Any, Any], last: np.ndarray[Any, Any]) -> list[tuple[int, int]]:
    """Neighbouring spans joined: mostly one, because vLLM puts canvases first in a batch."""
    runs: list[tuple[int, int]] = []
    for start, end in zip(first.tolist(), last.tolist(), strict=True):
        if runs and runs[-1][1] == start:
            runs[-1] = (runs[-1][0], end)
        else:
            runs.append((start, end))
    return runs
