"""The main window: navigation, banner, notices, pages, status line. It awaits nothing and knows no engine."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QSettings, QSize, Qt, Signal
from PySide6.QtGui import QCloseEvent, QKeySequence, QPaintEvent, QShortcut
from PySide6.QtWidgets import QApplication, QHBoxLayout, QLabel, QMainWindow, QStackedWidget, QVBoxLayout, QWidget

from app.models.engine_state import EngineState
from app.theme import set_role
from app.widgets.icons import app_icon
from app.widgets.shell import NavRail, NoticeStack, StatusLine, ToyBanner
from app.windows.tab_order import reveal, step

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
        """``state_file``: where size and last page are kept (positions cannot be restored on Wayland)."""
        super().__init__(parent)
        self._state_file = state_file
        self._painted = False
        self._may_close = False
        self._pages: dict[str, QWidget] = {}
        self.setObjectName("main")
        self.setWindowTitle("Diffusion Desk")
        self.setWindowIcon(app_icon())
        self.setMinimumSize(*MINIMUM_SIZE)
        self._build()
        for number, name in enumerate(PAGES, start=1):
            shortcut = QShortcut(QKeySequence(f"Ctrl+{number}"), self)
            shortcut.activated.connect(lambda page=name: self.show_page(page))
        self._restore()

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
        self._state_file.setValue("window/size", self.size())
        self._state_file.setValue("window/maximized", self.isMaximized())
        if self.stack.currentIndex() < len(PAGES):
            self._state_file.setValue("window/page", self.current_page)
        self._state_file.sync()
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

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and hasattr(self, "status"):
            self.status.refresh()

    def _build(self) -> None:
        entries = (
            ("chat", self.tr("Chat"), "chat"),
            ("decisions", self.tr("Decisions"), "decisions"),
            ("setup", self.tr("Setup"), "setup"),
            ("engine", self.tr("Engine"), "engine"),
            ("settings", self.tr("Settings"), "settings"),
        )
        self.rail = NavRail(entries)
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

    def _restore(self) -> None:
        size = self._state_file.value("window/size")
        self.resize(size if isinstance(size, QSize) else QSize(*DEFAULT_SIZE))
        if self._state_file.value("window/maximized", False, type=bool):
            self.setWindowState(self.windowState() | Qt.WindowState.WindowMaximized)
        page = str(self._state_file.value("window/page", "chat"))
        self.show_page(page if page in PAGES else "chat")


def _centred(text: str) -> QLabel:
    label = QLabel(text)
    label.setAlignment(Qt.AlignmentFlag.AlignCenter)
    set_role(label, "muted")
    return label
