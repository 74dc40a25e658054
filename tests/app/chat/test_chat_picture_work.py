"""What is done to a picture before it is sent: upright, not too large, whole; else it stays byte for byte."""

from __future__ import annotations

import struct

import pytest
from PySide6.QtCore import QBuffer, QIODevice, QSize
from PySide6.QtGui import QColor, QImage, QPainter
from pytestqt.qtbot import QtBot

from app.presenters.picture_work import LONGEST_SIDE, MOST_SENT_BYTES, decoded, picture_from, prepared
from engine.domain.picture import Picture
from engine.errors import InputError
from engine.pictures import picture_of


def encoded(image: QImage, kind: str) -> bytes:
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    assert image.save(buffer, kind, 90 if kind == "JPEG" else -1)  # type: ignore[call-overload]
    return bytes(buffer.data().data())


def two_halves(width: int, height: int, form: QImage.Format = QImage.Format.Format_RGB32) -> QImage:
    """Red at the left, blue at the right."""
    image = QImage(width, height, form)
    image.fill(QColor("red"))
    painter = QPainter(image)
    painter.fillRect(width // 2, 0, width, height, QColor("blue"))
    painter.end()
    return image


def with_orientation(jpeg: bytes, orientation: int) -> bytes:
    """A JPEG with an EXIF block that holds the orientation and nothing else (TIFF tag 0x0112)."""
    tiff = b"MM\0*" + struct.pack(">IHHHIHHI", 8, 1, 0x0112, 3, 1, orientation, 0, 0)
    block = b"Exif\0\0" + tiff
    return jpeg[:2] + b"\xff\xe1" + struct.pack(">H", len(block) + 2) + block + jpeg[2:]


def image_of(picture: Picture) -> QImage:
    return decoded(picture, QSize(LONGEST_SIDE, LONGEST_SIDE))


def reddish(image: QImage, x: int, y: int) -> bool:
    return image.pixelColor(x, y).red() > 200


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP"])
def test_a_usual_picture_stays_as_it_is(qtbot: QtBot, kind: str) -> None:
    picture = picture_of(encoded(two_halves(300, 200), kind), "p")
    found = prepared(picture)
    assert found.picture is picture
    assert found.before is None


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP"])
def test_a_large_picture_is_scaled_down_and_says_from_what(qtbot: QtBot, kind: str) -> None:
    found = prepared(picture_of(encoded(two_halves(3000, 1500), kind), "p"))
    assert found.before == (3000, 1500)
    assert (found.picture.width, found.picture.height) == (LONGEST_SIDE, LONGEST_SIDE // 2)
    assert found.picture.kind == {"PNG": "png"}.get(kind, "jpeg")
    image = image_of(found.picture)
    assert reddish(image, 10, 10)
    assert not reddish(image, LONGEST_SIDE - 10, 10)


def test_what_one_can_see_through_stays_so(qtbot: QtBot) -> None:
    image = two_halves(3000, 100, QImage.Format.Format_ARGB32)
    image.setPixelColor(0, 0, QColor(0, 0, 0, 0))
    found = prepared(picture_of(encoded(image, "PNG"), "p"))
    assert found.picture.kind == "png"
    assert image_of(found.picture).hasAlphaChannel()


@pytest.mark.parametrize(
    ("orientation", "size", "red_at"),
    [(1, (60, 40), (5, 20)), (3, (60, 40), (55, 20)), (6, (40, 60), (20, 5)), (8, (40, 60), (20, 55))],
)
def test_a_photo_is_sent_upright(
    qtbot: QtBot, orientation: int, size: tuple[int, int], red_at: tuple[int, int]
) -> None:
    raw = encoded(two_halves(60, 40), "JPEG")
    found = prepared(picture_of(with_orientation(raw, orientation), "photo.jpg")).picture
    assert (found.width, found.height) == size
    assert reddish(image_of(found), *red_at)
    again = prepared(found)
    assert again.picture is found  # it carries no orientation any more


def test_a_large_photo_that_lies_on_its_side_tells_its_upright_size(qtbot: QtBot) -> None:
    raw = with_orientation(encoded(two_halves(3000, 1500), "JPEG"), 6)
    found = prepared(picture_of(raw, "photo.jpg"))
    assert found.before == (1500, 3000)
    assert (found.picture.width, found.picture.height) == (LONGEST_SIDE // 2, LONGEST_SIDE)
    small = decoded(picture_of(raw, "photo.jpg"), QSize(100, 300))
    assert (small.width(), small.height()) == (100, 200)


def test_noise_that_no_png_makes_small_becomes_a_jpeg(qtbot: QtBot) -> None:
    image = QImage(1400, 1200, QImage.Format.Format_RGB32)
    bits = image.bits()
    state = bytearray()
    value = 1
    while len(state) < 4 * 1400 * 40:
        value = (value * 1103515245 + 12345) & 0x7FFFFFFF
        state += value.to_bytes(4, "little")
    bits[:] = bytes(state[: 4 * 1400 * 40]) * 30
    big = picture_of(encoded(image, "PNG"), "noise.png")
    if len(big.data) <= MOST_SENT_BYTES:  # zlib has found the repetition
        image = image.scaled(2000, 2000)
        big = picture_of(encoded(image, "PNG"), "noise.png")
    assert len(big.data) > MOST_SENT_BYTES
    found = prepared(big)
    assert found.picture.kind == "jpeg"
    assert found.before is None
    assert len(found.picture.data) < len(big.data)


@pytest.mark.qt_log_ignore("imageio", extend=True)
@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP"])
@pytest.mark.parametrize("share", [0.5, 0.9])
def test_a_picture_that_ends_in_the_middle_is_refused(qtbot: QtBot, kind: str, share: float) -> None:
    image = QImage(400, 300, QImage.Format.Format_RGB32)
    for x in range(400):
        for y in range(0, 300, 3):
            image.setPixelColor(x, y, QColor(x % 256, y % 256, (x * y) % 256))
    data = encoded(image, kind)
    with pytest.raises(InputError, match="cannot be decoded"):
        prepared(picture_of(data[: int(len(data) * share)], "cut"))


@pytest.mark.qt_log_ignore("imageio", extend=True)
def test_only_the_decoder_of_its_kind_is_used(qtbot: QtBot) -> None:
    """Bytes that another plugin could read, under a header that says PNG."""
    drawing = b"<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'><rect width='9' height='9'/></svg>"
    with pytest.raises(InputError, match="cannot be decoded"):
        prepared(Picture("p", "png", 9, 9, "0", drawing))


def test_a_picture_of_the_clipboard_becomes_a_png(qtbot: QtBot) -> None:
    found = picture_from(two_halves(30, 20), "pasted.png")
    assert (found.kind, found.width, found.height, found.name) == ("png", 30, 20, "pasted.png")
    assert reddish(image_of(found), 5, 5)
