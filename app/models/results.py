"""The answers of a run as a Qt table: pages of plain tuples, fetched when they are looked at.

The model knows how many answers there are and asks for the page that Qt paints; who fetches it (a presenter, in a
thread) hands it in with ``put_page``. Cells of a page that is still on its way show an ellipsis.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import Any, NamedTuple

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal

from engine.domain.reading import ReadStatus

Index = QModelIndex | QPersistentModelIndex

PAGE = 200  # answers; a little more than a tall window shows
CACHED_PAGES = 40
ANSWER_ROLE = int(Qt.ItemDataRole.UserRole)
ROW, QUESTION, STATUS, VALUE, SHARES, MASS, ENTROPY, REVIEW, TEXT = range(9)


class AnswerRow(NamedTuple):
    """One answer, ready to be painted.

    Attributes:
        row: number of the table's row, from 1.
        question: place in the form, from 0.
        value, mass, entropy, text: as shown.
        shares: probability of each answer, in the form's order; empty unless ok.
        label: what a reviewer said; empty when nobody has.
    """

    row: int
    question: int
    question_id: str
    status: ReadStatus
    value: str
    shares: tuple[float, ...]
    mass: str
    entropy: str
    text: str
    label: str = ""


class ResultsModel(QAbstractTableModel):
    """Signals:
    page_wanted(int): a page that is not there; emitted once until it comes or the answers change.
    """

    page_wanted = Signal(int)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._count = 0
        self._pages: OrderedDict[int, Sequence[AnswerRow]] = OrderedDict()
        self._asked: set[int] = set()

    def reset(self, count: int) -> None:
        """Other answers, or another order: ``count`` of them, none fetched yet."""
        self.beginResetModel()
        self._count = count
        self._pages.clear()
        self._asked.clear()
        self.endResetModel()

    def change(self, count: int, first: int) -> None:
        """There are ``count`` answers now, and those before line ``first`` are the ones that were there.

        Pages before that line stay; the view keeps its place unless there are fewer answers than before.
        """
        if count < self._count:
            self.reset(count)
            return
        for number in [number for number in self._pages if number >= first // PAGE]:
            del self._pages[number]
        self._asked = {number for number in self._asked if number < first // PAGE}
        old = self._count
        if count > old:
            self.beginInsertRows(QModelIndex(), old, count - 1)
            self._count = count
            self.endInsertRows()
        if first < old:
            self.dataChanged.emit(self.index(first, 0), self.index(old - 1, self.columnCount() - 1))

    def put_page(self, number: int, rows: Sequence[AnswerRow]) -> None:
        """The answers of a page, which begins at ``number * PAGE``."""
        self._asked.discard(number)
        first = number * PAGE
        if first >= self._count:
            return
        self._pages[number] = rows
        while len(self._pages) > CACHED_PAGES:
            self._pages.popitem(last=False)
        last = min(first + PAGE, self._count) - 1
        self.dataChanged.emit(self.index(first, 0), self.index(last, self.columnCount() - 1))

    def forget(self, number: int) -> None:
        """The page that was asked for does not come; whoever paints it asks again."""
        self._asked.discard(number)
        first, last = number * PAGE, min((number + 1) * PAGE, self._count) - 1
        if first <= last:
            self.dataChanged.emit(self.index(first, 0), self.index(last, self.columnCount() - 1))

    def answer(self, row: int) -> AnswerRow | None:
        """The answer in this line of the view, or None while it is not fetched."""
        number, place = divmod(row, PAGE)
        page = self._pages.get(number)
        if page is not None:
            self._pages.move_to_end(number)
            return page[place] if place < len(page) else None
        if number not in self._asked and 0 <= row < self._count:
            self._asked.add(number)
            self.page_wanted.emit(number)
        return None

    def rowCount(self, parent: Index | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else self._count

    def columnCount(self, parent: Index | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else TEXT + 1

    def data(self, index: Index, role: int = int(Qt.ItemDataRole.DisplayRole)) -> Any:
        if not index.isValid() or role not in (
            Qt.ItemDataRole.DisplayRole,
            Qt.ItemDataRole.ToolTipRole,
            Qt.ItemDataRole.TextAlignmentRole,
            Qt.ItemDataRole.AccessibleTextRole,
            ANSWER_ROLE,
        ):
            return None
        column = index.column()
        if role == Qt.ItemDataRole.TextAlignmentRole:
            right = Qt.AlignmentFlag.AlignRight if column in (ROW, VALUE, MASS, ENTROPY) else Qt.AlignmentFlag.AlignLeft
            return int(right | Qt.AlignmentFlag.AlignVCenter)
        answer = self.answer(index.row())
        if role == ANSWER_ROLE:
            return answer
        if answer is None:
            return "…" if column == TEXT else None
        if role == Qt.ItemDataRole.ToolTipRole:
            return answer.text if column == TEXT else None
        return self._cell(answer, column)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = int(Qt.ItemDataRole.DisplayRole)
    ) -> Any:
        named = (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole)  # a narrow head is cut, its tip is whole
        if role not in named or orientation != Qt.Orientation.Horizontal:
            return None
        names = (
            self.tr("Row"),
            self.tr("Question"),
            self.tr("Status"),
            self.tr("Value"),
            self.tr("Shares"),
            self.tr("Label mass"),
            self.tr("Entropy"),
            self.tr("Reviewed"),
            self.tr("Input"),
        )
        return names[section] if 0 <= section < len(names) else None

    def _cell(self, answer: AnswerRow, column: int) -> str:
        match column:
            case 0:
                return str(answer.row)
            case 1:
                return answer.question_id
            case 2:
                return self._status(answer.status)
            case 3:
                return answer.value
            case 4:
                return " ".join(f"{share:.2f}" for share in answer.shares[:4])
            case 5:
                return answer.mass
            case 6:
                return answer.entropy
            case 7:
                return answer.label
        return answer.text

    def _status(self, status: ReadStatus) -> str:
        return {
            "ok": self.tr("ok"),
            "unreadable": self.tr("unreadable"),
            "error": self.tr("error"),
            "skipped": self.tr("skipped"),
        }[status]
