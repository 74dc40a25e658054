"""Second part of the Decisions page: the table, and the text that is made of each of its rows."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QMimeData, Signal
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QGuiApplication, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QWidget

from app.models.decisions_table import RowsWanted
from app.presenters.decisions import DecisionsPresenter
from app.widgets.decisions.flow import WrappingPane
from app.widgets.decisions.parts import ScrollPane, bare_splitter, counted, hbox, label, vbox
from app.widgets.decisions.picture_column import COLUMN_WIDTH, PictureColumnBar
from app.widgets.decisions.question_editor import ColumnBox
from app.widgets.decisions.row_choice import RowChoice
from app.widgets.decisions.state_editor import StateEditor
from app.widgets.decisions.table_picker import MappingBar, TablePicker
from engine.batch.picture_check import PictureCheck
from engine.batch.selection import Operator, Selection, condition
from engine.batch.template import column_reference
from engine.domain.picture import Sight
from engine.errors import InputError


class TablePart(QWidget):
    """The table above, the row text below.

    Signals:
        open_requested(): choose a file; example_requested(str).
    """

    open_requested = Signal()
    example_requested = Signal(str)

    def __init__(self, presenter: DecisionsPresenter, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("table_part")
        self._presenter = presenter
        self.picker = TablePicker()
        self.mapping = MappingBar()
        self.rows = RowChoice()
        self.state = StateEditor()
        self.setAcceptDrops(True)
        self.group = ColumnBox("form_group", self.tr("Group column"))
        self.pictures = PictureColumnBar(self._group_part())
        self._build()
        self._connect()
        self._show_form()
        self._show_table()

    def _build(self) -> None:
        upper = WrappingPane(vbox(self.picker, self.rows, spacing=10))
        lower = WrappingPane(vbox(self.mapping, self.state, self.pictures, spacing=10))
        splitter = bare_splitter("table_splitter", upper, lower, sizes=(300, 330), vertical=True)
        box = vbox(ScrollPane(splitter, sideways=True))
        box.setContentsMargins(16, 12, 16, 12)
        self.setLayout(box)

    def _group_part(self) -> QWidget:
        title, part = label(self.tr("Group by"), "muted"), QWidget()
        title.setBuddy(self.group)
        self.group.setFixedWidth(COLUMN_WIDTH)
        self.group.setToolTip(self.tr("Optional: unreadable answers are counted for each value of this column"))
        part.setLayout(hbox(title, self.group))
        return part

    def _connect(self) -> None:
        presenter, table, document = self._presenter, self._presenter.table, self._presenter.document
        self.picker.open_requested.connect(self.open_requested)
        self.picker.example_requested.connect(self.example_requested)
        self.picker.paste_requested.connect(self.paste)
        self.rows.edited.connect(self._select)
        self.rows.condition_wanted.connect(self._add_condition)
        table.selection_changed.connect(self._show_selection)
        self.picker.format_overruled.connect(table.overrule)
        self.mapping.accepted.connect(presenter.apply_mapping)
        self.state.edited.connect(document.set_state)
        self.state.document_edited.connect(document.set_document)
        self.state.which_changed.connect(self._show_row)
        self.state.row_wanted.connect(presenter.show_row)
        self.group.column_edited.connect(document.set_group)
        self.pictures.edited.connect(document.set_pictures)
        document.changed.connect(self._show_form)
        table.changed.connect(self._show_table)
        table.failed.connect(self._on_failed)
        presenter.row_changed.connect(self._show_row)
        presenter.mapping_changed.connect(lambda missing: self.mapping.offer(missing, table.columns))

    def paste(self) -> None:
        """Open the cells, or the file, that the clipboard holds."""
        data = QGuiApplication.clipboard().mimeData()
        if data is not None and (path := _local_file(data)):
            self._presenter.table.open(path)
        else:
            self._presenter.table.paste(QGuiApplication.clipboard().text())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Ctrl+V anywhere in this step; a text field under the cursor has taken its own before."""
        if event.matches(QKeySequence.StandardKey.Paste):
            self.paste()
        else:
            super().keyPressEvent(event)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if _local_file(event.mimeData()) is not None:
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        if path := _local_file(event.mimeData()):
            event.acceptProposedAction()
            self._presenter.table.open(path)

    def _show_form(self) -> None:
        form = self._presenter.document.form
        self.state.show_templates(form.state, form.document or "")
        self.group.show_column(form.group or "")
        chosen = form.pictures
        self.pictures.show_column(chosen.column if chosen else "", chosen.separator if chosen else "")

    def _show_table(self) -> None:
        table = self._presenter.table
        self.picker.show_error(table.fault)
        self.picker.show_table(table.facts)
        columns = [(name, f"{{{{ {column_reference(name)} }}}}") for name in table.columns]
        self.state.set_columns(columns)
        self.group.set_columns(table.columns)
        self.pictures.set_columns(table.columns)
        self.rows.setVisible(table.facts is not None)
        self.rows.set_columns(table.columns)

    def show_sight(self, sight: Sight) -> None:
        """Whether the engine takes the pictures that the form names."""
        if self._presenter.document.form.pictures is None or sight.sees == "yes":
            self.pictures.show_sight("", blind=False)
        elif sight.sees == "no":
            text = self.tr("This engine sees no pictures: {why}. Such a form does not run on it.")
            self.pictures.show_sight(text.format(why=sight.why), blind=True)
        else:
            why = sight.why or self.tr("no engine has been asked yet")
            text = self.tr("It is not known whether the engine sees pictures ({why}); try one row first.")
            self.pictures.show_sight(text.format(why=why), blind=False)

    def show_check(self, found: PictureCheck | None) -> None:
        """What was found of the first rows' pictures."""
        if found is None:
            self.pictures.show_check("", bad=False)
        elif not found.faults:
            text = counted(found.rows, self.tr("The picture of the first row is there."), self._all_there(found.chosen))
            self.pictures.show_check(text, bad=False)
        else:
            text = self.tr("{n} of the first {all} rows would get no answer for want of a picture: {first}")
            if found.chosen:
                text = self.tr("{n} of the first {all} chosen rows would get no answer for want of a picture: {first}")
            self.pictures.show_check(text.format(n=found.faults, all=found.rows, first=found.first), bad=True)

    def _all_there(self, chosen: bool) -> str:
        if chosen:
            return self.tr("The pictures of the first {n} chosen rows are there.")
        return self.tr("The pictures of the first {n} rows are there.")

    def _select(self, wanted: RowsWanted) -> None:
        self._presenter.table.select(Selection(wanted.where, wanted.first, wanted.sample, wanted.seed))

    def _add_condition(self, column: str, operator: Operator, value: str) -> None:
        try:
            self.rows.add_condition(condition(column, operator, value))
        except InputError as error:
            self.rows.message.say(str(error))

    def _show_selection(self) -> None:
        table = self._presenter.table
        total = table.facts.count if table.facts is not None else None
        chosen = table.selection
        wanted = RowsWanted(chosen.where, chosen.first, chosen.sample, chosen.seed)
        self.rows.show_selection(wanted, table.remaining, total, table.selection_fault)

    def _on_failed(self, text: str) -> None:
        self.picker.show_error(text)
        self.picker.show_table(self._presenter.table.facts)  # what was overruled in vain is shown as it is

    def _show_row(self) -> None:
        presenter = self._presenter
        sample, facts = presenter.table.sample_size, presenter.table.facts
        whole = facts is None or facts.count is None or facts.count <= sample
        self.state.set_row(presenter.row, sample, whole=whole)
        shown = presenter.rendered_document() if self.state.of_document else presenter.rendered
        self.state.show_rendered(*shown)


def _local_file(data: QMimeData) -> Path | None:
    """The first file of this machine in what was dropped or copied."""
    return next((Path(url.toLocalFile()) for url in data.urls() if url.isLocalFile()), None)
