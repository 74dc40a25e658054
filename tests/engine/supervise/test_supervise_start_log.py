"""A start told by its log: phases, times, ETA, and a log that is cut, begun anew or half written."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.domain.plan import LaunchPlan
from engine.hardware.record import load_machine, recorded_machines
from engine.launch.planner import plan
from engine.supervise.start_log import DETAIL, LAST_PHASE, LogFollower, LogPhases, StartClock, StartProgress
from engine.supervise.timings import KEPT, KINDS, StartTimings, start_key

sys.path.insert(0, str(Path(__file__).parents[2] / "fakes"))
from stand_in_vllm import AFTER, BEFORE  # the folder is no package


def planned(name: str = "2x3090-pcie") -> LaunchPlan:
    found = plan(load_machine(recorded_machines()[name]))
    assert isinstance(found, LaunchPlan)
    return found


@pytest.mark.parametrize("name", ["2x3090-pcie", "1x4090", "h100"])
def test_the_log_leads_through_every_phase_of_a_plan(name: str) -> None:
    phases = planned(name).phases
    reader = LogPhases(phases)
    lines = [
        *BEFORE,
        *AFTER[:2],
        "[backbone] Starting torch.compile",
        "Capturing CUDA graphs (PIECEWISE):  50%|█████     | 1/2",  # a sample, to measure their size
        "Graph capturing finished in 2 secs, took 0.31 GiB",
        *AFTER[2:4],
        "Capturing CUDA graphs (PIECEWISE):  65%|██████▌   | 34/52",
        "Graph capturing finished in 9 secs, took 0.62 GiB",
        *AFTER[4:],
        "INFO:     Application startup complete.",
    ]
    seen = [reader.now, *(progress for line in lines if (progress := reader.feed(line)))]
    assert {*phases} - {progress.phase for progress in seen} <= {"Connecting the cards"}
    assert seen[-1].phase == LAST_PHASE == phases[-1]
    assert any(progress.fraction == 0.42 for progress in seen)
    captured = [progress.fraction for progress in seen if progress.phase == "Capturing CUDA graphs"]
    assert captured == ([0.65] if "Capturing CUDA graphs" in phases else []), "the sample is no part of it"
    assert reader.feed("Loading model from scratch...") is None, "it never goes back"


def test_prefixes_are_left_out_of_the_detail() -> None:
    reader = LogPhases(planned().phases)
    progress = reader.feed(
        "(EngineCore pid=7) (Worker_TP0 pid=9) INFO 11-29 18:30:00 [gpu_worker.py:773] Available KV cache memory: 4 GiB"
    )
    assert progress is not None
    assert progress.detail == "Available KV cache memory: 4 GiB"


def test_a_long_line_is_cut_in_the_detail() -> None:
    """vLLM writes its whole configuration behind the words that begin this phase."""
    reader = LogPhases(planned().phases)
    line = "(EngineCore pid=7) INFO 11-29 18:30:00 [core.py:113] Initializing a V1 LLM engine (v0.33.0) with config: "
    progress = reader.feed(line + "x=1, " * 800)
    assert progress is not None
    assert len(progress.detail) == DETAIL
    assert progress.detail.startswith("Initializing a V1 LLM engine")
    assert progress.detail.endswith("…")


def test_the_follower_gives_whole_lines_only(tmp_path: Path) -> None:
    path = tmp_path / "log"
    follower = LogFollower(path)
    assert list(follower.lines()) == []
    path.write_bytes(b"one\ntwo 1%\rtwo 2%\rthr")
    assert list(follower.lines()) == ["one", "two 1%", "two 2%"]
    with path.open("ab") as file:
        file.write(b"ee\n")
    assert list(follower.lines()) == ["three"]


def test_the_follower_survives_that_the_log_is_cut(tmp_path: Path) -> None:
    """As the guardian cuts it: beginning and end stay, the same file, and the engine goes on appending."""
    path = tmp_path / "log"
    lines = [f"line {number} of many" for number in range(1000)]
    path.write_text("\n".join(lines) + "\n")
    follower = LogFollower(path)
    assert len(list(follower.lines())) == 1000
    with path.open("r+") as file:
        file.truncate(0)
        file.write("\n".join([*lines[:10], "[cut: 1 bytes]", *lines[-100:], "news"]) + "\n")
    assert list(follower.lines()) == ["news"]
    with path.open("a") as file:
        file.write("more\n")
    assert list(follower.lines()) == ["more"]


def test_the_follower_survives_that_the_log_is_begun_anew_and_longer(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text("old one\nold two\nhalf")
    follower = LogFollower(path)
    assert list(follower.lines()) == ["old one", "old two"]
    path.rename(tmp_path / "log.1")
    path.write_text("new one, much longer than all of the old\nnew two\n")
    assert list(follower.lines()) == ["new one, much longer than all of the old", "new two"]


@given(st.lists(st.text("ab\n", max_size=8)), st.integers(0, 30))
def test_the_follower_gives_every_line_of_a_growing_log_once(
    tmp_path_factory: pytest.TempPathFactory, pieces: list[str], looks: int
) -> None:
    path = tmp_path_factory.mktemp("follow") / "log"
    follower, seen = LogFollower(path), []
    for number, piece in enumerate([*pieces, "end\n"]):
        with path.open("a") as file:
            file.write(piece)
        if number % (looks + 1) == 0:
            seen += follower.lines()
    seen += follower.lines()
    assert seen == [line for line in path.read_text().split("\n") if line]


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


PHASES = ("Reading", "Loading the weights", "Warming up")


def test_a_first_start_has_no_eta_and_the_next_has() -> None:
    clock = Clock()
    first = StartClock(PHASES, {}, clock)
    clock.now += 4
    told = first.timed(StartProgress("Loading the weights", 1, 3))
    assert (told.elapsed_s, told.eta_s) == (4.0, None)
    clock.now += 60
    first.timed(StartProgress("Warming up", 2, 3))
    clock.now += 6
    assert first.finish() == {"Reading": 4.0, "Loading the weights": 60.0, "Warming up": 6.0}

    second = StartClock(PHASES, first.taken, clock)
    assert second.timed(StartProgress("Reading", 0, 3)).eta_s == 70.0
    clock.now += 3
    assert second.timed(StartProgress("Reading", 0, 3)).eta_s == 67.0
    clock.now += 9
    assert second.timed(StartProgress("Reading", 0, 3)).eta_s == 66.0, "late, but what follows is known"
    assert second.timed(StartProgress("Loading the weights", 1, 3)).eta_s == 66.0
    clock.now += 30
    slow = second.timed(StartProgress("Loading the weights", 1, 3, fraction=0.25))
    assert slow.eta_s == pytest.approx(90.0 + 6.0), "a slow disk today counts more than yesterday's"


def test_the_median_of_the_last_starts_is_usual_and_kinds_are_apart(tmp_path: Path) -> None:
    path = tmp_path / "times.json"
    mine, other = StartTimings("mine", path), StartTimings("other", path)
    assert mine.usual() == {}
    for seconds in (500.0, 10.0, 11.0, 12.0, 13.0, 900.0):
        mine.add({"Loading the weights": seconds})
    other.add({"Loading the weights": 1.0})
    assert mine.usual() == {"Loading the weights": 12.0}, f"of the last {KEPT}"
    assert other.usual() == {"Loading the weights": 1.0}
    for number in range(KINDS):
        StartTimings(f"kind {number}", path).add({"x": 1.0})
    assert mine.usual() == {}, "the oldest kind has gone"
    assert [file.name for file in tmp_path.iterdir()] == ["times.json"]


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"version": 1, "starts": {"mine": [{"x": -1}]}}', '{"version": 1, "starts": 3}']
)
def test_a_damaged_file_is_no_knowledge(tmp_path: Path, text: str) -> None:
    path = tmp_path / "times.json"
    path.write_text(text)
    timings = StartTimings("mine", path)
    assert timings.usual() == {}
    timings.add({"x": 2.0})
    assert timings.usual() == {"x": 2.0}


def test_a_newer_programs_file_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "times.json"
    path.write_text(json.dumps({"version": 2, "more": 1}))
    timings = StartTimings("mine", path)
    timings.add({"x": 2.0})
    assert timings.usual() == {}
    assert json.loads(path.read_text()) == {"version": 2, "more": 1}


def test_a_disk_that_cannot_be_written_costs_the_eta_only(tmp_path: Path) -> None:
    timings = StartTimings("mine", tmp_path / "missing" / "times.json")
    timings.add({"x": 2.0})
    assert timings.usual() == {}


def test_starts_of_a_kind_have_one_key_whatever_the_utilisation(desk_home: Path) -> None:
    one, other = planned(), planned("1x4090")
    assert start_key(one, "/env/python", "/model") == start_key(planned(), "/env/python", "/model")
    assert start_key(one, "/env/python", "/model") != start_key(other, "/env/python", "/model")
    assert start_key(one, "/env/python", "/model") != start_key(one, "/env/python", "/other")
    StartTimings("mine").add({"x": 2.0})
    assert (desk_home / "start-times.json").exists()
