"""The part ``reads`` on vLLM's own sampler and model state, beside stock. Prints one JSON object: what each check saw.

Real: the sampler, the request states, the model state's inputs and self-conditioning, the logprob kernels (in Triton's
interpreter). Made up: the model between embeddings and logits, which is the embeddings themselves times a matrix.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import MethodType, SimpleNamespace
from typing import Any

import numpy as np
import torch
from engine_rig import Rig
from torch import nn
from vllm.config import VllmConfig, set_current_vllm_config
from vllm.model_executor.models.diffusion_gemma import (
    DiffusionGemmaModelState,
    DiffusionGemmaSelfConditioning,
    _softcap_logits,
)
from vllm.sampling_params import SamplingParams

from engine.vllm_plugin import reads as fast_reads
from engine.vllm_plugin import reads_kernel
from engine.vllm_plugin.model import DeskSampler
from engine.vllm_plugin.reads import FastReads
from engine.vllm_plugin.reads_slots import SlotWrites

SLOTS, CANVAS, VOCABULARY, HIDDEN, CAP = 8, 16, 300, 12, 5.0


@dataclass(frozen=True)
class Asked:
    """A request in a slot: a prefill of ``prompt`` tokens, or a canvas."""

    slot: int
    width: int = 8
    tokens: int = 2
    ids: tuple[int, ...] = (5, 9)
    prompt: int = 0
    logprobs: bool = True
    extra: tuple[tuple[str, Any], ...] = (("diffusion_read_only", 1), ("diffusion_max_steps", 1))

    def seed(self) -> list[int]:
        drawn = torch.randint(0, VOCABULARY, (self.width,), generator=torch.Generator().manual_seed(self.slot))
        return [int(token) for token in drawn]

    def params(self, seed: list[int]) -> SamplingParams:
        extra = {"diffusion_canvas_length": self.width, "diffusion_seed_canvas": seed, **dict(self.extra)}
        more = {"logprobs": len(self.ids), "logprob_token_ids": list(self.ids)} if self.logprobs else {}
        return SamplingParams(max_tokens=self.tokens, extra_args=extra, **more)


CHAT = (("diffusion_max_steps", 4),)
FIELDS = (
    *("is_encoder_phase", "accepted_canvas_history_len", "self_conditioning_embeds", "step", "max_steps", "has_seed"),
    *("pin_mask", "read_only"),
)
SETS = ("seeded_slots", "read_only_slots", "single_step_slots", "constrained")


class Model(nn.Module):
    """What the model state and the part ask of a model."""

    final_logit_softcapping = CAP

    def __init__(self, states: Any) -> None:
        super().__init__()
        torch.manual_seed(1)
        self.diffusion_states = states
        self.embed = nn.Embedding(VOCABULARY, HIDDEN)
        self.lm_head = nn.Linear(HIDDEN, VOCABULARY, bias=False)
        self.self_conditioning = DiffusionGemmaSelfConditioning(HIDDEN, 20)

    def embed_input_ids(self, ids: torch.Tensor) -> torch.Tensor:
        return self.embed(ids)

    @staticmethod
    def logits_processor(head: Any, hidden: torch.Tensor) -> torch.Tensor:
        return head(hidden) * 4.0

    def compute_logits(self, hidden: torch.Tensor) -> torch.Tensor:
        return _softcap_logits(self.logits_processor(self.lm_head, hidden), CAP)


class Bench(Rig):
    """A rig with a model in front; ``fast`` hangs the part in."""

    def __init__(self, *, fast: bool) -> None:
        super().__init__(slots=SLOTS, canvas=CANVAS, vocabulary=VOCABULARY, hidden=HIDDEN)
        self.model = Model(self.states)
        self.sampler.embed_weight = self.model.embed.weight.detach()
        self.state = SimpleNamespace(
            model=self.model,
            diffusion_states=self.states,
            on_remove=[],
            _pending_mm_embeds=None,
            _req_id_to_index={"one": 0},
            _inputs_embeds_buf=torch.zeros(512, HIDDEN),
        )
        for name in ("prepare_inputs", "_apply_self_conditioning"):
            setattr(self.state, name, MethodType(getattr(DiffusionGemmaModelState, name), self.state))
        self.part: FastReads | None = None
        if fast:
            self.sampler.__class__ = DeskSampler
            self.sampler.hook()
            self.part = FastReads(self.state, self.sampler)
            self.part.hang_in()
            SlotWrites(self.sampler).hang_in()

    def take(self, asked: Sequence[Asked]) -> None:
        """The requests come in; those without a prompt have been prefilled already."""
        for one in asked:
            self.states.add_request(one.slot)
            self.sampler.add_request(one.slot, one.params(one.seed()))
        self.sampler.apply_staged_writes()
        for one in asked:
            if not one.prompt:
                self.states.canvas[one.slot, : one.width] = torch.tensor(one.seed())
                self.states.is_encoder_phase[one.slot] = False

    def run(self, asked: Sequence[Asked], cut: int = 0) -> Any:
        """One step: inputs, logits, sampler. ``cut``: slots that the first canvas lacks at its end."""
        widths = [0 if one.prompt else one.width for one in asked]
        widths[0] -= cut
        queries = [one.prompt or width for one, width in zip(asked, widths, strict=True)]
        slots = [one.slot for one in asked]
        starts = np.concatenate(([0], np.cumsum(widths))).astype(np.int32)
        spans = np.concatenate(([0], np.cumsum(queries))).astype(np.int32)
        ids = [self.states.canvas[one.slot, :query] for one, query in zip(asked, queries, strict=True)]
        here = [np.arange(spans[at], spans[at + 1]) for at, width in enumerate(widths) if width]
        batch = SimpleNamespace(
            num_reqs=len(asked),
            num_tokens=int(spans[-1]),
            num_tokens_after_padding=int(spans[-1]),
            num_draft_tokens=int(starts[-1]),
            input_ids=torch.cat(ids),
            idx_mapping_np=np.array(slots, np.int32),
            idx_mapping=torch.tensor(slots),
            cu_num_logits_np=starts,
            query_start_loc_np=spans,
            query_start_loc=torch.from_numpy(spans),
            num_scheduled_tokens=np.array(queries, np.int32),
            num_computed_prefill_tokens_np=np.zeros(len(asked), np.int32),
            prefill_len_np=np.array([one.prompt for one in asked], np.int32),
        )
        with torch.inference_mode():
            embeds = self.state.prepare_inputs(batch, None)["inputs_embeds"]
            logits = self.model.compute_logits(embeds[torch.from_numpy(np.concatenate(here))])
            return self.sampler(logits, batch)


def answers(asked: Sequence[Asked], out: Any) -> list[Any]:
    """What vLLM makes of a step's output, request by request: tokens up to max_tokens, ids, logprobs and ranks."""
    found = []
    lists = out.logprobs_tensors.tolists() if out.logprobs_tensors is not None else None
    for at, one in enumerate(asked):
        if not out.num_sampled[at]:
            continue
        emitted = out.sampled_token_ids[at, : int(out.num_sampled[at])].tolist()
        kept = emitted[: one.tokens]
        told = {"slot": one.slot, "emitted": len(emitted), "tokens": kept}
        if lists is not None and one.logprobs:
            part = lists.slice_request(at, len(kept))
            told |= {
                "ids": part.logprob_token_ids.tolist(),
                "logprobs": np.where(np.isinf(part.logprobs), -9999.0, part.logprobs).tolist(),
                "ranks": part.sampled_token_ranks.tolist(),
            }
        found.append(told)
    return found


def both(asked: Sequence[Asked], steps: int = 1, cut: int = 0) -> dict[str, Any]:
    """The same steps on stock and with the part."""
    told: dict[str, Any] = {}
    for name in ("stock", "part"):
        bench = Bench(fast=name == "part")
        bench.take(asked)
        torch.manual_seed(11)
        outs = [bench.run(asked, cut) for _ in range(steps)]
        told[name] = [answers(asked, out) for out in outs]
        told[name + "_rejected"] = outs[0].num_rejected.tolist()
        told[name + "_phase"] = bench.states.is_encoder_phase.tolist()
        told["counts"] = bench.part._counts if bench.part else []
    return told


def alone() -> dict[str, Any]:
    return both([Asked(0), Asked(3, ids=(1,)), Asked(1, tokens=1, ids=(7, 8, 9, 250))])


def joint() -> dict[str, Any]:
    return both([Asked(2, width=16, tokens=13, ids=(1, 2, 3)), Asked(0), Asked(5, width=16, tokens=16)])


def beside_prefill() -> dict[str, Any]:
    """A prompt comes in on the same step; what its canvas starts with must be the same too."""
    return both([Asked(0), Asked(4, prompt=11), Asked(1)])


def without_logprobs() -> dict[str, Any]:
    return both([Asked(0, logprobs=False), Asked(1, logprobs=False)])


def beside_chat() -> dict[str, Any]:
    return both([Asked(0), Asked(1, width=16, tokens=16, logprobs=False, extra=CHAT)], steps=1)


def cut_short() -> dict[str, Any]:
    """Near the end of the window vLLM gives a canvas fewer slots than it was asked for."""
    return both([Asked(0), Asked(1)], cut=3)


def stock_if_asked() -> dict[str, Any]:
    return both([Asked(0, extra=(*Asked(0).extra, ("desk_stock", 1))), Asked(1)])


def slot_again() -> dict[str, Any]:
    """A slot that held a read holds a chat now."""
    bench = Bench(fast=True)
    read, chat = Asked(0), Asked(0, tokens=8, logprobs=False, extra=CHAT)
    bench.take([read])
    bench.run([read])
    bench.states.remove_request(0)
    for hear in bench.state.on_remove:
        hear(0)
    bench.take([chat])
    bench.run([chat])
    assert bench.part is not None
    return {"counts": bench.part._counts, "step": int(bench.states.step[0])}


def broken() -> dict[str, Any]:
    """The fast path fails: the step is done over by stock, and those that follow are stock's."""

    def fail(*_: Any) -> Any:
        raise ValueError("not on this card")

    asked, kept = [Asked(0), Asked(4, prompt=11), Asked(1)], fast_reads.read_rows
    fast_reads.read_rows = fail
    try:
        return both(asked, steps=2)
    finally:
        fast_reads.read_rows = kept


def slots() -> dict[str, Any]:
    """What requests leave in their slots, over old contents: reads, a pinned canvas, a chat, gone, gone and new."""
    pinned = (("diffusion_max_steps", 3), ("diffusion_pinned", [1, 4]))
    asked = [Asked(0), Asked(1, width=16, extra=pinned), Asked(2, extra=CHAT), Asked(4, tokens=1), Asked(5)]
    told: dict[str, Any] = {}
    for name in ("stock", "part"):
        bench = Bench(fast=name == "part")
        states = bench.states
        for field in FIELDS:
            getattr(states, field).fill_(1)
        for one in (Asked(6, extra=pinned), *asked):
            states.add_request(one.slot)
            bench.sampler.add_request(one.slot, one.params(one.seed()))
        for slot in (4, 5, 6):
            states.remove_request(slot)
        states.add_request(5)
        bench.sampler.add_request(5, Asked(5, extra=CHAT).params(asked[4].seed()))
        bench.sampler.apply_staged_writes()
        held = [0, 1, 2, 5]
        told[name] = {field: getattr(states, field)[held].tolist() for field in FIELDS}
        told[name]["gone"] = [getattr(states, field)[[4, 6]].tolist() for field in FIELDS[:3]]
        told[name]["seeds"] = [states.seed_canvas[slot, :8].tolist() for slot in held]
        told[name]["widths"] = states.canvas_width_np.tolist()
        told[name]["sets"] = [sorted(getattr(states, field)) for field in SETS]
    return told


def kernel() -> dict[str, Any]:
    """The device's kernel in Triton's interpreter, against torch's operations."""
    torch.manual_seed(2)
    worst, same = 0.0, True
    cases = ((300, 30.0, torch.float32), (9000, None, torch.float32), (9000, 5.0, torch.bfloat16))
    for vocabulary, cap, dtype in cases:
        logits = (torch.randn(6, vocabulary) * 8).to(dtype)
        logits[1] = logits[1, 0]  # one big tie
        if cap is None:
            logits[2, 100:] = float("-inf")  # whole blocks of it
        logits[3, -3:] = logits[3].max() + 1
        ids = torch.randint(0, vocabulary, (4, 9), dtype=torch.int32)
        ids[:, 0] = 2
        counts, slots = torch.tensor([3, 0, 9, 1], dtype=torch.int32), torch.tensor([0, 1, 2, 3, 2, 0])
        labels = reads_kernel.Labels(ids, counts, slots, 9)
        mine = reads_kernel._read_rows_device(logits, cap, labels)
        theirs = reads_kernel.read_rows_torch(logits, cap, labels)
        same &= bool((mine.token_ids == theirs.token_ids).all() and (mine.ranks == theirs.ranks).all())
        finite = torch.isfinite(theirs.logprobs)
        same &= bool((finite == torch.isfinite(mine.logprobs)).all())
        worst = max(worst, float((mine.logprobs - theirs.logprobs)[finite].abs().max()))
    return {"same": same, "worst": worst}


CHECKS: tuple[Callable[[], dict[str, Any]], ...] = (
    alone,
    joint,
    beside_prefill,
    without_logprobs,
    beside_chat,
    cut_short,
    stock_if_asked,
    slot_again,
    broken,
    slots,
    kernel,
)

if __name__ == "__main__":
    with set_current_vllm_config(VllmConfig()):
        found = {check.__name__: check() for check in CHECKS}
    sys.stdout.write(json.dumps(found) + "\n")
