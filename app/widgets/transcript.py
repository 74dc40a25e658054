"""The conversation: one widget per message in a scroll area that follows the end unless the reader has scrolled up.

Only the newest hundred messages are built, the last of them at once and the rest while nothing else is to do; older
ones come with "earlier".
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QCoreApplication, QEvent, Qt, QTimer, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from app.theme import set_role
from app.widgets.icons import ThemedButton
from app.widgets.message import MessageView
from engine.domain.conversation import StoredMessage

SHOWN = 100  # messages built at a time
AT_ONCE = 8  # messages built before the first paint, at most, and in each further step
HEAD_LINES, LINE_LETTERS, PICTURE_LINES = 2, 100, 7  # of a message's height, about
COLUMN_WIDTH = 780  # pixels; longer lines are hard to read
NEAR_END = 40  # pixels from the end that still count as reading along


class Transcript(QScrollArea):
    """Signals, with the number of the message: retry(int), go_on(int), edited(int, str), moved(int, int), uncut(int);
    earlier(int): what stands above this message is wanted; newest(): the end of the conversation; link_clicked(str);
    picture_wanted(PictureTile), pictures_opened(tuple, int): see ``PictureRow``."""

    link_clicked = Signal(str)
    retry = Signal(int)
    go_on = Signal(int)
    edited = Signal(int, str)
    moved = Signal(int, int)
    uncut = Signal(int)
    earlier = Signal(int)
    newest = Signal()
    picture_wanted = Signal(object)
    pictures_opened = Signal(object, int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("transcript")
        self.setAccessibleName(self.tr("Conversation"))
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        # Always there, though invisible while there is nothing to scroll: the column must not jump.
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOn)
        self._views: list[MessageView] = []
        self._unbuilt: list[StoredMessage] = []  # above the views, oldest first; built while nothing else is to do
        self._find = ""
        self._goal: tuple[MessageView, int] | None = None  # the hit that is being looked at
        self._follow = True
        self._hold: int | None = None  # pixels from the end that stay where they are while messages come in above
        self._builder = QTimer(self)
        self._builder.setInterval(0)
        self._builder.timeout.connect(self._build_some)
        self._more = ThemedButton(self.tr("Earlier messages"), "transcript.earlier", icon_name="up", role="quiet")
        self._more.clicked.connect(self._want_earlier)
        self._more.hide()
        self._later = ThemedButton(
            self.tr("To the newest message"), "transcript.newest", icon_name="down", role="quiet"
        )
        self._later.clicked.connect(self.newest)
        self._later.hide()
        self._build()
        bar = self.verticalScrollBar()
        bar.valueChanged.connect(self._on_scrolled)
        bar.rangeChanged.connect(self._on_range)
        bar.actionTriggered.connect(self._forget_goal)

    @property
    def messages(self) -> list[MessageView]:
        """The views that are built, oldest first."""
        return list(self._views)

    def view(self, message: int) -> MessageView | None:
        """The view of a message by its number."""
        return next((view for view in self._views if view.message is not None and view.message.id == message), None)

    def show_messages(self, messages: Sequence[StoredMessage], *, has_later: bool = False) -> None:
        """Shows these messages and no others; views of messages that stay are kept."""
        self._stop_building()
        kept = 0
        for view, message in zip(self._views, messages, strict=False):
            if view.message is None or view.message.id != message.id:
                break
            kept += 1
        self._goal = None
        for view in self._views[kept:]:
            _discard(view)
        del self._views[kept:]
        for view, message in zip(self._views, messages, strict=False):
            if view.message != message:
                view.set_message(message)
        added = messages[kept:]
        now = len(added) if kept else self._screenful(added)
        for message in added[len(added) - now :]:
            self._insert(len(self._views), message)
        self._unbuilt = list(added[: len(added) - now])
        self._later.setVisible(has_later)
        self._follow = not has_later
        self._hold = None
        self._go_on_building()

    def append(self, messages: Sequence[StoredMessage]) -> None:
        """Adds messages at the end and scrolls to them; the oldest views give way to them."""
        self._goal = None
        for view in self._views:
            view.hide_retry()
        for message in messages:
            self._insert(len(self._views), message)
        while len(self._views) > SHOWN:
            _discard(self._views.pop(0))
        room = SHOWN - len(self._views)
        self._unbuilt = self._unbuilt[-room:] if room else []
        self._show_more()
        self._follow = True
        self._hold = None

    def prepend(self, messages: Sequence[StoredMessage]) -> None:
        """Adds messages above, without moving what is being read."""
        self._unbuilt = [*messages, *self._unbuilt]
        self._follow = False
        bar = self.verticalScrollBar()
        self._hold = bar.maximum() - bar.value()
        self._go_on_building()

    def update_message(self, message: StoredMessage) -> None:
        """Shows what has become of a message, if it is built."""
        view = self.view(message.id)
        if view is not None:
            view.set_message(message)

    def scroll_to(self, message: int) -> None:
        """Brings a message into view; whatever stands above it is built first."""
        while self._unbuilt:
            self._build_some()
        view = self.view(message)
        if view is not None:
            self._reveal(view)

    def _lay_out(self) -> None:
        """At once and from the outside in: level by level, as posted events do it, there are two pictures for one."""
        if self.isVisible():
            for widget in self._sheets:
                widget.updateGeometry()
            QCoreApplication.sendEvent(self, QEvent(QEvent.Type.LayoutRequest))

    def _screenful(self, messages: Sequence[StoredMessage]) -> int:
        """How many of the newest messages fill the first picture, at most ``AT_ONCE``."""
        room = self.viewport().height() / max(self.fontMetrics().lineSpacing(), 1)
        for count, message in enumerate(reversed(messages[-AT_ONCE:]), 1):
            room -= HEAD_LINES + (PICTURE_LINES if message.pictures else 0)
            room -= sum(1 + len(line) // LINE_LETTERS for line in message.text.split("\n"))
            if room < 0:
                return count
        return min(len(messages), AT_ONCE)

    def _reveal(self, view: MessageView) -> None:
        self._follow = False
        # Once the layout has come to rest.
        QTimer.singleShot(0, view, lambda: self.ensureWidgetVisible(view, 0, self.viewport().height() // 3))

    def mark_words(self, words: str) -> None:
        """Marks words in every message, also in those that are built later; none takes the marks away."""
        self._find = words
        self._goal = None
        for view in self._views:
            view.mark_words(words)

    def holds(self, message: int) -> bool:
        """Whether the message is built or about to be."""
        return self.view(message) is not None or any(each.id == message for each in self._unbuilt)

    def show_hit(self, message: int, number: int) -> None:
        """Brings a hit of a message into view, 0-based in the message, and marks it more strongly."""
        self.build_all()
        self._follow = False
        self._hold = None
        for view in self._views:
            view.mark_words(self._find)
        found = self.view(message)
        if found is not None:
            self._goal = (found, number)
            QTimer.singleShot(0, found, self._show_goal)

    def _show_goal(self) -> None:
        """Again whenever the height changes, until the layout has come to rest or the reader scrolls."""
        if self._goal is None:
            return
        view, number = self._goal
        rect = view.mark_words(self._find, number)
        if rect is None:  # it stands in what is not seen, for instance in the target of a link
            self.ensureWidgetVisible(view, 0, 0)
            return
        point = view.mapTo(self._sheets[1], rect.center())
        self.ensureVisible(point.x(), point.y(), 0, self.viewport().height() // 3)

    def clear(self) -> None:
        self.show_messages(())

    def build_all(self) -> None:
        """Builds what is left to build, now."""
        while self._unbuilt:
            self._build_some()

    def _insert(self, place: int, message: StoredMessage) -> None:
        view = MessageView.of(message)
        view.link_clicked.connect(self.link_clicked)
        view.picture_wanted.connect(self.picture_wanted)
        view.pictures_opened.connect(self.pictures_opened)
        view.resized.connect(self._lay_out)
        self._connect(view, message.id)
        if self._find:
            view.mark_words(self._find)
        self._views.insert(place, view)
        self._column.insertWidget(place + 1, view)  # the button for earlier ones is the first

    def _connect(self, view: MessageView, number: int) -> None:
        view.retry.connect(lambda: self.retry.emit(number))
        view.go_on.connect(lambda: self.go_on.emit(number))
        view.edited.connect(lambda text: self.edited.emit(number, text))
        view.moved.connect(lambda by: self.moved.emit(number, by))
        view.editing.connect(lambda: self._reveal(view))
        view.uncut.connect(lambda: self.uncut.emit(number))

    def _go_on_building(self) -> None:
        if self._unbuilt:
            self._builder.start()
        self._show_more()

    def _stop_building(self) -> None:
        self._builder.stop()
        self._unbuilt = []

    def _build_some(self) -> None:
        for _ in range(min(AT_ONCE, len(self._unbuilt))):
            self._insert(0, self._unbuilt.pop())
        if not self._unbuilt:
            self._builder.stop()
        self._show_more()

    def _show_more(self) -> None:
        first = self._views[0].message if self._views else None
        self._more.setVisible(not self._unbuilt and first is not None and first.parent is not None)

    def _want_earlier(self) -> None:
        first = self._views[0].message if self._views else None
        if first is not None and not self._unbuilt:
            self.earlier.emit(first.id)

    def _build(self) -> None:
        column = QWidget()
        column.setMaximumWidth(COLUMN_WIDTH)
        self._column = QVBoxLayout(column)
        self._column.setContentsMargins(24, 16, 24, 16)
        self._column.setSpacing(14)
        self._column.addWidget(self._more, 0, Qt.AlignmentFlag.AlignHCenter)
        self._column.addWidget(self._later, 0, Qt.AlignmentFlag.AlignHCenter)
        self._column.addStretch(1)
        outer = QWidget()
        set_role(outer, "page")
        row = QHBoxLayout(outer)
        row.setContentsMargins(0, 0, 0, 0)
        row.addStretch(1)
        row.addWidget(column, 1000)  # fills the width up to its maximum, then stays in the middle
        row.addStretch(1)
        self.setWidget(outer)
        self._sheets = (column, outer)

    def _on_scrolled(self, value: int) -> None:
        bar = self.verticalScrollBar()
        self._follow = value >= bar.maximum() - NEAR_END and not self._later.isVisible()
        if self._hold is not None:
            self._hold = bar.maximum() - value

    def _on_range(self, _low: int, high: int) -> None:
        if self._goal is not None:
            self._show_goal()
        elif self._follow:
            self.verticalScrollBar().setValue(high)
        elif self._hold is not None:
            hold = self._hold
            self.verticalScrollBar().setValue(high - hold)
            self._hold = hold if self._unbuilt else None

    def _forget_goal(self) -> None:
        self._goal = None


def _discard(view: MessageView) -> None:
    view.hide()
    view.deleteLater()
