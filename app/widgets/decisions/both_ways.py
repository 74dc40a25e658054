"""All questions about one row, alone and jointly side by side."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QSizePolicy, QTableWidget, QTableWidgetItem, QWidget

from app.models.decisions_preview import PreviewFacts, TrialFacts
from app.widgets.decisions.answer_view import STATUS_SIGNS, value_text
from app.widgets.decisions.parts import label, named, vbox

LINES = 5  # rows that are seen at once


class BothWays(QWidget):
    """Signals:
    chosen(object): ``PreviewFacts`` of the cell that was clicked or moved to.
    """

    chosen = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("both_ways")
        self._facts: TrialFacts | None = None
        self._title = named(label("", "muted", wrap=True), "both_ways_title")
        self.table = named(QTableWidget(0, 2), "both_ways_table", self.tr("Answers alone and jointly"))
        self.table.setHorizontalHeaderLabels([self.tr("Alone"), self.tr("Joint")])
        self.table.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Stretch)
        self.table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.table.setTabKeyNavigation(False)
        self.table.currentCellChanged.connect(lambda row, column, _row, _column: self._choose(row, column))
        self.setLayout(vbox(self._title, self.table, spacing=6))
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        self.hide()

    def clear(self) -> None:
        """Nothing has been read so."""
        self._facts = None
        self.hide()

    def show_trial(self, facts: TrialFacts) -> None:
        """Show every answer both ways; the first one alone is chosen."""
        self._facts = facts
        self.table.blockSignals(True)
        self.table.clearContents()
        self.table.setRowCount(len(facts.alone))
        self.table.setColumnHidden(1, not facts.joint)
        self.table.setVerticalHeaderLabels([each.question.id for each in facts.alone])
        for column, way in enumerate((facts.alone, facts.joint)):
            for row, each in enumerate(way):
                self.table.setItem(row, column, QTableWidgetItem(self._text(each)))
        self.table.blockSignals(False)
        self._title.setText(self._describe(facts))
        self.table.resizeRowsToContents()
        lines = sum(self.table.rowHeight(row) for row in range(min(len(facts.alone), LINES)))
        self.table.setFixedHeight(self.table.horizontalHeader().sizeHint().height() + lines + 6)
        self.show()
        self.table.setCurrentCell(0, 0)
        self._choose(0, 0)

    def _text(self, facts: PreviewFacts) -> str:
        reading = facts.reading
        text = f"{STATUS_SIGNS[reading.status]} {value_text(reading)}"
        if reading.label_mass is not None:
            text += self.tr("   mass {mass}").format(mass=f"{reading.label_mass:.2f}")
        if reading.entropy is not None:
            text += self.tr("   entropy {entropy}").format(entropy=f"{reading.entropy:.2f}")
        return text

    def _describe(self, facts: TrialFacts) -> str:
        text = self.tr("Row {row}: alone {ms} ms").format(row=facts.row + 1, ms=f"{facts.alone_s * 1000:,.0f}")
        if facts.joint:
            text += self.tr(", joint {ms} ms").format(ms=f"{facts.joint_s * 1000:,.0f}")
        if facts.refusal:
            text += self.tr("; jointly it cannot be read: {why}").format(why=facts.refusal)
        return text

    def _choose(self, row: int, column: int) -> None:
        if self._facts is None or row < 0:
            return
        way = self._facts.joint if column == 1 else self._facts.alone
        if row < len(way):
            self.chosen.emit(way[row])
