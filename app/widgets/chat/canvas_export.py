"""The denoising of an answer as a file: an animated GIF, or a strip of its steps as PNG.

Pictures are drawn on whatever thread calls: nothing here touches a widget.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QImage, QPainter

from app.models.canvas import CanvasSnapshot
from app.theme import Tokens
from app.widgets.chat.canvas_paint import Placed, paint, place
from app.widgets.chat.gif import gif

WIDTH = 720  # pixels
MARGIN = 12  # pixels
MAX_FILM, MAX_STRIP = 240, 24  # pictures; a long answer has thousands of steps
STEP_MS, COMMITTED_MS, LAST_MS = 120, 600, 2500  # how long a picture stands
SHADES = 12  # colours between a ground and what is drawn on it


@dataclass(frozen=True, slots=True)
class Replay:
    """What is exported.

    Attributes:
        steps: of the answer, in order; at least one.
        captions: of each step, in words.
        tokens: the look.
        font: of the tokens.
    """

    steps: Sequence[CanvasSnapshot]
    captions: Sequence[str]
    tokens: Tokens
    font: QFont


def write_replay(replay: Replay, path: Path) -> int:
    """Writes the file, complete or not at all: PNG for ``.png``, else GIF.

    Returns:
        How many steps it shows.

    Raises:
        OSError: the file cannot be written.
    """
    strip = path.suffix.lower() == ".png"
    chosen = spread(replay.steps, MAX_STRIP if strip else MAX_FILM)
    painter = _Pictures(replay, chosen)
    part = path.with_name(f".{path.name}.part")
    try:
        if strip:
            _write_strip(painter, part)
        else:
            part.write_bytes(_film(painter))
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)
    return len(chosen)


def spread(steps: Sequence[CanvasSnapshot], most: int) -> list[int]:
    """The places of at most so many steps, spread evenly; the last one is always among them."""
    if len(steps) <= most:
        return list(range(len(steps)))
    return [(place + 1) * len(steps) // most - 1 for place in range(most)]


def palette(tokens: Tokens) -> list[int]:
    """At most 256 colours, as 0xffrrggbb: each pair that meets in the picture, and what lies between."""
    grounds = (tokens.sunken, tokens.accent_soft)
    pairs = [(ground, drawn) for ground in grounds for drawn in (tokens.text, tokens.accent)]
    pairs += [grounds, (tokens.sunken, tokens.muted)]
    found: dict[int, None] = {}
    for ground, drawn in pairs:
        low, high = _rgb(QColor(ground)), _rgb(QColor(drawn))
        for shade in range(SHADES + 1):
            red, green, blue = (a + (b - a) * shade // SHADES for a, b in zip(low, high, strict=True))
            found[QColor(red, green, blue).rgb()] = None
    return list(found)


class _Pictures:
    """Draws steps, all of one size."""

    def __init__(self, replay: Replay, chosen: Sequence[int]) -> None:
        self._replay, self._chosen = replay, chosen
        self._widths: dict[str, float] = {}
        self._head = round(QFontMetricsF(replay.font).height()) + MARGIN
        tallest = max(self._placed(place)[1] for place in chosen)
        self.width, self.height = WIDTH, round(tallest) + self._head + 2 * MARGIN
        self.colors = palette(replay.tokens)

    def each(self) -> Iterator[tuple[CanvasSnapshot, QImage]]:
        for number in self._chosen:
            yield self._replay.steps[number], self._drawn(number)

    def steps(self) -> list[CanvasSnapshot]:
        return [self._replay.steps[number] for number in self._chosen]

    def _placed(self, number: int) -> tuple[list[Placed], float]:
        return place(self._replay.steps[number].cells(), WIDTH - 2 * MARGIN, self._replay.font, self._widths)

    def _drawn(self, number: int) -> QImage:
        image = QImage(self.width, self.height, QImage.Format.Format_RGB32)
        tokens, step = self._replay.tokens, self._replay.steps[number]
        image.fill(QColor(tokens.sunken))
        painter = QPainter(image)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(self._replay.font)
        painter.setPen(QColor(tokens.muted))
        head = QRectF(MARGIN, MARGIN, WIDTH - 2 * MARGIN, self._head)
        painter.drawText(head, Qt.AlignmentFlag.AlignLeft, self._replay.captions[number])
        painter.translate(MARGIN, MARGIN + self._head)
        placed, high = self._placed(number)
        paint(painter, placed, tokens, QRectF(0, 0, WIDTH, high), committed=step.converged)
        painter.end()
        return image


def _write_strip(pictures: _Pictures, path: Path) -> None:
    """The steps below each other."""
    count = len(pictures.steps())
    strip = QImage(pictures.width, pictures.height * count, QImage.Format.Format_RGB32)
    painter = QPainter(strip)
    for place_, (_step, image) in enumerate(pictures.each()):
        painter.drawImage(0, place_ * pictures.height, image)
    painter.end()
    if not strip.save(str(path), "PNG"):  # type: ignore[call-overload]
        raise OSError(0, "the picture could not be written", str(path))


def _film(pictures: _Pictures) -> bytes:
    colors = [_rgb(QColor(color)) for color in pictures.colors]
    steps = pictures.steps()
    times = [COMMITTED_MS if step.converged else STEP_MS for step in steps]
    times[-1] = LAST_MS
    frames = ((_indices(image, pictures.colors), ms) for (_step, image), ms in zip(pictures.each(), times, strict=True))
    return gif((pictures.width, pictures.height), colors, frames)


def _rgb(color: QColor) -> tuple[int, int, int]:
    return color.red(), color.green(), color.blue()


def _indices(image: QImage, colors: list[int]) -> bytes:
    """One byte a pixel: the nearest colour of the table."""
    indexed = image.convertToFormat(QImage.Format.Format_Indexed8, colors, Qt.ImageConversionFlag.ThresholdDither)
    data, wide = bytes(indexed.constBits()), indexed.bytesPerLine()
    return b"".join(data[row * wide : row * wide + indexed.width()] for row in range(indexed.height()))
