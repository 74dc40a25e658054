"""A picture of a message, larger, in a window of our own."""

from __future__ import annotations

from PySide6.QtCore import QLocale, QSize, Qt, Signal
from PySide6.QtGui import QColor, QGuiApplication, QImage, QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QDialog, QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from app.theme import current_tokens
from app.widgets.chat.picture_tile import fitted
from app.widgets.decisions.parts import ElidedLabel
from app.widgets.icons import IconButton, ThemedButton
from engine.domain.picture import StoredPicture

SHARE = 0.7  # of the screen that the window takes at most
LEAST = QSize(360, 300)


class _Canvas(QWidget):
    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.image: QImage | None = None
        self.words = ""
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)

    def paintEvent(self, event: QPaintEvent) -> None:
        tokens = current_tokens()
        painter = QPainter(self)
        painter.fillRect(self.rect(), QColor(tokens.sunken))
        if self.image is None:
            painter.setPen(QColor(tokens.muted))
            painter.drawText(self.rect(), Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap, self.words)
        else:
            painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
            painter.drawImage(fitted(self.image.size(), self.size()), self.image)
        painter.end()


class PictureWindow(QDialog):
    """Shows the pictures of a message one at a time, each fitted into the window.

    Signals: wanted(StoredPicture): ``set_image`` is to follow.
    """

    wanted = Signal(object)

    def __init__(self, pictures: tuple[StoredPicture, ...], place: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("picture.window")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._pictures, self._place = pictures, place
        self._canvas = _Canvas()
        self._canvas.setObjectName("picture.canvas")
        self._words = ElidedLabel("caption")
        self._back = IconButton("left", self.tr("The picture before  (Left)"), "picture.before")
        self._on = IconButton("right", self.tr("The next picture  (Right)"), "picture.next")
        self._back.clicked.connect(lambda: self._move(-1))
        self._on.clicked.connect(lambda: self._move(1))
        close = ThemedButton(self.tr("Close"), "picture.close")
        close.clicked.connect(self.close)
        row = QHBoxLayout()
        row.addWidget(self._words, 1)
        row.addWidget(self._back)
        row.addWidget(self._on)
        row.addWidget(close)
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 12, 12, 12)
        column.addWidget(self._canvas, 1)
        column.addLayout(row)
        close.setDefault(True)
        close.setFocus()
        for button in (self._back, self._on):
            button.setVisible(len(pictures) > 1)
        self.setMinimumSize(LEAST)
        self.resize(self._first_size())

    def ask(self) -> None:
        """Opens; the window of the program stays usable."""
        self.show()
        self._show_place()

    def set_image(self, picture: StoredPicture, image: QImage | None) -> None:
        """A picture that was wanted; None: it cannot be decoded. One that is not shown any more is ignored."""
        if picture == self._pictures[self._place]:
            self._canvas.image = image
            self._canvas.words = self.tr("This picture cannot be decoded.") if image is None else ""
            self._canvas.update()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Left, Qt.Key.Key_Right) and len(self._pictures) > 1:
            self._move(-1 if event.key() == Qt.Key.Key_Left else 1)
        else:
            super().keyPressEvent(event)

    def _move(self, by: int) -> None:
        self._place = (self._place + by) % len(self._pictures)
        self._show_place()

    def _show_place(self) -> None:
        picture = self._pictures[self._place]
        size = QLocale().formattedDataSize(picture.size, 0, QLocale.DataSizeFormat.DataSizeTraditionalFormat)
        words = f"{picture.name} · {picture.width} × {picture.height} · {size}"
        if len(self._pictures) > 1:
            place = self.tr("{place} of {count}").format(place=self._place + 1, count=len(self._pictures))
            words = f"{place} · {words}"
        self.setWindowTitle(picture.name)
        self._words.setText(words)
        self._canvas.setAccessibleName(words)
        self._canvas.image, self._canvas.words = None, self.tr("One moment …")
        self._canvas.update()
        self.wanted.emit(picture)

    def _first_size(self) -> QSize:
        """As large as the largest of the pictures, and no larger than a part of the screen."""
        screen = self.screen() or QGuiApplication.primaryScreen()
        most = screen.availableSize() * SHARE
        wide = max(picture.width for picture in self._pictures)
        high = max(picture.height for picture in self._pictures)
        return (QSize(wide, high) + QSize(24, 80)).boundedTo(most).expandedTo(LEAST)
