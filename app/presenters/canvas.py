"""Frames of the live channel as pictures of the canvas: which canvas and step, and the step before."""

from __future__ import annotations

from array import array
from collections.abc import Sequence

from app.models.canvas import CanvasSnapshot
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
        self._last: Sequence[int] = ()

    def read(self, frame: CanvasFrame) -> CanvasSnapshot:
        """The picture of one frame."""
        ids = array("i", frame.argmax)  # a tenth of a tuple's memory; thousands are kept for the replay
        picture = CanvasSnapshot(
            self._canvas,
            frame.number - self._before,
            frame.converged,
            ids,
            bytes(frame.accepted),
            None if frame.entropy is None else array("f", frame.entropy),
            self._last,
            self._vocabulary.pieces,
        )
        self.steps = frame.number
        self._last = ids
        if frame.converged:
            self._canvas += 1
            self._before = frame.number
            self._last = ()
        return picture
