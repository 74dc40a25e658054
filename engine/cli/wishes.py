"""The options by which a user overrules the planner; ``plan`` shows what comes of them, ``serve`` starts it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import click

from engine.domain.hardware import Machine
from engine.domain.plan import Profile, Wishes
from engine.errors import InputError

_OPTIONS: tuple[Callable[..., Any], ...] = (
    click.option(
        "--machine", "record", type=click.Path(path_type=Path), help="A recorded machine instead of this one."
    ),
    click.option("--profile", type=click.Choice(get_args(Profile)), help="Chat unless given."),
    click.option("--cards", help="Cards by index or UUID, for instance 0,2. Left out: the best ones."),
    click.option("--tensor-parallel", type=int, help="Cards that share one model: 1, 2, 4 or 8."),
    click.option("--context", type=int, metavar="TOKENS", help="Prompt and answer together."),
    click.option("--utilisation", type=float, help="Share of each card that the engine may take, 0.5 to 0.95."),
    click.option("--sequences", type=int, help="Requests at once."),
    click.option("--canvas", type=int, metavar="SLOTS", help="Slots of a canvas, 16 to 256."),
    click.option("--text-only/--pictures", default=None, help="Leave the vision tower out, or keep it."),
    click.option("--fast-sampler", is_flag=True, default=None, help="Let torch compile the sampler; needs gcc."),
    click.option("--kv-cache-dtype", "kv_cache", help="Refused, but for auto; says why."),
    click.option("--pipeline-parallel", type=int, help="Refused, but for 1; says why."),
    click.option("--constrained-reads", is_flag=True, default=None, help="Refused over several cards; says why."),
)
NAMES = frozenset(
    {"profile", "cards", "tensor_parallel", "context", "utilisation", "sequences", "canvas", "text_only"}
    | {"fast_sampler", "kv_cache", "pipeline_parallel", "constrained_reads"}
)
"""Parameters of a command with :func:`wish_options` that belong to :func:`wishes_of`."""


def wish_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Gives a command ``--machine`` (as ``record``) and one option for each wish; what is not given is None."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def wishes_of(machine: Machine, given: Mapping[str, Any], base: Wishes | None = None) -> Wishes:
    """What was asked for, over ``base``.

    Args:
        given: the command's parameters; None leaves a value as it is.

    Raises:
        InputError: a card by an index that the machine does not have.
    """
    changes = {name: value for name, value in given.items() if name in NAMES and value is not None}
    if "cards" in changes:
        changes["cards"] = _uuids(machine, changes["cards"])
    return replace(base or Wishes(), **changes)


def _uuids(machine: Machine, cards: str) -> tuple[str, ...]:
    """Indexes become UUIDs; a UUID stays, known or not: the planner names an unknown one."""
    by_index = {str(gpu.index): gpu.uuid for gpu in machine.gpus if not gpu.uuid.startswith("MIG-")}
    names = [name.strip() for name in cards.split(",") if name.strip()]
    for name in names:
        if name.isdigit() and name not in by_index:
            raise InputError(
                "plan.card_index",
                "--cards {name}: there is no card {name}",
                remedy="this machine has {known}",
                name=name,
                known=", ".join(by_index) or "none",
            )
    return tuple(dict.fromkeys(by_index.get(name, name) for name in names))
