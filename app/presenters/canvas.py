"""Frames of the live channel as pictures of the canvas: ids to text, what changed, which canvas and step."""

from __future__ import annotations

from app.models.canvas import CanvasSnapshot, Cell
from engine.client.vocabulary import Vocabulary
from engine.domain.chat import CanvasFrame


class CanvasReader:
    """Follows the frames of one answer.

    Attributes:
        steps: denoise steps that the engine made for this answer so far; right even when frames were dropped, since
            frames are numbered by the engine.
    """

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.steps = 0
        self._vocabulary = vocabulary
        self._canvas = 1
        self._before = 0  # number of the last frame of the canvas before
        self._last: tuple[int, ...] = ()

    def read(self, frame: CanvasFrame) -> CanvasSnapshot:
        """The picture of one frame."""
        pieces = self._vocabulary.pieces(frame.argmax)
        entropy = frame.entropy or (None,) * len(pieces)
        known = len(self._last) == len(frame.argmax)
        changed = [known and old != new for old, new in zip(self._last or frame.argmax, frame.argmax, strict=False)]
        cells = tuple(
            Cell(text, accepted, moved, nats)
            for text, accepted, moved, nats in zip(pieces, frame.accepted, changed, entropy, strict=False)
        )
        picture = CanvasSnapshot(self._canvas, frame.number - self._before, frame.converged, cells)
        self.steps = frame.number
        self._last = frame.argmax
        if frame.converged:
            self._canvas += 1
            self._before = frame.number
            self._last = ()
        return picture
