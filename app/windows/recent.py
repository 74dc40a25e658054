"""The form files that were opened or saved last, for the palette; kept in the window's ini file."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject, QSettings

from app.models.decisions_document import FormDocument
from engine import paths

KEPT = 12
KEY = "recent/forms"


class RecentForms(QObject):
    """Follows the open form. What the program brings along is not remembered: it is offered anyway."""

    def __init__(self, document: FormDocument, file: QSettings, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._document, self._file = document, file
        document.origin_changed.connect(self._note)
        self._note()

    def files(self) -> list[Path]:
        """The newest first, without the one that is open. They may have gone meanwhile."""
        return [path for path in self._kept() if path != self._document.path]

    def forget(self, path: Path) -> None:
        """It cannot be opened any more."""
        self._keep([each for each in self._kept() if each != path])

    def _note(self) -> None:
        path = self._document.path
        if path is None or paths.resources_dir() in path.parents:
            return
        kept = self._kept()
        if kept[:1] != [path]:
            self._keep([path, *(each for each in kept if each != path)][:KEPT])

    def _kept(self) -> list[Path]:
        found = self._file.value(KEY, [])
        names = [found] if isinstance(found, str) else found  # a list of one is read back as its text
        return [Path(name) for name in names if isinstance(name, str) and name] if isinstance(names, list) else []

    def _keep(self, found: list[Path]) -> None:
        self._file.setValue(KEY, [str(path) for path in found])
