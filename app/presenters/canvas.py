"""Frames of the live channel as pictures of the canvas: which canvas and step, and the step before."""

from __future__ import annotations

from array import array
from collections.abc import Sequence

from app.models.canvas import CanvasSnapshot
from engine.client.vocabulary import Vocabulary
from engine.domain.chat import CanvasFrame


class CanvasReader:
    """Follows the frames of one answer.

    The engine may have denoised one step of a canvas when it learns that the answer has ended (vLLM with asynchronous
    scheduling does); nothing is ever committed of that one. So the first step of every canvas but the first is held
    back until the next frame comes, or the canvas is committed.

    Attributes:
        steps: denoise steps that the engine made for this answer so far; right even when frames were dropped, since
            frames are numbered by the engine.
    """

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.steps = 0
        self._vocabulary = vocabulary
        self._canvas = 1
        self._seen = 0  # number of the last frame
        self._before = 0  # number of the last frame of the canvas before
        self._last: Sequence[int] = ()
        self._held: CanvasSnapshot | None = None

    def read(self, frame: CanvasFrame) -> list[CanvasSnapshot]:
        """The pictures that can be shown now; a frame that was overtaken by a later one has none."""
        if frame.number <= self._seen:
            return []
        shown, begins = self._let_go(), self._canvas > 1 and self._seen == self._before
        picture = self._picture(frame)
        if begins:
            self._held = picture
            return shown
        self.steps = self._seen
        return [*shown, picture]

    def committed(self, canvases: int) -> list[CanvasSnapshot]:
        """So many canvases have been committed: the first step of one of them needs to wait no more."""
        return self._let_go() if self._held is not None and self._held.canvas <= canvases else []

    def _let_go(self) -> list[CanvasSnapshot]:
        held, self._held = self._held, None
        if held is None:
            return []
        self.steps = self._seen
        return [held]

    def _picture(self, frame: CanvasFrame) -> CanvasSnapshot:
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
        self._seen = frame.number
        self._last = ids
        if frame.converged:
            self._canvas += 1
            self._before = frame.number
            self._last = ()
        return picture
