"""The command palette: one field, and below it what fits, best first. The focus stays in the field."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QSize, Qt
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QColor, QFont, QKeyEvent, QPainter
from PySide6.QtWidgets import (
    QAbstractItemView,
    QDialog,
    QLabel,
    QLineEdit,
    QListView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from app.models.palette import ENTRY_ROLE, PLACES_ROLE, Entry, PaletteModel
from app.theme import current_tokens, set_role
from app.widgets.icons import pixmap

WIDTH = 620  # pixels, where the window has them
LINES = 11  # shown at once
MARGIN = 12
TOP = 70  # pixels below the window's top edge
ICONS = {"command": "prompt", "conversation": "chat", "form": "decisions", "run": "table"}


class Palette(QDialog):
    """Opened with ``ask``; a line that is chosen runs when the palette has gone."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._over = parent
        self.setObjectName("palette")
        self.setWindowTitle(self.tr("Command palette"))
        self.setWindowFlag(Qt.WindowType.FramelessWindowHint)
        self.setModal(True)
        self._build()
        self.field.textChanged.connect(self._search)
        self.field.returnPressed.connect(self._choose)
        self.list.clicked.connect(lambda _index: self._choose())
        self.list.selectionModel().currentChanged.connect(lambda now, _old: self._speak(now))

    def ask(self, entries: Sequence[Entry]) -> None:
        """Shows the palette over the window, with an empty field."""
        self.field.clear()
        self.set_entries(entries)
        self.place()
        self.open()
        self.field.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def set_entries(self, entries: Sequence[Entry]) -> None:
        """What can be found; may come while the palette is open."""
        self.model.set_entries(entries)
        self._first()

    def place(self) -> None:
        """At the top of the window, in its middle, never wider or higher than it."""
        above = self._over
        self.resize(min(WIDTH, above.width() - 2 * MARGIN), min(self.sizeHint().height(), above.height() - 2 * MARGIN))
        left = above.width() // 2 - self.width() // 2
        top = min(TOP, max(above.height() - self.height() - MARGIN, 0))
        self.move(above.mapToGlobal(above.rect().topLeft()) + QRect(left, top, 0, 0).topLeft())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Up, Down and the pages move in the list while the focus stays in the field."""
        steps: dict[int, int] = {
            Qt.Key.Key_Down: 1,
            Qt.Key.Key_Up: -1,
            Qt.Key.Key_PageDown: LINES - 1,
            Qt.Key.Key_PageUp: 1 - LINES,
        }
        step = steps.get(event.key())
        if step is None:
            super().keyPressEvent(event)
        else:
            self._move(step)

    def _build(self) -> None:
        self.field = QLineEdit()
        self.field.setObjectName("palette.field")
        self.field.setPlaceholderText(self.tr("What do you want to do, or to open?"))
        self.field.setAccessibleName(self.tr("Search commands, conversations, forms and runs"))
        self.model = PaletteModel(self)
        self.list = QListView()
        self.list.setObjectName("palette.list")
        self.list.setAccessibleName(self.tr("Found"))
        self.list.setModel(self.model)
        self.list.setItemDelegate(_LineDelegate(self.model, self.list))
        self.list.setUniformItemSizes(True)
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.list.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.none = QLabel(self.tr("Nothing fits. Fewer letters find more."))
        self.hint = QLabel(self.tr("Up and Down choose · Enter runs · Esc closes"))
        for label in (self.none, self.hint):
            label.setWordWrap(True)
            set_role(label, "caption")
        layout = QVBoxLayout(self)
        layout.setContentsMargins(MARGIN, MARGIN, MARGIN, MARGIN)
        layout.setSpacing(8)
        for widget in (self.field, self.none, self.list, self.hint):
            layout.addWidget(widget)

    def sizeHint(self) -> QSize:
        line = self.fontMetrics().lineSpacing() + 2 * _LineDelegate.PAD
        return QSize(WIDTH, LINES * line + 4 * MARGIN + 2 * self.field.sizeHint().height())

    def _search(self, text: str) -> None:
        self.model.search(text)
        self._first()

    def _first(self) -> None:
        self.none.setVisible(self.model.rowCount() == 0)
        self.list.setCurrentIndex(self.model.index(0))
        self.list.scrollToTop()

    def _move(self, step: int) -> None:
        """One step goes around the ends, a page stops at them."""
        rows = self.model.rowCount()
        if rows:
            row = self.list.currentIndex().row() + step
            row = row % rows if abs(step) == 1 else min(max(row, 0), rows - 1)
            self.list.setCurrentIndex(self.model.index(row))

    def _choose(self) -> None:
        entry = self.model.entry(self.list.currentIndex().row())
        if entry is not None:
            self.accept()
            entry.run()

    def _speak(self, index: QModelIndex) -> None:
        """A screen reader follows the focus, which stays in the field: it is told what is chosen."""
        text = index.data(Qt.ItemDataRole.AccessibleTextRole) if index.isValid() else ""
        self.field.setAccessibleDescription(text or self.none.text())
        if text and self.isVisible():
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self.field, text))


class _LineDelegate(QStyledItemDelegate):
    """A line: icon, text with the matched letters strong, detail and keys at the right."""

    PAD = 6

    def __init__(self, model: PaletteModel, parent: QWidget) -> None:
        super().__init__(parent)
        self._model = model

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        return QSize(0, option.fontMetrics.lineSpacing() + 2 * self.PAD)

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        entry = index.data(ENTRY_ROLE)
        if not isinstance(entry, Entry):
            return
        tokens = current_tokens()
        painter.save()
        if option.state & QStyle.StateFlag.State_Selected:
            painter.fillRect(option.rect, QColor(tokens.accent_soft))
        edge = option.fontMetrics.height()
        inner = option.rect.adjusted(self.PAD, 0, -self.PAD, 0)
        icon = QRect(inner.left(), inner.center().y() - edge // 2, edge, edge)
        painter.drawPixmap(_placed(option, icon), pixmap(ICONS[entry.kind], tokens.muted, edge))
        right = "   ".join(part for part in (entry.detail or self._model.kind_text(entry.kind), entry.keys) if part)
        # The detail gives way to the text, not the text to it.
        most = inner.width() // 2
        right = option.fontMetrics.elidedText(right, Qt.TextElideMode.ElideMiddle, most)
        taken = option.fontMetrics.horizontalAdvance(right)
        detail = QRect(inner.right() - taken, inner.top(), taken + 1, inner.height())
        painter.setPen(QColor(tokens.muted))
        painter.drawText(_placed(option, detail), int(Qt.AlignmentFlag.AlignVCenter), right)
        words = inner.adjusted(edge + 2 * self.PAD, 0, -taken - 2 * self.PAD, 0)
        painter.setPen(QColor(tokens.text))
        self._words(painter, option, words, entry.text, index.data(PLACES_ROLE))
        painter.restore()

    def _words(
        self, painter: QPainter, option: QStyleOptionViewItem, area: QRect, text: str, places: tuple[int, ...]
    ) -> None:
        """The matched letters strong; in one piece where letters join or run from the right."""
        shown = option.fontMetrics.elidedText(text.replace("\n", " "), Qt.TextElideMode.ElideRight, area.width())
        if not places or option.direction == Qt.LayoutDirection.RightToLeft or not text.isascii():
            align = QStyle.visualAlignment(option.direction, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft)
            painter.drawText(_placed(option, area), align, shown)
            return
        strong = QFont(option.font)
        strong.setWeight(QFont.Weight.Bold)
        place = area.left()
        for start, end, hit in _runs(shown, frozenset(places)):
            painter.setFont(strong if hit else option.font)
            part = shown[start:end]
            width = painter.fontMetrics().horizontalAdvance(part)
            if place + width > area.right() + self.PAD:
                break
            painter.drawText(QRect(place, area.top(), width, area.height()), int(Qt.AlignmentFlag.AlignVCenter), part)
            place += width


def _runs(text: str, places: frozenset[int]) -> list[tuple[int, int, bool]]:
    """Stretches of (start, end, matched)."""
    runs: list[tuple[int, int, bool]] = []
    for place in range(len(text)):
        hit = place in places
        if runs and runs[-1][2] == hit:
            runs[-1] = (runs[-1][0], place + 1, hit)
        else:
            runs.append((place, place + 1, hit))
    return runs


def _placed(option: QStyleOptionViewItem, area: QRect) -> QRect:
    """The area as the layout's direction has it."""
    return QStyle.visualRect(option.direction, option.rect, area)
