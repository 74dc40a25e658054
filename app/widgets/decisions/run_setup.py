"""Before a run: how the questions are read, and what will run on what."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QComboBox, QGridLayout, QWidget

from app.models.decisions_preview import JointPrice
from app.widgets.decisions.parts import FieldMessage, button, label, named, number_box, vbox
from engine.domain.reading import Method

DRAWS = ("auto", "1", "2", "4", "8", "16", "32")
CONCURRENCY = 32  # rows under way at once, as the command line has it
MAX_CONCURRENCY = 512


class RunSetup(QWidget):
    """Signals:
    method_edited(object): another ``Method``.
    price_requested(): compare joint and alone on a sample of rows.
    start_requested(int): with this many rows under way at once.
    """

    method_edited = Signal(object)
    price_requested = Signal()
    start_requested = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("run_setup")
        self._method = Method()
        self._summary = named(label("", "muted", wrap=True), "run_summary")
        self.draws = named(
            QComboBox(),
            "run_draws",
            self.tr("Draws"),
            self.tr(
                "How often each slot is read with other noise. auto: once, and three more times where it is unsure"
            ),
        )
        self.draws.addItems(list(DRAWS))
        self.draws.activated.connect(lambda _index: self._on_draws())
        self.joint = named(
            QCheckBox(self.tr("Joint reading")), "run_joint", tip=self.tr("All questions of a row share a canvas")
        )
        self.joint.clicked.connect(lambda checked: self._emit(replace(self._method, joint=checked)))
        self._price = label(
            self.tr(
                "About eight times faster, but the answers influence each other: ranks survive, absolute values shift."
            ),
            "warning",
            wrap=True,
        )
        tip = self.tr("Rows that are under way at the same time")
        self.concurrency = number_box("run_concurrency", self.tr("Rows at once"), 1, MAX_CONCURRENCY, tip)
        self.concurrency.setValue(CONCURRENCY)
        self.measure = button(self.tr("Measure on a sample"), "run_measure_joint", self._on_measure)
        self._found = named(label("", "muted", wrap=True), "run_joint_price")
        self.start = button(self.tr("Start the run"), "run_start", self._on_start, role="primary")
        self.message = FieldMessage("run_message")
        self._build()

    def show_method(self, method: Method) -> None:
        """Show how the form says it is read."""
        self._method = method
        text = str(method.draws)
        if self.draws.findText(text) < 0:
            self.draws.addItem(text)
        self.draws.setCurrentText(text)
        self.joint.setChecked(method.joint)
        for part in (self._price, self.measure, self._found):
            part.setVisible(method.joint)

    def show_summary(self, text: str, reason: str) -> None:
        """What would run, and why it cannot yet (empty when it can)."""
        self._summary.setText(text)
        self._summary.setVisible(bool(text))
        self.message.say(reason, "muted")
        self.start.setEnabled(not reason)
        self.measure.setEnabled(not reason)

    def show_price(self, price: JointPrice) -> None:
        """What joint reading does to these questions on these rows."""
        self._found.setText(self._sentence(price))
        self.measure.setEnabled(True)

    def show_price_error(self, text: str) -> None:
        self._found.setText(text)
        self.measure.setEnabled(True)

    def _sentence(self, price: JointPrice) -> str:
        if price.shift is None:
            return self.tr("On {n} rows nothing was readable both ways.").format(n=price.rows)
        parts = [self.tr("On {n} rows: mean shift {x} (0 to 1)").format(n=price.rows, x=f"{price.shift:.2f}")]
        if price.rank_correlation is not None:
            parts.append(self.tr("rank correlation {x}").format(x=f"{price.rank_correlation:.2f}"))
        parts.append(self.tr("{n} of {all} answers changed").format(n=price.flips, all=price.compared))
        if price.letter_copying is not None:
            parts.append(self.tr("letter copying {x}").format(x=f"{price.letter_copying:+.0%}"))
        return "; ".join(parts) + "."

    def _on_measure(self) -> None:
        self.measure.setEnabled(False)
        self._found.setText(self.tr("Reading a sample both ways …"))
        self.price_requested.emit()

    def _build(self) -> None:
        fields = QGridLayout()
        fields.setSpacing(8)
        fields.setColumnStretch(1, 1)
        for place, (text, field) in enumerate(
            ((self.tr("Draws"), self.draws), (self.tr("Rows at once"), self.concurrency))
        ):
            caption = label(text, "muted")
            caption.setBuddy(field)
            fields.addWidget(caption, place, 0)
            fields.addWidget(field, place, 1)
        self.setLayout(
            vbox(
                label(self.tr("New run"), "heading"),
                self._summary,
                fields,
                self.joint,
                self._price,
                self.measure,
                self._found,
                self.start,
                self.message,
                spacing=10,
            )
        )

    def _on_draws(self) -> None:
        text = self.draws.currentText()
        self._emit(replace(self._method, draws="auto" if text == "auto" else int(text)))

    def _emit(self, method: Method) -> None:
        if method != self._method:
            self.show_method(method)
            self.method_edited.emit(method)

    def _on_start(self) -> None:
        self.start_requested.emit(self.concurrency.value())
