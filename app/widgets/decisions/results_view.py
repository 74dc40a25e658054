"""The answers of a run: filter, order, table, and one answer in detail."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QModelIndex, QPersistentModelIndex, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QComboBox,
    QHeaderView,
    QScrollArea,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QWidget,
)

from app.models.results import ANSWER_ROLE, SHARES, STATUS, AnswerRow, ResultsModel
from app.theme import set_role, tokens_of
from app.widgets.decisions.answer_view import STATUS_SIGNS, AnswerView
from app.widgets.decisions.flow import FlowLayout
from app.widgets.decisions.parts import FixedText, bare_splitter, counted, hbox, icon_button, label, named, vbox
from engine.domain.question import Question
from engine.domain.reading import STATUSES, Reading

WIDTHS = (9, 16, 17, 14, 17, 16, 13, 30)  # average characters of the font
ROW_ROOM = 14  # pixels around the text of a row
NARROW = 600  # pixels


class AnswerDelegate(QStyledItemDelegate):
    """Status with its colour and sign; shares as a stacked bar. Everything else is painted by Qt."""

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        answer: AnswerRow | None = index.data(ANSWER_ROLE)
        if answer is None or index.column() != SHARES:
            super().paint(painter, option, index)
            return
        self.initStyleOption(option, index)
        option.text = ""
        widget = option.widget
        if widget is not None:
            widget.style().drawControl(widget.style().ControlElement.CE_ItemViewItem, option, painter, widget)
        self._bar(painter, option, answer)

    def initStyleOption(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> None:
        super().initStyleOption(option, index)
        answer: AnswerRow | None = index.data(ANSWER_ROLE)
        if answer is not None and index.column() == STATUS:
            tokens = tokens_of(option.palette)
            colours = {
                "ok": tokens.success,
                "unreadable": tokens.warning,
                "error": tokens.danger,
                "skipped": tokens.muted,
            }
            option.text = f"{STATUS_SIGNS[answer.status]} {option.text}"
            colour = QColor(colours[answer.status])
            for role in (option.palette.ColorRole.Text, option.palette.ColorRole.HighlightedText):
                option.palette.setColor(role, colour)

    def _bar(self, painter: QPainter, option: QStyleOptionViewItem, answer: AnswerRow) -> None:
        if not answer.shares:
            return
        tokens = tokens_of(option.palette)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        box = QRectF(option.rect).adjusted(8, 0, -8, 0)
        box.setTop(box.center().y() - 4)
        box.setHeight(8)
        best = max(range(len(answer.shares)), key=answer.shares.__getitem__)
        left = box.left()
        for place, share in enumerate(answer.shares):
            wide = box.width() * share
            shade = tokens.accent if place == best else (tokens.border_strong, tokens.border)[place % 2]
            painter.setBrush(QColor(shade))
            painter.drawRect(QRectF(left, box.top(), wide, box.height()))
            left += wide
        painter.restore()


class ResultsView(QWidget):
    """Signals:
    browse_changed(object, object, str, bool): question (index or None), status or None, sort, descending.
    answer_chosen(int): line of the table.
    """

    browse_changed = Signal(object, object, str, bool)
    answer_chosen = Signal(int)

    def __init__(self, model: ResultsModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("results")
        self._model = model
        self.question = named(QComboBox(), "results_question", self.tr("Only this question"))
        self.status = named(QComboBox(), "results_status", self.tr("Only this status"))
        self.order = named(QComboBox(), "results_order", self.tr("Order"))
        self._count = label("", "muted")
        self.table = self._make_table(model)
        self.answer = AnswerView("results_answer")
        self.input = FixedText("results_input", self.tr("The row as the table has it"), read_only=True)
        set_role(self.input, "log")
        self._list = QWidget()
        self._detail = QScrollArea()
        self._fill()
        self._build()
        self._fit_to_font()

    def set_questions(self, ids: Sequence[str]) -> None:
        """Questions to filter by; the filter is taken off."""
        self.question.blockSignals(True)
        self.question.clear()
        self.question.addItem(self.tr("All questions"), None)
        for place, question_id in enumerate(ids):
            self.question.addItem(question_id, place)
        self.question.blockSignals(False)
        self.status.setCurrentIndex(0)
        self.order.setCurrentIndex(0)
        self.show_nothing()

    def show_count(self, count: int) -> None:
        self._count.setText(counted(count, self.tr("{n} answer"), self.tr("{n} answers")))

    def show_nothing(self) -> None:
        """No answer is chosen."""
        self._detail.hide()
        self.table.clearSelection()
        self.table.setCurrentIndex(QModelIndex())
        self._arrange()

    def show_answer(self, question: Question, reading: Reading, row: int, cells: Sequence[tuple[str, str]]) -> None:
        """One answer in detail, with the cells of its row as (column, cell)."""
        self._detail.show()
        self._arrange()
        self._head.setText(self.tr("Row {row} · {question}").format(row=row, question=question.id))
        self._asked.setText(question.instructions)
        self.answer.show_answer(question, reading)
        self.input.setPlainText("\n\n".join(f"{column}:\n{cell}" for column, cell in cells))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange and hasattr(self, "table"):
            self._fit_to_font()

    def _fit_to_font(self) -> None:
        metrics = self.fontMetrics()  # the table has the same font, but learns of a change later
        self.table.verticalHeader().setDefaultSectionSize(metrics.height() + ROW_ROOM)
        for column, characters in enumerate(WIDTHS):
            self.table.setColumnWidth(column, characters * metrics.averageCharWidth())

    def _arrange(self) -> None:
        """On a narrow page the detail stands in the place of the table, until it is closed."""
        detail = not self._detail.isHidden()
        self._list.setVisible(not (detail and self.width() < NARROW))

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
        for text, sort, descending in (
            (self.tr("Table order"), "row", False),
            (self.tr("Highest value first"), "value", True),
            (self.tr("Lowest value first"), "value", False),
            (self.tr("Least certain first"), "uncertainty", True),
            (self.tr("Most certain first"), "uncertainty", False),
        ):
            self.order.addItem(text, (sort, descending))
        for box in (self.question, self.status, self.order):
            box.currentIndexChanged.connect(lambda _index: self._emit())

    def _emit(self) -> None:
        sort, descending = self.order.currentData()
        self.browse_changed.emit(self.question.currentData(), self.status.currentData(), sort, descending)

    def _make_table(self, model: ResultsModel) -> QTableView:
        table = named(QTableView(), "results_table", self.tr("Answers"))
        table.setModel(model)
        table.setItemDelegate(AnswerDelegate(table))
        table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        table.setShowGrid(False)
        table.setWordWrap(False)
        table.setTabKeyNavigation(False)
        table.setAlternatingRowColors(True)
        table.verticalHeader().hide()
        # A fixed height: Qt never asks a million rows how tall they are.
        table.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        header = table.horizontalHeader()
        header.setHighlightSections(False)
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        header.setStretchLastSection(True)
        table.selectionModel().currentRowChanged.connect(lambda now, _old: self.answer_chosen.emit(now.row()))
        return table

    def _build(self) -> None:
        bar = FlowLayout(spacing=8)
        for box in (self.question, self.status, self.order, self._count):
            bar.addWidget(box)
        for filter_box in (self.question, self.status, self.order):
            filter_box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self._count.setMinimumHeight(self.order.sizeHint().height())
        self._list.setLayout(vbox(bar, self.table))
        self._head = label("", "heading", wrap=True)
        self._asked = label("", "muted", wrap=True)
        close = icon_button("close", "results_close", self.tr("Close the detail"), self.show_nothing)
        content = QWidget()
        content.setLayout(
            vbox(
                vbox(hbox(self._head, close), self._asked, spacing=2),
                self.answer,
                label(self.tr("Input"), "strong"),
                self.input,
                spacing=12,
            )
        )
        self.input.setMinimumHeight(120)
        layout = content.layout()
        if layout is not None:
            layout.setContentsMargins(4, 0, 10, 8)
        self._detail.setWidgetResizable(True)
        self._detail.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._detail.setWidget(content)
        self._detail.setMinimumSize(290, 160)
        self._detail.hide()
        splitter = bare_splitter("results_splitter", self._list, self._detail, sizes=(640, 320))
        splitter.setStretchFactor(0, 1)
        self.setLayout(vbox(splitter))
