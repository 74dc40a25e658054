"""Where a run goes as a file, which kind, and how far the writing is. Opened with ``open()``; no loop of its own."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QButtonGroup,
    QCheckBox,
    QDialog,
    QFileDialog,
    QGridLayout,
    QLineEdit,
    QProgressBar,
    QRadioButton,
    QWidget,
)

from app.models.results_export import SUFFIXES, ExportChoice, ExportKind
from app.widgets.decisions.parts import Field, FieldMessage, button, hbox, label, named, vbox

STEPS = 1000  # of the progress bar


class ExportDialog(QDialog):
    """Stays open while the file is written; Cancel and Esc then end the writing.

    Signals:
        chosen(object): an ``ExportChoice``.
        cancelled(): the writing shall end.
    """

    chosen = Signal(object)
    cancelled = Signal()

    def __init__(self, suggested: Path, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("export_dialog")
        self.setWindowTitle(self.tr("Export"))
        self._writing = False
        self.kinds: dict[ExportKind, QRadioButton] = {}
        self.path = named(QLineEdit(str(suggested)), "export_path", self.tr("File"))
        self.path.textChanged.connect(lambda _text: self._on_path())
        browse = button(self.tr("Choose…"), "export_browse", self._browse)
        line = named(QWidget(), "export_path_line", self.tr("File"))
        line.setLayout(hbox(self.path, browse))
        self._field = Field(self.tr("File"), line)
        self.overwrite = named(QCheckBox(self.tr("Replace the file that is there")), "export_overwrite")
        self.overwrite.toggled.connect(lambda _on: self._check())
        self.bom = named(QCheckBox(self.tr("For Excel: begin with a byte order mark")), "export_bom")
        self.raw = named(QCheckBox(self.tr("Raw: leave cells that a spreadsheet would run")), "export_raw")
        self.bar = named(QProgressBar(), "export_bar", self.tr("Progress of the export"))
        self.bar.setTextVisible(False)
        self.bar.hide()
        self._progress = named(label("", "muted"), "export_progress")
        self._failure = FieldMessage("export_failure")
        self.accept_button = button(self.tr("Export"), "export_accept", self._accept, role="primary")
        self.accept_button.setDefault(True)
        self.cancel_button = button(self.tr("Cancel"), "export_cancel", self.reject)
        self._choices = QWidget()
        self._build()
        self.path.setCursorPosition(0)
        self._on_path()

    def show_progress(self, done: int, total: int) -> None:
        """How many rows are written."""
        self.bar.setRange(0, STEPS)
        self.bar.setValue(STEPS * done // max(total, 1))
        self._progress.setText(self.tr("{done} of {total} rows").format(done=f"{done:,}", total=f"{total:,}"))

    def show_failure(self, text: str, remedy: str) -> None:
        """The file was not written; no text: because the user did not want it any more."""
        self._show_writing(False)
        self._failure.say(" ".join(part for part in (text, remedy) if part))

    def reject(self) -> None:
        """Close; while a file is written only end the writing."""
        if self._writing:
            self.cancel_button.setEnabled(False)
            self.cancelled.emit()
        else:
            super().reject()

    # ---- private
    def _build(self) -> None:
        kinds = QGridLayout()
        kinds.setHorizontalSpacing(16)
        kinds.setColumnStretch(1, 1)
        group = QButtonGroup(self)
        for line, (kind, text, what) in enumerate(self._told()):
            made = named(QRadioButton(text), f"export_kind.{kind}", f"{text}: {what}")
            made.toggled.connect(lambda on, kind=kind: self._on_kind(kind) if on else None)
            group.addButton(made)
            self.kinds[kind] = made
            kinds.addWidget(made, line, 0)
            kinds.addWidget(label(what, "muted"), line, 1)
        self._raw_note = label(self.tr("Without Raw, text that begins like a formula gets an apostrophe."), "muted")
        self._options = QWidget()
        self._options.setLayout(vbox(self.bom, self.raw, self._raw_note, spacing=6))
        self._choices.setLayout(vbox(kinds, self._field, self.overwrite, self._options, spacing=14))
        progress = hbox(self.bar, self._progress)
        progress.setStretchFactor(self.bar, 1)
        buttons = hbox(1, self.cancel_button, self.accept_button)
        self.setLayout(vbox(self._choices, progress, self._failure, buttons, margin=20, spacing=14))

    def _told(self) -> tuple[tuple[ExportKind, str, str], ...]:
        """(kind, name, what it is for)."""
        return (
            ("csv", self.tr("CSV"), self.tr("For any program: every row with all answers and their evidence.")),
            ("xlsx", self.tr("Excel"), self.tr("A workbook with the rows and a sheet about the run.")),
            ("parquet", self.tr("Parquet"), self.tr("For pandas, DuckDB and Spark: small, with types.")),
            ("jsonl", self.tr("JSON lines"), self.tr("For scripts: one object a row, answers nested.")),
            ("manifest", self.tr("Manifest"), self.tr("How the run was made, so that another machine can repeat it.")),
            ("report", self.tr("Report"), self.tr("One HTML page for people: counts, figures and measures.")),
        )

    def _kind(self) -> ExportKind:
        return next((kind for kind, made in self.kinds.items() if made.isChecked()), "csv")

    def _on_kind(self, kind: ExportKind) -> None:
        """The name's suffix follows the kind."""
        path = Path(self.path.text().strip())
        if path.name and path.suffix.lower() != SUFFIXES[kind]:
            known = path.suffix.lower() in SUFFIXES.values()
            name = path.with_suffix(SUFFIXES[kind]) if known else path.with_name(path.name + SUFFIXES[kind])
            self.path.setText(str(name))
        self._check()

    def _on_path(self) -> None:
        """The kind follows a suffix that is known."""
        suffix = Path(self.path.text().strip()).suffix.lower()
        for kind, own in SUFFIXES.items():
            if own == suffix and not self.kinds[kind].isChecked():
                self.kinds[kind].setChecked(True)
                return
        self._check()

    def _check(self) -> None:
        path = Path(self.path.text().strip()).expanduser()
        problem = self._problem(path)
        exists = not problem and path.exists()
        self._field.message.say(problem)
        self._options.setVisible(self._kind() == "csv")
        self.overwrite.setVisible(exists)
        self.accept_button.setEnabled(not self._writing and not problem and (not exists or self.overwrite.isChecked()))

    def _problem(self, path: Path) -> str:
        if not self.path.text().strip():
            return self.tr("Say which file to write.")
        if path.is_dir():
            return self.tr("“{path}” is a folder.").format(path=path)
        if not path.parent.is_dir():
            return self.tr("There is no folder “{path}”.").format(path=path.parent)
        return ""

    def _browse(self) -> None:
        names = {kind: text for kind, text, _what in self._told()}
        filters = {kind: f"{names[kind]} (*{suffix})" for kind, suffix in SUFFIXES.items()}
        dialog = QFileDialog(self, self.tr("Export"), self.path.text(), ";;".join(filters.values()))
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.selectNameFilter(filters[self._kind()])
        dialog.setDefaultSuffix(SUFFIXES[self._kind()][1:])
        # Our own box asks about replacing, in one place for typed and chosen paths.
        dialog.setOption(QFileDialog.Option.DontConfirmOverwrite)
        dialog.fileSelected.connect(self.path.setText)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def _show_writing(self, writing: bool) -> None:
        self._writing = writing
        self._choices.setEnabled(not writing)
        self.cancel_button.setEnabled(True)
        self.bar.setRange(0, 0)  # busy, until the first rows are told
        self.bar.setVisible(writing)
        self._progress.setText("")
        self._check()

    def _accept(self) -> None:
        path = Path(self.path.text().strip()).expanduser()
        plain = self._kind() == "csv"
        raw, bom = plain and self.raw.isChecked(), plain and self.bom.isChecked()
        self._failure.say("")
        self._show_writing(True)
        self.chosen.emit(ExportChoice(path, raw, bom, self.overwrite.isChecked(), self._kind()))
