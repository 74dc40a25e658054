"""What another round of a finished run reads, with how many draws, and what that costs. Opened with ``open()``."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QButtonGroup, QComboBox, QDialog, QRadioButton, QWidget

from app.models.run_rounds import RoundChoice, RoundOffer, RoundWhat
from app.widgets.decisions.parts import button, counted, hbox, label, named, vbox
from app.widgets.decisions.run_setup import DRAWS


class AgainDialog(QDialog):
    """Signals:
    chosen(object): a ``RoundChoice``.
    """

    chosen = Signal(object)

    def __init__(self, offer: RoundOffer, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("again_dialog")
        self.setWindowTitle(self.tr("Read again"))
        self._offer = offer
        self.whats: dict[RoundWhat, QRadioButton] = {}
        self.draws = named(QComboBox(), "again_draws", self.tr("Draws"), self.tr("How often each slot is read"))
        self.draws.addItems(list(DRAWS))
        self.draws.currentTextChanged.connect(lambda _text: self._show_price())
        self._price = named(label("", "muted", wrap=True), "again_price")
        self.accept_button = button(self.tr("Begin"), "again_accept", self._accept, role="primary")
        self.accept_button.setDefault(True)
        self.cancel_button = button(self.tr("Cancel"), "again_cancel", self.reject)
        self._build()
        self._choose_first()

    # ---- private
    def _build(self) -> None:
        group = QButtonGroup(self)
        box = vbox(
            label(self.tr("Answers stay until better ones are there, and are kept behind them."), "muted", wrap=True)
        )
        for what, text in self._told():
            note = self._note(what)
            made = named(QRadioButton(text), f"again_what.{what}", f"{text}: {note}")
            made.setEnabled(self._possible(what))
            made.toggled.connect(lambda on, what=what: self._on_what(what) if on else None)
            group.addButton(made)
            self.whats[what] = made
            box.addWidget(made)
            said = named(label(note, "muted", wrap=True), f"again_note.{what}")
            said.setContentsMargins(26, 0, 0, 4)  # under the text of the button
            box.addWidget(said)
        caption = label(self.tr("Draws"), "muted")
        caption.setBuddy(self.draws)
        buttons = hbox(1, self.cancel_button, self.accept_button)
        self.setLayout(vbox(box, hbox(caption, self.draws, 1), self._price, buttons, margin=20, spacing=14))
        self.setMinimumWidth(460)

    def _told(self) -> tuple[tuple[RoundWhat, str], ...]:
        return (
            ("failed", self.tr("What failed")),
            ("unreadable", self.tr("What was unreadable")),
            ("questions", self.tr("New questions of the open form")),
        )

    def _possible(self, what: RoundWhat) -> bool:
        if what == "unreadable" and self._offer.method.wire == "native":
            return False
        return self._offer.answers(what) > 0

    def _note(self, what: RoundWhat) -> str:
        """How much there is, or why it cannot be read."""
        offer, count = self._offer, self._offer.answers(what)
        if what == "questions":
            if offer.refusal:
                return offer.refusal
            if not offer.added:
                return self.tr("Every question of the open form is in the run already. Add one in step 1.")
            ids = ", ".join(question.id for question in offer.added)
            rows = counted(offer.rows, self.tr("{n} row"), self.tr("{n} rows"))
            return self.tr("{questions} about {rows}").format(questions=ids, rows=rows)
        if what == "unreadable" and count and offer.method.wire == "native":
            return self.tr("The native wire makes one draw a question: a second reading would say the same.")
        if not count:
            return self.tr("Nothing failed.") if what == "failed" else self.tr("Nothing was unreadable.")
        return counted(count, self.tr("{n} answer"), self.tr("{n} answers"))

    def _choose_first(self) -> None:
        possible = next((made for made in self.whats.values() if made.isEnabled()), None)
        if possible is not None:
            possible.setChecked(True)
            possible.setFocus()
        else:
            self.draws.setEnabled(False)
            self.accept_button.setEnabled(False)
            self._price.setText(self.tr("There is nothing to read again."))

    def _what(self) -> RoundWhat:
        return next(what for what, made in self.whats.items() if made.isChecked())

    def _on_what(self, what: RoundWhat) -> None:
        method = self._offer.method_of(what)
        text = str(method.draws)
        if self.draws.findText(text) < 0:
            self.draws.addItem(text)
        self.draws.setCurrentText(text)
        self.draws.setEnabled(method.wire == "canvas")
        self._show_price()

    def _chosen_draws(self) -> Literal["auto"] | int:
        text = self.draws.currentText()
        return "auto" if text == "auto" else int(text)

    def _show_price(self) -> None:
        if not any(made.isChecked() for made in self.whats.values()):
            return
        what = self._what()
        method = replace(self._offer.method_of(what), draws=self._chosen_draws())
        answers = counted(self._offer.answers(what), self.tr("{n} answer"), self.tr("{n} answers"))
        if method.wire != "canvas":
            self._price.setText(f"{answers}.")
            return
        least, most = self._offer.reads(what, method)
        requests = counted(most, self.tr("{n} request"), self.tr("{n} requests"))
        if least != most:
            requests = self.tr("{least} to {requests}").format(least=f"{least:,}", requests=requests)
        self._price.setText(f"{answers}, {requests}.")

    def _accept(self) -> None:
        what = self._what()
        canvas = self._offer.method_of(what).wire == "canvas"
        self.chosen.emit(RoundChoice(what, self._chosen_draws() if canvas else None))
        self.accept()
