"""Asks where the answers of the run that is open shall be written, and says what was written."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from app.notify import NotificationSink
from app.presenters.run_results import ResultsPresenter
from app.widgets.decisions.export_dialog import ExportDialog
from app.widgets.decisions.parts import counted
from engine.domain.run import RunInfo


class RunExport(QObject):
    """Args:
    page: parent of the dialog.
    """

    def __init__(self, results: ResultsPresenter, notifier: NotificationSink, page: QWidget) -> None:
        super().__init__(page)
        self._results, self._notifier, self._page = results, notifier, page
        results.exported.connect(self._on_exported)

    def ask(self, run: RunInfo | None) -> None:
        """Open the dialog; it stays until the file is written, or the user gives up."""
        table = Path(run.table_path) if run is not None else Path()
        folder = table.parent if table.parent.is_dir() and not self._bundled(table) else Path.home()
        name = f"{table.stem or 'answers'}-{self._results.run_id}.csv"
        dialog = ExportDialog(folder / name, self._page)
        results = self._results
        dialog.chosen.connect(results.export)
        dialog.cancelled.connect(results.cancel_export)
        results.exporting.connect(dialog.show_progress)
        results.exported.connect(dialog.accept)
        results.export_failed.connect(dialog.show_failure)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    @staticmethod
    def _bundled(table: Path) -> bool:
        return "examples" in table.parts[-3:-1]

    def _on_exported(self, summary: object) -> None:
        rows, path = getattr(summary, "rows", 0), getattr(summary, "path", "")
        exported = counted(rows, self.tr("Exported {n} row"), self.tr("Exported {n} rows"))
        text = self.tr("{exported} to {path}").format(exported=exported, path=path)
        unanswered = getattr(summary, "unanswered", 0)
        one = self.tr("{n} row is not answered yet: its answers are empty.")
        many = self.tr("{n} rows are not answered yet: their answers are empty.")
        note = counted(unanswered, one, many) if unanswered else ""
        self._notifier.success(text, note)
