"""Small pieces that the widgets of this page share: messages beside fields, labelled fields, empty states."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, ClassVar

from PySide6.QtCore import QEvent, QObject, QSize, Qt, Signal
from PySide6.QtGui import QFont, QFontDatabase, QKeyEvent, QKeySequence, QPainter, QPaintEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QFrame,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QLayout,
    QPlainTextEdit,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QSpinBox,
    QSplitter,
    QStyleOptionHeader,
    QVBoxLayout,
    QWidget,
)

from app.theme import set_role
from app.widgets.decisions.flow import FlowLayout
from app.widgets.icons import IconButton

SPACE = 8  # pixels between related things; twice that between groups


def named[W: QWidget](widget: W, name: str, spoken: str = "", tip: str = "") -> W:
    """Give a widget its object name (the handle of tests), its accessible name and a tool tip."""
    widget.setObjectName(name)
    if spoken:
        widget.setAccessibleName(spoken)
    if tip:
        widget.setToolTip(tip)
    return widget


def label(text: str, role: str = "", *, wrap: bool = False) -> QLabel:
    """A label with a part in the style sheet. Plain text always: what it shows may come from a table."""
    made = QLabel(text)
    made.setTextFormat(Qt.TextFormat.PlainText)
    made.setWordWrap(wrap)
    if role:
        set_role(made, role)
    if role == "mono":
        made.setFont(fixed_font())
    return made


class ElidedLabel(QLabel):
    """One line that gives way in a small window: it ends in "…" there, and the whole text is its tool tip."""

    def __init__(self, role: str = "") -> None:
        super().__init__()
        self.setTextFormat(Qt.TextFormat.PlainText)
        if role:
            set_role(self, role)

    def minimumSizeHint(self) -> QSize:
        return QSize(self.fontMetrics().horizontalAdvance("…"), super().minimumSizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setPen(self.palette().color(self.foregroundRole()))
        text = self.fontMetrics().elidedText(self.text(), Qt.TextElideMode.ElideRight, self.width())
        painter.drawText(self.rect(), Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, text)
        painter.end()


class Heads(QHeaderView):
    """The heads of a table's columns: what has no room ends in "…", and the whole name is its tool tip."""

    PADDING = 18  # pixels of a section beside its text, as the style sheet has them

    def __init__(self, name: str) -> None:
        super().__init__(Qt.Orientation.Horizontal)
        named(self, name, self.tr("Columns"))
        self.setHighlightSections(False)
        self.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)

    def initStyleOptionForIndex(self, option: QStyleOptionHeader, logical: int) -> None:
        super().initStyleOptionForIndex(option, logical)
        room = self.sectionSize(logical) - self.PADDING
        shown: Any = option  # its fields are not in the stubs
        shown.text = self.fontMetrics().elidedText(shown.text, Qt.TextElideMode.ElideRight, room)


class ScrollPane(QScrollArea):
    """Room for what may need more of it than a small window has; no stop of its own for Tab."""

    def __init__(self, content: QWidget, *, sideways: bool = False) -> None:
        """``sideways``: whether it may be narrower than its content."""
        super().__init__()
        self._content, self._sideways = content, sideways
        self.setWidgetResizable(True)
        if not sideways:
            self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setWidget(content)

    def minimumSizeHint(self) -> QSize:
        least = super().minimumSizeHint()
        if self._sideways:
            return least
        needed = self._content.minimumSizeHint().width() + self.verticalScrollBar().sizeHint().width()
        return QSize(needed + 2 * self.frameWidth(), least.height())


def button(text: str, name: str, on_click: Callable[[], object], *, role: str = "", tip: str = "") -> QPushButton:
    """A push button; its text is its accessible name."""
    made = named(QPushButton(text), name, tip=tip)
    if role:
        set_role(made, role)
    made.clicked.connect(lambda _checked=False: on_click())
    return made


def icon_button(icon: str, name: str, spoken: str, on_click: Callable[[], object]) -> IconButton:
    """A small button with an icon; ``spoken`` is its accessible name and tool tip."""
    made = IconButton(icon, spoken, name, size=16)
    made.clicked.connect(lambda _checked=False: on_click())
    return made


def bare_splitter(name: str, *widgets: QWidget, sizes: Sequence[int], vertical: bool = False) -> QSplitter:
    """Widgets beside one another with a gap that can be dragged; none of them can vanish."""
    made = QSplitter(Qt.Orientation.Vertical if vertical else Qt.Orientation.Horizontal)
    made.setObjectName(name)
    made.setChildrenCollapsible(False)
    made.setHandleWidth(16)
    set_role(made, "bare")
    for widget in widgets:
        made.addWidget(widget)
    made.setSizes(list(sizes))
    return made


def counted(count: int, one: str, many: str) -> str:
    """``1 row`` or ``7,000 rows``: the texts hold ``{n}``."""
    return (one if count == 1 else many).format(n=f"{count:,}")


def fixed_font() -> QFont:
    """The platform's fixed-pitch font; its size is left open, so that it follows the application's."""
    font = QFont()
    font.setFamilies(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont).families())
    return font


class FixedText(QPlainTextEdit):
    """A plain text in the fixed-pitch font."""

    def __init__(self, name: str, spoken: str, *, read_only: bool = False) -> None:
        super().__init__()
        named(self, name, spoken)
        self.setReadOnly(read_only)
        self.setTabChangesFocus(True)
        self.setFont(fixed_font())


class _LeaveUndo(QObject):
    """Lets undo and redo pass a text field, whose own history would else shadow the form's."""

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent):
            keys = QKeySequence.StandardKey
            if event.matches(keys.Undo) or event.matches(keys.Redo):
                event.ignore()
                return True
        return super().eventFilter(watched, event)


def form_field[W: QWidget](widget: W) -> W:
    """Mark a text field as part of the form: Ctrl+Z in it takes back the form's last edit."""
    widget.installEventFilter(_LeaveUndo(widget))
    return widget


def vbox(*items: QWidget | QLayout | int, margin: int = 0, spacing: int = SPACE) -> QVBoxLayout:
    """Items above one another; an int is a stretch of that factor."""
    made = QVBoxLayout()
    _fill(made, items, margin, spacing)
    return made


def hbox(*items: QWidget | QLayout | int, margin: int = 0, spacing: int = SPACE) -> QHBoxLayout:
    """Items beside one another; an int is a stretch of that factor."""
    made = QHBoxLayout()
    _fill(made, items, margin, spacing)
    return made


def _fill(box: QBoxLayout, items: Sequence[QWidget | QLayout | int], margin: int, spacing: int) -> None:
    box.setContentsMargins(margin, margin, margin, margin)
    box.setSpacing(spacing)
    for item in items:
        if isinstance(item, int):
            box.addStretch(item)
        elif isinstance(item, QWidget):
            box.addWidget(item)
        else:
            box.addLayout(item)


def card(layout: QLayout, name: str = "") -> QFrame:
    """A framed group."""
    frame = QFrame()
    frame.setObjectName(name)
    set_role(frame, "card")
    layout.setContentsMargins(16, 14, 16, 14)
    frame.setLayout(layout)
    return frame


def clear_layout(layout: QLayout) -> None:
    """Remove and delete every widget of a layout."""
    while layout.count():
        item = layout.takeAt(0)
        widget = item.widget() if item is not None else None
        if widget is not None:
            widget.hide()  # it lives until the event loop turns; taking its parent away would delete it at once
            widget.deleteLater()


def number_box(name: str, spoken: str, low: int, high: int, tip: str = "") -> QSpinBox:
    """A box for a whole number; it reports when the number is complete, not at every digit."""
    made = named(QSpinBox(), name, spoken, tip)
    made.setRange(low, high)
    made.setKeyboardTracking(False)
    made.setMinimumWidth(84)
    # A style sheet's padding does not reach the field inside (seen in Qt 6.12).
    made.lineEdit().setTextMargins(6, 0, 0, 0)
    return made


class FieldMessage(QLabel):
    """One line under a field: what is wrong, or that all is well; nothing when empty. A sign says it without colour."""

    SIGNS: ClassVar[dict[str, str]] = {"danger": "✕", "success": "✓"}

    def __init__(self, name: str) -> None:
        super().__init__()
        self.setObjectName(name)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setWordWrap(True)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        set_role(self, "danger")
        self.hide()

    def say(self, text: str, role: str = "danger") -> None:
        sign = self.SIGNS.get(role, "")
        set_role(self, role)
        self.setText(f"{sign} {text}".strip() if text else "")
        self.setVisible(bool(text))


class Field(QWidget):
    """A caption, the field itself and its message. The caption is the field's buddy and accessible name."""

    def __init__(self, caption: str, field: QWidget, *, hint: str = "") -> None:
        super().__init__()
        title = label(caption, "strong")
        title.setBuddy(field)
        if not field.accessibleName():
            field.setAccessibleName(caption)
        self.message = FieldMessage(f"{field.objectName()}.message")
        self.hint = label(hint, "muted", wrap=True)
        head = hbox(title, self.hint)
        head.setStretchFactor(self.hint, 1)
        self.setLayout(vbox(head, field, self.message, spacing=4))


class EmptyState(QWidget):
    """What a place without content shows: what belongs here, and the one or two clicks that fill it.

    Signals:
        chosen(str): the key of a button.
    """

    WIDTH = 460  # pixels; longer lines are hard to read
    chosen = Signal(str)

    def __init__(self, name: str, title: str, text: str, actions: Sequence[tuple[str, str]] = ()) -> None:
        """Args:
        actions: (key, text) of the buttons; the first one is the primary.
        """
        super().__init__()
        self.setObjectName(name)
        heading = label(title, "heading", wrap=True)
        self.text = label(text, "muted", wrap=True)
        words = QWidget()
        words.setLayout(vbox(heading, self.text, spacing=10))
        words.setMaximumWidth(self.WIDTH)
        for part in (heading, self.text):
            part.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        buttons = FlowLayout(spacing=SPACE, centred=True)
        for place, (key, caption) in enumerate(actions):
            made = button(caption, f"{name}.{key}", partial(self.chosen.emit, key), role="" if place else "primary")
            buttons.addWidget(made)
        middle = hbox(1, words, 1)
        middle.setStretchFactor(words, 100)  # up to its width; less in a small window
        self.setLayout(vbox(2, middle, buttons, 3, spacing=18))
