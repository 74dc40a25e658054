"""A comparison of reading methods as the page shows it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class MethodRow:
    """One way of reading.

    Attributes:
        refusal: why it could not be read; then there are no cells.
        cells: quality, its interval, against the first way, calibration error, unreadable, seed spread, answers a
            second; as texts.
    """

    name: str
    refusal: str
    cells: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MethodFacts:
    """All ways of one question.

    Attributes:
        quality: name of the measure.
        words: the recommendation.
        path: of the file that keeps it.
        current: whether the form is still the one that was read.
    """

    quality: str
    rows: tuple[MethodRow, ...]
    words: str
    path: str
    current: bool = True
