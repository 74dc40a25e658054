"""Figures, targets and what a benchmark prints."""

from __future__ import annotations

import json

import pytest

from engine.bench import stand_in
from engine.bench.result import BenchResult, Figure, machine, percentile

FAST = Figure(0.123449, "s", "at most", 0.2)
SLOW = Figure(3.0, "requests/s", "at least", 5.0)


def test_a_bench_passes_only_as_a_whole() -> None:
    assert BenchResult("b", {"fast": FAST, "note": Figure(1, "")}).passed
    result = BenchResult("b", {"fast": FAST, "slow": SLOW})
    assert not result.passed
    told = json.loads(json.dumps(result.as_json()))
    assert told["figures"]["fast"] == {"value": 0.1234, "unit": "s", "target": 0.2, "bound": "at most", "pass": True}
    assert told["figures"]["slow"]["pass"] is False
    assert told["bench"] == "b"
    assert set(told["machine"]) == {"cpu", "cores", "memory_gb", "python", "system"}
    table = result.as_table()
    assert "FAIL" in table
    assert "at least 5" in table


def test_the_machine_names_no_one() -> None:
    import socket

    assert socket.gethostname() not in json.dumps(machine()).split('"')


@pytest.mark.parametrize(("share", "value"), [(0.0, 1), (0.5, 50), (0.99, 99), (1.0, 100)])
def test_percentiles_are_nearest_rank(share: float, value: int) -> None:
    assert percentile(list(range(1, 101)), share) == value


def test_the_stand_in_answers_what_a_reader_asks() -> None:
    assert stand_in.tokens("<|channel>thought\n<channel|>yes")[:-1] == stand_in.tokens("<|channel>thought\n<channel|>")
    status, body = stand_in.answer(b"/inference/v1/generate", json.dumps(request(7)).encode())
    assert status == 200
    slots = json.loads(body)["choices"][0]["logprobs"]["content"]
    assert [entry["token_id"] for entry in slots[0]["top_logprobs"]] == [5, 6]
    assert stand_in.answer(b"/inference/v1/generate", json.dumps(request(stand_in.VOCABULARY)).encode())[0] == 400
    assert stand_in.answer(b"/nowhere", b"")[0] == 404


def request(seed: int) -> dict[str, object]:
    return {
        "sampling_params": {
            "max_tokens": 2,
            "logprob_token_ids": [5, 6],
            "extra_args": {"diffusion_seed_canvas": [seed] * 16},
        }
    }
