"""What the command palette finds: commands, conversations, forms and runs, as a Qt list."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from app.models.fuzzy import Match, folded, match

Index = QModelIndex | QPersistentModelIndex
Kind = Literal["command", "conversation", "form", "run"]

ENTRY_ROLE = int(Qt.ItemDataRole.UserRole)
PLACES_ROLE = ENTRY_ROLE + 1
MOST = 60  # lines that are shown; who looks further types another letter
FIRST = {"command": 6, "conversation": 0, "form": 0, "run": 0}  # points: of equals a command comes first


@dataclass(frozen=True, slots=True)
class Entry:
    """One line.

    Attributes:
        detail: beside it, muted: the page of a command, the time of a run.
        keys: of a command, as the user's language writes them.
        run: what Enter does.
    """

    kind: Kind
    text: str
    run: Callable[[], object]
    detail: str = ""
    keys: str = ""


class PaletteModel(QAbstractListModel):
    """Roles: DisplayRole the text, ENTRY_ROLE the ``Entry``, PLACES_ROLE the matched letters' places,
    AccessibleTextRole the line in words."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._entries: list[tuple[Entry, str, str]] = []  # with text and detail folded
        self._shown: list[tuple[Entry, Match]] = []
        self._pattern = ""

    def set_entries(self, entries: Sequence[Entry]) -> None:
        """Replaces all that can be found; the pattern stays."""
        self._entries = [(entry, folded(entry.text), folded(f"{entry.text} {entry.detail}")) for entry in entries]
        self.search(self._pattern)

    def search(self, text: str) -> None:
        """Shows the best lines for a pattern; all in their own order for an empty one."""
        self._pattern = text
        pattern = folded(text)
        found = [(entry, hit) for entry, name, all_words in self._entries if (hit := _hit(pattern, name, all_words))]
        if pattern.strip():
            found.sort(key=lambda each: -each[1].score - FIRST[each[0].kind])
        self.beginResetModel()
        self._shown = found[:MOST]
        self.endResetModel()

    def entry(self, row: int) -> Entry | None:
        return self._shown[row][0] if 0 <= row < len(self._shown) else None

    def rowCount(self, parent: Index | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(self._shown)

    def data(self, index: Index, role: int = int(Qt.ItemDataRole.DisplayRole)) -> Any:
        if not index.isValid() or index.row() >= len(self._shown):
            return None
        entry, hit = self._shown[index.row()]
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return entry.text
            case Qt.ItemDataRole.AccessibleTextRole:
                return ", ".join(
                    part for part in (entry.text, self.kind_text(entry.kind), entry.detail, entry.keys) if part
                )
            case _ if role == ENTRY_ROLE:
                return entry
            case _ if role == PLACES_ROLE:
                return tuple(place for place in hit.places if place < len(entry.text))
        return None

    def kind_text(self, kind: Kind) -> str:
        return {
            "command": self.tr("Command"),
            "conversation": self.tr("Conversation"),
            "form": self.tr("Form"),
            "run": self.tr("Run"),
        }[kind]


def _hit(pattern: str, name: str, all_words: str) -> Match | None:
    """A match in the name, or a weaker one that needs the detail too."""
    found = match(pattern, name)
    if found is not None:
        return found
    wider = match(pattern, all_words)
    return Match(wider.score // 2, wider.places) if wider is not None else None
