"""Which rows of a sample could not be read at all, and why: told beside what the others showed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from engine.domain.reading import Reading


@dataclass(frozen=True, slots=True)
class Failures:
    """Rows with a read of status ``error``: the engine refused it, or a picture of the row is missing or broken.

    Attributes:
        rows: how many.
        first: the first one's key and the reason; empty when there is none.
    """

    rows: int = 0
    first: str = ""

    def sentence(self, sample: int) -> str:
        """In words: ``3 of 24 rows failed, first row 7: photo.png: No such file or directory.``; empty for none."""
        return told(f"{self.rows:,} of {sample:,} rows failed", self.first) if self.rows else ""


def failures(rows: Iterable[tuple[str, Iterable[Reading]]]) -> Failures:
    """Count the rows that failed.

    Args:
        rows: the key of a row, and all reads of it.
    """
    found = [(key, next((each.error for each in reads if each.status == "error"), None)) for key, reads in rows]
    failed = [f"row {key}: {why}" for key, why in found if why is not None]
    return Failures(len(failed), failed[0] if failed else "")


def told(what: str, first: str) -> str:
    """A sentence of what failed with the first reason, which may bring a full stop of its own."""
    return f"{what}, first {first.removesuffix('.')}."
