"""How far the current round of a run is, counted along with what is stored."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from engine.domain.reading import STATUSES, Reading, ReadStatus
from engine.domain.run import RoundKind, Totals
from engine.store.runs import RunStore

REPLACES: dict[RoundKind, ReadStatus] = {"retry": "error", "reread": "unreadable"}  # what a round reads again


class RoundTally:
    """Answers by status, and how many of them stand.

    Attributes:
        total: answers when the round is at its end (rows times questions).
        due: answers that are there and still to be read again.
    """

    def __init__(self, store: RunStore) -> None:
        self._store = store
        self.total = store.rows * len(store.spec.questions)
        self.due = 0
        self._counts: Counter[str] = Counter()
        self._replaces = REPLACES.get(store.round.kind)
        self.restart()

    @property
    def done(self) -> int:
        """Answers that are there and not to be read again."""
        return self._counts.total() - self.due

    def restart(self) -> None:
        """Count in the file."""
        self._counts.clear()
        for totals in self._store.totals().values():
            self._counts.update({status: getattr(totals, status) for status in STATUSES})
        self.due = self._counts.total() - self._store.answered()

    def add(self, readings: Iterable[Reading]) -> None:
        """Readings that have been stored."""
        if self._replaces is None:
            self._counts.update(reading.status for reading in readings)
            return
        for reading in readings:
            self.due -= 1
            # As the store does: a failure takes the place of a failure only.
            if reading.status != "error" or self._replaces == "error":
                self._counts[self._replaces] -= 1
                self._counts[reading.status] += 1

    def totals(self) -> Totals:
        """Answers by status, over all questions."""
        return Totals(**{status: self._counts[status] for status in STATUSES})
