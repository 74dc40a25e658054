"""A figure of the analysis, ready to be painted: plain numbers, no library of plots."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

Ink = Literal["accent", "text", "muted", "warning", "border_strong"]
Style = Literal["line", "dash", "bars", "points"]


@dataclass(frozen=True)
class Series:
    """One curve, row of bars or cloud of points.

    Attributes:
        x: of bars their edges, one more than ``y``.
        low, high: the interval of each point, or empty.
    """

    name: str
    x: Sequence[float]
    y: Sequence[float]
    ink: Ink = "accent"
    style: Style = "line"
    low: Sequence[float] = ()
    high: Sequence[float] = ()


@dataclass(frozen=True)
class Matrix:
    """Counts of answers (columns) by gold (rows)."""

    names: tuple[str, ...]
    counts: Sequence[Sequence[int]]


@dataclass(frozen=True)
class Figure:
    """One figure.

    Attributes:
        name: of its table of numbers (``engine.batch.analysis.tables``).
        note: what it says, in words.
        x_range, y_range: what the axes show; None: what the data need.
        mark: an upright line at this x, or None.
        matrix: instead of series.
    """

    name: str
    title: str
    note: str
    x_label: str = ""
    y_label: str = ""
    series: tuple[Series, ...] = field(default=())
    x_range: tuple[float, float] | None = (0.0, 1.0)
    y_range: tuple[float, float] | None = (0.0, 1.0)
    mark: float | None = None
    matrix: Matrix | None = None
