"""What the user may overrule of a plan; every change is told at once."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QCheckBox, QGridLayout, QSpinBox, QVBoxLayout, QWidget

from app.widgets.decisions.parts import clear_layout, label, named
from app.widgets.fields import ChoiceField, NumberField
from engine.domain.hardware import Gpu
from engine.domain.plan import Wishes

CONTEXTS = (8192, 16_384, 32_768, 65_536, 131_072, 262_144)
CANVASES = (64, 128, 256)
MAX_SEQUENCES = 127
UTILISATIONS = (50, 98)  # percent
NARROWEST = 240  # pixels


class Overrides(QWidget):
    """Signals: wished(str, object): a field of the wishes and its value; None leaves it to the planner."""

    wished = Signal(str, object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        auto = self.tr("Automatic")
        self.profile = ChoiceField(
            (("chat", self.tr("Chat: long context")), ("decisions", self.tr("Decisions: many short reads")))
        )
        self.checkpoint = ChoiceField(
            (
                (None, auto),
                ("fp8", "FP8"),
                ("int8", "INT8"),
                ("nvfp4", "NVFP4"),
                ("embedded", self.tr("Embedded toy")),
            )
        )
        self.context = ChoiceField(
            ((None, auto), *((size, self.tr("{n} tokens").format(n=f"{size:,}")) for size in CONTEXTS))
        )
        self.canvas = ChoiceField(((None, auto), *((size, str(size)) for size in CANVASES)))
        self.pictures = ChoiceField(((None, auto), (False, self.tr("With pictures")), (True, self.tr("Text only"))))
        self.utilisation = NumberField(UTILISATIONS[0] - 1, UTILISATIONS[1], " %")
        self.sequences = NumberField(0, MAX_SEQUENCES)
        for box in (self.utilisation, self.sequences):
            box.setSpecialValueText(auto)
        self._cards = QVBoxLayout()
        self._boxes: dict[str, QCheckBox] = {}
        self._gpus: tuple[str, ...] = ()
        self._showing = False
        self._cells: list[tuple[QWidget, QWidget]] = []
        self._columns = 0
        self._grid = QGridLayout(self)
        self._build()
        self._connect()

    def show_wishes(self, wishes: Wishes, gpus: Sequence[Gpu]) -> None:
        """Fill the fields without telling what was told to them."""
        self._showing = True
        fields: tuple[tuple[ChoiceField, object], ...] = (
            (self.profile, wishes.profile),
            (self.checkpoint, wishes.checkpoint),
            (self.context, wishes.context),
            (self.canvas, wishes.canvas),
            (self.pictures, wishes.text_only),
        )
        for field, value in fields:
            field.setCurrentIndex(max(0, field.findData(value)))
        self.utilisation.setValue(round((wishes.utilisation or 0) * 100) or UTILISATIONS[0] - 1)
        self.sequences.setValue(wishes.sequences or 0)
        self._show_cards(gpus)
        for uuid, box in self._boxes.items():
            box.setChecked(wishes.cards is None or uuid in wishes.cards)
        self._showing = False

    def _show_cards(self, gpus: Sequence[Gpu]) -> None:
        uuids = tuple(gpu.uuid for gpu in gpus)
        if uuids == self._gpus:
            return
        self._gpus = uuids
        clear_layout(self._cards)
        self._boxes = {}
        for gpu in gpus:
            box = named(QCheckBox(f"{gpu.index}: {gpu.name}"), f"setup.plan.card.{gpu.index}")
            box.toggled.connect(lambda _on: self._on_cards())
            self._boxes[gpu.uuid] = box
            self._cards.addWidget(box)

    def _on_cards(self) -> None:
        chosen = tuple(uuid for uuid, box in self._boxes.items() if box.isChecked())
        self._tell("cards", chosen if 0 < len(chosen) < len(self._boxes) else None)

    def _build(self) -> None:
        rows: tuple[tuple[str, QWidget, str], ...] = (
            (self.tr("Made for"), self.profile, "profile"),
            (self.tr("Weights"), self.checkpoint, "checkpoint"),
            (self.tr("Context"), self.context, "context"),
            (self.tr("Share of memory"), self.utilisation, "utilisation"),
            (self.tr("Requests at once"), self.sequences, "sequences"),
            (self.tr("Canvas slots"), self.canvas, "canvas"),
            (self.tr("Pictures"), self.pictures, "text_only"),
        )
        for text, field, name in rows:
            title = label(text)
            title.setBuddy(field)
            self._cells.append((title, named(field, f"setup.plan.{name}", text)))
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(16)
        self._grid.setVerticalSpacing(8)
        self._cards.setContentsMargins(0, 0, 0, 0)
        self._cards.setSpacing(4)
        box = QWidget()
        box.setLayout(self._cards)
        self._cells.append((label(self.tr("Allowed cards")), box))
        self._place(2)

    def minimumSizeHint(self) -> QSize:
        """Narrower than two columns: then there is one."""
        return QSize(NARROWEST, super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        widest = max(title.sizeHint().width() + field.minimumSizeHint().width() for title, field in self._cells[:-1])
        self._place(2 if event.size().width() >= 2 * widest + 3 * self._grid.horizontalSpacing() else 1)

    def _place(self, columns: int) -> None:
        if columns == self._columns:
            return
        self._columns = columns
        *fields, cards = self._cells
        for number, (title, field) in enumerate(fields):
            row, column = divmod(number, columns)
            self._grid.addWidget(title, row, column * 2)
            self._grid.addWidget(field, row, column * 2 + 1)
        last = len(fields)
        self._grid.addWidget(cards[0], last, 0, Qt.AlignmentFlag.AlignTop)
        self._grid.addWidget(cards[1], last, 1, 1, 3 if columns == 2 else 1)
        self._grid.setColumnStretch(1, 1)
        self._grid.setColumnStretch(3, 1 if columns == 2 else 0)

    def _connect(self) -> None:
        choices = (
            ("profile", self.profile),
            ("checkpoint", self.checkpoint),
            ("context", self.context),
            ("canvas", self.canvas),
            ("text_only", self.pictures),
        )
        for name, field in choices:
            field.currentIndexChanged.connect(partial(self._on_choice, name, field))
        self.utilisation.valueChanged.connect(
            lambda percent: self._tell("utilisation", percent / 100 if percent >= UTILISATIONS[0] else None)
        )
        self.sequences.valueChanged.connect(lambda number: self._tell("sequences", number or None))

    def _on_choice(self, name: str, field: QSpinBox | ChoiceField, _index: int) -> None:
        if isinstance(field, ChoiceField):
            self._tell(name, field.currentData())

    def _tell(self, name: str, value: Any) -> None:
        if not self._showing:
            self.wished.emit(name, value)
