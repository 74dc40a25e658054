"""Preflight over recorded machines: what blocks a launch, what does not, and what each finding tells the user to do."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from launch_helpers import machine, planned, with_gpus

from engine.domain.hardware import GIB, Machine
from engine.domain.plan import LaunchPlan
from engine.launch.preflight import LEFTOVERS, PORT, SERVER, Facts, in_order, look_at_disk, preflight

RIGHT = Facts(Path("/data/engine/vllm"), Path("/data/checkpoints/fp8"), 8042, cache_free=50_000_000_000)


def codes(found_on: Machine, plan: LaunchPlan, facts: Facts = RIGHT) -> dict[str, str]:
    """Code to severity; every finding that blocks or warns names one thing to do."""
    findings = preflight(found_on, plan, facts)
    assert all(finding.remedy for finding in findings)
    return {finding.code: finding.severity for finding in findings}


@pytest.mark.parametrize("name", ["2x3090-pcie", "2x3090-nvlink", "4xa4000", "h100", "1x3090", "rtx-pro-6000"])
def test_a_machine_is_ready_for_its_own_plan(name: str) -> None:
    base = machine(name)
    assert "blocker" not in codes(base, planned(base)).values()
    said = " ".join(in_order(base, planned(base), RIGHT))
    for part in ("Driver 5", "needed", "/data/engine/vllm", "/data/checkpoints/fp8", "Port 8042 is free"):
        assert part in said


def test_memory_that_was_taken_since_the_plan_blocks_and_names_both_numbers() -> None:
    base = machine("2x3090-pcie")
    plan = planned(base)
    busy = with_gpus(base, lambda gpu: replace(gpu, memory_free=9 * GIB))
    first, *_ = [finding for finding in preflight(busy, plan, RIGHT) if finding.code == "preflight.memory"]
    assert first.severity == "blocker"
    assert "9.0 GiB free" in first.text
    assert f"{plan.cards[0].needed / GIB:.1f} GiB" in first.text
    assert first.gpu == plan.cards[0].uuid


def test_memory_for_the_cache_but_not_for_the_canvases_is_a_warning() -> None:
    base = machine("2x3090-pcie")
    plan = planned(base)
    share = plan.cards[0].needed - plan.cards[0].canvas_buffers
    tight = with_gpus(base, lambda gpu: replace(gpu, memory_free=share + GIB // 4))
    assert codes(tight, plan)["preflight.memory"] == "warning"


@pytest.mark.parametrize(("beside", "severity"), [(0.65, "blocker"), (0.72, "warning")])
def test_the_start_needs_the_cuda_context_free_beside_the_utilisation(beside: float, severity: str) -> None:
    """vLLM demands utilisation x total once the context is made; some tens of MiB are let pass."""
    base = machine("2x3090-pcie")
    plan = planned(base)
    demanded = plan.utilisation * plan.cards[0].total
    tight = with_gpus(base, lambda gpu: replace(gpu, memory_free=round(demanded + beside * GIB)))
    assert codes(tight, plan)["preflight.memory"] == severity


def test_a_little_more_of_a_desktop_is_no_finding() -> None:
    base = machine("2x3090-pcie")
    plan = planned(base)
    moved = with_gpus(base, lambda gpu: replace(gpu, memory_free=plan.cards[0].needed - 20 * 2**20))
    assert "preflight.memory" not in codes(moved, plan)


def test_a_card_that_is_gone_or_closed_blocks() -> None:
    base = machine("2x3090-pcie")
    plan = planned(base)
    gone = replace(base, gpus=base.gpus[:1], links=())
    assert codes(gone, plan)["preflight.card_gone"] == "blocker"
    closed = with_gpus(base, lambda gpu: replace(gpu, compute_mode="prohibited"))
    assert codes(closed, plan)["preflight.card_gone"] == "blocker"


@pytest.mark.parametrize(("version", "blocked"), [("580.64.01", True), ("580.65.06", False), ("550.144.03", True)])
def test_the_driver_is_at_least_580_65(version: str, blocked: bool) -> None:
    base = machine("2x3090-pcie")
    other = replace(base, driver=replace(base.driver, version=version))
    assert ("driver.too_old" in codes(other, planned(base))) is blocked


def test_the_host_is_looked_at() -> None:
    base = machine("2x3090-pcie")
    plan = planned(base)
    poor = replace(
        base.host, gcc="", ram_available=2 * GIB, shm_free=64 * 2**20, open_files_limit=1024, container="docker"
    )
    found = codes(replace(base, host=poor), plan)
    assert found["host.no_compiler"] == "blocker"
    assert {"host.ram_busy", "host.shm_small", "host.open_files"} <= found.keys()
    said = " ".join(in_order(replace(base, host=poor), plan, RIGHT))
    assert "compiler" not in said
    assert "shared memory" not in said


def test_what_is_missing_on_disk_blocks() -> None:
    base = machine("2x3090-pcie")
    empty = replace(RIGHT, environment=None, checkpoint=None, cache_free=100)
    found = codes(base, planned(base), empty)
    assert found["preflight.environment"] == found["preflight.checkpoint"] == "blocker"
    assert found["preflight.disk"] == "warning"


def test_the_port() -> None:
    base = machine("2x3090-pcie")
    plan = planned(base)
    taken = replace(RIGHT, port_taken=True, port_holder="python3 (pid 4711)")
    finding = next(each for each in preflight(base, plan, taken) if each.code == PORT)
    assert "python3 (pid 4711)" in finding.text
    answering = replace(taken, served="diffusiongemma")
    found = codes(base, plan, answering)
    assert SERVER in found
    assert PORT not in found, "one thing to do, not two"
    assert "Port 8042 is free" not in " ".join(in_order(base, plan, answering))


def test_leftovers_are_named() -> None:
    base = machine("2x3090-pcie")
    finding = next(
        each for each in preflight(base, planned(base), replace(RIGHT, leftovers=(12, 34))) if each.code == LEFTOVERS
    )
    assert "12, 34" in finding.text


def test_findings_about_cards_that_the_plan_does_not_use_are_left_out() -> None:
    base = machine("3x3090-display-quadro")
    plan = planned(base)
    used = {card.uuid for card in plan.cards}
    assert all(finding.gpu in used or finding.gpu is None for finding in preflight(base, plan, RIGHT))


def test_the_embedded_engine_needs_nothing() -> None:
    base = machine("no-gpu")
    nothing = Facts(None, None, 8042)
    assert preflight(base, planned(base), nothing) == ()
    assert len(in_order(base, planned(base), nothing)) == 1


def test_disk_of_a_folder_that_is_not_there_yet(tmp_path: Path) -> None:
    free = look_at_disk(tmp_path / "not" / "there")
    assert free is not None
    assert free > 0
