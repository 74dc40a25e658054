"""The beginning of the open table: what was guessed about the file and its first rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

Index = QModelIndex | QPersistentModelIndex
CELL_LIMIT = 300  # characters of a cell that a preview shows


@dataclass(frozen=True, slots=True)
class TableFacts:
    """An open table as the page shows it.

    Attributes:
        path: of the file.
        encoding, delimiter, header: as used now, empty where such a file has none; ``bom`` says whether the file
            begins with a byte order mark.
        columns: in the file's order.
        rows: the first rows, as cells in the order of the columns.
        count: rows of the whole file, or None while they are being counted.
        kind: ``csv``, ``xlsx``, ``parquet`` or ``jsonl``.
        sheet, sheets: of a workbook, the one that is read and all of them.
    """

    path: str
    encoding: str
    delimiter: str
    header: bool
    bom: bool
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    count: int | None = None
    kind: str = "csv"
    sheet: str = ""
    sheets: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RowsWanted:
    """Which rows of the table a run reads; the fields of ``engine.batch.selection.Selection``."""

    where: str = ""
    first: int | None = None
    sample: int | None = None
    seed: int = 0


class PreviewModel(QAbstractTableModel):
    """Rows of cells under column names; long cells are cut for the view and whole in the tool tip."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._columns: tuple[str, ...] = ()
        self._rows: Sequence[tuple[str, ...]] = ()

    def show_rows(self, columns: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> None:
        self.beginResetModel()
        self._columns, self._rows = columns, rows
        self.endResetModel()

    def rowCount(self, parent: Index | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(self._columns)

    def data(self, index: Index, role: int = int(Qt.ItemDataRole.DisplayRole)) -> Any:
        if not index.isValid() or index.row() >= len(self._rows):
            return None
        row = self._rows[index.row()]
        cell = row[index.column()] if index.column() < len(row) else ""
        if role == Qt.ItemDataRole.DisplayRole:
            return cell[:CELL_LIMIT].replace("\n", " ⏎ ")
        if role == Qt.ItemDataRole.ToolTipRole:
            return cell[:2000]
        return None

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = int(Qt.ItemDataRole.DisplayRole)
    ) -> Any:
        if role not in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole):
            return None
        if orientation == Qt.Orientation.Vertical:
            return section + 1 if role == Qt.ItemDataRole.DisplayRole else None
        return self._columns[section] if 0 <= section < len(self._columns) else None
