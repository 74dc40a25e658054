"""The canvas of a read: which slots hold noise, what stands in the others.

Alone: ``[noise, <turn|>, <pad>, ...]``, the answer is the first token of the reply. Joint: one pinned line per
question, ``k: <noise>`` and a newline, then ``<turn|>`` and pads. A joint canvas keeps at least one pad, or label mass
is lost (vLLM 0.33.0 observes the same), and its width is a multiple of 16, capped by the canvas that the engine serves.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

CANVAS_STEP = 16  # vLLM 0.33.0 reads decisions on canvases of multiples of 16
_NOISE = -1  # marks a slot in a template; never sent


@dataclass(frozen=True, slots=True)
class Specials:
    """Token ids that every canvas needs.

    Attributes:
        thought: the empty thought block, appended to the prompt.
        end: ``<turn|>``.
        pad: ``<pad>``.
    """

    thought: tuple[int, ...]
    end: int
    pad: int


@dataclass(frozen=True, slots=True)
class Canvas:
    """A canvas without its noise.

    Attributes:
        template: token ids, one per slot of the canvas; label slots hold -1.
        slots: positions of the label slots, in the order of the questions.
    """

    template: tuple[int, ...]
    slots: tuple[int, ...]

    @property
    def width(self) -> int:
        return len(self.template)

    @property
    def pinned(self) -> tuple[int, ...]:
        """Positions whose token is given: all but the label slots."""
        return tuple(position for position, token in enumerate(self.template) if token != _NOISE)

    def seeded(self, noise: Sequence[int]) -> tuple[int, ...]:
        """The canvas to send, with one noise token per label slot in order."""
        if len(noise) != len(self.slots):
            raise ValueError("more noise than label slots, or less")
        seeded = list(self.template)
        for slot, token in zip(self.slots, noise, strict=True):
            seeded[slot] = token
        return tuple(seeded)


def alone_canvas(specials: Specials, length: int) -> Canvas:
    """The canvas of one question; ``length`` is at least 2."""
    return Canvas((_NOISE, specials.end, *(specials.pad,) * (length - 2)), (0,))


def joint_canvas(prefixes: Sequence[Sequence[int]], newline: int, specials: Specials, served: int) -> Canvas:
    """The canvas of several questions.

    Args:
        prefixes: token ids of each line before its label (``k: `` without what belongs to the label).
        newline: token id of the line's end.
        served: the engine's canvas length; the lines must fit (see ``fits``).
    """
    tokens: list[int] = []
    slots: list[int] = []
    for prefix in prefixes:
        tokens += prefix
        slots.append(len(tokens))
        tokens += (_NOISE, newline)
    tokens.append(specials.end)
    rounded = -(-(len(tokens) + 1) // CANVAS_STEP) * CANVAS_STEP
    width = min(rounded, served)
    return Canvas((*tokens, *(specials.pad,) * (width - len(tokens))), tuple(slots))


def fits(prefix_lengths: Sequence[int], served: int) -> bool:
    """Whether lines with such prefixes, an end-of-turn and one pad fit the served canvas."""
    return sum(length + 2 for length in prefix_lengths) + 1 < served


def even_runs(count: int, fits_run: Callable[[int, int], bool]) -> list[tuple[int, int]]:
    """The fewest runs of ``count`` questions, as even as possible, of which each fits one canvas.

    Args:
        fits_run: whether questions ``start`` to ``stop`` (exclusive) fit.

    Returns:
        (start, stop) pairs; runs of one question when nothing longer fits. Longer runs come first.
    """
    for runs in range(1, count):
        sizes = (count // runs + (run < count % runs) for run in range(runs))
        pairs = list(pairwise(accumulate(sizes, initial=0)))
        if all(fits_run(start, stop) for start, stop in pairs):
            return pairs
    return [(start, start + 1) for start in range(count)]
