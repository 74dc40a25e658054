"""Which parts are switched on, and what each of them is given to hang itself into vLLM."""

from __future__ import annotations

import importlib
import logging
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from engine.vllm_plugin.protocol import PART_MODULES, PARTS_VARIABLE

LOGGER = "vllm.desk_plugin"  # below vLLM's own logger, whose handlers and level it takes
TESTED = ("0.32.", "0.33.")
"""Releases whose classes the parts were written against and run with; on others all is stock."""

logger = logging.getLogger(LOGGER)

Step = Callable[[Any, Any, Any], Any]
"""One call of the sampler: (logits [rows, vocabulary], input batch, draft logits) -> vLLM's ``SamplerOutput``."""


class PartRequired(RuntimeError):
    """Raised by a part's ``install`` when the engine must not run without it; ends the start with its message."""


@dataclass(frozen=True, slots=True)
class Config:
    """What the parts of one worker are made with.

    Attributes:
        parts: names, in the order in which they are installed.
        rank, world: this worker among the tensor-parallel ranks of its engine.
        version: of vLLM.
        variables: the environment.
    """

    parts: tuple[str, ...]
    rank: int
    world: int
    version: str
    variables: Mapping[str, str] = field(repr=False)

    @classmethod
    def of_process(cls, *, rank: int, world: int, version: str, variables: Mapping[str, str] | None = None) -> Config:
        """From the environment. Raises ValueError for a part that does not exist: a misspelt one is not stock."""
        given = dict(os.environ if variables is None else variables)
        parts = tuple(dict.fromkeys(part.strip() for part in given.get(PARTS_VARIABLE, "").split(",") if part.strip()))
        unknown = [part for part in parts if part not in PART_MODULES]
        if unknown:
            raise ValueError(f"{PARTS_VARIABLE}: there is no part {unknown[0]}; there are {', '.join(PART_MODULES)}")
        # The order of PART_MODULES, whatever the variable's: each part wraps what those before it have left.
        return cls(tuple(part for part in PART_MODULES if part in parts), rank, world, version, given)


class HookedSampler(Protocol):
    """The sampler as parts see it: all of vLLM's ``DiffusionSampler``, and two places to hang into.

    Attributes:
        step: what a call of the sampler runs; a part wraps it (``inner = sampler.step; sampler.step = mine``).
        on_add: called with (slot, sampling params) after stock has taken a request in.
    """

    step: Step
    on_add: list[Callable[[int, Any], None]]

    def __getattr__(self, name: str) -> Any: ...


class HookedState(Protocol):
    """The model state: all of vLLM's ``DiffusionGemmaModelState``; its methods may be replaced on the instance.

    Attributes:
        on_remove: called with (slot) after stock has let a request go.
    """

    on_remove: list[Callable[[int], None]]

    def __getattr__(self, name: str) -> Any: ...


def warn_of_cut_canvases(requests: int, canvas: int, batched_tokens: int) -> None:
    """A line of log where the canvases of all requests at once do not fit into a step.

    vLLM's scheduler (0.32 and 0.33, ``v1/core/sched/scheduler.py``) counts canvas slots as tokens and gives the last
    request what is left of a step. A canvas that is cut so denoises without its end; if it converges there, its end is
    zeros.

    Args:
        requests: at once, ``--max-num-seqs``.
        canvas: served slots.
        batched_tokens: ``--max-num-batched-tokens``.
    """
    if requests * canvas > batched_tokens:
        logger.warning(
            "%d requests at once with canvases of %d slots need --max-num-batched-tokens %d; with %d vLLM cuts canvases"
            " short, and what lies behind the cut is lost or wrong",
            *(requests, canvas, requests * canvas, batched_tokens),
        )


def install_parts(state: HookedState, sampler: HookedSampler, config: Config) -> tuple[str, ...]:
    """Installs the parts of ``config``; each module has ``install(state, sampler, config) -> str``, a word on itself.

    A part that fails is left out with one line of log; with an untested vLLM all are.

    Returns:
        the names of those installed.

    Raises:
        PartRequired: a part says that the engine must not run without it.
    """
    if config.parts and not config.version.startswith(TESTED):
        logger.warning("Diffusion Desk's parts are left out: they were not tested with vLLM %s", config.version)
        return ()
    done: dict[str, str] = {}
    for part in config.parts:
        try:
            done[part] = importlib.import_module(PART_MODULES[part]).install(state, sampler, config)
        except PartRequired:
            raise
        except Exception:
            logger.exception("Diffusion Desk's part %s is left out", part)
    if done and config.rank == 0:
        logger.info("Diffusion Desk's parts: %s", "; ".join(f"{name} ({word})" for name, word in done.items()))
    return tuple(done)
