"""The list of conversations at the side: search, pins, names, deletion; all of it from the keyboard too."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QItemSelectionModel, QModelIndex, QPoint, Qt, QTimer, Signal
from PySide6.QtGui import QAction, QKeyEvent, QKeySequence
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QListView,
    QMenu,
    QVBoxLayout,
    QWidget,
)

from app.models.chat_list import ConversationModel, HitModel
from app.theme import set_role
from app.widgets.chat.list_delegate import ConversationDelegate
from app.widgets.chat.message_parts import takes_escape
from app.widgets.fields import clearable
from app.widgets.icons import IconButton
from engine.domain.conversation import ConversationInfo, SearchHit

SEARCH_MS = 150  # after the last key


class _List(QListView):
    """Signals: removed(QModelIndex), entered_(QModelIndex): keys on a row."""

    removed = Signal(QModelIndex)
    entered_ = Signal(QModelIndex)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("chats.list")
        self.setAccessibleName(self.tr("Conversations"))
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setMouseTracking(True)
        self.setUniformItemSizes(True)
        self.setEditTriggers(QAbstractItemView.EditTrigger.EditKeyPressed)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.setTabKeyNavigation(False)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        editing = self.state() == QAbstractItemView.State.EditingState
        if event.key() == Qt.Key.Key_Delete and not editing:
            self.removed.emit(self.currentIndex())
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and not editing:
            self.entered_.emit(self.currentIndex())
        else:
            super().keyPressEvent(event)


class _SearchField(QLineEdit):
    """Escape empties it; while it is empty, Escape belongs to the page."""

    def event(self, event: QEvent) -> bool:
        if self.text() and takes_escape(event):
            event.accept()
            return True
        return super().event(event)


class ConversationList(QFrame):
    """Signals: opened(int); hit_opened(int, int): conversation, and the message or -1 for its title; searched(str);
    renamed(int, str); pinned(int, bool); removed(int); exported(int); import_wanted(); new_wanted()."""

    opened = Signal(int)
    hit_opened = Signal(int, int)
    searched = Signal(str)
    renamed = Signal(int, str)
    pinned = Signal(int, bool)
    removed = Signal(int)
    exported = Signal(int)
    import_wanted = Signal()
    new_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("chats")
        set_role(self, "rail")
        self._current: int | None = None
        self._waiting: Sequence[ConversationInfo] | None = None
        self.model = ConversationModel()
        self.model.renamed.connect(self.renamed)
        self.hits = HitModel()
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(SEARCH_MS)
        self._timer.timeout.connect(lambda: self.searched.emit(self.search.text()))
        self._build()

    def set_conversations(self, items: Sequence[ConversationInfo]) -> None:
        if self.view.state() == QAbstractItemView.State.EditingState:  # a new list would take the editor away
            self._waiting = items
            return
        self._waiting = None
        self.model.set_items(items)
        self._mark()
        self._show_empty()

    def set_current(self, conversation: int | None) -> None:
        """Which one is open."""
        self._current = conversation
        self._mark()

    def set_hits(self, text: str, hits: Sequence[SearchHit]) -> None:
        """What the search for ``text`` has found; no text shows the conversations again."""
        searching = bool(text.strip())
        model = self.hits if searching else self.model
        if searching:
            self.hits.set_items(hits)
        if self.view.model() is not model:
            self.view.setModel(model)
        self._mark()
        self._show_empty()

    def focus_search(self) -> None:
        self.search.setFocus()
        self.search.selectAll()

    def _build(self) -> None:
        self.search = _SearchField()
        self.search.setObjectName("chats.search")
        self.search.setAccessibleName(self.tr("Search all conversations"))
        self.search.setPlaceholderText(self.tr("Search"))
        self.search.setToolTip(self.tr("Search all conversations  (Ctrl+K)"))
        clearable(self.search, self.tr("Clear the search"))
        self.search.textChanged.connect(lambda: self._timer.start())
        self.search.returnPressed.connect(self._open_first)
        fetch = IconButton("import", self.tr("Import conversations"), "chats.import")
        fetch.clicked.connect(self.import_wanted)
        new = IconButton("plus", self.tr("New conversation  (Ctrl+N)"), "chats.new")
        new.clicked.connect(self.new_wanted)
        head = QHBoxLayout()
        head.setSpacing(2)
        head.addWidget(self.search, 1)
        head.addWidget(fetch)
        head.addWidget(new)
        self.view = _List()
        self.view.setModel(self.model)
        delegate = ConversationDelegate(self.view)
        delegate.closeEditor.connect(lambda: QTimer.singleShot(0, self, self._take_waiting))
        self.view.setItemDelegate(delegate)
        self.view.clicked.connect(self._open)
        self.view.entered_.connect(self._open)
        self.view.removed.connect(self._remove)
        self.view.customContextMenuRequested.connect(self._show_menu)
        self._empty = QLabel()
        self._empty.setObjectName("chats.empty")
        self._empty.setWordWrap(True)
        self._empty.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        set_role(self._empty, "caption")
        layout = QVBoxLayout(self)
        layout.setContentsMargins(10, 14, 6, 8)
        layout.setSpacing(8)
        layout.addLayout(head)
        layout.addWidget(self._empty)
        layout.addWidget(self.view, 1)
        self._show_empty()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and self.search.text():
            self.search.clear()
            return
        if event.key() == Qt.Key.Key_Down and self.search.hasFocus():
            self.view.setFocus()
            if not self.view.currentIndex().isValid():
                self.view.setCurrentIndex(self._any_model().index(0, 0))
            return
        super().keyPressEvent(event)

    def _take_waiting(self) -> None:
        """The list that came while a name was being edited."""
        if self._waiting is not None:
            self.set_conversations(self._waiting)

    def _any_model(self) -> ConversationModel | HitModel:
        return self.hits if self.view.model() is self.hits else self.model

    def _open(self, index: QModelIndex) -> None:
        if self.view.model() is self.hits:
            hit = self.hits.item(index)
            if hit is not None:
                self.hit_opened.emit(hit.conversation, -1 if hit.message is None else hit.message)
            return
        item = self.model.item(index)
        if item is not None:
            self.opened.emit(item.id)

    def _open_first(self) -> None:
        """Enter in the search box: what is typed is looked for at once; a second Enter opens the first place."""
        if self._timer.isActive():
            self._timer.stop()
            self.searched.emit(self.search.text())
        elif self.view.model() is self.hits:
            self._open(self.hits.index(0, 0))

    def _remove(self, index: QModelIndex) -> None:
        item = self.model.item(index) if self.view.model() is self.model else None
        if item is not None:
            self.removed.emit(item.id)

    def _show_menu(self, point: QPoint) -> None:
        index = self.view.indexAt(point)
        item = self.model.item(index) if self.view.model() is self.model else None
        if item is None:
            return
        menu = QMenu(self)
        menu.setObjectName("chats.menu")
        entries = (
            (self.tr("Rename"), "F2", lambda: self.view.edit(index)),
            (
                self.tr("Unpin") if item.pinned else self.tr("Pin"),
                "",
                lambda: self.pinned.emit(item.id, not item.pinned),
            ),
            (self.tr("Export …"), "", lambda: self.exported.emit(item.id)),
            (self.tr("Delete"), "Del", lambda: self.removed.emit(item.id)),
        )
        for text, keys, slot in entries:
            action = QAction(text, menu)
            action.setShortcut(QKeySequence(keys))
            action.triggered.connect(slot)
            menu.addAction(action)
        menu.aboutToHide.connect(menu.deleteLater)
        menu.popup(self.view.viewport().mapToGlobal(point))

    def _mark(self) -> None:
        """Selects the open conversation without opening it again."""
        if self.view.model() is not self.model:
            return
        row = self.model.row_of(self._current)
        flags = QItemSelectionModel.SelectionFlag.ClearAndSelect
        self.view.selectionModel().setCurrentIndex(self.model.index(row, 0) if row >= 0 else QModelIndex(), flags)
        if row < 0:
            self.view.clearSelection()

    def _show_empty(self) -> None:
        none = self._any_model().rowCount() == 0
        searching = self.view.model() is self.hits
        self._empty.setText(self.tr("Nothing found.") if searching else self.tr("Conversations are kept here."))
        self._empty.setVisible(none)
