"""Before a run: how the questions are read, and what will run on what."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QComboBox, QGridLayout, QWidget

from app.models.decisions_preview import JointPrice, reads_per_row
from app.widgets.decisions.parts import FieldMessage, button, counted, hbox, label, named, number_box, vbox
from engine.domain.question import Choice, Question
from engine.domain.reading import Method

DRAWS = ("auto", "1", "2", "4", "8", "16", "32")
CONCURRENCY = 32  # rows under way at once, as the command line has it
MAX_CONCURRENCY = 512
MAX_STEPS = 48  # as the form file has it


class RunSetup(QWidget):
    """Signals:
    method_edited(object): another ``Method``.
    price_requested(): compare joint and alone on a sample of rows.
    order_requested(): read a sample with the options of each choice in every order.
    start_requested(int): with this many rows under way at once.
    """

    method_edited = Signal(object)
    price_requested = Signal()
    order_requested = Signal()
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
        self.steps = number_box(
            "run_steps",
            self.tr("Denoise steps"),
            1,
            MAX_STEPS,
            self.tr("Of each read; more take as many times longer, and do not repeat exactly"),
        )
        self.steps.valueChanged.connect(lambda value: self._emit(replace(self._method, steps=value)))
        tip = self.tr("A choice is read once per rotation of its options, so that no letter or place is favoured")
        self.rotate = named(QCheckBox(self.tr("Rotate the options")), "run_rotate", tip=tip)
        self.rotate.clicked.connect(lambda checked: self._emit(replace(self._method, rotate=checked)))
        self.order = button(self.tr("Check the option order"), "run_check_order", self._on_order)
        self._ordered = named(label("", "muted", wrap=True), "run_order_found")
        self._cost = named(label("", "muted", wrap=True), "run_cost")
        self._questions: Sequence[Question] = ()
        self._rows: int | None = None
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
        self.measure = button(self.tr("Check the interference"), "run_measure_joint", self._on_measure)
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
        self.rotate.setChecked(method.rotate)
        self.steps.blockSignals(True)
        self.steps.setValue(method.steps)
        self.steps.blockSignals(False)
        self.steps.setEnabled(method.wire == "canvas")
        self._show_cost()
        for part in (self._price, self.measure, self._found):
            part.setVisible(method.joint)

    def show_questions(self, questions: Sequence[Question], rows: int | None) -> None:
        """What is asked, and of how many rows (None while they are counted): the price of the method follows."""
        if questions != self._questions:
            self._ordered.setText("")
            self._found.setText("")
        self._questions, self._rows = questions, rows
        choices = any(isinstance(question, Choice) for question in questions)
        for part in (self.rotate, self.order, self._ordered):
            part.setVisible(choices)
        self._show_cost()

    def _show_cost(self) -> None:
        """In reads, each of which is one request; the number of questions is behind it, so it is said per row too."""
        least, most = reads_per_row(self._questions, self._method)
        self._cost.setVisible(bool(least) and self._method.wire == "canvas")
        if least == most:
            text = counted(least, self.tr("{n} request a row"), self.tr("{n} requests a row"))
        else:
            text = self.tr("{least} to {most} requests a row").format(least=least, most=most)
        if self._rows:
            text += self.tr(", {n} at least in all").format(n=f"{least * self._rows:,}")
        if self._method.steps > 1:
            text += self.tr(", each of {n} steps").format(n=self._method.steps)
        self._cost.setText(text + ".")

    def show_summary(self, text: str, reason: str, busy: str = "") -> None:
        """What would run, and why it cannot yet (empty when it can).

        Args:
            busy: what is under way, so that this run would have to wait; empty: it would begin at once.
        """
        self._summary.setText(text)
        self._summary.setVisible(bool(text))
        self.message.say(reason or busy, "muted")
        self.start.setText(self.tr("Add to the queue") if busy else self.tr("Start the run"))
        self.start.setEnabled(not reason)
        self.measure.setEnabled(not reason)
        self.order.setEnabled(not reason)

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
        return f"{'; '.join(parts)}. {price.advice}".strip()

    def show_order(self, text: str) -> None:
        """What the order of the options does, or why that is not known."""
        self._ordered.setText(text)
        self.order.setEnabled(True)

    def _on_order(self) -> None:
        self.order.setEnabled(False)
        self._ordered.setText(self.tr("Reading a sample in every order …"))
        self.order_requested.emit()

    def _on_measure(self) -> None:
        self.measure.setEnabled(False)
        self._found.setText(self.tr("Reading a sample both ways …"))
        self.price_requested.emit()

    def _build(self) -> None:
        fields = QGridLayout()
        fields.setSpacing(8)
        fields.setColumnStretch(1, 1)
        for place, (text, field) in enumerate(
            (
                (self.tr("Draws"), self.draws),
                (self.tr("Steps"), self.steps),
                (self.tr("Rows at once"), self.concurrency),
            )
        ):
            caption = label(text, "muted")
            caption.setBuddy(field)
            fields.addWidget(caption, place, 0)
            fields.addWidget(field, place, 1)
        self.setLayout(
            vbox(
                hbox(label(self.tr("New run"), "heading"), 1, self.start),  # seen without scrolling, however low it is
                self.message,
                self._summary,
                fields,
                self.joint,
                self._price,
                self.rotate,
                self._cost,
                self.measure,
                self._found,
                self.order,
                self._ordered,
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
