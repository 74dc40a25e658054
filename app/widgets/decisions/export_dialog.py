"""Where the CSV goes and how it is written. Opened with ``open()``; it runs no loop of its own."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QDialog, QFileDialog, QLineEdit, QWidget

from app.models.results_export import ExportChoice
from app.widgets.decisions.parts import Field, button, hbox, label, named, vbox


class ExportDialog(QDialog):
    """Signals:
    chosen(object): an ``ExportChoice``.
    """

    chosen = Signal(object)

    def __init__(self, suggested: Path, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("export_dialog")
        self.setWindowTitle(self.tr("Export CSV"))
        self.setMinimumWidth(540)
        self.path = named(QLineEdit(str(suggested)), "export_path")
        self.path.textChanged.connect(lambda _text: self._check())
        browse = button(self.tr("Choose…"), "export_browse", self._browse)
        line = named(QWidget(), "export_path_line", self.tr("File"))
        line.setLayout(hbox(self.path, browse))
        self.path.setAccessibleName(self.tr("File"))
        self._field = Field(self.tr("File"), line)
        self.overwrite = named(QCheckBox(self.tr("Replace the file that is there")), "export_overwrite")
        self.overwrite.toggled.connect(lambda _on: self._check())
        self.bom = named(QCheckBox(self.tr("For Excel: begin with a byte order mark")), "export_bom")
        self.raw = named(QCheckBox(self.tr("Raw: leave cells that a spreadsheet would run as they are")), "export_raw")
        self._raw_note = label(
            self.tr(
                "Without it, text that begins like a formula gets an apostrophe. Only for programs, not for Excel."
            ),
            "muted",
            wrap=True,
        )
        self.accept_button = button(self.tr("Export"), "export_accept", self._accept, role="primary")
        self.accept_button.setDefault(True)
        cancel = button(self.tr("Cancel"), "export_cancel", self.reject)
        self.setLayout(
            vbox(
                label(self.tr("Every row of the table, with all answers and their evidence."), "muted", wrap=True),
                self._field,
                self.overwrite,
                vbox(self.bom, self.raw, self._raw_note, spacing=6),
                hbox(1, cancel, self.accept_button),
                margin=20,
                spacing=14,
            )
        )
        self._check()

    def _check(self) -> None:
        path = Path(self.path.text().strip()).expanduser()
        problem = self._problem(path)
        exists = not problem and path.exists()
        self._field.message.say(problem)
        self.overwrite.setVisible(exists)
        self.accept_button.setEnabled(not problem and (not exists or self.overwrite.isChecked()))

    def _problem(self, path: Path) -> str:
        if not self.path.text().strip():
            return self.tr("Say which file to write.")
        if path.is_dir():
            return self.tr("“{path}” is a folder.").format(path=path)
        if not path.parent.is_dir():
            return self.tr("There is no folder “{path}”.").format(path=path.parent)
        return ""

    def _browse(self) -> None:
        dialog = QFileDialog(self, self.tr("Export CSV"), self.path.text(), self.tr("CSV files (*.csv)"))
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setDefaultSuffix("csv")
        # Our own box asks about replacing, in one place for typed and chosen paths.
        dialog.setOption(QFileDialog.Option.DontConfirmOverwrite)
        dialog.fileSelected.connect(self.path.setText)
        dialog.open()

    def _accept(self) -> None:
        path = Path(self.path.text().strip()).expanduser()
        self.chosen.emit(ExportChoice(path, self.raw.isChecked(), self.bom.isChecked(), self.overwrite.isChecked()))
        self.accept()
