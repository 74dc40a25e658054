"""The Decisions page's dealings with files: which form, which table, and what becomes of unsaved edits."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QFileDialog, QMessageBox, QWidget

from app.presenters.decisions import DecisionsPresenter
from app.presenters.decisions_exchange import FormExchange
from engine.batch.form_exchange import Shape


class DecisionsFiles(QObject):
    """Asks for files and opens or saves them.

    Args:
        page: parent of the dialogs.
    """

    def __init__(self, presenter: DecisionsPresenter, page: QWidget) -> None:
        super().__init__(page)
        self._presenter, self._page = presenter, page
        self.exchange = FormExchange(presenter, self)

    def new_form(self) -> None:
        """An empty form, after asking about unsaved edits."""
        self.when_safe(self._presenter.new_form)

    def open_example(self, name: str) -> None:
        """A bundled example, after asking about unsaved edits."""
        self.when_safe(lambda: self._presenter.open_example(name))

    def open_template(self, name: str) -> None:
        """A form of the library, after asking about unsaved edits."""
        self.when_safe(lambda: self.exchange.open_template(name))

    def ask_import(self) -> None:
        """Choose a request of a decision endpoint."""
        kinds = self.tr("Requests (*.json);;All files (*)")
        self.when_safe(lambda: self._choose(self.tr("Import a request"), kinds, self.exchange.import_body))

    def ask_export(self, shape: Shape) -> None:
        """Choose where the request is written."""
        suggested = self._folder() / f"{shape}-request.json"
        dialog = QFileDialog(self._page, self.tr("Export a request"), str(suggested), self.tr("Requests (*.json)"))
        dialog.setObjectName("export_request_dialog")
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setDefaultSuffix("json")
        dialog.fileSelected.connect(lambda path: self.exchange.export_body(Path(path), shape))
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def ask_open(self) -> None:
        """Choose a form file."""
        self.when_safe(lambda: self._choose(self.tr("Open form"), self.tr("Forms (*.json)"), self._presenter.open_form))

    def ask_table(self) -> None:
        """Choose a table."""
        kinds = self.tr(
            "Tables (*.csv *.tsv *.txt *.xlsx *.xlsm *.xlsb *.xls *.ods *.parquet *.jsonl *.ndjson);;All files (*)"
        )
        self._choose(self.tr("Open table"), kinds, self._presenter.table.open)

    def save(self, then: Callable[[], object] | None = None) -> None:
        """Save where the form came from, or ask; ``then`` follows once it is saved."""
        path = self._presenter.document.path
        if path is None:
            self.ask_save(then)
        else:
            self._save(path, then)

    def ask_save(self, then: Callable[[], object] | None = None) -> None:
        """Choose where to save; ``then`` follows once it is saved."""
        suggested = self._presenter.document.path or self._folder() / "form.json"
        dialog = QFileDialog(self._page, self.tr("Save form"), str(suggested), self.tr("Forms (*.json)"))
        dialog.setObjectName("save_dialog")
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setDefaultSuffix("json")
        dialog.fileSelected.connect(lambda path: self._save(Path(path), then))
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def when_safe(self, action: Callable[[], object]) -> None:
        """Do it at once, or after the user has saved unsaved edits or agreed to lose them."""
        if not self._presenter.document.dirty:
            action()
            return
        box = QMessageBox(self._page)
        box.setObjectName("unsaved_dialog")
        box.setWindowTitle(self.tr("Unsaved edits"))
        box.setText(self.tr("The form has edits that no file holds."))
        box.setInformativeText(self.tr("Save them first, or go on without them?"))
        save = box.addButton(self.tr("Save…"), QMessageBox.ButtonRole.AcceptRole)
        save.setObjectName("save_confirm")
        discard = box.addButton(self.tr("Discard edits"), QMessageBox.ButtonRole.DestructiveRole)
        discard.setObjectName("discard_confirm")
        box.addButton(QMessageBox.StandardButton.Cancel)
        box.setDefaultButton(save)
        save.clicked.connect(lambda _checked=False: self.save(action))
        discard.clicked.connect(lambda _checked=False: action())
        box.finished.connect(box.deleteLater)
        box.open()

    def _save(self, path: Path, then: Callable[[], object] | None) -> None:
        """A file that cannot be written has told so on the page; the edits stay, and what was to follow does not."""
        if self._presenter.save_form(path) and then is not None:
            then()

    def _folder(self) -> Path:
        """Where dialogs begin: beside the form, else beside the table; the draft keeps both over a restart."""
        facts, form = self._presenter.table.facts, self._presenter.document.path
        near = form or (Path(facts.path) if facts is not None else None)
        return near.parent if near is not None and near.parent.is_dir() else Path.home()

    def _choose(self, title: str, kinds: str, use: Callable[[Path], object]) -> None:
        dialog = QFileDialog(self._page, title, str(self._folder()), kinds)
        dialog.setObjectName("open_dialog")
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.fileSelected.connect(lambda path: use(Path(path)))
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()
