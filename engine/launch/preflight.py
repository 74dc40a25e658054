"""The last look before a launch: is everything so that the plan can start, and what is the one thing to do if not.

Pure: a machine, a plan and facts go in, findings come out. Whoever calls gathers the facts: what is on disk, who holds
the port and what runs there are questions to other rooms.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from engine.domain.hardware import GIB, Finding, Machine, Severity
from engine.domain.plan import CardBudget, LaunchPlan
from engine.hardware.findings import find_findings
from engine.launch.cards import survey

SERVER = "preflight.server"
"""Another engine answers on the port: the app can use it instead of starting one."""
LEFTOVERS = "preflight.leftovers"
"""Engines of ours that nobody owns: the app can end them."""
PORT = "preflight.port"

MIN_CACHE_DISK = 2_000_000_000  # bytes; compiled kernels and logs
_SLACK = GIB // 20  # a desktop's memory comes and goes by some tens of MiB
_NOT_NOW = frozenset({"host.disk_small", "host.glibc_window", "host.no_headers", "gpu.none"})


@dataclass(frozen=True, slots=True)
class Facts:
    """What a launch depends on beside the machine. Paths are of this machine.

    Attributes:
        environment: folder of the engine's environment; None when there is no complete one.
        checkpoint: folder of the checkpoint; None when there is no complete one.
        port: where the engine is to listen.
        port_taken: somebody listens there.
        port_holder: who, where the system tells.
        served: what model a server on that port serves to us; empty when none answers.
        leftovers: pids of engine processes of ours whose owner is gone.
        cache_free: free bytes where compiled kernels and logs go; None when unknown.
    """

    environment: Path | None
    checkpoint: Path | None
    port: int
    port_taken: bool = False
    port_holder: str = ""
    served: str = ""
    leftovers: tuple[int, ...] = ()
    cache_free: int | None = None


def preflight(machine: Machine, plan: LaunchPlan, facts: Facts) -> tuple[Finding, ...]:
    """What stands in the way (blockers), what may, and what is worth knowing; the worst first."""
    if plan.checkpoint == "embedded":
        return ()
    found = [*_leftovers(facts), *_cards(machine, plan), *_folders(facts), *_port(facts), *_machine(machine, plan)]
    order = {"blocker": 0, "warning": 1, "note": 2}
    return tuple(sorted(found, key=lambda finding: order[finding.severity]))


def in_order(machine: Machine, plan: LaunchPlan, facts: Facts) -> tuple[str, ...]:
    """What was looked at and is right, in sentences."""
    if plan.checkpoint == "embedded":
        return ("The embedded engine needs nothing of this machine.",)
    wrong = {finding.code for finding in preflight(machine, plan, facts)}
    host = machine.host
    lines = (
        ("driver.", f"Driver {machine.driver.version}."),
        ("preflight.memory", _memory_line(machine, plan)),
        ("preflight.environment", f"The engine's environment is in {facts.environment}."),
        ("preflight.checkpoint", f"The checkpoint is in {facts.checkpoint}."),
        ("preflight.port", f"Port {facts.port} is free."),
        ("host.no_compiler", f"C compiler {host.gcc}."),
        ("host.ram", f"{(host.ram_available or 0) / GIB:.0f} GiB of memory free."),
        ("host.shm", f"{(host.shm_free or 0) / GIB:.1f} GiB of shared memory free."),
        ("host.open_files", f"A process may open {host.open_files_limit or 0:,} files."),
        ("preflight.leftovers", "No engine of an earlier start is left."),
    )
    missing = {"host.ram": host.ram_available, "host.shm": host.shm_free, "host.open_files": host.open_files_limit}
    return tuple(
        text
        for code, text in lines
        if missing.get(code, True) is not None
        and not any(each.startswith(code) for each in wrong)
        and not (code == "preflight.port" and facts.port_taken)
    )


def look_at_disk(folder: Path) -> int | None:
    """Free bytes of the file system that holds a folder, or will hold it; None when that cannot be told."""
    for place in (folder, *folder.parents):
        try:
            return shutil.disk_usage(place).free
        except OSError:
            continue
    return None


def _memory_line(machine: Machine, plan: LaunchPlan) -> str:
    free = {card.gpu.uuid: card.free for group in survey(machine).groups for card in group}
    alike = Counter(
        f"{card.name}: {free.get(card.uuid, 0) / GIB:.1f} GiB free, {card.needed / GIB:.1f} needed"
        for card in plan.cards
    )
    return "; ".join(f"{count}× {text}" if count > 1 else text for text, count in alike.items()) + "."


def _machine(machine: Machine, plan: LaunchPlan) -> Iterator[Finding]:
    """Findings about the machine that concern this plan; its own cards only."""
    used = {card.uuid for card in plan.cards}
    for finding in find_findings(machine):
        mine = finding.gpu is None or finding.gpu in used
        if mine and finding.code not in _NOT_NOW and finding.severity != "note":
            yield finding


def _cards(machine: Machine, plan: LaunchPlan) -> Iterator[Finding]:
    """Memory that is free now against the plan. vLLM itself refuses when its share is not free at the start."""
    now = {card.gpu.uuid: card for group in survey(machine).groups for card in group}
    for budget in plan.cards:
        card = now.get(budget.uuid)
        if card is None:
            yield _finding(
                "preflight.card_gone",
                "blocker",
                "{name} is not there any more, or cannot be used now",
                "look at the machine again and plan anew",
                gpu=budget.uuid,
                name=budget.name,
            )
            continue
        lacking = budget.needed - card.free
        if lacking > _SLACK:
            yield _short_of_memory(budget, card.free, blocker=card.free + _SLACK < _share(budget))


def _share(budget: CardBudget) -> int:
    """What a start needs free: vLLM makes the CUDA context, then asks for its utilisation. Canvases come later."""
    return budget.needed - budget.canvas_buffers


def _short_of_memory(budget: CardBudget, free: int, *, blocker: bool) -> Finding:
    return _finding(
        "preflight.memory",
        "blocker" if blocker else "warning",
        "{name} has {free:.1f} GiB free now; the plan needs {needed:.1f} GiB",
        "close what uses the card, or plan anew with what is free",
        gpu=budget.uuid,
        name=budget.name,
        free=free / GIB,
        needed=budget.needed / GIB,
    )


def _folders(facts: Facts) -> Iterator[Finding]:
    if facts.environment is None:
        yield _finding(
            "preflight.environment",
            "blocker",
            "the engine is not installed",
            "go back to the step Engine and install it",
        )
    if facts.checkpoint is None:
        yield _finding(
            "preflight.checkpoint",
            "blocker",
            "the checkpoint is not there in full",
            "go back to the step Checkpoint and fetch it, or name a folder that holds it",
        )
    if facts.cache_free is not None and facts.cache_free < MIN_CACHE_DISK:
        yield _finding(
            "preflight.disk",
            "warning",
            "{free:.1f} GB are free for compiled kernels and logs; {needed:.1f} GB are wanted",
            "make room on that disk",
            free=facts.cache_free / 1e9,
            needed=MIN_CACHE_DISK / 1e9,
        )


def _port(facts: Facts) -> Iterator[Finding]:
    if facts.served:
        yield _finding(
            SERVER,
            "blocker",
            "an engine answers on port {port} already; it serves {served}",
            "use that engine, or choose another port",
            port=facts.port,
            served=facts.served,
        )
    elif facts.port_taken:
        yield _finding(
            PORT,
            "blocker",
            "port {port} is taken" + (" by {holder}" if facts.port_holder else ""),
            "choose another port, or end that program",
            port=facts.port,
            holder=facts.port_holder,
        )


def _leftovers(facts: Facts) -> Iterator[Finding]:
    if facts.leftovers:
        yield _finding(
            LEFTOVERS,
            "blocker",
            "an engine of an earlier start still runs without an owner and holds memory (processes {pids})",
            "end it",
            pids=", ".join(map(str, facts.leftovers)),
        )


def _finding(
    code: str, severity: Severity, text: str, remedy: str, *, gpu: str | None = None, **params: object
) -> Finding:
    made = Finding(code, severity, text.format_map(params), remedy, gpu)
    return replace(made, params=params)
