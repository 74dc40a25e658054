"""Try one row: the exact prompt, the canvas with the slot marked, and the answer with its evidence."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QComboBox, QPushButton, QScrollArea, QSizePolicy, QStackedWidget, QWidget

from app.models.decisions_preview import PreviewFacts, TrialFacts
from app.theme import set_role
from app.widgets.decisions.answer_view import AnswerView
from app.widgets.decisions.both_ways import BothWays
from app.widgets.decisions.charts import CanvasStrip
from app.widgets.decisions.draws_view import DrawsView
from app.widgets.decisions.flow import FlowLayout, WrappingPane
from app.widgets.decisions.parts import (
    EmptyState,
    FieldMessage,
    FixedText,
    ScrollPane,
    bare_splitter,
    button,
    card,
    hbox,
    label,
    named,
    number_box,
    vbox,
)
from app.widgets.decisions.picture_strip import PictureStrip
from app.widgets.decisions.side_by_side import NARROW
from engine.domain.reading import Method

LEAST_CHARACTERS = 3  # of a choice that can be read in a small window
BOX_WIDTH = 260  # pixels, at most


class PreviewPane(QWidget):
    """Signals:
    read_requested(int, str, bool): row (0-based), question id, joint.
    both_requested(int): read this row (0-based) with all questions, alone and jointly.
    rows_requested(): read some rows to see how long a run takes.
    """

    read_requested = Signal(int, str, bool)
    both_requested = Signal(int)
    rows_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("preview_pane")
        self.question = named(QComboBox(), "preview_question", self.tr("Question to read"))
        self.row = number_box("preview_row", self.tr("Row to read"), 0, 0)
        self.method = named(QComboBox(), "preview_method", self.tr("How to read"))
        self.method.addItem(self.tr("alone"), False)
        self.method.addItem(self.tr("joint with the other questions"), True)
        for box in (self.question, self.method):  # long ids give way in a small window
            box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
            box.setMinimumContentsLength(LEAST_CHARACTERS)
            box.setMaximumWidth(BOX_WIDTH)
            box.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.read_button = button(self.tr("Read this row"), "preview_read", self._ask, role="primary")
        self.both_button = button(
            self.tr("All, alone and joint"),
            "preview_both",
            self._ask_both,
            tip=self.tr("Every question about this row, both ways side by side"),
        )
        self.rows_button = button(
            self.tr("Try 20 rows"), "preview_rows", self._ask_rows, tip=self.tr("To see how long the run takes")
        )
        self.both = BothWays()
        self.both.chosen.connect(self._show)
        self.estimate = named(label("", "muted", wrap=True), "preview_estimate")
        self.estimate.hide()
        self.message = FieldMessage("preview_message")
        self.prompt = FixedText("preview_prompt", self.tr("The exact prompt"), read_only=True)
        set_role(self.prompt, "log")
        self.pictures = PictureStrip("preview_pictures")
        self.canvas = CanvasStrip("preview_canvas")
        self.answer = AnswerView("preview_answer")
        self.draws = DrawsView("preview_draws")
        self._method = Method()
        self._stack = QStackedWidget()
        self._buttons = (self.read_button, self.both_button, self.rows_button)
        self._had_focus: QPushButton | None = None  # when the read began
        self._build()

    def set_questions(self, ids: Sequence[str]) -> None:
        """Offer these questions; the chosen one stays when it is still there."""
        chosen = self.question.currentText()
        if [self.question.itemText(place) for place in range(self.question.count())] != list(ids):
            self.question.clear()
            self.question.addItems(list(ids))
            if chosen in ids:
                self.question.setCurrentText(chosen)
        self.method.setEnabled(len(ids) > 1)

    def choose_question(self, question_id: str) -> None:
        self.question.setCurrentText(question_id)

    def set_method(self, method: Method) -> None:
        """How the form says it is read."""
        self._method = method

    def set_rows(self, row: int, count: int) -> None:
        """The row offered (0-based) and how many there are."""
        self.row.setRange(1 if count else 0, count)
        self.row.setValue(row + 1 if count else 0)

    def set_ready(self, reason: str) -> None:
        """Why nothing can be read now; empty when it can."""
        for made in self._buttons:
            made.setEnabled(not reason)
        self.message.say(reason, "muted")

    def set_busy(self, busy: bool) -> None:
        """While a read is under way; a button that loses the focus by it gets it back."""
        if busy:
            self._had_focus = next((made for made in self._buttons if made.hasFocus()), None)
        for made in self._buttons:
            made.setEnabled(not busy)
        if not busy and self._had_focus is not None:
            self._had_focus.setFocus()
        self.read_button.setText(self.tr("Reading …") if busy else self.tr("Read this row"))

    def show_error(self, text: str) -> None:
        self.estimate.hide()
        self.message.say(text)

    def show_preview(self, facts: PreviewFacts) -> None:
        """One question, read one way."""
        self.both.clear()
        self._show(facts)

    def show_trial(self, facts: TrialFacts) -> None:
        """All questions, both ways."""
        self.set_busy(False)
        self.both.show_trial(facts)

    def show_estimate(self, text: str) -> None:
        """How long a run takes, in words."""
        self.set_busy(False)
        self.message.say("")
        self.estimate.setText(text)
        self.estimate.show()

    def _ask_both(self) -> None:
        self.set_busy(True)
        self.both_requested.emit(self.row.value() - 1)

    def _ask_rows(self) -> None:
        self.estimate.setText(self.tr("Reading 20 rows …"))
        self.estimate.show()
        self.set_busy(True)
        self.rows_requested.emit()

    def _show(self, facts: PreviewFacts) -> None:
        self.message.say("")
        self._stack.setCurrentIndex(1)
        unseen = self.tr("The server words the prompt and the canvas itself on the native wire.")
        self.prompt.setPlainText(facts.prompt or unseen)
        self.pictures.ask(facts.pictures)
        self.canvas.show_canvas(facts.canvas, facts.slot)
        self.answer.show_answer(facts.question, facts.reading, facts.seconds)
        self.draws.show_draws(facts.question, facts.draws, self._method.seed, "preview", self._method.min_mass)

    def _ask(self) -> None:
        if self.question.currentText():
            joint = bool(self.method.currentData()) and self.method.isEnabled()
            self.read_requested.emit(self.row.value() - 1, self.question.currentText(), joint)

    def _build(self) -> None:
        bar = FlowLayout(spacing=8)
        for text, field in ((self.tr("Row"), self.row), (self.tr("Question"), self.question)):
            part = QWidget()
            part.setLayout(hbox(label(text, "muted"), field))
            bar.addWidget(part)
        for widget in (self.method, self.read_button, self.both_button, self.rows_button):
            bar.addWidget(widget)
        empty = EmptyState(
            "preview_empty",
            self.tr("See one read laid open"),
            self.tr(
                "Choose a row and a question and read it: the exact prompt, the canvas with the slot that is read, the "
                "probability of every answer, and whether to trust it. Nothing is stored."
            ),
        )
        self._stack.addWidget(empty)
        self._stack.addWidget(self._laid_open())
        outer = vbox(bar, self.estimate, self.message, self.both, self._stack, spacing=10)
        outer.setStretchFactor(self._stack, 1)
        outer.setContentsMargins(16, 12, 16, 12)
        self.setLayout(vbox(ScrollPane(WrappingPane(outer))))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange and hasattr(self, "_splitter"):
            self._arrange()

    def _arrange(self) -> None:
        """The answer beside the prompt, or below it on a narrow page."""
        narrow = self.width() < NARROW * self.fontMetrics().averageCharWidth()
        self._splitter.setOrientation(Qt.Orientation.Vertical if narrow else Qt.Orientation.Horizontal)

    def _laid_open(self) -> QWidget:
        left = QWidget()
        hint = label(self.tr("noise stands in the marked slot; one denoise step fills it"), "muted", wrap=True)
        title = hbox(label(self.tr("Canvas"), "heading"), hint)
        title.setStretchFactor(hint, 1)
        left.setLayout(
            vbox(
                self.pictures,
                label(self.tr("Prompt"), "heading"),
                self.prompt,
                title,
                self.canvas,
            )
        )
        scroll = named(QScrollArea(), "preview_scroll", self.tr("Answer"))
        scroll.setWidgetResizable(True)
        scroll.setFrameShape(QScrollArea.Shape.NoFrame)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        holder = QWidget()
        holder.setLayout(vbox(card(vbox(self.answer, self.draws)), 1))
        scroll.setWidget(holder)
        self._splitter = bare_splitter("preview_splitter", left, scroll, sizes=(560, 380))
        return self._splitter
