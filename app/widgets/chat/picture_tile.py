"""A small picture: asked for when it is first seen, and opened larger by a click or by Enter."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QImage, QKeyEvent, QPainter, QPainterPath, QPaintEvent, QPen
from PySide6.QtWidgets import QAbstractButton, QSizePolicy, QWidget

from app.theme import current_tokens
from engine.domain.picture import StoredPicture

RADIUS = 6.0  # pixels
LEAST = 40  # pixels: smaller pictures could hardly be hit


class PictureTile(QAbstractButton):
    """Signals: wanted(PictureTile): it is seen for the first time; ``set_image`` is to follow.
    clicked: to be opened. removed(): Delete was pressed.

    Args:
        box: its largest size, in pixels of the screen; it is as large as the picture's shape fills of it.
        square: it fills the box, whatever the shape.
    """

    wanted = Signal(object)
    removed = Signal()

    def __init__(self, picture: StoredPicture, box: QSize, *, square: bool = False, parent: QWidget | None = None):
        super().__init__(parent)
        self.picture = picture
        self._image: QImage | None = None
        self._asked = self._broken = False
        size = QSize(picture.width, picture.height)
        if square:
            self._size = box
        else:
            self._size = shrunk(size, box).expandedTo(QSize(LEAST, LEAST))
        self.setObjectName("picture")
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName(self.tr("Picture {name}").format(name=picture.name))
        self.setAccessibleDescription(self.tr("Opens it larger"))
        self.setToolTip(f"{picture.name}\n{picture.width} × {picture.height}")

    def set_image(self, image: QImage | None) -> None:
        """What is shown; None: it cannot be decoded."""
        self._image, self._broken = image, image is None
        self.update()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):  # as Space does with every button
            self.click()
        elif event.key() in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace):
            self.removed.emit()
        else:
            super().keyPressEvent(event)

    def sizeHint(self) -> QSize:
        return self._size

    def minimumSizeHint(self) -> QSize:
        return self._size

    def paintEvent(self, event: QPaintEvent) -> None:
        if not self._asked:
            self._asked = True
            self.wanted.emit(self)
        tokens = current_tokens()
        painter = QPainter(self)
        painter.setRenderHints(QPainter.RenderHint.Antialiasing | QPainter.RenderHint.SmoothPixmapTransform)
        frame = QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
        shape = QPainterPath()
        shape.addRoundedRect(frame, RADIUS, RADIUS)
        painter.fillPath(shape, QColor(tokens.sunken))
        if self._image is not None:
            painter.setClipPath(shape)
            painter.drawImage(fitted(self._image.size(), self.size()), self._image)
            painter.setClipping(False)
        elif self._broken:
            painter.setPen(QColor(tokens.muted))
            painter.drawText(frame, Qt.AlignmentFlag.AlignCenter, "?")
        focused = self.hasFocus()
        painter.setPen(QPen(QColor(tokens.accent if focused else tokens.border), 2.0 if focused else 1.0))
        painter.drawPath(shape)
        painter.end()


def fitted(size: QSize, room: QSize) -> QRectF:
    """Where a picture stands: in the middle of the room, in its own shape, and no larger than it is."""
    shown = shrunk(size, room)
    left, top = (room.width() - shown.width()) / 2, (room.height() - shown.height()) / 2
    return QRectF(left, top, shown.width(), shown.height())


def shrunk(size: QSize, room: QSize) -> QSize:
    """A size that fits into the room, in the same shape; never larger than it was."""
    fits = size.width() <= room.width() and size.height() <= room.height()
    return size if fits else size.scaled(room, Qt.AspectRatioMode.KeepAspectRatio)
