"""What is done to a picture before it is sent or shown. Everything here takes a while and runs off the GUI's thread.

Only ``QImageReader.read`` and ``QImage.save`` do the heavy part: they let other threads run meanwhile, which
``QImage.fromData`` and ``QImage.scaled`` do not (PySide6 6.12). Only the four decoders of the kinds that are sent are
ever used, whatever the bytes look like.
"""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QSize, Qt
from PySide6.QtGui import QImage, QImageIOHandler, QImageReader

from engine.domain.picture import Picture
from engine.errors import InputError
from engine.pictures import picture_of

LONGEST_SIDE = 2048  # pixels that are sent; a model sees less than a million, so that detail is left over
MOST_SENT_BYTES = 4_000_000
MOST_MEMORY_MB = 256  # that decoding one picture may take: 50 million pixels and some more
QUALITY = 90  # of a JPEG that we write
JPEG_END, TAIL = b"\xff\xd9", 65_536  # bytes at the end in which a whole JPEG has its end mark


@dataclass(frozen=True, slots=True)
class Prepared:
    """A picture as it will be sent.

    Attributes:
        before: width and height that it had before it was scaled down; None where it was not.
    """

    picture: Picture
    before: tuple[int, int] | None = None


def prepared(picture: Picture) -> Prepared:
    """A picture that can be decoded, stands upright and is no larger than is of use.

    It stays as it is, byte for byte, where all this is so already.

    Raises:
        InputError: it is broken, or would take too much memory.
    """
    reader = _Reader(picture)
    size = QSize(picture.width, picture.height)
    goal = size.scaled(LONGEST_SIDE, LONGEST_SIDE, Qt.AspectRatioMode.KeepAspectRatio)
    is_large = max(picture.width, picture.height) > LONGEST_SIDE
    image = reader.read(goal if is_large else None)
    if not is_large and not reader.is_turned and len(picture.data) <= MOST_SENT_BYTES:
        return Prepared(picture)
    smaller = picture_of(_encoded(image, picture), picture.name)
    turned = (size.transposed() if reader.is_sideways else size).toTuple()
    return Prepared(smaller, turned if is_large else None)


def decoded(picture: Picture, box: QSize) -> QImage:
    """A picture upright and at most as large as ``box``, in pixels; never made larger.

    Raises:
        InputError: as ``prepared``.
    """
    reader = _Reader(picture)
    size = QSize(picture.width, picture.height)
    limit = box.transposed() if reader.is_sideways else box
    fits = size.width() <= limit.width() and size.height() <= limit.height()
    return reader.read(None if fits else size.scaled(limit, Qt.AspectRatioMode.KeepAspectRatio))


def picture_from(image: QImage, name: str) -> Picture:
    """A picture of the clipboard that has no bytes of its own yet.

    Raises:
        InputError: too large.
    """
    return picture_of(_saved(image, "PNG"), name)


class _Reader:
    """Qt's reader over the bytes of one picture.

    Attributes:
        is_turned: it has to be turned or mirrored to stand upright, as its EXIF says.
        is_sideways: upright its width and height are exchanged.
    """

    def __init__(self, picture: Picture) -> None:
        QImageReader.setAllocationLimit(MOST_MEMORY_MB)
        self._picture = picture
        self._buffer = QBuffer()
        self._buffer.setData(QByteArray(picture.data))
        self._buffer.open(QIODevice.OpenModeFlag.ReadOnly)
        self._reader = QImageReader(self._buffer, QByteArray(picture.kind.encode()))
        self._reader.setAutoDetectImageFormat(False)
        self._reader.setAutoTransform(True)
        turn = self._reader.transformation()
        self.is_turned = turn != QImageIOHandler.Transformation.TransformationNone
        self.is_sideways = bool(turn & QImageIOHandler.Transformation.TransformationRotate90)

    def read(self, size: QSize | None) -> QImage:
        """Decodes, scaled to ``size`` (before it is turned upright)."""
        picture = self._picture
        if picture.kind == "jpeg" and JPEG_END not in picture.data[-TAIL:]:
            raise _broken(picture, "it ends in the middle")
        if size is not None:
            self._reader.setScaledSize(size.expandedTo(QSize(1, 1)))
        image = self._reader.read()
        if image.isNull():
            raise _broken(picture, self._reader.errorString())
        return image


def _encoded(image: QImage, picture: Picture) -> bytes:
    """As JPEG, where nothing is lost by it but noise; drawings and what one can see through stay PNG."""
    if not image.hasAlphaChannel() and picture.kind in ("jpeg", "webp"):
        return _saved(image, "JPEG")
    data = _saved(image, "PNG")
    return _saved(image, "JPEG") if len(data) > MOST_SENT_BYTES and not image.hasAlphaChannel() else data


def _saved(image: QImage, kind: str) -> bytes:
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    image.save(buffer, kind, QUALITY if kind == "JPEG" else -1)  # type: ignore[call-overload]
    return bytes(buffer.data().data())


def _broken(picture: Picture, why: str) -> InputError:
    return InputError(
        "picture.broken",
        "{name} was not taken: it cannot be decoded ({why})",
        remedy="open it in another program and save it again",
        name=picture.name,
        why=why,
    )
