"""The main window: navigation, banner, notices, pages, status line. It awaits nothing and knows no engine."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from PySide6.QtCore import QEvent, QPoint, QRect, QSettings, QSize, Qt, Signal
from PySide6.QtGui import QCloseEvent, QGuiApplication, QKeySequence, QPaintEvent, QResizeEvent, QShortcut
from PySide6.QtWidgets import (
    QApplication,
    QHBoxLayout,
    QLabel,
    QMainWindow,
    QSplitter,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from app.models.commands import Command
from app.models.engine_state import EngineState
from app.theme import set_role
from app.widgets.icons import app_icon
from app.widgets.reveal import reveal
from app.widgets.shell import NavRail, NoticeStack, StatusLine, ToyBanner
from app.windows.geometry import placed
from app.windows.tab_order import step

PAGES = ("chat", "decisions", "setup", "engine", "settings")
DEFAULT_SIZE = (1180, 780)
MINIMUM_SIZE = (820, 560)


class MainWindow(QMainWindow):
    """The shell around the pages.

    Signals:
        painted(): the first paint is through; emitted once.
        close_requested(): the user closed the window. It stays open until ``finish`` is called, so that the engine can
            be stopped first.
        page_changed(str)
    """

    painted = Signal()
    close_requested = Signal()
    page_changed = Signal(str)

    def __init__(self, state_file: QSettings, parent: QWidget | None = None) -> None:
        """``state_file``: where size, place, splitters and last page are kept (Wayland restores no places)."""
        super().__init__(parent)
        self.state_file = state_file
        self._painted = False
        self._may_close = False
        self._pages: dict[str, QWidget] = {}
        self.setObjectName("main")
        self.setWindowTitle("Diffusion Desk")
        self.setWindowIcon(app_icon())
        self.setMinimumSize(*MINIMUM_SIZE)
        self._build()
        for command in self.commands():
            bind(self, command)
        self._restore()

    def commands(self) -> Iterator[Command]:
        """What the window offers itself: its pages."""
        for number, (name, title) in enumerate(self.titles(), start=1):
            text = self.tr("Go to {page}").format(page=title)
            yield Command(f"window.page.{name}", text, "", (f"Ctrl+{number}",), partial(self.show_page, name))

    def titles(self) -> tuple[tuple[str, str], ...]:
        """(name, title) of each page in order."""
        return (
            ("chat", self.tr("Chat")),
            ("decisions", self.tr("Decisions")),
            ("setup", self.tr("Setup")),
            ("engine", self.tr("Engine")),
            ("settings", self.tr("Settings")),
        )

    def set_page(self, name: str, page: QWidget) -> None:
        """Puts a page in the place of its placeholder, keeping the place that is shown."""
        old = self._pages[name]
        index = self.stack.indexOf(old)
        shown = self.stack.currentIndex() == index
        self.stack.removeWidget(old)
        self.stack.insertWidget(index, page)
        old.deleteLater()
        self._pages[name] = page
        page.setObjectName(page.objectName() or f"page.{name}")
        self._restore_splitters(page)
        if shown:
            self.show_page(name)

    def page(self, name: str) -> QWidget:
        return self._pages[name]

    def show_page(self, name: str) -> None:
        page = self._pages[name]
        self.stack.setCurrentWidget(page)
        self.rail.select(name)
        page.setFocus(Qt.FocusReason.OtherFocusReason)
        self.page_changed.emit(name)

    @property
    def current_page(self) -> str:
        return PAGES[self.stack.currentIndex()]

    def set_engine_state(self, state: EngineState) -> None:
        self.status.set_state(state)
        self.banner.setVisible(state.is_toy and state.phase in ("ready", "starting", "lost"))

    def show_closing(self, text: str) -> None:
        """Replaces the page by what is being waited for."""
        self._closing.setText(text)
        self.stack.setCurrentWidget(self._closing)
        self.rail.setEnabled(False)

    def finish(self) -> None:
        """Closes for good."""
        self._may_close = True
        self.close()

    def focusNextPrevChild(self, next: bool) -> bool:
        """Tab and Shift+Tab, for every widget in the window that has no use of its own for them."""
        goal = step(self, QApplication.focusWidget(), forward=next)
        if goal is None:
            return False
        goal.setFocus(Qt.FocusReason.TabFocusReason if next else Qt.FocusReason.BacktabFocusReason)
        reveal(goal)
        return True

    def closeEvent(self, event: QCloseEvent) -> None:
        self._keep()
        if self._may_close:
            event.accept()
            return
        event.ignore()
        self.close_requested.emit()

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if not self._painted:
            self._painted = True
            self.painted.emit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.notices.limit(event.size().height())

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and hasattr(self, "status"):
            self.status.refresh()

    def _build(self) -> None:
        self.rail = NavRail(tuple((name, title, name) for name, title in self.titles()))
        self.rail.chosen.connect(self.show_page)
        self.banner = ToyBanner()
        self.banner.hide()
        self.notices = NoticeStack()
        self.status = StatusLine()
        self.stack = QStackedWidget()
        self.stack.setObjectName("pages")
        for name in PAGES:
            placeholder = _centred(self.tr("Loading …"))
            self._pages[name] = placeholder
            self.stack.addWidget(placeholder)
        self._closing = _centred("")
        self.stack.addWidget(self._closing)
        column = QVBoxLayout()
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        for widget, stretch in ((self.banner, 0), (self.notices, 0), (self.stack, 1), (self.status, 0)):
            column.addWidget(widget, stretch)
        centre = QWidget()
        row = QHBoxLayout(centre)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        row.addWidget(self.rail)
        row.addLayout(column, 1)
        self.setCentralWidget(centre)

    def _keep(self) -> None:
        """Remembers how the window stands. A maximised one keeps the size that it goes back to."""
        kept = self.state_file
        usual = self.normalGeometry() if self.isMaximized() or self.isFullScreen() else self.geometry()
        if usual.isValid():
            kept.setValue("window/size", usual.size())
            kept.setValue("window/position", usual.topLeft())
        kept.setValue("window/maximized", self.isMaximized())
        if self.stack.currentIndex() < len(PAGES):
            kept.setValue("window/page", self.current_page)
        for splitter in self.findChildren(QSplitter):
            if splitter.objectName() and any(splitter.sizes()):
                kept.setValue(f"splitters/{splitter.objectName()}", splitter.sizes())
        kept.sync()

    def _restore(self) -> None:
        size, corner = self.state_file.value("window/size"), self.state_file.value("window/position")
        kept = QRect(
            corner if isinstance(corner, QPoint) else QPoint(),
            size if isinstance(size, QSize) and size.isValid() else QSize(*DEFAULT_SIZE),
        )
        primary = QGuiApplication.primaryScreen()
        screens = sorted(QGuiApplication.screens(), key=lambda screen: screen is not primary)
        areas = [screen.availableGeometry() for screen in screens]
        place = placed(kept, areas, self.minimumSize())
        self.setGeometry(place)
        # As large as its screen there is no room for the frame.
        is_full = any(place.united(area) == place for area in areas)
        if is_full or self.state_file.value("window/maximized", False, type=bool):
            self.setWindowState(self.windowState() | Qt.WindowState.WindowMaximized)
        page = str(self.state_file.value("window/page", "chat"))
        self.show_page(page if page in PAGES else "chat")

    def _restore_splitters(self, page: QWidget) -> None:
        """The sizes alone: what a later program has changed about its splitters stays changed."""
        for splitter in page.findChildren(QSplitter):
            kept = self.state_file.value(f"splitters/{splitter.objectName()}") if splitter.objectName() else None
            sizes = [int(size) for size in kept if str(size).isdigit()] if isinstance(kept, list) else []
            if len(sizes) == splitter.count() and any(sizes):
                splitter.setSizes(sizes)


def bind(window: QWidget, command: Command) -> None:
    """Makes a command's keys work in a window, while the command can be run."""

    def run() -> None:
        if command.run is not None and command.enabled():
            command.run()

    for keys in command.keys:
        shortcut = QShortcut(QKeySequence(keys), window)
        shortcut.setWhatsThis(command.text)
        shortcut.activated.connect(run)


def _centred(text: str) -> QLabel:
    label = QLabel(text)
    label.setAlignment(Qt.AlignmentFlag.AlignCenter)
    set_role(label, "muted")
    return label
