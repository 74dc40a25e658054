"""Machines for the tests of the planner: recorded ones, changed where a test needs it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from engine.domain.hardware import Gpu, GpuLink, Machine
from engine.domain.plan import LaunchPlan, Refusal, Wishes
from engine.hardware.record import load_machine, recorded_machines
from engine.launch.planner import plan


def machine(name: str) -> Machine:
    return load_machine(recorded_machines()[name])


def with_gpus(base: Machine, change: Callable[[Gpu], Gpu]) -> Machine:
    return replace(base, gpus=tuple(change(gpu) for gpu in base.gpus))


def copies(base: Machine, count: int, *, nvlinked: tuple[tuple[int, int], ...] = ()) -> Machine:
    """``count`` cards like the first one; pairs of indexes with a bridge."""
    gpus = tuple(replace(base.gpus[0], index=i, uuid=f"GPU-{i:08d}", display=False) for i in range(count))
    links = tuple(GpuLink(gpus[a].uuid, gpus[b].uuid, nvlinks=4, p2p=True) for a, b in nvlinked)
    return replace(base, gpus=gpus, links=links)


def planned(base: Machine, **wishes: Any) -> LaunchPlan:
    result = plan(base, Wishes(**wishes))
    assert isinstance(result, LaunchPlan), result
    return result


def refused(base: Machine, **wishes: Any) -> Refusal:
    result = plan(base, Wishes(**wishes))
    assert isinstance(result, Refusal), result
    assert result.ways_out, "a refusal names what would make a plan possible"
    return result


def flag(found: LaunchPlan, name: str) -> str | None:
    """The value of a flag; "" for a switch; None when it is not there."""
    return next((entry.value or "" for entry in found.flags if entry.name == name), None)


def env(found: LaunchPlan) -> dict[str, str | None]:
    return {entry.name: entry.value for entry in found.env}
