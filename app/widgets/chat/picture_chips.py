"""The pictures of what is being written: a line of chips above the text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QEvent, QLocale, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QScrollArea, QSizePolicy, QVBoxLayout, QWidget

from app.theme import set_role
from app.widgets.chat.picture_tile import PictureTile
from app.widgets.decisions.parts import ElidedLabel
from app.widgets.icons import IconButton
from engine.domain.picture import StoredPicture

SMALL = QSize(44, 44)
LETTERS = 24  # of a name, about
ROOM = 34  # pixels between the parts of a chip


class PictureChip(QFrame):
    """Signals: removed(); opened(); wanted(PictureTile)."""

    removed = Signal()
    opened = Signal()
    wanted = Signal(object)

    def __init__(self, picture: StoredPicture, before: tuple[int, int] | None, parent: QWidget | None = None) -> None:
        """``before``: the size that it had before it was scaled down."""
        super().__init__(parent)
        set_role(self, "sunken")
        self.setObjectName("chip.picture")
        self.tile = PictureTile(picture, SMALL, square=True)
        self.tile.wanted.connect(self.wanted)
        self.tile.clicked.connect(lambda _checked=False: self.opened.emit())
        self.tile.removed.connect(self.removed)
        name = ElidedLabel()
        name.setText(picture.name)
        size = QLocale().formattedDataSize(picture.size, 0, QLocale.DataSizeFormat.DataSizeTraditionalFormat)
        facts = [f"{picture.width} × {picture.height} · {size}"]
        if before is not None:
            facts.append(self.tr("scaled down from {width} × {height}").format(width=before[0], height=before[1]))
        words = QVBoxLayout()
        words.setSpacing(0)
        words.addStretch(1)
        words.addWidget(name)
        self._name, self._lines = name, [ElidedLabel("caption") for _fact in facts]
        for fact, line in zip(facts, self._lines, strict=True):
            line.setText(fact)
            words.addWidget(line)
        words.addStretch(1)
        self.close_button = IconButton(
            "close", self.tr("Take out the picture {name}").format(name=picture.name), "chip.remove", size=14
        )
        self.close_button.clicked.connect(self.removed)
        row = QHBoxLayout(self)
        row.setContentsMargins(5, 4, 2, 4)
        row.setSpacing(8)
        row.addWidget(self.tile)
        row.addLayout(words, 1)
        row.addWidget(self.close_button, 0, Qt.AlignmentFlag.AlignTop)
        spoken = "; ".join([picture.name, *facts])
        self.setToolTip(spoken.replace("; ", "\n"))
        self.tile.setToolTip(self.toolTip())
        self.tile.setAccessibleName(self.tr("Picture {name}").format(name=spoken))
        self.tile.setAccessibleDescription(self.tr("Enter opens it larger, Delete takes it out"))

    def width_wanted(self) -> int:
        """Pixels: the facts in full, and of the name a bounded part."""
        metrics = self._name.fontMetrics()
        name = min(metrics.horizontalAdvance(self._name.text()), metrics.averageCharWidth() * LETTERS)
        facts = [line.fontMetrics().horizontalAdvance(line.text()) for line in self._lines]
        return max(name, *facts) + SMALL.width() + self.close_button.sizeHint().width() + ROOM


class PictureChips(QScrollArea):
    """One line, scrolled sideways when long. Signals: removed(StoredPicture); opened(int): by place; wanted(tile)."""

    removed = Signal(object)
    opened = Signal(int)
    wanted = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("composer.pictures")
        self.setAccessibleName(self.tr("Pictures of the message"))
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.chips: list[PictureChip] = []
        sheet = QWidget()
        set_role(sheet, "page")
        self._row = QHBoxLayout(sheet)
        self._row.setContentsMargins(0, 0, 0, 0)
        self._row.setSpacing(6)
        self._waiting = QLabel()
        self._waiting.setObjectName("composer.reading")
        set_role(self._waiting, "muted")
        self._row.addWidget(self._waiting)
        self._row.addStretch(1)
        self.setWidget(sheet)
        self._pictures: tuple[StoredPicture, ...] = ()
        self._count = 0
        self._fit()

    def set_pictures(self, pictures: Sequence[StoredPicture], before: Mapping[str, tuple[int, int]]) -> None:
        """Chips for these pictures and no others.

        Args:
            before: by sha256, of those that were scaled down, the size that they had.
        """
        if tuple(pictures) == self._pictures:
            return
        self._pictures = tuple(pictures)
        for chip in self.chips:
            chip.hide()
            chip.deleteLater()
        self.chips = []
        for place, picture in enumerate(pictures):
            chip = PictureChip(picture, before.get(picture.sha256))
            chip.removed.connect(lambda picture=picture: self.removed.emit(picture))
            chip.opened.connect(lambda place=place: self.opened.emit(place))
            chip.wanted.connect(self.wanted)
            self.chips.append(chip)
            self._row.insertWidget(place, chip)
        self._fit()

    def set_waiting(self, count: int) -> None:
        """So many files are being read."""
        self._count = count
        one, many = self.tr("Reading a file …"), self.tr("Reading {n} files …").format(n=count)
        self._waiting.setText("" if not count else one if count == 1 else many)
        self._fit()

    def _fit(self) -> None:
        self._waiting.setVisible(bool(self._count))
        self.setVisible(bool(self._count or self.chips))
        for chip in self.chips:
            chip.setFixedWidth(chip.width_wanted())
        high = max([chip.sizeHint().height() for chip in self.chips] + [self._waiting.sizeHint().height()])
        room = sum(chip.width_wanted() + self._row.spacing() for chip in self.chips)
        room += self._waiting.sizeHint().width() if self._count else 0
        bar = self.horizontalScrollBar().sizeHint().height() if room > self.width() else 0
        self.setFixedHeight(high + bar + 2)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            QTimer.singleShot(0, self, self._fit)  # once the chips have the new font

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self._fit()
