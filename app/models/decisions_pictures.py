"""Pictures of a row, small enough to be shown."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtGui import QImage


@dataclass(frozen=True, slots=True)
class SeenPicture:
    """One picture that a row names.

    Attributes:
        path: where it lies, or what the row says when that is no place of this computer.
        name: of its file.
        width, height: pixels of the whole picture; 0 when it cannot be read.
        image: at most as large as a thumbnail; None when it cannot be read.
        fault: why not; else empty.
    """

    path: str
    name: str
    width: int = 0
    height: int = 0
    image: QImage | None = None
    fault: str = ""
