"""Which answers of a run are shown, and in which order."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import QComboBox, QDoubleSpinBox, QLabel, QLineEdit, QWidget

from app.widgets.decisions.answer_view import STATUS_SIGNS
from app.widgets.decisions.flow import FlowLayout
from app.widgets.decisions.parts import button, counted, hbox, label, named
from app.widgets.fields import clearable
from engine.domain.question import Choice, Noul, Question, Score
from engine.domain.reading import STATUSES

TYPING_MS = 250  # a search begins when nothing was typed for so long
HALF = 0.5
LONGEST = 40  # characters of an answer in its box


class ResultsFilter(QWidget):
    """Signals:
    changed(dict): the fields of a ``Browse`` (engine.store.run_browse).
    """

    changed = Signal(dict)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("results_filter")
        self._questions: tuple[Question, ...] = ()
        self.search = named(QLineEdit(), "results_search", self.tr("Search the rows"))
        self.search.setPlaceholderText(self.tr("Search the rows"))
        clearable(self.search, self.tr("Clear the search"))
        self.search.setMinimumWidth(150)
        self.question = named(QComboBox(), "results_question", self.tr("Only this question"))
        self.status = named(QComboBox(), "results_status", self.tr("Only this status"))
        self.answer = named(QComboBox(), "results_value", self.tr("Only this answer"))
        self.reviewed = named(QComboBox(), "results_reviewed", self.tr("Only reviewed or not"))
        self.order = named(QComboBox(), "results_order", self.tr("Order"))
        self.low = self._bound("results_low", self.tr("Value at least"), 0.0)
        self.high = self._bound("results_high", self.tr("Value at most"), 1.0)
        self.clear = button(self.tr("Clear"), "results_clear", self.reset, role="quiet", tip=self.tr("Show all"))
        self.count: QLabel = named(label("", "muted"), "results_count")
        self._range = QWidget()
        self._typing = QTimer(self)
        self._typing.setSingleShot(True)
        self._typing.setInterval(TYPING_MS)
        self._typing.timeout.connect(self._tell)
        self._build()
        self._fill()
        self._connect()

    def set_questions(self, questions: Sequence[Question]) -> None:
        """Questions to filter by; every filter is taken off, and nothing is emitted."""
        self._questions = tuple(questions)
        self._quietly(True)
        self.question.clear()
        self.question.addItem(self.tr("All questions"), None)
        for place, question in enumerate(questions):
            self.question.addItem(question.id, place)
        self._take_off()
        self._quietly(False)

    def show_count(self, count: int) -> None:
        """How many answers pass."""
        self.count.setText(counted(count, self.tr("{n} answer"), self.tr("{n} answers")))

    @property
    def narrows(self) -> bool:
        """Whether it may keep any answer back."""
        order = ("sort", "descending")
        return any(value not in (None, "") for name, value in self.wanted().items() if name not in order)

    def reset(self) -> None:
        """Take every filter off; the order stays."""
        self._quietly(True)
        self.question.setCurrentIndex(0)
        order = self.order.currentIndex()
        self._take_off()
        self.order.setCurrentIndex(order)
        self._quietly(False)
        self._tell()

    def sort_by(self, sort: str) -> None:
        """Order by a column; a second time the other way round."""
        places = [place for place in range(self.order.count()) if self.order.itemData(place)[0] == sort]
        if places:
            at = self.order.currentIndex()
            self.order.setCurrentIndex(places[(places.index(at) + 1) % len(places)] if at in places else places[0])

    def wanted(self) -> dict[str, Any]:
        """What is chosen."""
        sort, descending = self.order.currentData()
        low, high, name = self._bounds()
        return dict(
            question=self.question.currentData(),
            status=self.status.currentData(),
            sort=sort,
            descending=descending,
            search=self.search.text().strip(),
            low=low,
            high=high,
            reviewed=self.reviewed.currentData(),
            answer=name,
        )

    # ---- private
    def _chosen(self) -> Question | None:
        place = self.question.currentData()
        return None if place is None else self._questions[place]

    def _bounds(self) -> tuple[float | None, float | None, str | None]:
        """The range of the value, and the option's name, that the boxes ask for."""
        if self._range.isHidden():
            low, high = -math.inf, math.inf
        else:
            low = self.low.value() if self.low.value() > self.low.minimum() else -math.inf
            high = self.high.value() if self.high.value() < self.high.maximum() else math.inf
        question, name, place = self._chosen(), self.answer.currentData(), self.answer.currentIndex() - 1
        if name is not None and isinstance(question, Choice):
            return None, None, name
        if name is not None and isinstance(question, Noul):
            low, high = (max(low, HALF), high) if place == 0 else (low, min(high, math.nextafter(HALF, 0.0)))
        elif name is not None:  # a level: what rounds to it
            low, high = max(low, place - HALF), min(high, math.nextafter(place + HALF, 0.0))
        return (low if math.isfinite(low) else None), (high if math.isfinite(high) else None), None

    def _bound(self, name: str, spoken: str, value: float) -> QDoubleSpinBox:
        made = named(QDoubleSpinBox(), name, spoken, spoken)
        made.setDecimals(2)
        made.setSingleStep(0.05)
        made.setRange(0.0, 1.0)
        made.setValue(value)
        made.setKeyboardTracking(False)
        made.lineEdit().setTextMargins(6, 0, 0, 0)  # a style sheet's padding does not reach the field inside
        return made

    def _build(self) -> None:
        self._range.setLayout(hbox(label(self.tr("Value"), "muted"), self.low, label("–", "muted"), self.high))
        bar = FlowLayout(spacing=8)
        boxes = (self.question, self.status, self.answer, self.reviewed, self.order)
        for box in boxes:
            box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        for widget in (self.search, *boxes[:3], self._range, *boxes[3:], self.clear, self.count):
            bar.addWidget(widget)
        self.count.setMinimumHeight(self.order.sizeHint().height())
        self.setLayout(bar)

    def _fill(self) -> None:
        names = {
            "ok": self.tr("ok"),
            "unreadable": self.tr("unreadable"),
            "error": self.tr("error"),
            "skipped": self.tr("skipped"),
        }
        self.status.addItem(self.tr("Every status"), None)
        for status in STATUSES:
            self.status.addItem(f"{STATUS_SIGNS[status]} {names[status]}", status)
        for text, reviewed in (
            (self.tr("Reviewed or not"), None),
            (self.tr("Reviewed"), True),
            (self.tr("Not reviewed"), False),
        ):
            self.reviewed.addItem(text, reviewed)
        for text, sort, descending in (
            (self.tr("Table order"), "row", False),
            (self.tr("Highest value first"), "value", True),
            (self.tr("Lowest value first"), "value", False),
            (self.tr("Least certain first"), "uncertainty", True),
            (self.tr("Most certain first"), "uncertainty", False),
            (self.tr("Smallest top share first"), "top", False),
            (self.tr("Largest top share first"), "top", True),
            (self.tr("Last row first"), "row", True),
        ):
            self.order.addItem(text, (sort, descending))
        self._take_off()

    def _connect(self) -> None:
        for box in (self.status, self.answer, self.reviewed, self.order):
            box.currentIndexChanged.connect(lambda _index: self._tell())
        self.question.currentIndexChanged.connect(lambda _index: self._on_question())
        for bound in (self.low, self.high):
            bound.valueChanged.connect(lambda _value: self._tell())
        self.search.textChanged.connect(lambda _text: self._typing.start())
        self.search.returnPressed.connect(self._tell)

    def _on_question(self) -> None:
        self._quietly(True)
        self._fit()
        self._quietly(False)
        self._tell()

    def _fit(self) -> None:
        """The answers and the range of the question that is chosen."""
        question = self._chosen()
        self.answer.clear()
        self.answer.addItem(self.tr("Every answer"), None)
        for name in () if question is None else question.answers:
            level = f" · {question.levels[int(name)]}" if isinstance(question, Score) else ""
            self.answer.addItem(f"{name}{level}"[:LONGEST], name)
        self.answer.setVisible(question is not None)
        top = 1.0 if question is None or isinstance(question, Noul) else float(len(question.answers) - 1)
        self._range.setVisible(not isinstance(question, Choice))
        for bound in (self.low, self.high):
            bound.setRange(0.0, top)
        self.low.setValue(0.0)
        self.high.setValue(top)

    def _take_off(self) -> None:
        for box in (self.status, self.reviewed, self.order):
            box.setCurrentIndex(0)
        self.search.clear()
        self._typing.stop()
        self._fit()

    def _quietly(self, quiet: bool) -> None:
        for widget in (self.question, self.status, self.answer, self.reviewed, self.order, self.low, self.high):
            widget.blockSignals(quiet)
        self.search.blockSignals(quiet)

    def _tell(self) -> None:
        self._typing.stop()
        self.changed.emit(self.wanted())
