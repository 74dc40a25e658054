"""The live canvas on vLLM's own sampler: what it costs, what it sends, and that no fault of it reaches a step."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from plugin_process import run_in_engine  # the folder is no package

from engine.vllm_plugin.live_sender import accepted

pytestmark = [pytest.mark.vllm_cpu, pytest.mark.timeout(900)]


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """What every check has seen; one process, since vLLM takes half a minute to import."""
    return run_in_engine("live_in_engine.py", tmp_path_factory.mktemp("live"))


@pytest.mark.parametrize(("check", "watched"), [("idle", 0), ("unheard", 0)])
def test_without_a_request_or_a_listener_the_very_same_operations_run(told: Any, check: str, watched: int) -> None:
    seen = told[check]
    assert len(seen["stock"]["operations"]) == 4
    assert all(len(step) > 30 for step in seen["stock"]["operations"])
    assert seen["part"]["operations"] == seen["stock"]["operations"]
    assert seen["part"]["left"] == seen["stock"]["left"]
    assert seen["watched"] == watched


def test_frames_say_what_the_sampler_did_and_change_nothing(told: Any) -> None:
    seen = told["frames"]
    assert seen["part"]["left"] == seen["stock"]["left"]
    frames = {name: [frame for frame in seen["frames"] if frame["id"] == name] for name in ("wide", "narrow")}
    rows = {"wide": slice(0, 8), "narrow": slice(16, 21)}
    for name, found in frames.items():
        # The last two of four steps say the same and are sure: the fourth converges, the rest commits.
        assert [(frame["n"], frame["step"], frame["converged"]) for frame in found] == [
            *((1, 1, False), (2, 2, False), (3, 3, False), (4, 4, True))
        ]
        for frame, truth in zip(found, seen["truth"], strict=False):
            entropy = truth["entropy"][rows[name]]
            assert frame["argmax"] == truth["argmax"][rows[name]]
            assert frame["entropy"] == pytest.approx(entropy, abs=1e-4)
            assert [bool(kept) for kept in frame["accepted"]] == accepted(entropy, seen["bound"])
        assert 0 < sum(found[0]["accepted"]) < len(found[0]["accepted"])
    assert seen["frames"][0]["v"] == 1


def test_a_step_behind_the_end_of_a_request_sends_nothing(told: Any) -> None:
    """It is in one more step with asynchronous scheduling, and vLLM throws that away."""
    assert told["over"] == {"length": [False, True], "stop": [False, True], "ignored": [False, True, False, True]}


def test_the_last_frame_is_what_is_committed(told: Any) -> None:
    committed = told["frames"]["part"]["left"][4]
    last = {frame["id"]: frame["argmax"] for frame in told["frames"]["frames"] if frame["converged"]}
    assert committed["num_sampled"] == [8, 8, 5]
    assert committed["sampled"][0] == last["wide"]
    assert committed["sampled"][2][:5] == last["narrow"]


def test_a_watched_step_costs_a_handful_of_operations(told: Any) -> None:
    seen = told["frames"]
    for plain, more in zip(seen["stock"]["operations"], seen["part"]["operations"], strict=True):
        copies = [name for name in more if name.startswith(("aten.copy_", "aten.index_put_"))]
        before = [name for name in plain if name.startswith(("aten.copy_", "aten.index_put_"))]
        assert len(copies) - len(before) == 2 + 2 * 6  # entropies of the two widths' tiles, six copies a request


def test_a_second_canvas_counts_on_and_the_pass_that_commits_is_no_frame(told: Any) -> None:
    frames = told["next_canvas"]
    assert [(frame["n"], frame["step"], frame["converged"]) for frame in frames] == [
        *((1, 1, False), (2, 2, True), (3, 1, False), (4, 2, True)),
        (5, 1, False),
    ]
    assert frames[1]["argmax"] != frames[3]["argmax"]


def test_a_read_converges_on_the_step_that_emits(told: Any) -> None:
    frame = told["reads"]["frame"]
    assert (frame["id"], frame["step"], frame["converged"]) == ("17", 1, True)
    assert frame["argmax"] == told["reads"]["emitted"]


@pytest.mark.parametrize(
    ("check", "ids", "failed"),
    [("fault_of_one", ["good"] * 3, 1), ("fault_of_a_step", [], 2), ("fault_in_the_thread", ["good"] * 3, 1)],
)
def test_a_fault_ends_the_frames_of_a_request_and_nothing_else(
    told: Any, check: str, ids: list[str], failed: int
) -> None:
    seen = told[check]
    assert seen["part"] == seen["stock"]
    assert (seen["ids"], seen["failed"]) == (ids, failed)
    assert seen["buffers"] == 64


def test_a_listener_that_takes_nothing_loses_frames_and_they_are_counted(told: Any) -> None:
    seen = told["deaf"]
    assert seen["sent"] == seen["waiting"]  # as many as the kernel holds
    assert 0 < seen["sent"] < seen["all"]
    assert seen["denoised"][0] <= seen["all"] <= seen["denoised"][1]
    assert (seen["failed"], seen["buffers"]) == (0, 64)


def test_without_a_free_buffer_nothing_is_copied(told: Any) -> None:
    seen = told["no_buffer"]
    assert seen["dropped"] == 1
    assert not [name for name in seen["extra"] if "copy_" in name]


def test_a_listener_may_die_and_come_back(told: Any) -> None:
    seen = told["dies"]
    assert [frame["id"] for frame in seen["before"]] == ["first"]
    assert seen["quiet"] == told["no_buffer"]["copies"]
    assert seen["watched"] == [0]  # the second request asked while nobody listened
    # Numbers go on: the two steps that nobody saw are counted.
    assert [(frame["id"], frame["n"]) for frame in seen["after"]] == [("first", 4), ("third", 1)]
    assert seen["dropped"] == 1
    assert seen["left"] == 0


@pytest.mark.parametrize("where", ["other rank", "no socket", "untested", "none"])
def test_where_the_part_is_not_hung_in_the_step_is_stock(told: Any, where: str) -> None:
    seen = told["stands"][where]
    assert seen["stock"]
    assert seen["hooks"] == 0


def test_a_part_that_cannot_be_installed_is_left_out(told: Any) -> None:
    assert told["stands"]["fails"]["installed"] == []
