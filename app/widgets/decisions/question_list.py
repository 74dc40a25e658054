"""The questions of the form as a list: order them by drag or Alt+Up/Down, add, duplicate, delete."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QSize, Qt, Signal
from PySide6.QtGui import QAction, QColor, QFont, QFontMetrics, QKeySequence, QPainter, QPen
from PySide6.QtWidgets import (
    QAbstractItemView,
    QListView,
    QMenu,
    QPushButton,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from app.models.decisions_questions import PROBLEMS_ROLE, QUESTION_ROLE, QuestionsModel
from app.theme import Tokens, tokens_of
from app.widgets.decisions.parts import counted, hbox, icon_button, label, named, vbox
from engine.domain.question import MAX_QUESTIONS, Question

PAD = 10


class QuestionDelegate(QStyledItemDelegate):
    """Type badge, id, the beginning of the instructions, and a mark when something is missing."""

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        question: Question = index.data(QUESTION_ROLE)
        problems: int = index.data(PROBLEMS_ROLE)
        rect: Any = option.rect
        state: Any = option.state
        tokens = tokens_of(option.palette)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        selected = bool(state & QStyle.StateFlag.State_Selected)
        hovered = bool(state & QStyle.StateFlag.State_MouseOver)
        self._back(painter, rect, tokens, selected=selected, hovered=hovered)
        self._texts(painter, rect, tokens, question, problems, index.row())
        painter.restore()

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        metrics: QFontMetrics = option.fontMetrics
        return QSize(120, 2 * metrics.height() + 2 * PAD + 4)

    def _back(self, painter: QPainter, rect: QRect, tokens: Tokens, *, selected: bool, hovered: bool) -> None:
        if not (selected or hovered):
            return
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(tokens.accent_soft if selected else tokens.sunken))
        painter.drawRoundedRect(rect.adjusted(2, 1, -2, -1), 6, 6)
        if selected:
            painter.setBrush(QColor(tokens.accent))
            painter.drawRoundedRect(QRect(rect.left() + 2, rect.top() + 10, 3, rect.height() - 20), 1.5, 1.5)

    def _texts(
        self, painter: QPainter, rect: QRect, tokens: Tokens, question: Question, problems: int, row: int
    ) -> None:
        plain = painter.font()
        bold = QFont(plain)
        bold.setWeight(QFont.Weight.DemiBold)
        small = QFont(plain)
        small.setPointSizeF(plain.pointSizeF() * 0.9)
        line = QFontMetrics(plain).height()
        left, top = rect.left() + PAD + 4, rect.top() + PAD
        width = rect.width() - 2 * PAD - 4
        right = self._badge(painter, rect, tokens, self._kind(question), small)
        painter.setFont(bold)
        painter.setPen(QColor(tokens.text))
        title = f"{row + 1}. {question.id or self.tr('(no id)')}"
        room = right - left - 8
        painter.drawText(
            left, top, room, line, 0, QFontMetrics(bold).elidedText(title, Qt.TextElideMode.ElideRight, room)
        )
        painter.setFont(small)
        text, colour = question.instructions.replace("\n", " ") or self.tr("No text yet"), tokens.muted
        if problems:
            text, colour = (
                f"✕ {counted(problems, self.tr('{n} thing to mend'), self.tr('{n} things to mend'))}",
                tokens.danger,
            )
        painter.setPen(QColor(colour))
        elided = QFontMetrics(small).elidedText(text, Qt.TextElideMode.ElideRight, width)
        painter.drawText(left, top + line + 4, width, line, 0, elided)

    def _badge(self, painter: QPainter, rect: QRect, tokens: Tokens, text: str, font: QFont) -> int:
        metrics = QFontMetrics(font)
        width = metrics.horizontalAdvance(text) + 12
        box = QRect(rect.right() - PAD - width, rect.top() + PAD - 1, width, metrics.height() + 3)
        painter.setPen(QPen(QColor(tokens.border_strong), 1))
        painter.setBrush(QColor(tokens.surface))
        painter.drawRoundedRect(box, 4, 4)
        painter.setFont(font)
        painter.setPen(QColor(tokens.muted))
        painter.drawText(box, int(Qt.AlignmentFlag.AlignCenter), text)
        return box.left()

    def _kind(self, question: Question) -> str:
        return {"noul": self.tr("yes/no"), "choice": self.tr("choice"), "score": self.tr("score")}[question.type]


class QuestionList(QWidget):
    """Signals:
    current_changed(int): another question is selected, -1 for none.
    add_requested(str), duplicate_requested(int), delete_requested(int), move_requested(int, int).
    """

    current_changed = Signal(int)
    add_requested = Signal(str)
    duplicate_requested = Signal(int)
    delete_requested = Signal(int)
    move_requested = Signal(int, int)

    def __init__(self, model: QuestionsModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("question_list")
        self._model = model
        self.view = self._make_view(model)
        self.add_button = self._make_add_button()
        self._count = label("", "muted")
        self._up = icon_button("up", "question_up", self.tr("Move up (Alt+Up)"), lambda: self._move(-1))
        self._down = icon_button("down", "question_down", self.tr("Move down (Alt+Down)"), lambda: self._move(1))
        self._copy = icon_button("copy", "question_duplicate", self.tr("Duplicate (Ctrl+D)"), self._duplicate)
        self._drop = icon_button("trash", "question_delete", self.tr("Delete (Del)"), self._delete)
        tools = hbox(self._count, 1, self._up, self._down, self._copy, self._drop, spacing=2)
        self.setLayout(vbox(self.add_button, tools, self.view))
        self._shortcut("Alt+Up", lambda: self._move(-1))
        self._shortcut("Alt+Down", lambda: self._move(1))
        self._shortcut("Ctrl+D", self._duplicate)
        self._shortcut(QKeySequence(QKeySequence.StandardKey.Delete), self._delete)
        model.modelReset.connect(self._update)
        model.dataChanged.connect(lambda *_: self._update())
        self._update()

    def current(self) -> int:
        return self.view.currentIndex().row()

    def select(self, index: int) -> None:
        """Make a question the current one."""
        self.view.setCurrentIndex(self._model.index(index))

    def _make_view(self, model: QuestionsModel) -> QListView:
        view = named(QListView(), "questions", self.tr("Questions of the form"))
        view.setModel(model)
        view.setItemDelegate(QuestionDelegate(view))
        view.setMouseTracking(True)
        view.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        view.setDragDropMode(QAbstractItemView.DragDropMode.InternalMove)
        view.setDefaultDropAction(Qt.DropAction.MoveAction)
        view.setDragDropOverwriteMode(False)
        view.selectionModel().currentChanged.connect(lambda now, _old: self._on_current(now.row()))
        return view

    def _make_add_button(self) -> QPushButton:
        made = named(QPushButton(self.tr("Add question")), "question_add", tip=self.tr("Add a question to the form"))
        menu = QMenu(made)
        menu.setObjectName("question_add_menu")
        for kind, text in (
            ("noul", self.tr("Yes / no: is it so?")),
            ("choice", self.tr("Choice: which of these?")),
            ("score", self.tr("Score: how much, on ordered levels?")),
        ):
            action = menu.addAction(text)
            action.setObjectName(f"question_add.{kind}")
            action.triggered.connect(lambda _checked=False, kind=kind: self.add_requested.emit(kind))
        made.setMenu(menu)
        return made

    def _shortcut(self, keys: str | QKeySequence, on: Any) -> None:
        action = QAction(self.view)
        action.setShortcut(QKeySequence(keys))
        action.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
        action.triggered.connect(lambda _checked=False: on())
        self.view.addAction(action)

    def _move(self, step: int) -> None:
        if self.current() >= 0:
            self.move_requested.emit(self.current(), self.current() + step)

    def _duplicate(self) -> None:
        if self.current() >= 0:
            self.duplicate_requested.emit(self.current())

    def _delete(self) -> None:
        if self.current() >= 0:
            self.delete_requested.emit(self.current())

    def _on_current(self, row: int) -> None:
        self._update()
        self.current_changed.emit(row)

    def _update(self) -> None:
        count, row = self._model.rowCount(), self.current()
        full = count >= MAX_QUESTIONS
        self.add_button.setEnabled(not full)
        self._count.setText(
            self.tr("{limit} questions: the limit").format(limit=MAX_QUESTIONS)
            if full
            else counted(count, self.tr("{n} question"), self.tr("{n} questions"))
        )
        self._up.setEnabled(row > 0)
        self._down.setEnabled(0 <= row < count - 1)
        self._copy.setEnabled(row >= 0 and not full)
        self._drop.setEnabled(row >= 0)
