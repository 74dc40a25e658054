"""The cards as they are now: what of them is the engine's, what is others', what is free."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtWidgets import QFrame, QWidget

from app.models.engine_memory import CardMemory, MemoryView
from app.theme import set_role
from app.widgets.decisions.parts import label, named, vbox
from app.widgets.setup.card_drawing import CardBar, CardDrawing, PartName
from engine.domain.hardware import GIB


class LiveDrawing(CardDrawing):
    """The bars of the plan's drawing in the words of what is."""

    def _word(self, name: PartName) -> str:
        words = {
            "activations": self.tr("Activations, canvases, CUDA context"),
            "others": self.tr("Other programs and driver"),
        }
        return words.get(name) or super()._word(name)


class LiveCards(QFrame):
    """A card of the page; where there is no card to look at it says so."""

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        set_role(self, "card")
        self.setObjectName(name)
        self.drawing = LiveDrawing(f"{name}.drawing")
        self.why_none = named(label("", "muted", wrap=True), f"{name}.none")
        self.holders = named(label("", "caption", wrap=True), f"{name}.holders")
        layout = vbox(
            label(self.tr("Memory of the cards, now"), "strong"), self.why_none, self.drawing, self.holders, spacing=8
        )
        layout.setContentsMargins(16, 12, 16, 14)
        self.setLayout(layout)
        self._shown: MemoryView | None = None
        self.why_none.setText(self.tr("Looking …"))

    def show_memory(self, view: MemoryView) -> None:
        if view == self._shown:
            return
        self._shown = view
        self.why_none.setText(view.why_none)
        self.why_none.setVisible(not view.cards)
        self.drawing.show_bars([bar_of_memory(card) for card in view.cards])
        self.holders.setText(self._holders(view.cards))
        self.holders.setVisible(bool(self.holders.text()))

    def _holders(self, cards: Sequence[CardMemory]) -> str:
        lines = [
            self.tr("{card}: also {who}").format(card=card.title, who=card.holders) for card in cards if card.holders
        ]
        return "\n".join(lines)


def bar_of_memory(card: CardMemory) -> CardBar:
    """A card as it is, with what is free in words."""
    parts: tuple[tuple[PartName, int], ...] = (
        ("others", card.others),
        ("weights", card.weights),
        ("cache", card.cache),
        ("activations", card.working),
    )
    free = card.total - sum(size for _, size in parts)
    return CardBar(card.title, f"{free / GIB:.1f} of {card.total / GIB:.1f} GiB free", card.total, parts)
