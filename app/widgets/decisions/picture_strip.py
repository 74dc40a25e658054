"""Thumbnails of the pictures that a row names, or why one cannot be shown."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QPixmap
from PySide6.QtWidgets import QLabel, QScrollArea, QWidget

from app.models.decisions_pictures import SeenPicture
from app.widgets.decisions.parts import clear_layout, hbox, label, named, vbox

BAR = 14  # pixels for the scroll bar
NAME = 24  # characters of a file's name


class PictureStrip(QScrollArea):
    """Pictures beside one another; hidden while there is none.

    Signals:
        wanted(object): the paths whose thumbnails it waits for.
    """

    wanted = Signal(object)

    def __init__(self, name: str) -> None:
        super().__init__()
        named(self, name, self.tr("Pictures of this row"))
        self._paths: tuple[str, ...] = ()
        self._content = QWidget()
        self._row = hbox(spacing=10)
        self._content.setLayout(self._row)
        self.setWidget(self._content)
        self.setWidgetResizable(True)
        self.setFrameShape(QScrollArea.Shape.NoFrame)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.hide()

    def ask(self, paths: Sequence[str]) -> None:
        """Have these shown, as soon as they are loaded."""
        if tuple(paths) == self._paths:
            return
        self._paths = tuple(paths)
        self.show_pictures(())
        if paths:
            self.wanted.emit(self._paths)

    def receive(self, pictures: Sequence[SeenPicture]) -> None:
        """What was asked for; others are of a row that is not shown any more."""
        if tuple(picture.path for picture in pictures) == self._paths[: len(pictures)]:
            self.show_pictures(pictures)

    def show_pictures(self, pictures: Sequence[SeenPicture]) -> None:
        """Show these."""
        clear_layout(self._row)
        for picture in pictures:
            card = self._card(picture)
            self._row.addWidget(card)
            card.show()  # else it counts only once the loop has run, and the strip is as high as nothing
        self._row.addStretch(1)
        self.setVisible(bool(pictures))
        self.setFixedHeight(self._content.sizeHint().height() + BAR)

    def minimumSizeHint(self) -> QSize:
        return QSize(60, self.height())

    def _card(self, picture: SeenPicture) -> QWidget:
        made = QWidget()
        if picture.image is None:
            why = picture.fault.removeprefix(f"{picture.path}: ")
            made.setLayout(vbox(label(f"✕ {_short(picture.name)}", "danger"), label(why, "danger"), spacing=2))
            named(made, "picture", picture.fault, picture.fault)
            return made
        shown = QLabel()
        shown.setPixmap(QPixmap.fromImage(picture.image))
        size = f"{picture.width} × {picture.height}"
        spoken = self.tr("Picture {name}, {size} pixels").format(name=picture.name, size=size)
        named(shown, "picture", spoken, f"{picture.path}\n{size}")
        name = label(_short(picture.name), "muted")
        name.setToolTip(picture.path)
        made.setLayout(vbox(shown, name, spacing=2))
        return made


def _short(name: str) -> str:
    return name if len(name) <= NAME else f"{name[: NAME - 1]}…"
