"""Fast reads on vLLM's own sampler and model state: what comes out equals stock, and when stock's path is taken."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from plugin_process import run_in_engine  # the folder is no package

pytestmark = [pytest.mark.vllm_cpu, pytest.mark.timeout(900)]
NATS = 1e-5


@pytest.fixture(scope="module")
def told() -> Any:
    """What every check has seen; one process, since vLLM takes half a minute to import."""
    return run_in_engine("reads_in_engine.py")


def logprobs_of(answers: Any) -> list[float]:
    return [value for answer in answers for row in answer.pop("logprobs", []) for value in row]


@pytest.mark.parametrize(
    ("check", "counts", "rows"),
    [
        ("alone", [1, 3, 0], [2, 2, 1]),
        ("joint", [1, 3, 0], [13, 2, 16]),
        ("beside_prefill", [1, 2, 0], [2, 2]),
        ("without_logprobs", [1, 2, 0], [2, 2]),
        ("beside_chat", [0, 0, 1], [2]),
        ("cut_short", [0, 0, 2], [2, 2]),
        ("stock_if_asked", [0, 0, 1], [2, 2]),
        ("broken", [0, 0, 0], [2, 2]),
    ],
)
def test_answers_equal_stock_on_either_path(told: Any, check: str, counts: list[int], rows: list[int]) -> None:
    """``counts``: fast steps, reads in them, reads that took stock's path."""
    seen = told[check]
    assert seen["counts"] == counts
    stock, part = seen["stock"][0], seen["part"][0]
    assert [len(answer["tokens"]) for answer in stock] == rows
    expected = logprobs_of(stock)
    assert logprobs_of(part) == pytest.approx(expected, abs=NATS)
    assert (check == "without_logprobs") == (not expected)
    assert part == stock  # tokens, how many were emitted, label ids, ranks
    assert seen["part_rejected"] == seen["stock_rejected"]
    assert seen["part_phase"] == seen["stock_phase"]


def test_a_slot_that_held_a_read_denoises_a_chat_with_all_that_stock_does(told: Any) -> None:
    assert told["slot_again"] == {"counts": [1, 1, 0], "step": 1}


def test_slots_hold_what_stock_writes_into_them(told: Any) -> None:
    seen = told["slots"]
    assert seen["part"] == seen["stock"]
    assert seen["stock"]["max_steps"] == [1, 3, 4, 4]
    assert seen["stock"]["sets"] == [[0, 1, 2, 5], [0], [0], []]


def test_the_kernel_gives_what_the_operations_give(told: Any) -> None:
    """Ties, minus infinity in whole blocks, fewer ids than columns, with and without a softcap."""
    assert told["kernel"]["same"]
    assert told["kernel"]["worst"] < NATS


def test_the_kernel_compiles_for_real_cards() -> None:
    """From Ampere to Blackwell, without one: what the interpreter takes, the compiler may not."""
    found = run_in_engine("kernel_compiles.py")
    assert len(found) == 6
    assert all(len(sizes) == 5 and min(sizes) > 0 for sizes in found.values())
