"""Our GIF writer, read back by Qt's reader pixel by pixel."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from PySide6.QtGui import QImage, QImageReader
from PySide6.QtWidgets import QApplication

from app.widgets.chat.gif import gif


def read(data: bytes, path: Path) -> tuple[list[QImage], list[int]]:
    path.write_bytes(data)
    reader = QImageReader(str(path))
    pictures, times = [], []
    while True:
        picture = reader.read()
        if picture.isNull():
            break
        pictures.append(picture.convertToFormat(QImage.Format.Format_RGB32))
        times.append(reader.nextImageDelay())
    assert reader.loopCount() == -1  # for ever
    return pictures, times


def colour(number: int) -> tuple[int, int, int]:
    return (number * 37 % 256, number * 91 % 256, number * 53 % 256)


@pytest.mark.parametrize("colors", [2, 3, 48, 255, 256])
@pytest.mark.parametrize(("width", "height"), [(1, 1), (7, 5), (190, 130)])
def test_every_pixel_comes_back(qapp: QApplication, tmp_path: Path, colors: int, width: int, height: int) -> None:
    """Noise fills the table of codes and clears it; runs make long codes."""
    rng = random.Random(colors * width)
    noise = bytes(rng.randrange(colors) for _ in range(width * height))
    runs = bytes(place // 9 % colors for place in range(width * height))
    half = noise[: width * (height // 2)] + runs[width * (height // 2) :]
    frames = [(noise, 120), (noise, 50), (half, 1000), (runs, 120)]
    pictures, times = read(gif((width, height), [colour(n) for n in range(colors)], frames), tmp_path / "x.gif")
    assert times == [120, 50, 1000, 120]
    for picture, (pixels, _ms) in zip(pictures, frames, strict=True):
        assert (picture.width(), picture.height()) == (width, height)
        found = [picture.pixelColor(place % width, place // width).getRgb()[:3] for place in range(width * height)]
        assert found == [colour(pixel) for pixel in pixels]
