"""The runs that wait for each other, as the window shows them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

LineState = Literal["running", "waiting", "failed"]


@dataclass(frozen=True, slots=True)
class QueueLine:
    """A run in the queue.

    Attributes:
        name: of its form.
        note: why it failed.
    """

    run: str
    name: str
    state: LineState
    note: str = ""


@dataclass(frozen=True, slots=True)
class QueueLook:
    """The queue as it is now.

    Attributes:
        adding: names of runs whose rows are being copied; they come to stand at the end.
        going: whether what waits begins by itself.
        elsewhere: another process works the queue off.
    """

    lines: tuple[QueueLine, ...] = ()
    adding: tuple[str, ...] = ()
    going: bool = False
    elsewhere: bool = False

    @property
    def waiting(self) -> tuple[str, ...]:
        """The ids of those that wait, in order."""
        return tuple(line.run for line in self.lines if line.state == "waiting")

    def line(self, run: str) -> QueueLine | None:
        return next((line for line in self.lines if line.run == run), None)

    def moved(self, run: str, by: int) -> tuple[str, ...]:
        """The order in which a run that waits has gone ``by`` places down (or up, below 0)."""
        order = list(self.waiting)
        if run in order:
            place = order.index(run)
            order.insert(min(max(0, place + by), len(order) - 1), order.pop(place))
        return tuple(order)
