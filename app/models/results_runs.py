"""The stored runs as a Qt list, newest first."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from PySide6.QtCore import QAbstractListModel, QDateTime, QLocale, QModelIndex, QObject, QPersistentModelIndex, Qt

from engine.domain.run import RunInfo, RunState

Index = QModelIndex | QPersistentModelIndex
RUN_ROLE = int(Qt.ItemDataRole.UserRole)


def local_time(created: str) -> str:
    """An ISO 8601 time in the user's zone and format."""
    moment = datetime.fromisoformat(created).astimezone()
    return QLocale().toString(QDateTime(moment), QLocale.FormatType.ShortFormat)


class RunsModel(QAbstractListModel):
    """Roles: DisplayRole the name, RUN_ROLE the ``RunInfo``, AccessibleTextRole all of it in words."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._runs: tuple[RunInfo, ...] = ()

    @property
    def runs(self) -> tuple[RunInfo, ...]:
        return self._runs

    def show_runs(self, runs: Sequence[RunInfo]) -> None:
        """Show these runs; a view keeps its selection when the runs themselves are the same."""
        if [run.id for run in runs] == [run.id for run in self._runs]:
            self._runs = tuple(runs)
            if runs:
                self.dataChanged.emit(self.index(0), self.index(len(runs) - 1))
            return
        self.beginResetModel()
        self._runs = tuple(runs)
        self.endResetModel()

    def row_of(self, run_id: str) -> int:
        """The line of a run, -1 when it is not there."""
        return next((place for place, run in enumerate(self._runs) if run.id == run_id), -1)

    def rowCount(self, parent: Index | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(self._runs)

    def data(self, index: Index, role: int = int(Qt.ItemDataRole.DisplayRole)) -> Any:
        if not index.isValid() or index.row() >= len(self._runs):
            return None
        run = self._runs[index.row()]
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return run.name or run.id
            case Qt.ItemDataRole.ToolTipRole:
                return f"{run.id}\n{run.table_path}\n{run.engine} · {run.method}"
            case Qt.ItemDataRole.AccessibleTextRole:
                total = run.rows * len(run.question_ids)
                return f"{run.name}, {self.state_text(run.state)}, {run.done} / {total}, {local_time(run.created)}"
            case _ if role == RUN_ROLE:
                return run
        return None

    def state_text(self, state: RunState) -> str:
        return {
            "running": self.tr("running"),
            "paused": self.tr("paused"),
            "unfinished": self.tr("unfinished"),
            "finished": self.tr("finished"),
        }[state]
