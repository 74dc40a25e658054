"""The parts around the pages: navigation rail, toy banner, notices, status line."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QGuiApplication, QResizeEvent
from PySide6.QtWidgets import (
    QButtonGroup,
    QFrame,
    QHBoxLayout,
    QLabel,
    QScrollArea,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from app.models.engine_state import EngineState
from app.models.notice import Notice, as_sentence
from app.theme import current_tokens, set_role
from app.widgets.icons import IconButton, ThemedButton, ThemedIcon, pixmap

MAX_NOTICES = 20  # kept; the newest is shown, the others on request
RAIL_WIDTH = 196  # pixels
NOTICE_SHARE = 0.3  # of the window's height, at most; more is scrolled
INFO_SHOWN_MS = 6000  # infos leave by themselves; warnings and errors stay until closed


class NavRail(QFrame):
    """The pages, top down. Signals: chosen(str): a page's name."""

    chosen = Signal(str)

    def __init__(self, entries: tuple[tuple[str, str, str], ...], parent: QWidget | None = None) -> None:
        """``entries``: (page name, label, icon name) in order; the n-th is reached with Ctrl+n."""
        super().__init__(parent)
        set_role(self, "rail")
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Preferred)
        self._buttons: dict[str, ThemedButton] = {}
        self._group = QButtonGroup(self)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(12, 16, 12, 12)
        layout.setSpacing(4)
        layout.addLayout(self._brand())
        layout.addSpacing(14)
        for number, (name, label, icon_name) in enumerate(entries, start=1):
            button = ThemedButton(label, f"nav.{name}", icon_name=icon_name, role="nav")
            button.setCheckable(True)
            button.setToolTip(f"{label}  (Ctrl+{number})")
            button.clicked.connect(lambda _checked=False, page=name: self.chosen.emit(page))
            self._group.addButton(button)
            self._buttons[name] = button
            layout.addWidget(button)
        layout.addStretch(1)

    def sizeHint(self) -> QSize:
        """Wider only for larger text."""
        hint = super().sizeHint()
        return QSize(max(hint.width(), RAIL_WIDTH), hint.height())

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def select(self, name: str) -> None:
        self._buttons[name].setChecked(True)

    def _brand(self) -> QHBoxLayout:
        mark = QLabel()
        mark.setPixmap(pixmap("app", "#ffffff", 28))
        words = QLabel("Diffusion Desk")
        set_role(words, "strong")
        row = QHBoxLayout()
        row.setContentsMargins(4, 0, 0, 0)
        row.setSpacing(8)
        row.addWidget(mark)
        row.addWidget(words, 1)
        return row


class ToyBanner(QFrame):
    """Says that the answers come from the bundled toy. Shown whenever it answers."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        set_role(self, "banner")
        self.setObjectName("banner.toy")
        text = self.tr(
            "Toy model: a few million parameters on the CPU, not DiffusionGemma 26B. It shows how things work; "
            "do not trust its answers."
        )
        label = QLabel(text)
        label.setWordWrap(True)
        self.setAccessibleName(text)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(16, 7, 16, 7)
        layout.setSpacing(8)
        layout.addWidget(ThemedIcon("warning", "warning"))
        layout.addWidget(label, 1)


class NoticeCard(QFrame):
    """One notice with its remedy, a close button and, for faults of ours, a button that copies the details.

    Signals: dismissed(NoticeCard): by the user or, for an info, by time.
    """

    dismissed = Signal(object)

    def __init__(self, notice: Notice, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        set_role(self, f"notice-{notice.level}")
        self.setObjectName("notice")
        self.setAccessibleName(f"{notice.text} {notice.remedy}".strip())
        self.notice = notice
        colors = {"info": "accent", "success": "success", "warning": "warning", "error": "danger"}
        mark = ThemedIcon(notice.level, colors[notice.level])
        layout = QHBoxLayout(self)
        layout.setContentsMargins(12, 8, 8, 8)
        layout.setSpacing(10)
        layout.addWidget(mark, 0, Qt.AlignmentFlag.AlignTop)
        layout.addLayout(self._words(notice), 1)
        if notice.run is not None:
            act = ThemedButton(notice.action, "notice.action", icon_name="refresh")
            act.clicked.connect(notice.run)
            act.clicked.connect(lambda: self.dismissed.emit(self))
            layout.addWidget(act, 0, Qt.AlignmentFlag.AlignTop)
        if notice.details:
            copy = ThemedButton(self.tr("Copy details"), "notice.copy", icon_name="copy", role="quiet")
            copy.clicked.connect(lambda: QGuiApplication.clipboard().setText(notice.details))
            layout.addWidget(copy, 0, Qt.AlignmentFlag.AlignTop)
        close = IconButton("close", self.tr("Dismiss"), "notice.close", size=16)
        close.clicked.connect(lambda: self.dismissed.emit(self))
        layout.addWidget(close, 0, Qt.AlignmentFlag.AlignTop)
        if notice.level in ("info", "success"):
            QTimer.singleShot(INFO_SHOWN_MS, self, lambda: self.dismissed.emit(self))

    def _words(self, notice: Notice) -> QVBoxLayout:
        column = QVBoxLayout()
        column.setSpacing(2)
        for text, role in ((notice.text, "strong" if notice.remedy else ""), (notice.remedy, "")):
            if not text:
                continue
            label = QLabel(as_sentence(text))
            label.setTextFormat(Qt.TextFormat.PlainText)
            label.setWordWrap(True)
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            set_role(label, role)
            column.addWidget(label)
        return column


class NoticeScroll(QScrollArea):
    """Cards above one another, as high as they are wide enough for, up to a limit; beyond it they are scrolled."""

    def __init__(self) -> None:
        super().__init__()
        self.setWidgetResizable(True)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._most = 0
        content = QWidget()
        self.cards = QVBoxLayout(content)
        self.cards.setContentsMargins(0, 0, 0, 0)
        self.cards.setSpacing(6)
        self.setWidget(content)

    def limit(self, most: int) -> None:
        """``most``: pixels that it may be high."""
        self._most = most
        self.fit()

    def fit(self) -> None:
        """As high as the cards that are shown, or as it may be."""
        frame = 2 * self.frameWidth()
        wanted = self.cards.totalHeightForWidth(self.width() - frame) + frame
        self.setFixedHeight(min(wanted, self._most) if self._most else wanted)

    def minimumSizeHint(self) -> QSize:
        needed = self.cards.minimumSize().width() + self.verticalScrollBar().sizeHint().width()
        return QSize(needed + 2 * self.frameWidth(), self.height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self.fit()

    def event(self, event: QEvent) -> bool:
        done = super().event(event)
        if event.type() == QEvent.Type.LayoutRequest:  # a card has come, gone, or has other words
            self.fit()
        return done


class NoticeStack(QWidget):
    """The newest notice, and how many older ones there are; they unfold below it. The oldest gives way."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("notices")
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        self._layout = QVBoxLayout(self)
        self._layout.setSpacing(6)
        self._scroll = NoticeScroll()
        self._layout.addWidget(self._scroll)
        self._cards: list[NoticeCard] = []  # the newest first
        self._more = ThemedButton("", "notices.more", role="quiet")
        self._more.setCheckable(True)
        self._more.toggled.connect(lambda _on: self._arrange())
        self._layout.addWidget(self._more, 0, Qt.AlignmentFlag.AlignRight)
        self._arrange()

    def show_notice(self, notice: Notice) -> None:
        """Adds a notice; an equal one that is still there is not repeated."""
        if any(card.notice == notice for card in self._cards):
            return
        card = NoticeCard(notice)
        card.dismissed.connect(self._dismiss)
        self._cards.insert(0, card)
        self._scroll.cards.insertWidget(0, card)
        for old in self._cards[MAX_NOTICES:]:
            self._dismiss(old)
        self._arrange()

    def limit(self, height: int) -> None:
        """``height``: of the window in pixels. Notices take their share of it, and leave the rest to the page."""
        self._scroll.limit(round(NOTICE_SHARE * height))

    def withdraw(self, topic: str) -> None:
        """Takes away the notices of a topic."""
        for card in [card for card in self._cards if card.notice.topic == topic]:
            self._dismiss(card)

    def notices(self) -> list[Notice]:
        """All that are there, also those that are folded; the newest first."""
        return [card.notice for card in self._cards]

    def _dismiss(self, card: NoticeCard) -> None:
        if card in self._cards:
            self._cards.remove(card)
            card.hide()
            card.deleteLater()
            self._arrange()

    def _arrange(self) -> None:
        hidden = len(self._cards) - 1
        if hidden < 1 and self._more.isChecked():
            self._more.setChecked(False)  # comes back here
            return
        for place, card in enumerate(self._cards):
            card.setVisible(place == 0 or self._more.isChecked())
        self._scroll.setVisible(bool(self._cards))
        self._more.setVisible(hidden > 0)
        text = self.tr("Show only the newest") if self._more.isChecked() else self.tr("{n} more").format(n=hidden)
        self._more.setText(text)
        self._more.setAccessibleName(text)
        self._layout.setContentsMargins(16, 10 if self._cards else 0, 16, 2 if self._cards else 0)


class StatusLine(QFrame):
    """One line at the bottom: the engine's state in words, with a coloured dot that only repeats the words."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        set_role(self, "bar")
        self.setObjectName("status")
        self._dot = QLabel("●")
        self._text = QLabel()
        self._text.setObjectName("status.engine")
        self._text.setTextFormat(Qt.TextFormat.PlainText)
        self._text.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self._right = QLabel()
        for label in (self._text, self._right):
            set_role(label, "caption")
        layout = QHBoxLayout(self)
        layout.setContentsMargins(16, 5, 16, 5)
        layout.setSpacing(8)
        layout.addWidget(self._dot)
        layout.addWidget(self._text, 1)
        layout.addWidget(self._right)
        self._state = EngineState()
        self._text.setText(self.tr("Loading …"))  # nothing is known about the engine yet
        self.refresh()

    def set_state(self, state: EngineState) -> None:
        self._state = state
        self._text.setText(self.describe(state).replace("\n", " "))
        self._text.setToolTip(self._text.text())
        self._text.setAccessibleName(self._text.text())
        self.refresh()

    def set_right(self, text: str) -> None:
        self._right.setText(text)

    def refresh(self) -> None:
        """Colours the dot in the current theme."""
        tokens = current_tokens()
        colors = {
            "ready": tokens.success,
            "starting": tokens.warning,
            "stopping": tokens.warning,
            "failed": tokens.danger,
            "lost": tokens.danger,
        }
        self._dot.setStyleSheet(f"color: {colors.get(self._state.phase, tokens.muted)};")

    def describe(self, state: EngineState) -> str:
        """The state as one sentence."""
        name = self.tr("Toy engine") if state.kind == "embedded" else self.tr("Engine")
        match state.phase:
            case "ready":
                return self.tr("{name} ready · {model} · {url}").format(name=name, model=state.model, url=state.url)
            case "starting":
                return self.tr("{name} is starting …").format(name=name)
            case "stopping":
                return self.tr("{name} is stopping …").format(name=name)
            case "failed":
                return self.tr("{name} did not start: {why}").format(name=name, why=state.message)
            case "lost":
                return self.tr("{name} does not answer any more: {why}").format(name=name, why=state.message)
            case _:
                return self.tr("{name} is stopped").format(name=name)
