"""Comparing methods: what is compared, how far it is, and what came out."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QAbstractItemView,
    QCheckBox,
    QComboBox,
    QGridLayout,
    QHeaderView,
    QProgressBar,
    QTableWidget,
    QTableWidgetItem,
    QWidget,
)

from app.models.decisions_method import MethodFacts
from app.widgets.decisions.parts import FieldMessage, button, hbox, label, named, number_box, vbox

SAMPLE, MOST = 200, 100_000  # labelled rows


class MethodView(QWidget):
    """Signals:
    start_requested(bool): compare; whether to forget what is kept.
    stop_requested().
    question_chosen(str).
    """

    start_requested = Signal(bool)
    stop_requested = Signal()
    question_chosen = Signal(str)

    def __init__(self, ways: Sequence[tuple[str, str, Sequence[tuple[str, object, bool]]]]) -> None:
        """Args:
        ways: (key, caption, choices) of what may differ; a choice is (text, value, whether it is ticked at first).
        """
        super().__init__()
        self.setObjectName("method_view")
        self.question = named(QComboBox(), "method_question", self.tr("Question with a gold column"))
        self.question.activated.connect(lambda _index: self.question_chosen.emit(self.question.currentText()))
        self.sample = number_box("method_sample", self.tr("Labelled rows"), 2, MOST)
        self.sample.setValue(SAMPLE)
        self._boxes: dict[str, list[tuple[QCheckBox, object]]] = {}
        self._held: set[QCheckBox] = set()  # that would be ticked if they could be chosen
        self.full = named(QCheckBox(self.tr("every combination")), "method_full")
        self.full.setToolTip(self.tr("Else one thing at a time differs from the first of each line"))
        self.anew = named(QCheckBox(self.tr("begin anew")), "method_anew")
        self.anew.setToolTip(self.tr("Else what is kept beside the form is gone on with"))
        self.start = button(self.tr("Compare"), "method_start", self._on_start, role="primary")
        self.stop = button(self.tr("Stop"), "method_stop", self.stop_requested.emit)
        self.message = FieldMessage("method_message")
        self.bar = named(QProgressBar(), "method_progress", self.tr("Progress of the comparison"))
        self.bar.setTextVisible(False)
        self._status = named(label("", "muted", wrap=True), "method_status")
        self.words = named(label("", "strong", wrap=True), "method_words")
        self._kept = named(label("", "muted", wrap=True), "method_kept")
        self.table = named(QTableWidget(0, 8), "method_table", self.tr("The methods and their figures"))
        self.table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.table.setTabKeyNavigation(False)
        self.table.verticalHeader().hide()
        self.table.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        self.table.setMinimumHeight(160)
        self._build(ways)
        self.show_busy(False)
        self.show_facts(None)

    def chosen(self, key: str) -> list[object]:
        """The values that are ticked in a line."""
        return [value for box, value in self._boxes[key] if box.isChecked()]

    def allow(self, key: str, value: object, allowed: bool) -> None:
        """Offer a choice, or not; its tick comes back with it."""
        for box, each in self._boxes[key]:
            if each != value or box.isEnabled() == allowed:
                continue
            box.setEnabled(allowed)
            if not allowed and box.isChecked():
                self._held.add(box)
            box.setChecked(allowed and box in self._held)
            if allowed:
                self._held.discard(box)

    def set_questions(self, ids: Sequence[str]) -> bool:
        """Offer these questions; whether the chosen one is another one now."""
        before = self.question.currentText()
        if [self.question.itemText(place) for place in range(self.question.count())] != list(ids):
            self.question.clear()
            self.question.addItems(list(ids))
            self.question.setCurrentText(before)
        return self.question.currentText() != before

    def show_busy(self, busy: bool) -> None:
        """While a comparison is under way."""
        self.start.setEnabled(not busy)
        self.stop.setEnabled(busy)
        for part in (self.bar, self._status):
            part.setVisible(busy)

    def show_ready(self, reason: str) -> None:
        """Why nothing can be compared; empty when it can."""
        self.message.say(reason, "muted")
        self.start.setEnabled(not reason)

    def show_progress(self, done: int, total: int, text: str) -> None:
        """Reads done, of how many, and what is read."""
        self.bar.setMaximum(max(total, 1))
        self.bar.setValue(done)
        self._status.setText(text)

    def show_facts(self, facts: MethodFacts | None) -> None:
        """What came out, or that nothing is kept."""
        for part in (self.table, self.words, self._kept):
            part.setVisible(facts is not None)
        if facts is None:
            return
        self.words.setText(facts.words)
        kept = self.tr("kept in {path}") if facts.current else self.tr("kept in {path}; the form has changed since")
        self._kept.setText(kept.format(path=facts.path))
        heads = [self.tr("Method"), facts.quality, self.tr("95 %"), self.tr("against the first"), self.tr("ECE")]
        heads += [self.tr("unreadable"), self.tr("seed spread"), self.tr("reads/s")]
        self.table.clear()
        self.table.setHorizontalHeaderLabels(heads)
        self.table.setRowCount(len(facts.rows))
        for row, each in enumerate(facts.rows):
            texts = (each.name, *each.cells) if not each.refusal else (each.name, self.tr("not read"))
            for column, text in enumerate(texts):
                item = QTableWidgetItem(text)
                item.setToolTip(each.refusal)
                if column:
                    item.setTextAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
                self.table.setItem(row, column, item)
        self.table.resizeRowsToContents()

    def _on_start(self) -> None:
        self.start_requested.emit(self.anew.isChecked())

    def _build(self, ways: Sequence[tuple[str, str, Sequence[tuple[str, object, bool]]]]) -> None:
        grid = QGridLayout()
        grid.setVerticalSpacing(6)
        grid.setColumnStretch(1, 1)
        grid.addWidget(label(self.tr("Question"), "muted"), 0, 0)
        grid.addLayout(hbox(self.question, label(self.tr("labelled rows"), "muted"), self.sample, 1), 0, 1)
        for line, (key, caption, choices) in enumerate(ways, start=1):
            grid.addWidget(label(caption, "muted"), line, 0)
            boxes = [(named(QCheckBox(text), f"method_{key}.{text}"), value, on) for text, value, on in choices]
            for box, _value, on in boxes:
                box.setChecked(on)
                box.setAccessibleName(f"{caption}: {box.text()}")
            self._boxes[key] = [(box, value) for box, value, _on in boxes]
            grid.addLayout(hbox(*(box for box, _value, _on in boxes), 1, spacing=16), line, 1)
        row = hbox(self.start, self.stop, self.full, self.anew, 1, spacing=12)
        intro = label(
            self.tr(
                "Rows with a gold answer are read in several ways, each with two seeds, and held against the first way."
            ),
            "muted",
            wrap=True,
        )
        parts = (intro, grid, row, self.message, self.bar, self._status, self.words, self.table, self._kept)
        outer = vbox(*parts, spacing=10)
        outer.setStretchFactor(self.table, 10)
        outer.addStretch(1)
        self.setLayout(outer)
