"""What a benchmark yields, as an object, as JSON and as a table."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any, Literal

import psutil

Bound = Literal["at most", "at least", "none"]


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured number.

    Attributes:
        unit: of value and target; empty for a ratio or a count.
        bound: which side of the target is good; ``none`` for a number that only informs.
        detail: what the number counts, where that helps.
    """

    value: float
    unit: str
    bound: Bound = "none"
    target: float | None = None
    detail: str = ""

    def as_json(self) -> dict[str, Any]:
        """``{"value", "unit", "target", "bound", "pass"}``, and ``detail`` where there is one."""
        fields = {
            "value": _rounded(self.value),
            "unit": self.unit,
            "target": self.target,
            "bound": self.bound,
            "pass": self.passed,
        }
        return {**fields, "detail": self.detail} if self.detail else fields

    @property
    def passed(self) -> bool:
        if self.target is None or self.bound == "none":
            return True
        return self.value <= self.target if self.bound == "at most" else self.value >= self.target

    @property
    def target_text(self) -> str:
        """``at most 1.5``; empty for a number that only informs."""
        return "" if self.target is None else f"{self.bound} {self.target:g}"


@dataclass(frozen=True, slots=True)
class BenchResult:
    """The figures of one benchmark by name, in order."""

    bench: str
    figures: Mapping[str, Figure]
    machine: Mapping[str, Any] = field(default_factory=lambda: machine())

    @property
    def passed(self) -> bool:
        return all(figure.passed for figure in self.figures.values())

    def as_json(self) -> dict[str, Any]:
        """``{"bench", "machine", "figures": {name: {"value", "unit", "target", "bound", "pass"}}}``."""
        figures = {name: figure.as_json() for name, figure in self.figures.items()}
        return {"bench": self.bench, "machine": dict(self.machine), "figures": figures}

    def as_table(self) -> str:
        """Aligned columns for a terminal."""
        rows = [("", "VALUE", "UNIT", "TARGET", "")]
        for name, each in self.figures.items():
            verdict = ("pass" if each.passed else "FAIL") if each.target is not None else ""
            verdict = f"{verdict} {each.detail}".strip()
            rows.append((name, f"{_rounded(each.value):g}", each.unit, each.target_text, verdict))
        widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
        return "\n".join([f"{self.bench} on {self.machine['cpu']}, {self.machine['cores']} cores", *lines])


def machine() -> dict[str, Any]:
    """What the figures depend on; nothing that names the machine or its user."""
    return {
        "cpu": _cpu_name(),
        "cores": len(os.sched_getaffinity(0)),
        "memory_gb": round(psutil.virtual_memory().total / 1e9, 1),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
    }


def percentile(values: Sequence[float], share: float) -> float:
    """The nearest-rank percentile; ``share`` from 0 to 1."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, max(0, round(share * len(ordered)) - 1))]


def middle(values: Sequence[float]) -> float:
    """The median."""
    return float(median(values))


def _rounded(value: float) -> float:
    return float(f"{value:.4g}")


def _cpu_name() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or "unknown"
