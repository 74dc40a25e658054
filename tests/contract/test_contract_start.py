"""What our supervisor made of a real start's log."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from engine.supervise.vllm import LAST_PHASE

sys.path.insert(0, str(Path(__file__).parent))
from cpu_server import cpu_plan  # the folder is no package

# Lines that vLLM for the CPU does not write: there is no NCCL, and the cache's size is given.
SILENT = {"Connecting the cards", "Making the KV cache"}


@pytest.mark.vllm_cpu
def test_a_real_log_leads_through_the_plans_phases(running: Any) -> None:
    if running is None or not running.phases:
        pytest.skip("about a vLLM that we have started")
    told = list(dict.fromkeys(running.phases))
    planned = cpu_plan(running.workers).phases
    assert told == [phase for phase in planned if phase in told]
    assert set(planned) - set(told) <= SILENT
    assert told[-1] == LAST_PHASE
