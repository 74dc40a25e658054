"""The runs so far: name, when, state and how far, newest first."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QAction, QColor, QFont, QFontMetrics, QKeySequence, QPainter
from PySide6.QtWidgets import QAbstractItemView, QListView, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from app.models.results_runs import RUN_ROLE, RunsModel, local_time
from app.theme import Tokens, tokens_of
from app.widgets.decisions.parts import label, named, vbox
from engine.domain.run import RunInfo

PAD = 10
SIGNS = {"running": "▶", "paused": "❚❚", "unfinished": "◐", "finished": "✓"}


class RunDelegate(QStyledItemDelegate):
    """Two lines of text and a thin bar for how far the run is."""

    def __init__(self, model: RunsModel, parent: QWidget) -> None:
        super().__init__(parent)
        self._model = model

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        run: RunInfo = index.data(RUN_ROLE)
        rect: QRect = option.rect
        state: Any = option.state
        tokens = tokens_of(option.palette)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        if state & (QStyle.StateFlag.State_Selected | QStyle.StateFlag.State_MouseOver):
            selected = bool(state & QStyle.StateFlag.State_Selected)
            painter.setBrush(QColor(tokens.accent_soft if selected else tokens.sunken))
            painter.drawRoundedRect(rect.adjusted(2, 1, -2, -1), 6, 6)
        self._texts(painter, rect, tokens, run)
        self._bar(painter, rect, tokens, run)
        painter.restore()

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        metrics: QFontMetrics = option.fontMetrics
        return QSize(120, 2 * metrics.height() + 2 * PAD + 12)

    def _texts(self, painter: QPainter, rect: QRect, tokens: Tokens, run: RunInfo) -> None:
        plain = painter.font()
        bold = QFont(plain)
        bold.setWeight(QFont.Weight.DemiBold)
        small = QFont(plain)
        small.setPointSizeF(plain.pointSizeF() * 0.9)
        line = QFontMetrics(plain).height()
        left, top, width = rect.left() + PAD + 4, rect.top() + PAD - 2, rect.width() - 2 * PAD - 8
        colours = {"running": tokens.accent, "finished": tokens.success}
        state = f"{SIGNS[run.state]} {self._model.state_text(run.state)}"
        right = QFontMetrics(small).horizontalAdvance(state) + 4
        painter.setFont(bold)
        painter.setPen(QColor(tokens.text))
        name = QFontMetrics(bold).elidedText(run.name or run.id, Qt.TextElideMode.ElideRight, width - right - 8)
        painter.drawText(left, top, width, line, 0, name)
        painter.setFont(small)
        painter.setPen(QColor(colours.get(run.state, tokens.warning)))
        painter.drawText(left, top, width, line, int(Qt.AlignmentFlag.AlignRight), state)
        painter.setPen(QColor(tokens.muted))
        total = run.rows * len(run.question_ids)
        counts = f"{run.done:,} / {total:,}"
        metrics = QFontMetrics(small)
        room = width - metrics.horizontalAdvance(counts) - 8
        when = metrics.elidedText(local_time(run.created), Qt.TextElideMode.ElideRight, room)
        painter.drawText(left, top + line + 4, width, line, 0, when)
        painter.drawText(left, top + line + 4, width, line, int(Qt.AlignmentFlag.AlignRight), counts)

    def _bar(self, painter: QPainter, rect: QRect, tokens: Tokens, run: RunInfo) -> None:
        total = run.rows * len(run.question_ids)
        bar = QRectF(rect.left() + PAD + 4, rect.bottom() - PAD, rect.width() - 2 * PAD - 8, 3)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(tokens.border))
        painter.drawRoundedRect(bar, 1.5, 1.5)
        if total and run.done:
            bar.setWidth(bar.width() * min(1.0, run.done / total))
            painter.setBrush(QColor(tokens.success if run.state == "finished" else tokens.accent))
            painter.drawRoundedRect(bar, 1.5, 1.5)


class RunList(QWidget):
    """Signals:
    opened(str): the id of the run that is selected now; empty for none.
    activated(): the selected run was clicked, or Enter pressed on it.
    delete_requested(str): Del was pressed on a run.
    """

    opened = Signal(str)
    activated = Signal()
    delete_requested = Signal(str)

    def __init__(self, model: RunsModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("run_list")
        self._model = model
        self.view = named(QListView(), "runs", self.tr("Runs"))
        self.view.setModel(model)
        self.view.setItemDelegate(RunDelegate(model, self.view))
        self.view.setMouseTracking(True)
        self.view.setUniformItemSizes(True)
        self.view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.view.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.view.selectionModel().currentChanged.connect(lambda now, _old: self.opened.emit(self._id(now)))
        for signal in (self.view.clicked, self.view.activated):
            signal.connect(lambda _index: self.activated.emit())
        self._none = label(
            self.tr("No run yet. A run asks every question about every row and keeps each answer."), "muted"
        )
        self._none.setWordWrap(True)
        action = QAction(self.view)
        action.setShortcut(QKeySequence(QKeySequence.StandardKey.Delete))
        action.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
        action.triggered.connect(lambda _checked=False: self._delete())
        self.view.addAction(action)
        box = vbox(label(self.tr("Runs"), "heading"))
        box.addWidget(self._none, 1, Qt.AlignmentFlag.AlignTop)
        box.addWidget(self.view, 1)
        self.setLayout(box)
        model.modelReset.connect(self._update)
        self._update()

    def select(self, run_id: str) -> None:
        """Make a run the current one; nothing happens when it is not in the list."""
        row = self._model.row_of(run_id)
        if row >= 0:
            self.view.setCurrentIndex(self._model.index(row))

    def current(self) -> str:
        return self._id(self.view.currentIndex())

    def _delete(self) -> None:
        if self.current():
            self.delete_requested.emit(self.current())

    def _update(self) -> None:
        empty = self._model.rowCount() == 0
        self._none.setVisible(empty)
        self.view.setVisible(not empty)

    @staticmethod
    def _id(index: QModelIndex) -> str:
        run = index.data(RUN_ROLE) if index.isValid() else None
        return run.id if isinstance(run, RunInfo) else ""
