"""What lives in the cards at one moment."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CardMemory:
    """One card, in bytes.

    Attributes:
        title: ``0: NVIDIA GeForce RTX 3090``.
        weights, cache, working: of our engine: model, KV cache, and activations with canvases and CUDA context.
        others: other programs, the desktop, the driver.
        holders: who they are, the largest first, in words.
        planned: the running plan uses this card.
        load: percent of the last moment in which it computed; None where the driver does not say.
    """

    uuid: str
    title: str
    total: int
    weights: int = 0
    cache: int = 0
    working: int = 0
    others: int = 0
    holders: str = ""
    planned: bool = False
    load: int | None = None


@dataclass(frozen=True, slots=True)
class MemoryView:
    """All cards; ``why_none`` says in a sentence why there are none."""

    cards: tuple[CardMemory, ...] = ()
    why_none: str = ""
