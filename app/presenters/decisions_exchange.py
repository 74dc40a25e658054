"""Forms from the library, and forms from and to requests of decision endpoints."""

from __future__ import annotations

import json
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from app.presenters.decisions import DecisionsPresenter, replace_file
from engine.batch.form import read_json
from engine.batch.form_exchange import COLUMN, Shape, export_request, import_request
from engine.batch.form_library import template
from engine.errors import EngineError


class FormExchange(QObject):
    """Brings forms into the builder and takes them out.

    Signals:
        told(str): what was done, and what could not be carried over.
        failed(str): why nothing was done.
    """

    told = Signal(str)
    failed = Signal(str)

    def __init__(self, presenter: DecisionsPresenter, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._presenter = presenter

    def open_template(self, name: str) -> None:
        """A form of the library with its small table, as a copy: saving asks for a place."""
        found = template(name)
        self._presenter.document.load(found.form, None)
        self._presenter.table.open(found.table)
        self.told.emit("")

    def import_body(self, path: Path) -> None:
        """A form of a request of System One or OpenAI Decisions; the request's own text becomes its table."""
        try:
            found = import_request(read_json(path), str(path), name=path.stem)
        except EngineError as error:
            self.failed.emit(str(error))
            return
        self._presenter.document.load(found.form, None, edited=True)
        if found.sample.strip():
            quoted = found.sample.replace('"', '""')
            self._presenter.table.paste(f'{COLUMN}\n"{quoted}"\n')
        self._tell(self.tr("Imported from {path}.").format(path=path.name), found.left_out)

    def export_body(self, path: Path, shape: Shape) -> None:
        """Write the request that asks the form's questions about the row that is shown."""
        document, (text, error) = self._presenter.document, self._presenter.rendered
        state = text if text.strip() and not error else document.form.state
        try:
            made = export_request(document.form, shape, state)
            replace_file(path, json.dumps(made.body, ensure_ascii=False, indent=2) + "\n")
        except EngineError as fault:
            self.failed.emit(str(fault))
            return
        except OSError as fault:
            why = fault.strerror or str(fault)
            self.failed.emit(self.tr("Cannot write {path}: {why}").format(path=path, why=why))
            return
        self._tell(self.tr("Written to {path}.").format(path=path), made.left_out)

    def _tell(self, done: str, left_out: tuple[str, ...]) -> None:
        if left_out:
            done = self.tr("{done} Not carried over: {parts}").format(done=done, parts="; ".join(left_out))
        self.told.emit(done)
