"""Groups that stand out: where more answers are unreadable than luck explains.

Each group is held against all the others by Fisher's exact test (one-sided: more than its share). Many groups are
tested at once, so some look odd by luck; the p-values are corrected for that (Holm 1979), and only the corrected one
counts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

LEVEL = 0.05


@dataclass(frozen=True, slots=True)
class GroupTest:
    """One group's unreadable answers.

    Attributes:
        name: the cell of the group column.
        read: answers that are ok or unreadable.
        unreadable: of these.
        share: unreadable over read.
        p: chance of so many or more if the group were like all others.
        corrected: the same, corrected for the number of groups.
    """

    name: str
    read: int
    unreadable: int
    share: float
    p: float
    corrected: float

    @property
    def stands_out(self) -> bool:
        return self.corrected < LEVEL


def standing_out(groups: Mapping[str, tuple[int, int]]) -> tuple[GroupTest, ...]:
    """Test every group, the ones that stand out most first.

    Args:
        groups: name to (read, unreadable).
    """
    read, unreadable = (sum(counts[place] for counts in groups.values()) for place in (0, 1))
    logs = _log_factorials(read)
    found = [
        (fisher_greater(bad, size, unreadable, read, logs), name, size, bad) for name, (size, bad) in groups.items()
    ]
    found.sort(key=lambda item: (item[0], -item[3], item[1]))
    corrected = holm([p for p, *_ in found])
    return tuple(
        GroupTest(name, size, bad, bad / size if size else 0.0, p, better)
        for (p, name, size, bad), better in zip(found, corrected, strict=True)
    )


def sentence(tests: Sequence[GroupTest]) -> str:
    """What the tests found, in words."""
    odd = [test for test in tests if test.stands_out]
    many = f"{len(tests)} groups were tested, which is allowed for"
    if not tests or not any(test.unreadable for test in tests):
        return "No answer was unreadable." if tests else ""
    if not odd:
        return f"No group has more unreadable answers than luck explains ({many})."
    shown = ", ".join(f"{test.name} ({test.unreadable} of {test.read}, p {test.corrected:.2g})" for test in odd[:5])
    return f"More unreadable answers than luck explains: {shown} ({many})."


def fisher_greater(bad: int, size: int, bad_all: int, size_all: int, logs: NDArray[np.float64] | None = None) -> float:
    """Fisher's exact test, one-sided: the chance of ``bad`` or more of ``bad_all`` among ``size`` of ``size_all``.

    Args:
        logs: natural logarithms of the factorials up to ``size_all``, when the caller has them.
    """
    if bad == 0 or size == 0:
        return 1.0
    logs = _log_factorials(size_all) if logs is None else logs
    counts = np.arange(bad, min(size, bad_all) + 1)
    good_all = size_all - bad_all
    counts = counts[size - counts <= good_all]  # no more good ones in the group than there are

    def choose(n: int, k: NDArray[np.int64]) -> NDArray[np.float64]:
        chosen: NDArray[np.float64] = logs[n] - logs[k] - logs[n - k]
        return chosen

    whole = logs[size_all] - logs[size] - logs[size_all - size]
    return min(1.0, float(np.exp(choose(bad_all, counts) + choose(good_all, size - counts) - whole).sum()))


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """P-values corrected for their number (Holm 1979); they must be sorted, smallest first."""
    count, running, corrected = len(p_values), 0.0, []
    for place, p in enumerate(p_values):
        running = max(running, min(1.0, (count - place) * p))
        corrected.append(running)
    return tuple(corrected)


def _log_factorials(most: int) -> NDArray[np.float64]:
    """ln 0! to ln ``most``!, [most + 1]."""
    logs = np.zeros(most + 1)
    if most:
        logs[1:] = np.cumsum(np.log(np.arange(1, most + 1)))
    return logs
