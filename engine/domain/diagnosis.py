"""What a failed start or a dead engine means: the first root error of its log, its cause, and what to do about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from engine.domain.plan import EnvVar, Flag, Wishes

Action = Literal[
    # with another plan
    "lower_utilisation",
    "one_sequence",
    "smaller_canvas",
    "shorter_context",
    "text_only",
    "other_checkpoint",
    "fewer_cards",
    "marlin",
    "p2p_off",
    "nccl_log",
    "no_deep_gemm",
    "eager",
    "longer_start",
    "without_parts",
    # with the same plan
    "other_port",
    "restart",
    "wait",
    # before a plan
    "free_memory",
    "reinstall",
    "clear_caches",
    "check_checkpoint",
    "look_again",
    "reboot",
    # by the user
    "advice",
]
"""What the program can do; ``advice`` is for the user alone.

``look_again`` reads the machine anew; ``check_checkpoint`` hashes its files and fetches what is damaged.
"""

FailureKind = Literal["fault", "echo", "wrapper", "request", "hang", "notice"]
"""What a line that a rule knows is worth.

``fault``: a root error. ``echo``: what other processes say when one of them failed. ``wrapper``: says only that there
was an error above. ``request``: one request was refused, the engine lives. ``hang``: a fault only when nothing follows
it for a time. ``notice``: no fault at all.
"""

Stage = Literal["start", "connect", "load", "memory", "warm-up", "serving"]
"""How far the log had come at the line."""


@dataclass(frozen=True, slots=True)
class Remedy:
    """One thing to do, in words; ``action`` is what its button does."""

    action: Action
    text: str


@dataclass(frozen=True, slots=True)
class LogLine:
    """A line of an engine's log.

    Attributes:
        number: of the line in the log, from 1; a carriage return ends a line too.
        process: ``Worker_TP1``, ``EngineCore``, ``APIServer``; empty where the line does not say.
        level: ``INFO``, ``WARNING``, ``ERROR``...; empty where the line does not say.
        text: without prefix and colours.
        likely: it looks like the fault, or belongs to it.
    """

    number: int
    process: str
    level: str
    text: str
    likely: bool = False


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What a log says.

    Attributes:
        rule: the id of the rule in ``resources/failures.json``; ``unknown`` where none fits.
        phase: when this failure shows up, by its rule.
        stage: how far this log had come.
        cause: in words, for this machine.
        line: the one that told; None where none did.
        params: what the line and the machine gave: amounts, names.
        sources: where the failure is described.
        also: ids of rules whose lines stand elsewhere in the log: wrappers, echoes, notices, later faults.
        tail: the end of the log, and likely lines before it; only where the root is not known.
    """

    rule: str
    kind: FailureKind
    phase: str
    stage: Stage
    cause: str
    remedies: tuple[Remedy, ...]
    line: LogLine | None = None
    params: Mapping[str, str] = field(default_factory=dict)
    sources: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    tail: tuple[LogLine, ...] = ()

    @property
    def known(self) -> bool:
        """Whether the root is known: a wrapper alone tells nothing."""
        return self.rule != "unknown" and self.kind != "wrapper"

    @property
    def out_of_memory(self) -> bool:
        """Whether the same plan would fail again for want of a card's memory."""
        return self.rule in OUT_OF_MEMORY


OUT_OF_MEMORY = frozenset({"oom", "oom_hidden", "cublas_memory", "no_kv", "autofit", "kv_small", "free_lt_util"})


PARTS_FAILED = "desk_parts"
"""The rule for an error in our own parts inside vLLM (docs/plugin.md)."""
PARTS_OFF = "desk_part_off"
"""The rule for what a part says when it has switched itself off; the engine goes on."""


@dataclass(frozen=True, slots=True)
class PlanChange:
    """One thing that another plan has otherwise; empty texts for what one of them does not have."""

    what: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Retry:
    """What a remedy makes of a start: to be shown, and then planned and started.

    Attributes:
        action: of the remedy that it follows.
        wishes: for the planner.
        overrides: flags and variables that replace the plan's, or are added to it.
        changes: what is different, a sentence each (``utilisation 0.78 instead of 0.82``).
        new_port: listen elsewhere.
    """

    action: Action
    wishes: Wishes
    overrides: tuple[Flag | EnvVar, ...] = ()
    changes: tuple[str, ...] = ()
    new_port: bool = False
