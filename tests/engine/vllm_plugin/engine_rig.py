"""vLLM's own sampler on the CPU with our parts in it. Runs with the engine's interpreter, see ``plugin_process.py``.

Real: ``DiffusionSampler``, its request states, vLLM's sampling states. Made up: the logits, and the batch that the
model runner would hand over.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
import vllm.v1.worker.cpu.shm  # noqa: F401  # the CPU build's own stand-ins for streams and page-locked buffers
from torch.utils._python_dispatch import TorchDispatchMode
from vllm.model_executor.models import diffusion_gemma
from vllm.sampling_params import SamplingParams
from vllm.v1.worker.gpu.sample.logprob import LogprobTokenIdsState
from vllm.v1.worker.gpu.sample.states import SamplingStates

from engine.vllm_plugin.model import DeskSampler
from engine.vllm_plugin.parts import Config, install_parts

CPU = torch.device("cpu")
STOCK = {name: getattr(diffusion_gemma, name) for name in ("_compiled_sample_step", "sample_row_stats_reference")}
BOUND, STEPS = 0.5, 6
PROMPT, ENDLESS = 5, 1_000_000  # tokens


class Operations(TorchDispatchMode):
    """Names of the tensor operations that run, in order."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.names.append(str(func))
        return func(*args, **(kwargs or {}))


class Rig:
    """A sampler with ``slots`` slots, stock or with parts.

    Attributes:
        installed: parts that are.
        parts: what the installed parts hang on, for tests that look inside.
    """

    def __init__(
        self,
        variables: Mapping[str, str] | None = None,
        *,
        slots: int = 4,
        canvas: int = 8,
        vocabulary: int = 40,
        hidden: int = 6,
        rank: int = 0,
        version: str = "0.33.0",
    ) -> None:
        for name, function in STOCK.items():
            setattr(diffusion_gemma, name, function)
        self.canvas, self.vocabulary = canvas, vocabulary
        self.states = diffusion_gemma.DiffusionGemmaRequestStates(slots, canvas, vocabulary, STEPS, CPU, hidden, 2)
        inner = SimpleNamespace(
            sampling_states=SamplingStates(slots, vocabulary),
            logprob_token_ids_state=LogprobTokenIdsState(slots, CPU),
            req_states=SimpleNamespace(
                draft_tokens=torch.zeros(slots, canvas, dtype=torch.int64),
                total_len=SimpleNamespace(gpu=torch.zeros(slots, dtype=torch.int32)),
                max_seq_len=np.zeros(slots, dtype=np.int32),
            ),
            logprobs_mode="raw_logprobs",
        )
        self.sampler = diffusion_gemma.DiffusionSampler(
            inner,
            SimpleNamespace(canvas_length=canvas),
            vocabulary,
            self.states,
            confidence_threshold=0.005,
            t_min=0.4,
            t_max=0.8,
            entropy_bound=BOUND,
            embed_weight=torch.zeros(vocabulary, hidden),
            normalizer=torch.ones(()),
        )
        self.state: Any = SimpleNamespace(on_remove=[], diffusion_states=self.states)
        self.installed: tuple[str, ...] = ()
        if variables is not None:
            config = Config.of_process(rank=rank, world=2, version=version, variables=variables)
            self.sampler.__class__ = DeskSampler
            self.sampler.hook()
            self.installed = install_parts(self.state, self.sampler, config)

    def add(self, slot: int, params: SamplingParams | None = None, **extra_args: Any) -> None:
        """A request whose prompt has been taken in; of any length and with no end, unless ``params`` say otherwise."""
        params = params or SamplingParams(max_tokens=None)
        params.extra_args = extra_args or None
        req_states = self.sampler.req_states
        req_states.total_len.gpu[slot] = PROMPT
        req_states.max_seq_len[slot] = PROMPT + (params.max_tokens or ENDLESS)
        self.states.add_request(slot)
        self.sampler.add_request(slot, params)
        self.sampler.apply_staged_writes()
        self.states.is_encoder_phase[slot] = False

    def remove(self, slot: int) -> None:
        self.states.remove_request(slot)
        for hear in self.state.on_remove:
            hear(slot)

    def step(self, slots: Sequence[int], logits: torch.Tensor) -> Any:
        """One call of the sampler for the requests in ``slots``; ``logits`` has their rows one after the other."""
        widths = [int(self.states.canvas_width_np[slot]) for slot in slots]
        starts = np.concatenate(([0], np.cumsum(widths))).astype(np.int32)
        batch = SimpleNamespace(
            num_reqs=len(slots),
            num_draft_tokens=int(starts[-1]),
            idx_mapping_np=np.array(slots, np.int32),
            idx_mapping=torch.tensor(slots),
            cu_num_logits_np=starts,
            query_start_loc_np=starts,
            query_start_loc=torch.from_numpy(starts),
        )
        out = self.sampler(logits, batch)
        self.sampler.req_states.total_len.gpu[torch.tensor(slots)] += out.num_sampled  # as the runner does behind it
        return out

    def logits(self, rows: int, seed: int, *, sure: bool = False) -> torch.Tensor:
        """[rows, vocabulary]; every row is spread over some tokens, or ``sure`` of one."""
        drawn = torch.randn(rows, self.vocabulary, generator=torch.Generator().manual_seed(seed)) * 3.0
        return drawn.scatter_add(1, drawn.argmax(1, keepdim=True), torch.full((rows, 1), 200.0)) if sure else drawn

    def seen(self, out: Any) -> dict[str, Any]:
        """Everything that a step has left behind."""
        names = ("canvas", "argmax_canvas", "step", "is_encoder_phase", "self_conditioning_embeds", "confident")
        left = {name: getattr(self.states, name).tolist() for name in names}
        return left | {"sampled": out.sampled_token_ids.tolist(), "num_sampled": out.num_sampled.tolist()}


@contextmanager
def operations() -> Iterator[list[str]]:
    with Operations() as mode:
        yield mode.names
