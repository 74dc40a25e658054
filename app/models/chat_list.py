"""Item models of the conversations' list and of the places that a search has found."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QAbstractListModel, QModelIndex, QPersistentModelIndex, Qt, Signal

from engine.domain.conversation import MARK_OFF, MARK_ON, ConversationInfo, SearchHit

ITEM_ROLE = Qt.ItemDataRole.UserRole  # ConversationInfo or SearchHit
Index = QModelIndex | QPersistentModelIndex
NOWHERE = QModelIndex()


class ConversationModel(QAbstractListModel):
    """The conversations in the order in which they are given. Signals: renamed(int, str)."""

    renamed = Signal(int, str)

    def __init__(self) -> None:
        super().__init__()
        self._items: list[ConversationInfo] = []

    def set_items(self, items: Sequence[ConversationInfo]) -> None:
        """Takes a new list; rows that stay keep their place for whoever points at them."""
        new = list(items)
        if [item.id for item in new] == [item.id for item in self._items]:
            self._items = new
            if new:
                self.dataChanged.emit(self.index(0), self.index(len(new) - 1))
            return
        self.beginResetModel()
        self._items = new
        self.endResetModel()

    def item(self, index: Index) -> ConversationInfo | None:
        return self._items[index.row()] if index.isValid() and index.row() < len(self._items) else None

    def row_of(self, conversation: int | None) -> int:
        """-1 when it is not in the list."""
        return next((row for row, item in enumerate(self._items) if item.id == conversation), -1)

    def rowCount(self, parent: Index = NOWHERE) -> int:
        return 0 if parent.isValid() else len(self._items)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        item = self.item(index)
        if item is None:
            return None
        match role:
            case Qt.ItemDataRole.DisplayRole | Qt.ItemDataRole.EditRole:
                return item.title
            case Qt.ItemDataRole.ToolTipRole:
                return item.title
            case Qt.ItemDataRole.AccessibleTextRole:
                pinned = self.tr("pinned, ") if item.pinned else ""
                return self.tr("{title}, {pinned}{n} messages").format(
                    title=item.title or self.tr("Untitled"), pinned=pinned, n=item.messages
                )
            case _ if role == ITEM_ROLE:
                return item
        return None

    def flags(self, index: Index) -> Qt.ItemFlag:
        flags = super().flags(index)
        return flags | Qt.ItemFlag.ItemIsEditable if index.isValid() else flags

    def setData(self, index: Index, value: object, role: int = Qt.ItemDataRole.EditRole) -> bool:
        item = self.item(index)
        if item is None or role != Qt.ItemDataRole.EditRole or not isinstance(value, str):
            return False
        if value.strip() != item.title:
            self.renamed.emit(item.id, value)
        return True


class HitModel(QAbstractListModel):
    """Places that a search has found, best first."""

    def __init__(self) -> None:
        super().__init__()
        self._items: list[SearchHit] = []

    def set_items(self, items: Sequence[SearchHit]) -> None:
        self.beginResetModel()
        self._items = list(items)
        self.endResetModel()

    def item(self, index: Index) -> SearchHit | None:
        return self._items[index.row()] if index.isValid() and index.row() < len(self._items) else None

    def rowCount(self, parent: Index = NOWHERE) -> int:
        return 0 if parent.isValid() else len(self._items)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        item = self.item(index)
        if item is None:
            return None
        plain = item.snippet.replace(MARK_ON, "").replace(MARK_OFF, "")
        match role:
            case Qt.ItemDataRole.DisplayRole | Qt.ItemDataRole.AccessibleTextRole | Qt.ItemDataRole.ToolTipRole:
                return f"{item.title}: {plain}"
            case _ if role == ITEM_ROLE:
                return item
        return None
