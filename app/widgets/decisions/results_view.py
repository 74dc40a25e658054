"""The answers of a run: filter, order, table, and one answer in detail."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from PySide6.QtCore import QEvent, QModelIndex, QPersistentModelIndex, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QBoxLayout,
    QHeaderView,
    QScrollArea,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QWidget,
)

from app.models.results import ANSWER_ROLE, ENTROPY, ROW, SHARES, STATUS, VALUE, AnswerRow, ResultsModel
from app.models.results_detail import AnswerDetail, AnswerDraws
from app.models.results_runs import local_time
from app.theme import set_role, tokens_of
from app.widgets.decisions.answer_view import STATUS_SIGNS, AnswerView, value_text
from app.widgets.decisions.draws_view import DrawsView
from app.widgets.decisions.parts import FixedText, Heads, bare_splitter, button, hbox, icon_button, label, named, vbox
from app.widgets.decisions.picture_strip import PictureStrip
from app.widgets.decisions.results_filter import ResultsFilter
from engine.domain.question import Question
from engine.domain.reading import Reading

WIDTHS = (9, 16, 17, 14, 17, 16, 13, 16, 30)  # average characters of the font
SORTS = {ROW: "row", VALUE: "value", SHARES: "top", ENTROPY: "uncertainty"}  # a click on the column's head
ROW_ROOM = 14  # pixels around the text of a row
NARROW = 600  # pixels
Going = Literal["running", "unfinished", "finished"]  # a run, as far as more answers are concerned


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
    browse_changed(object): see ``ResultsFilter``.
    answer_chosen(int): line of the table.
    draws_wanted(object): read the answer of this ``AnswerDetail`` again, draw by draw.
    """

    browse_changed = Signal(dict)
    answer_chosen = Signal(int)
    draws_wanted = Signal(object)

    def __init__(self, model: ResultsModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("results")
        self._model = model
        self._count, self._state = 0, "finished"
        self.filter = ResultsFilter()
        self.filter.changed.connect(self.browse_changed)
        self.table = self._make_table(model)
        self.answer = AnswerView("results_answer")
        self.draws = DrawsView("results_draws", live=True)
        self.draws.wanted.connect(lambda: self.draws_wanted.emit(self._shown))
        self._shown: AnswerDetail | None = None
        self.pictures = PictureStrip("results_pictures")
        self.input = FixedText("results_input", self.tr("The row as the table has it"), read_only=True)
        set_role(self.input, "log")
        self._list = QWidget()
        self._detail = named(QScrollArea(), "results_detail", self.tr("Answer"))
        self.prompt = FixedText("results_prompt", self.tr("What the model was asked"), read_only=True)
        set_role(self.prompt, "log")
        self._earlier = named(label("", "muted", wrap=True), "results_earlier")
        self._label = named(label("", "strong", wrap=True), "results_label")
        self._build()
        self._fit_to_font()

    def set_questions(self, questions: Sequence[Question]) -> None:
        """Questions to filter by; the filter is taken off."""
        self.filter.set_questions(questions)
        self.show_nothing()

    def show_count(self, count: int) -> None:
        """So many answers pass the filter."""
        self._count = count
        self.filter.show_count(count)
        self._show_empty()

    def show_state(self, state: Going) -> None:
        """What an empty table means: answers may still come, or not."""
        if state != self._state:
            self._state = state
            self._show_empty()

    def _show_empty(self) -> None:
        empty, narrows = not self._count, self.filter.narrows
        words = {
            "running": self.tr("No answers yet. Each appears here as soon as it is read."),
            "unfinished": self.tr("No answers yet. They come when the run goes on."),
            "finished": self.tr("This run has no answers."),
        }
        self._nothing.setText(self.tr("No answer passes the filter.") if narrows else words[self._state])
        self._nothing.setVisible(empty)
        self._all.setVisible(empty and narrows)
        self.table.setVisible(not empty)
        self._rest.setVisible(empty)

    def _clear_filter(self) -> None:
        self.filter.reset()
        self.filter.search.setFocus()  # the button goes

    def show_nothing(self) -> None:
        """No answer is chosen."""
        self._detail.hide()
        self.table.clearSelection()
        self.table.setCurrentIndex(QModelIndex())
        self._arrange()

    def show_answer(self, detail: AnswerDetail) -> None:
        """One answer in detail."""
        self._detail.show()
        self._arrange()
        self._head.setText(self.tr("Row {row} · {question}").format(row=detail.row, question=detail.question.id))
        self._asked.setText(detail.question.instructions)
        self.answer.show_answer(detail.question, detail.reading)
        if self._shown is None or (detail.row, detail.reading) != (self._shown.row, self._shown.reading):
            self.draws.clear()
        self._shown = detail
        self.pictures.ask(detail.pictures)
        self.draws.setVisible(detail.reading.status in ("ok", "unreadable"))
        self.input.setPlainText("\n\n".join(f"{column}:\n{cell}" for column, cell in detail.cells))
        self.prompt.setPlainText(detail.prompt or self.tr("The text of this row cannot be made."))
        said = detail.label
        self._label.setVisible(said is not None)
        if said is not None:
            text = self.tr("Reviewed: {label} ({author}, {time})")
            value = self.tr("cannot tell") if said.value is None else said.value
            self._label.setText(text.format(label=value, author=said.author, time=local_time(said.at)))
        self._earlier.setVisible(bool(detail.earlier))
        self._earlier.setText("\n".join(self._one_earlier(reading) for reading in detail.earlier))

    def show_draws(self, found: AnswerDraws) -> None:
        """Each draw of the answer that is shown; of one that was closed meanwhile nothing."""
        shown = self._shown
        if shown is None or (shown.row, shown.question.id) != (found.row, found.question.id):
            return
        note = self.tr("Now {value}, in the run {stored}.").format(
            value=value_text(found.reading), stored=value_text(shown.reading)
        )
        self.draws.show_draws(found.question, found.draws, found.seed, str(found.row), found.min_mass, note)

    def _one_earlier(self, reading: Reading) -> str:
        text = self.tr("Read before (round {round}): {sign} {value}, label mass {mass}, {draws} draws")
        return text.format(
            round=reading.round,
            sign=STATUS_SIGNS[reading.status],
            value=value_text(reading),
            mass="–" if reading.label_mass is None else f"{reading.label_mass:.3f}",
            draws=reading.draws,
        )

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
        for part in (self._list, self.filter):
            part.setVisible(not (detail and self.width() < NARROW))

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
        header = Heads("results_table.heads")
        table.setHorizontalHeader(header)
        header.setStretchLastSection(True)
        header.setSectionsClickable(True)
        header.sectionClicked.connect(lambda column: self.filter.sort_by(SORTS.get(column, "")))
        table.selectionModel().currentRowChanged.connect(lambda now, _old: self.answer_chosen.emit(now.row()))
        return table

    def _build(self) -> None:
        self._nothing = named(label("", "muted", wrap=True), "results_nothing")
        self._all = button(self.tr("Clear the filter"), "results_show_all", self._clear_filter)
        self._rest = QWidget()
        self._list.setLayout(vbox(self._nothing, hbox(self._all, 1), self.table, self._rest))
        layout = self._list.layout()
        if isinstance(layout, QBoxLayout):
            layout.setStretchFactor(self._rest, 1)
        self._show_empty()
        self._head = label("", "heading", wrap=True)
        self._asked = label("", "muted", wrap=True)
        close = icon_button("close", "results_close", self.tr("Close the detail"), self.show_nothing)
        content = QWidget()
        content.setLayout(
            vbox(
                vbox(hbox(self._head, close), self._asked, spacing=2),
                self.pictures,
                self.answer,
                self.draws,
                self._label,
                self._earlier,
                label(self.tr("Input"), "strong"),
                self.input,
                label(self.tr("Prompt"), "strong"),
                self.prompt,
                spacing=12,
            )
        )
        for text in (self.input, self.prompt):
            text.setMinimumHeight(120)
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
        outer = vbox(self.filter, splitter)
        outer.setStretchFactor(splitter, 1)
        self.setLayout(outer)
