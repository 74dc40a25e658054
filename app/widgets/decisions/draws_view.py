"""Each draw of an answer: a strip of where they fell, and a table of their numbers that can be copied."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from PySide6.QtCore import QPointF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QGuiApplication, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableWidget, QTableWidgetItem, QWidget

from app.theme import tokens_of
from app.widgets.decisions.flow import FlowLayout
from app.widgets.decisions.parts import FieldMessage, button, fixed_font, label, named, vbox
from engine.domain.question import Question
from engine.domain.reading import Draw

LINES = 8  # of the table without scrolling
DOT = 4.0  # radius in pixels


class DrawStrip(QWidget):
    """The share of one answer in every draw, from 0 at the left to 1; draws that do not count are hollow."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.setObjectName(name)
        self._shares: Sequence[tuple[float, bool]] = ()
        self.setFixedHeight(28)

    def show_shares(self, shares: Sequence[tuple[float, bool]], spoken: str) -> None:
        """(share, whether the draw counts) of each draw."""
        self._shares = shares
        self.setAccessibleName(spoken)
        self.setToolTip(spoken)
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(200, 28)

    def paintEvent(self, _event: QPaintEvent) -> None:
        tokens, painter = tokens_of(self.palette()), QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        left, wide, middle = DOT + 1, self.width() - 2 * DOT - 2, self.height() / 2
        painter.setPen(QPen(QColor(tokens.border_strong), 1))
        painter.drawLine(QPointF(left, middle), QPointF(left + wide, middle))
        for share in (0.0, 0.5, 1.0):
            painter.drawLine(QPointF(left + share * wide, middle - 8), QPointF(left + share * wide, middle + 8))
        for share, counts in self._shares:
            painter.setPen(QPen(QColor(tokens.accent), 1.5))
            painter.setBrush(QColor(tokens.accent) if counts else Qt.BrushStyle.NoBrush)
            painter.drawEllipse(QPointF(left + share * wide, middle), DOT, DOT)
        painter.end()


class DrawsView(QWidget):
    """Signals:
    wanted(): read them again now.
    """

    wanted = Signal()

    def __init__(self, name: str, *, live: bool = False) -> None:
        """``live``: the draws are not there yet; a button reads them."""
        super().__init__()
        self.setObjectName(name)
        tip = self.tr("A run keeps what its draws amount to; this repeats them on the engine, with the same noise")
        self.read = button(self.tr("Read again, draw by draw"), f"{name}.read", self._ask, tip=tip)
        self.read.setVisible(live)
        self.message = FieldMessage(f"{name}.message")
        self._title = named(label("", "muted", wrap=True), f"{name}.title")
        self.strip = DrawStrip(f"{name}.strip")
        self.table = named(QTableWidget(), f"{name}.table", self.tr("Every draw of this answer"))
        self.table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.table.setTabKeyNavigation(False)
        self.table.setFont(fixed_font())
        self.table.verticalHeader().hide()
        self.table.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        self.copy = button(self.tr("Copy as CSV"), f"{name}.copy", self._copy, role="quiet")
        buttons = FlowLayout(spacing=8)  # below each other in a narrow drawer
        for each in (self.read, self.copy):
            buttons.addWidget(each)
        self._parts = (self._title, self.strip, self.table, self.copy)
        self.setLayout(vbox(self.message, self._title, self.strip, self.table, buttons, spacing=6))
        self._cells: list[list[str]] = []
        self.clear()

    def clear(self) -> None:
        """Another answer: its draws are not known."""
        self.message.say("")
        self.read.setEnabled(True)
        for part in self._parts:
            part.hide()

    def show_error(self, text: str) -> None:
        """Why they were not read."""
        self.clear()
        self.message.say(text)

    def show_draws(
        self, question: Question, draws: Sequence[Draw], seed: int, row: str, min_mass: float, note: str = ""
    ) -> None:
        """Show these draws.

        Args:
            seed, row: from which the noise of every draw but the first is made; row: empty where none is.
            min_mass: from which label mass on a draw counts.
            note: a sentence before the numbers.
        """
        self.clear()
        if not draws:
            return
        names = list(question.answers)
        heads = [
            self.tr("Draw"),
            *names,
            self.tr("Label mass"),
            self.tr("Top token"),
            self.tr("Counts"),
            self.tr("Noise"),
        ]
        self._cells = [heads] + [self._line(place, draw, seed, row, min_mass) for place, draw in enumerate(draws)]
        self._fill()
        top = max(range(len(names)), key=lambda place: sum(draw.shares[place] for draw in draws))
        shares = [(draw.shares[top], draw.readable(min_mass)) for draw in draws]
        low, high = min(share for share, _ in shares), max(share for share, _ in shares)
        one = self.tr("1 draw; {answer} {low}")
        text = one if len(draws) == 1 else self.tr("{n} draws; {answer} between {low} and {high}")
        text = text.format(n=len(draws), answer=names[top], low=f"{low:.3f}", high=f"{high:.3f}")
        self._title.setText(f"{note} {text}".strip())
        self.strip.show_shares(shares, text)
        for part in self._parts:
            part.show()

    def _line(self, place: int, draw: Draw, seed: int, row: str, min_mass: float) -> list[str]:
        noise = self.tr("of the prompt") if not place or not row else f"{seed} / {row} / {place}"
        return [
            str(place),
            *(f"{share:.4f}" for share in draw.shares),
            f"{draw.label_mass:.4f}",
            self.tr("an answer") if draw.argmax_is_label else self.tr("not an answer"),
            self.tr("yes") if draw.readable(min_mass) else self.tr("no"),
            noise,
        ]

    def _fill(self) -> None:
        heads, *lines = self._cells
        self.table.setColumnCount(len(heads))
        self.table.setRowCount(len(lines))
        self.table.setHorizontalHeaderLabels(heads)
        for row, line in enumerate(lines):
            for column, cell in enumerate(line):
                self.table.setItem(row, column, QTableWidgetItem(cell))
        self.table.setCurrentCell(0, 0)
        shown = sum(self.table.rowHeight(row) for row in range(min(len(lines), LINES)))
        room = self.table.horizontalScrollBar().sizeHint().height() + 4
        self.table.setFixedHeight(self.table.horizontalHeader().sizeHint().height() + shown + room)

    def _ask(self) -> None:
        self.read.setEnabled(False)
        self.message.say(self.tr("Reading …"), "muted")
        self.wanted.emit()

    def _copy(self) -> None:
        text = io.StringIO()
        csv.writer(text).writerows(self._cells)
        QGuiApplication.clipboard().setText(text.getvalue())
