"""Which rows a run reads: a filter over the columns, then all, the first ones, or a random sample of what is left."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QComboBox, QLineEdit, QWidget

from app.models.decisions_table import RowsWanted
from app.widgets.decisions.parts import FieldMessage, button, hbox, label, named, number_box, vbox

MOST = 1_000_000_000  # rows that can be asked for
ROWS = 1000  # offered for a sample
ALL, FIRST, SAMPLE = "all", "first", "sample"


class RowChoice(QWidget):
    """Signals:
    edited(object): another ``RowsWanted``.
    condition_wanted(str, str, str): column, comparison and value that are to become one more condition.
    """

    edited = Signal(object)
    condition_wanted = Signal(str, str, str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("row_choice")
        self._selection = RowsWanted()
        self.where = named(QLineEdit(), "rows_where", self.tr("Filter: only rows for which this is true"))
        self.where.setPlaceholderText(self.tr('all rows pass; or a condition: country == "DE"'))
        self.where.editingFinished.connect(self._on_edit)
        self.column = named(QComboBox(), "rows_column", self.tr("Column of the condition"))
        self.column.setMaximumWidth(180)
        self.operator = named(QComboBox(), "rows_operator", self.tr("Comparison of the condition"))
        self.value = named(QLineEdit(), "rows_value", self.tr("Value of the condition"))
        self.value.setPlaceholderText(self.tr("value"))
        self.value.setMaximumWidth(160)
        self.value.returnPressed.connect(self._add)
        self.add = button(self.tr("Add"), "rows_add", self._add)
        self.builder = button(
            self.tr("Build a condition"), "rows_builder", self._show_builder, tip=self.tr("From a column and a value")
        )
        self.builder.setCheckable(True)
        self._parts = QWidget()
        self.kind = named(QComboBox(), "rows_kind", self.tr("How many of these rows"))
        self.count = number_box("rows_count", self.tr("Number of rows"), 1, MOST)
        self.count.setValue(ROWS)
        self.seed = number_box("rows_seed", self.tr("Seed of the sample"), 0, 2**31 - 1)
        self.seed.setToolTip(self.tr("The same seed takes the same rows"))
        self._seed_title = label(self.tr("Seed"), "muted")
        self._seed_title.setBuddy(self.seed)
        self.remains = named(label("", "strong"), "rows_remain")
        self.message = FieldMessage("rows_message")
        self._fill()
        self._build()

    def set_columns(self, columns: Sequence[str]) -> None:
        """Offer these columns for a condition."""
        if [self.column.itemText(place) for place in range(self.column.count())] != list(columns):
            self.column.clear()
            self.column.addItems(list(columns))

    def show_selection(self, selection: RowsWanted, remaining: int | None, total: int | None, fault: str) -> None:
        """Show what is chosen and what it leaves.

        Args:
            remaining: rows that would be read; None while they are counted, or when ``fault`` says why not.
            total: rows of the table; None while they are counted.
        """
        self._selection = selection
        if not self.where.hasFocus() or self.where.text().strip() != selection.where:
            self.where.setText(selection.where)
        kind = SAMPLE if selection.sample is not None else FIRST if selection.first is not None else ALL
        self.kind.setCurrentIndex(self.kind.findData(kind))
        for box, value in ((self.count, selection.sample or selection.first), (self.seed, selection.seed)):
            box.blockSignals(True)
            if value is not None and kind != ALL:
                box.setValue(value)
            box.blockSignals(False)
        self._show_kind(kind)
        self.message.say(fault)
        self.remains.setText(self._remains(selection, remaining, total, fault))

    def _remains(self, selection: RowsWanted, remaining: int | None, total: int | None, fault: str) -> str:
        if fault:
            return ""
        if remaining is None:
            return self.tr("counting rows …")
        if selection == RowsWanted():
            return self.tr("all {n} rows are read").format(n=f"{remaining:,}")
        whole = "…" if total is None else f"{total:,}"
        return self.tr("{n} of {all} rows are read").format(n=f"{remaining:,}", all=whole)

    def _fill(self) -> None:
        operators = (
            ("equals", self.tr("is")),
            ("differs", self.tr("is not")),
            ("contains", self.tr("contains")),
            ("lacks", self.tr("does not contain")),
            ("empty", self.tr("is empty")),
            ("filled", self.tr("is not empty")),
            ("below", self.tr("is below")),
            ("above", self.tr("is above")),
        )
        for key, text in operators:
            self.operator.addItem(text, key)
        self.operator.currentIndexChanged.connect(
            lambda _index: self.value.setEnabled(self.operator.currentData() not in ("empty", "filled"))
        )
        for kind, text in ((ALL, self.tr("all rows")), (FIRST, self.tr("the first")), (SAMPLE, self.tr("at random"))):
            self.kind.addItem(text, kind)
        self.kind.activated.connect(lambda _index: self._on_edit())
        self.count.valueChanged.connect(lambda _value: self._on_edit())
        self.seed.valueChanged.connect(lambda _value: self._on_edit())

    def _build(self) -> None:
        title, rows = label(self.tr("Filter"), "muted"), label(self.tr("Rows"), "muted")
        title.setBuddy(self.where)
        rows.setBuddy(self.kind)
        one = hbox(title, self.where, self.builder)
        one.setStretchFactor(self.where, 1)
        self._parts.setLayout(hbox(self.column, self.operator, self.value, self.add, 1))
        self._parts.hide()
        two = hbox(rows, self.kind, self.count, self._seed_title, self.seed, self.remains, 1)
        self.setLayout(vbox(one, self._parts, two, self.message, spacing=6))

    def _show_builder(self) -> None:
        self._parts.setVisible(self.builder.isChecked())
        if self.builder.isChecked():
            self.column.setFocus()

    def _show_kind(self, kind: str) -> None:
        self.count.setVisible(kind != ALL)
        for part in (self.seed, self._seed_title):
            part.setVisible(kind == SAMPLE)

    def add_condition(self, made: str) -> None:
        """One more condition, joined with what stands there by ``and``."""
        before = self.where.text().strip()
        if " or " in before:
            before = f"({before})"
        self.where.setText(f"{before} and {made}" if before else made)
        self.value.clear()
        self._on_edit()

    def _add(self) -> None:
        if self.column.currentText():
            self.condition_wanted.emit(self.column.currentText(), self.operator.currentData(), self.value.text())

    def _on_edit(self) -> None:
        kind, count = self.kind.currentData(), self.count.value()
        made = RowsWanted(
            self.where.text().strip(),
            first=count if kind == FIRST else None,
            sample=count if kind == SAMPLE else None,
            seed=self.seed.value() if kind == SAMPLE else 0,
        )
        if made != self._selection:
            self._selection = made
            self.edited.emit(made)
