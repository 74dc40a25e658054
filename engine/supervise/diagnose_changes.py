"""What the next plan has otherwise than the one that failed, to be shown before it is started."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from engine.domain.diagnosis import PlanChange
from engine.domain.hardware import GIB
from engine.domain.plan import EnvVar, Flag, LaunchPlan

_FIGURES: tuple[tuple[str, Callable[[LaunchPlan], str]], ...] = (
    ("plan", lambda plan: plan.title),
    ("checkpoint", lambda plan: plan.checkpoint.upper()),
    ("cards", lambda plan: str(len(plan.cards))),
    ("context", lambda plan: f"{plan.context:,} tokens"),
    ("requests at once", lambda plan: str(plan.sequences)),
    ("utilisation", lambda plan: f"{plan.utilisation:.2f}"),
    ("canvas", lambda plan: f"{plan.canvas} slots"),
    ("pictures", lambda plan: "no" if plan.text_only else "yes"),
    ("KV cache a card", lambda plan: f"{max((card.kv_cache for card in plan.cards), default=0) / GIB:.1f} GiB"),
)


def plan_changes(before: LaunchPlan, after: LaunchPlan) -> tuple[PlanChange, ...]:
    """Figures first, then flags and variables that no figure tells."""
    figures = [PlanChange(name, said(before), said(after)) for name, said in _FIGURES if said(before) != said(after)]
    return (*figures, *_by_name(before.flags, after.flags), *_by_name(before.env, after.env))


def _by_name(before: Sequence[Flag | EnvVar], after: Sequence[Flag | EnvVar]) -> Iterator[PlanChange]:
    old = {item.name: _said(item) for item in before}
    new = {item.name: _said(item) for item in after}
    for name in dict.fromkeys((*old, *new)):
        if old.get(name) != new.get(name):
            yield PlanChange(name, old.get(name, ""), new.get(name, ""))


def _said(item: Flag | EnvVar) -> str:
    if item.value is not None:
        return item.value
    return "on" if isinstance(item, Flag) else "removed"
