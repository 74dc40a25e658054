"""The map of the keys (F1): every command that has keys, by page, with a search."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import (
    QAbstractItemView,
    QDialog,
    QLabel,
    QLineEdit,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from app.models.commands import Command
from app.models.fuzzy import folded, match
from app.theme import set_role
from app.widgets.fields import clearable
from app.widgets.icons import ThemedButton

SIZE = (640, 620)  # pixels, where the window has them
MARGIN = 16
KEYS_WIDTH = 190


def keys_text(keys: Sequence[str]) -> str:
    """Keys as the desktop's language writes them."""
    return ", ".join(QKeySequence(each).toString(QKeySequence.SequenceFormat.NativeText) for each in keys)


class KeyMap(QDialog):
    """A sheet of all keys."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._over = parent
        self.setObjectName("keys")
        self.setWindowTitle(self.tr("Keyboard"))
        self.setModal(True)
        self._build()
        self.field.textChanged.connect(self._search)

    def ask(self, commands: Sequence[Command], pages: Sequence[tuple[str, str]]) -> None:
        """Shows the sheet.

        Args:
            pages: (name, title) in order; commands of no page come first.
        """
        self.field.clear()
        self.tree.clear()
        for name, title in (("", self.tr("Everywhere")), *pages):
            of_page = [command for command in commands if command.page == name]
            if of_page:
                self.tree.addTopLevelItem(self._group(title, of_page))
        self.tree.expandAll()
        self.tree.setCurrentIndex(self.tree.model().index(0, 0))
        above = self._over
        self.resize(min(SIZE[0], above.width() - MARGIN), min(SIZE[1], above.height() - MARGIN))
        self.open()
        self.field.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def shown(self) -> list[tuple[str, str, str]]:
        """(page, keys, what) of every line that can be seen."""
        lines = []
        for group in self._groups():
            for child in _children(group):
                if not child.isHidden():
                    lines.append((group.text(0), child.text(0), child.text(1)))
        return lines

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Down goes from the search to the sheet."""
        if event.key() == Qt.Key.Key_Down and self.field.hasFocus():
            self.tree.setFocus(Qt.FocusReason.OtherFocusReason)
        else:
            super().keyPressEvent(event)

    def _build(self) -> None:
        self.field = QLineEdit()
        self.field.setObjectName("keys.field")
        self.field.setPlaceholderText(self.tr("Search keys and what they do"))
        self.field.setAccessibleName(self.tr("Search keys and what they do"))
        clearable(self.field, self.tr("Empty the search"))
        self.tree = QTreeWidget()
        self.tree.setObjectName("keys.tree")
        self.tree.setAccessibleName(self.tr("Keys"))
        self.tree.setHeaderLabels([self.tr("Keys"), self.tr("What they do")])
        self.tree.setColumnWidth(0, KEYS_WIDTH)
        self.tree.setRootIsDecorated(False)
        self.tree.setStyleSheet("QTreeView::item { padding: 3px 0; }")
        self.tree.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.none = QLabel(self.tr("Nothing fits. Fewer letters find more."))
        set_role(self.none, "caption")
        self.none.hide()
        close = ThemedButton(self.tr("Close"), "keys.close")
        close.setAutoDefault(False)  # Enter in the search does not close the sheet
        close.clicked.connect(self.accept)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(MARGIN, MARGIN, MARGIN, MARGIN)
        layout.setSpacing(10)
        for widget in (self.field, self.none, self.tree):
            layout.addWidget(widget)
        layout.addWidget(close, 0, Qt.AlignmentFlag.AlignTrailing)

    def _group(self, title: str, commands: Sequence[Command]) -> QTreeWidgetItem:
        group = QTreeWidgetItem([title])
        font = self.font()
        font.setBold(True)
        group.setFont(0, font)
        group.setFirstColumnSpanned(True)
        for command in commands:
            line = QTreeWidgetItem([keys_text(command.keys), command.text])
            line.setData(0, Qt.ItemDataRole.AccessibleTextRole, f"{keys_text(command.keys)}: {command.text}")
            group.addChild(line)
        return group

    def _search(self, text: str) -> None:
        pattern = folded(text)
        for group in self._groups():
            hits = 0
            for child in _children(group):
                # "ctrl+k", "ctrl k" and "search" are all found; a page's name finds its whole group.
                words = folded(f"{child.text(0)} {child.text(0).replace('+', ' ')} {child.text(1)} {group.text(0)}")
                hit = match(pattern, words) is not None
                child.setHidden(not hit)
                hits += hit
            group.setHidden(not hits)
        self.none.setVisible(not self.shown())

    def _groups(self) -> list[QTreeWidgetItem]:
        return [group for place in range(self.tree.topLevelItemCount()) if (group := self.tree.topLevelItem(place))]


def _children(group: QTreeWidgetItem) -> list[QTreeWidgetItem]:
    return [child for place in range(group.childCount()) if (child := group.child(place))]
