"""Small plots as SVG text: lines and bars over two axes. Nothing is loaded from anywhere, colours follow the page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape

WIDTH, HEIGHT = 320, 240  # of the plane, in SVG units
_LEFT, _BOTTOM, _TOP, _RIGHT = 46, 40, 26, 12
_MAX_POINTS = 400  # of a line: more cannot be seen on 320 units
_TICKS = 5

Points = Sequence[tuple[float, float]]


@dataclass(frozen=True)
class Plot:
    """A plane with axes.

    Attributes:
        title: also its text for those who cannot see it.
        x, y: names of the axes.
        x_range, y_range: what the axes show.
        marks: what is drawn, in order.
    """

    title: str
    x: str
    y: str
    x_range: tuple[float, float] = (0.0, 1.0)
    y_range: tuple[float, float] = (0.0, 1.0)
    marks: list[str] = field(default_factory=list)

    def line(self, points: Points, kind: str = "line") -> None:
        """A line through the points; ``kind`` is its class in the style sheet (``line``, ``even``)."""
        path = " ".join(f"{self._x(x):.1f},{self._y(y):.1f}" for x, y in thinned(points))
        self.marks.append(f'<polyline class="{kind}" points="{path}"/>')

    def dots(self, points: Points, intervals: Sequence[tuple[float, float]] = ()) -> None:
        """Dots, with a bar from low to high through each where intervals are given."""
        for at, (x, y) in enumerate(points):
            if intervals:
                low, high = intervals[at]
                where = f'x1="{self._x(x):.1f}" x2="{self._x(x):.1f}" y1="{self._y(low):.1f}" y2="{self._y(high):.1f}"'
                self.marks.append(f'<line class="interval" {where}/>')
            self.marks.append(f'<circle class="dot" cx="{self._x(x):.1f}" cy="{self._y(y):.1f}" r="3.5"/>')

    def bars(self, edges: Sequence[float], heights: Sequence[float]) -> None:
        """One bar between each two edges."""
        floor = self._y(self.y_range[0])
        for low, high, height in zip(edges, edges[1:], heights, strict=False):
            left, top = self._x(low), self._y(height)
            size = f'width="{max(self._x(high) - left - 1, 0.5):.1f}" height="{max(floor - top, 0):.1f}"'
            self.marks.append(f'<rect class="bar" x="{left:.1f}" y="{top:.1f}" {size}/>')

    def svg(self) -> str:
        """The plot as an ``<svg>`` element."""
        width, height = WIDTH + _LEFT + _RIGHT, HEIGHT + _TOP + _BOTTOM
        head = f'<svg role="img" viewBox="0 0 {width} {height}" width="{width}" xmlns="http://www.w3.org/2000/svg">'
        name = escape(self.title)
        title = f'<title>{name}</title><text class="name" x="{_LEFT}" y="16">{name}</text>'
        return "".join([head, title, *self._axes(), *self.marks, "</svg>"])

    def _axes(self) -> list[str]:
        base, right = _TOP + HEIGHT, _LEFT + WIDTH
        parts = [f'<path class="axis" d="M{_LEFT},{_TOP} V{base} H{right}"/>']
        for at in range(_TICKS):
            share = at / (_TICKS - 1)
            x = self.x_range[0] + share * (self.x_range[1] - self.x_range[0])
            y = self.y_range[0] + share * (self.y_range[1] - self.y_range[0])
            parts.append(_text("tick", f'x="{self._x(x):.1f}" y="{base + 14}"', "middle", f"{x:.4g}"))
            parts.append(_text("tick", f'x="{_LEFT - 5}" y="{self._y(y) + 4:.1f}"', "end", f"{y:.4g}"))
        parts.append(_text("axis-name", f'x="{_LEFT + WIDTH / 2}" y="{base + 32}"', "middle", self.x))
        turned = f'transform="translate(12 {_TOP + HEIGHT / 2}) rotate(-90)"'
        return [*parts, _text("axis-name", turned, "middle", self.y)]

    def _x(self, value: float) -> float:
        low, high = self.x_range
        return _LEFT + WIDTH * (value - low) / (high - low)

    def _y(self, value: float) -> float:
        low, high = self.y_range
        return _TOP + HEIGHT * (1 - (value - low) / (high - low))


def thinned(points: Points) -> list[tuple[float, float]]:
    """At most some hundred of the points, evenly taken, the first and the last among them."""
    if len(points) <= _MAX_POINTS:
        return list(points)
    step = (len(points) - 1) / (_MAX_POINTS - 1)
    return [points[round(at * step)] for at in range(_MAX_POINTS)]


def _text(kind: str, where: str, anchor: str, text: str) -> str:
    return f'<text class="{kind}" {where} text-anchor="{anchor}">{escape(text)}</text>'
