"""A rule's words for this machine: its cards, its driver, and who holds their memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from engine.domain.diagnosis import Remedy
from engine.domain.hardware import GIB, GpuProcess, Machine
from engine.domain.plan import LaunchPlan
from engine.supervise.diagnose_catalogue import Rule

SHOWN = 3  # holders of memory


@dataclass(frozen=True, slots=True)
class Explanation:
    """Cause and remedies in words."""

    cause: str
    remedies: tuple[Remedy, ...]


def explain(
    rule: Rule, params: Mapping[str, str], machine: Machine | None = None, plan: LaunchPlan | None = None
) -> Explanation:
    """Fill in a rule's texts.

    Args:
        params: what its pattern found.
        machine, plan: for the facts; without them the words stay general.
    """
    values = _facts(machine, plan) | dict(params)
    remedies = tuple(Remedy(remedy.action, remedy.text.format_map(values)) for remedy in rule.remedies)
    return Explanation(rule.cause.format_map(values), remedies)


def _facts(machine: Machine | None, plan: LaunchPlan | None) -> dict[str, str]:
    """The facts that ``diagnose_catalogue.FACTS`` names."""
    names = [card.name for card in plan.cards] if plan else [gpu.name for gpu in machine.gpus] if machine else []
    return {
        "cards": _counted(names) or "the cards",
        "driver": (machine.driver.version if machine else "") or "the installed one",
        "holders": _holders(machine, plan) or "other programs or the desktop",
        "largest": f"{plan.largest_context:,}" if plan and plan.largest_context else "fewer",
    }


def _counted(names: list[str]) -> str:
    return " and ".join(
        f"{names.count(name)}x {name}" if names.count(name) > 1 else name for name in dict.fromkeys(names)
    )


def _holders(machine: Machine | None, plan: LaunchPlan | None) -> str:
    """The programs that hold most of the plan's cards, with what they hold."""
    if machine is None:
        return ""
    wanted = {card.uuid for card in plan.cards} if plan and plan.cards else {gpu.uuid for gpu in machine.gpus}
    found = [process for gpu in machine.gpus if gpu.uuid in wanted for process in gpu.processes]
    found.sort(key=lambda process: process.memory or 0, reverse=True)
    return ", ".join(_holder(process) for process in found[:SHOWN])


def _holder(process: GpuProcess) -> str:
    if process.memory is None:
        return f"{process.name} ({process.pid})"
    return f"{process.name} ({process.pid}, {process.memory / GIB:.1f} GiB)"
