"""``classes.toml`` as dataclasses, and which class a plan follows."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

from engine.domain.hardware import GIB
from engine.domain.plan import CheckpointKind, EnvVar, Flag, Link, SpeedClass
from engine.launch.shapes import CANVAS

MARLIN_ARCHITECTURES = frozenset({"ampere"})  # no FP8 units: FP8 weights are unpacked by Marlin
MARLIN_FP4_ARCHITECTURES = frozenset({"ampere", "ada"})  # no FP4 units: NVFP4 weights are unpacked by Marlin
MARLIN_OPTIONS = frozenset({"marlin-dense", "marlin-moe"})


@dataclass(frozen=True, slots=True)
class Decisions:
    """What the profile for many short reads does otherwise.

    Attributes:
        sequences: requests at once, or as many as the memory beside the utilisation holds.
        canvas: slots of one; 24 questions together take 128.
        utilisation: None for the class's own.
        api_servers: processes that take requests in; 0 leaves it to vLLM, which has one.
        graph_tokens: sizes of a step, in tokens, for which CUDA graphs are captured; empty leaves them to vLLM.
    """

    sequences: int
    canvas: int
    utilisation: float | None = None
    api_servers: int = 0
    graph_tokens: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class CardClass:
    """One class of ``classes.toml``; what is empty there fits everything.

    Attributes:
        min_gib, max_gib: bounds of what torch sees of the smallest card, in GiB.
        options: names in the options table.
        canvas: slots of one.
        attention: value of ``--attention-backend``; empty leaves the choice to vLLM.
        decisions: None for a class whose two profiles differ in their context only.
    """

    id: str
    title: str
    architectures: tuple[str, ...]
    utilisation: float
    utilisation_reason: str
    context: int | Literal["auto"]
    sequences: int
    batched_tokens: int
    eager: bool
    activations_gib: float
    speed: SpeedClass
    tensor_parallel: tuple[int, ...] = ()
    links: tuple[Link, ...] = ()
    checkpoints: tuple[CheckpointKind, ...] = ("fp8", "int8")
    min_gib: float = 0.0
    max_gib: float = float("inf")
    text_only: bool = False
    canvas: int = CANVAS
    attention: str = "TRITON_ATTN"
    options: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    decisions: Decisions | None = None

    def fits(self, architecture: str, checkpoint: CheckpointKind, tp: int, link: Link, total: int) -> bool:
        return (
            architecture in self.architectures
            and checkpoint in self.checkpoints
            and (not self.tensor_parallel or tp in self.tensor_parallel)
            and (not self.links or link in self.links)
            and self.min_gib <= total / GIB < self.max_gib
        )


@dataclass(frozen=True, slots=True)
class Catalogue:
    """The whole file."""

    architectures: dict[tuple[int, int], str]
    options: dict[str, Flag | EnvVar]
    classes: tuple[CardClass, ...]

    def architecture(self, capability: tuple[int, int] | None) -> str | None:
        """``ampere`` for (8, 6); None for a card that the engine does not run on, or does not know."""
        return self.architectures.get(capability) if capability else None

    def find(self, architecture: str, checkpoint: CheckpointKind, tp: int, link: Link, total: int) -> CardClass | None:
        return next((row for row in self.classes if row.fits(architecture, checkpoint, tp, link, total)), None)


@cache
def catalogue() -> Catalogue:
    """Read ``classes.toml``, which lies beside this file."""
    data = tomllib.loads(Path(__file__).with_name("classes.toml").read_text("utf-8"))
    return Catalogue(
        architectures={
            _capability(number): name for name, numbers in data["architectures"].items() for number in numbers
        },
        options={name: _option(entry) for name, entry in data["options"].items()},
        classes=tuple(_card_class(entry) for entry in data["class"]),
    )


def _capability(text: str) -> tuple[int, int]:
    major, minor = text.split(".")
    return int(major), int(minor)


def _option(entry: dict[str, Any]) -> Flag | EnvVar:
    if "flag" in entry:
        return Flag(entry["flag"], entry.get("value"), entry["reason"])
    return EnvVar(entry["env"], entry["value"], entry["reason"])


def _card_class(entry: dict[str, Any]) -> CardClass:
    values = _values(entry)
    if "decisions" in values:
        values["decisions"] = Decisions(**_values(values["decisions"]))
    return CardClass(**values)


def _values(entry: dict[str, Any]) -> dict[str, Any]:
    return {key: tuple(value) if isinstance(value, list) else value for key, value in entry.items()}
