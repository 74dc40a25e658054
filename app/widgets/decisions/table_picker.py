"""Choose a table: the file, what was guessed about it, a way to overrule each guess, and its first rows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QEvent, Signal
from PySide6.QtWidgets import (
    QAbstractItemView,
    QComboBox,
    QGridLayout,
    QHeaderView,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from app.models.decisions_table import PreviewModel, TableFacts
from app.widgets.decisions.parts import (
    EmptyState,
    FieldMessage,
    Heads,
    button,
    card,
    clear_layout,
    counted,
    hbox,
    label,
    named,
    vbox,
)
from app.widgets.decisions.table_reading import ReadingBar

KINDS = {"csv": "CSV", "xlsx": "workbook", "parquet": "Parquet", "jsonl": "JSON lines"}


class TablePicker(QWidget):
    """Signals:
    open_requested(): the user wants to choose a file.
    example_requested(str): show an example instead, by its folder's name.
    paste_requested(): take what the clipboard holds.
    format_overruled(dict): how the file is read instead of as guessed.
    """

    open_requested = Signal()
    example_requested = Signal(str)
    paste_requested = Signal()
    format_overruled = Signal(dict)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("table_picker")
        self.model = PreviewModel(self)
        self.message = FieldMessage("table_message")
        self._title = label("", "heading")
        self._facts = label("", "muted")
        self.reading = ReadingBar()
        self.reading.overruled.connect(self.format_overruled)
        self.view = self._make_view()
        self._empty = EmptyState(
            "table_empty",
            self.tr("Choose the table to decide about"),
            self.tr(
                "Every row becomes one text, and every question is asked about it. CSV with any delimiter, workbooks, "
                "Parquet and JSON lines: drop a file here, copy cells and press Ctrl+V, or begin with an example that "
                "really runs."
            ),
            [
                ("open", self.tr("Open a table…")),
                ("paste", self.tr("Paste cells")),
                ("tickets", self.tr("Try the tickets example")),
            ],
        )
        self._empty.chosen.connect(self._on_empty)
        self._page = self._build()
        self._page.hide()
        # No stack: that is as high as the higher of both, also while only the other is shown.
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 0, 0, 0)
        box.addWidget(self.message)
        box.addWidget(self._empty, 1)
        box.addWidget(self._page, 1)

    def show_table(self, facts: TableFacts | None) -> None:
        """Show a table, or the empty state."""
        self._empty.setVisible(facts is None)
        self._page.setVisible(facts is not None)
        if facts is None:
            self.model.show_rows((), ())
            return
        self._title.setText(Path(facts.path).name)
        self._title.setToolTip(facts.path)
        self._facts.setText(self._describe(facts))
        self.reading.show_facts(facts)
        self.model.show_rows(facts.columns, facts.rows)
        self._fit()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange and hasattr(self, "_page"):
            self._fit()

    def _fit(self) -> None:
        """Columns as wide as what they hold, within reason."""
        self.view.resizeColumnsToContents()
        for column in range(self.model.columnCount()):
            self.view.setColumnWidth(column, min(max(self.view.columnWidth(column), 80), 320))

    def show_error(self, text: str) -> None:
        """What is wrong with the file that was chosen; what was open before stays open."""
        self.message.say(text)

    def _describe(self, facts: TableFacts) -> str:
        parts = [counted(len(facts.columns), self.tr("{n} column"), self.tr("{n} columns"))]
        if facts.count is None:
            parts.insert(0, self.tr("counting rows …"))
        else:
            parts.insert(0, counted(facts.count, self.tr("{n} row"), self.tr("{n} rows")))
        parts += [KINDS[facts.kind]] if facts.kind != "csv" else []
        if facts.bom:
            parts.append(self.tr("byte order mark"))
        return " · ".join(parts)

    def _make_view(self) -> QTableView:
        view = named(QTableView(), "table_preview", self.tr("First rows of the table"))
        view.setModel(self.model)
        view.setAlternatingRowColors(True)
        view.setShowGrid(False)
        view.setWordWrap(False)
        view.setTabKeyNavigation(False)
        view.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        view.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        view.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        view.setHorizontalHeader(Heads("table_preview.heads"))
        view.horizontalHeader().setStretchLastSection(True)
        view.setMinimumHeight(120)
        return view

    def _build(self) -> QWidget:
        change = button(self.tr("Another file…"), "table_open", self.open_requested.emit)
        paste = button(
            self.tr("Paste"), "table_paste", self.paste_requested.emit, tip=self.tr("Cells of a spreadsheet (Ctrl+V)")
        )
        page = QWidget()
        head = hbox(vbox(self._title, self._facts, spacing=2), 1, paste, change)
        page.setLayout(vbox(head, self.reading, self.view, spacing=10))
        return page

    def _on_empty(self, key: str) -> None:
        if key == "open":
            self.open_requested.emit()
        elif key == "paste":
            self.paste_requested.emit()
        else:
            self.example_requested.emit(key)


class MappingBar(QWidget):
    """Offered when the form names columns that the table lacks: what to use instead.

    Signals:
        accepted(dict): old column name -> column of the table.
    """

    accepted = Signal(dict)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("mapping")
        self._boxes: dict[str, QComboBox] = {}
        self._text = label("", "strong", wrap=True)
        self._rows = QGridLayout()
        self._rows.setContentsMargins(0, 0, 0, 0)
        self._apply = button(self.tr("Use these columns"), "mapping_apply", self._accept, role="primary")
        self.setLayout(vbox(card(vbox(self._text, hbox(self._rows, self._apply, 1, spacing=16)))))
        self.hide()

    def offer(self, missing: Sequence[tuple[str, str]], columns: Sequence[str]) -> None:
        """Show one line for each missing column.

        Args:
            missing: (column that the form names, nearest column of the table or "").
            columns: of the table.
        """
        clear_layout(self._rows)
        self._boxes = {}
        for place, (name, nearest) in enumerate(missing):
            box = named(QComboBox(), f"mapping_{place}", self.tr("Column to use for {name}").format(name=name))
            box.addItems(["", *columns])
            box.setCurrentText(nearest)
            box.setMinimumWidth(200)
            self._rows.addWidget(label(name, "mono"), place, 0)
            self._rows.addWidget(box, place, 1)
            self._boxes[name] = box
        one = self.tr("The form names a column that this table does not have. Use another instead:")
        many = self.tr("The form names {n} columns that this table does not have. Use others instead:")
        self._text.setText(counted(len(missing), one, many))
        self.setVisible(bool(missing))

    def _accept(self) -> None:
        self.accepted.emit({name: box.currentText() for name, box in self._boxes.items() if box.currentText()})
