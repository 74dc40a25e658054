"""The list of a form's questions as a Qt list model; rows are moved by drag and drop."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import (
    QAbstractListModel,
    QByteArray,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
)

from app.models.decisions_document import FormDocument
from engine.domain.question import Question

Index = QModelIndex | QPersistentModelIndex

QUESTION_ROLE = int(Qt.ItemDataRole.UserRole)
PROBLEMS_ROLE = QUESTION_ROLE + 1


class QuestionsModel(QAbstractListModel):
    """One row per question of the document's form.

    Roles: DisplayRole the id, ToolTipRole the instructions, QUESTION_ROLE the question, PROBLEMS_ROLE the number of its
    problems, AccessibleTextRole all of that in words.
    """

    def __init__(self, document: FormDocument, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._document = document
        self._rows: tuple[Question, ...] = document.form.questions
        self._problems: dict[int, int] = {}
        document.changed.connect(self._refresh)

    def set_problems(self, counts: dict[int, int]) -> None:
        """Number of problems by question index."""
        if counts != self._problems:
            self._problems = counts
            self._touch(0, len(self._rows) - 1)

    def rowCount(self, parent: Index | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(self._rows)

    def data(self, index: Index, role: int = int(Qt.ItemDataRole.DisplayRole)) -> Any:
        if not index.isValid() or index.row() >= len(self._rows):
            return None
        question = self._rows[index.row()]
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return question.id or self.tr("(no id)")
            case Qt.ItemDataRole.ToolTipRole:
                return question.instructions
            case Qt.ItemDataRole.AccessibleTextRole:
                return self._spoken(index.row(), question)
            case _ if role == QUESTION_ROLE:
                return question
            case _ if role == PROBLEMS_ROLE:
                return self._problems.get(index.row(), 0)
        return None

    def flags(self, index: Index) -> Qt.ItemFlag:
        base = super().flags(index)
        # Only between rows, never onto one: a drop onto a row would have no meaning.
        return base | Qt.ItemFlag.ItemIsDragEnabled if index.isValid() else base | Qt.ItemFlag.ItemIsDropEnabled

    def supportedDropActions(self) -> Qt.DropAction:
        return Qt.DropAction.MoveAction

    def moveRows(self, source_parent: Index, source: int, count: int, target_parent: Index, target: int) -> bool:
        """Qt's convention: ``target`` is the row before which the question comes to stand."""
        if count != 1 or source_parent.isValid() or target_parent.isValid():
            return False
        return self._document.move(source, target - 1 if target > source else target)

    def roleNames(self) -> dict[int, QByteArray]:
        return {**super().roleNames(), QUESTION_ROLE: QByteArray(b"question"), PROBLEMS_ROLE: QByteArray(b"problems")}

    def _spoken(self, row: int, question: Question) -> str:
        kinds = {"noul": self.tr("yes or no"), "choice": self.tr("choice"), "score": self.tr("score")}
        text = f"{row + 1}: {question.id}, {kinds[question.type]}, {question.instructions}"
        count = self._problems.get(row, 0)
        return f"{text}, {self.tr('problems: {n}').format(n=count)}" if count else text

    def _refresh(self) -> None:
        rows = self._document.form.questions
        if len(rows) == len(self._rows):
            self._rows = rows
            self._touch(0, len(rows) - 1)
            return
        self.beginResetModel()
        self._rows = rows
        self.endResetModel()

    def _touch(self, first: int, last: int) -> None:
        if last >= first:
            self.dataChanged.emit(self.index(first), self.index(last))
