"""The pictures of a message, above its text."""

from __future__ import annotations

from PySide6.QtCore import QSize, Signal
from PySide6.QtWidgets import QWidget

from app.widgets.chat.picture_tile import PictureTile
from app.widgets.decisions.flow import FlowLayout
from engine.domain.picture import StoredPicture

ALONE, BESIDE = QSize(320, 240), QSize(180, 135)  # pixels: the largest a picture is shown alone, and beside others


class PictureRow(QWidget):
    """Signals: wanted(PictureTile): see there; opened(int): this one of them is to be shown larger."""

    wanted = Signal(object)
    opened = Signal(int)

    def __init__(self, pictures: tuple[StoredPicture, ...], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("message.pictures")
        layout = FlowLayout(self, spacing=8)
        box = ALONE if len(pictures) == 1 else BESIDE
        self.tiles = [PictureTile(picture, box) for picture in pictures]
        for place, tile in enumerate(self.tiles):
            tile.wanted.connect(self.wanted)
            tile.clicked.connect(lambda _checked=False, place=place: self.opened.emit(place))
            layout.addWidget(tile)
