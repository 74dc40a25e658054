"""Brings places of the window up: a conversation, a run, a file. For the palette, messages and a second start."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from engine.errors import InputError
from engine.store.chats_exchange import FORMAT

if TYPE_CHECKING:
    from app.pages.decisions import DecisionsPage
    from app.windows.desk import Desk

TABLES = (".csv", ".tsv", ".txt", ".xlsx", ".xlsm", ".xlsb", ".xls", ".ods", ".parquet", ".jsonl", ".ndjson")
PEEK_BYTES = 4096  # a conversation's file names its format at the beginning


class Places(QObject):
    """Over a desk whose pages have been loaded."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self._desk = desk

    def decisions(self) -> DecisionsPage:
        from app.pages.decisions import DecisionsPage

        page = self._desk.window.page("decisions")
        assert isinstance(page, DecisionsPage)
        return page

    def page(self, name: str) -> None:
        self._desk.window.show_page(name)

    def conversation(self, number: int) -> None:
        assert self._desk.chat is not None
        if self._desk.chat.current != number:
            self._desk.chat.open(number)
        self.page("chat")

    def run(self, run_id: str) -> None:
        page = self.decisions()
        self.page("decisions")
        page.tabs.setCurrentWidget(page.runs_part)
        page.runs_part.list.select(run_id)

    def files(self, names: list[str]) -> bool:
        """Opens files by what they are: a form, a table, exported conversations. What cannot be opened is told.

        Returns:
            Whether all could be read.
        """
        every = True
        for name in names:
            path = Path(name)
            try:
                self._opener(path)(path)
            except InputError as error:
                self._desk.notifier.report(error, self.tr("The file was not opened"))
                every = False
        return every

    def _opener(self, path: Path) -> Callable[[Path], object]:
        """
        Raises:
            InputError: it cannot be read, or it is nothing that the program opens.
        """
        try:
            with path.open("rb") as file:
                start = file.read(PEEK_BYTES)
        except OSError as error:
            raise InputError(
                "open.unreadable", "cannot read {path}: {detail}", path=str(path), detail=error.strerror
            ) from error
        kind = path.suffix.lower()
        if kind == ".json":
            return self._conversations if json.dumps(FORMAT).encode() in start else self._form
        if kind in TABLES:
            return self._table
        raise InputError(
            "open.kind",
            "{path} is no form, no table and no exported conversation",
            remedy="forms and conversations end in .json; tables in .csv, .tsv, .xlsx, .ods, .parquet or .jsonl",
            path=str(path),
        )

    def _form(self, path: Path) -> None:
        page = self.decisions()
        self.page("decisions")
        page.tabs.setCurrentWidget(page.form_part)
        page.files.when_safe(lambda: page.presenter.open_form(path))

    def _table(self, path: Path) -> None:
        page = self.decisions()
        self.page("decisions")
        page.tabs.setCurrentWidget(page.table_part)
        page.presenter.table.open(path)

    def _conversations(self, path: Path) -> None:
        room = self._desk.chat_room
        assert room is not None
        self.page("chat")
        room.library.import_file(path)
