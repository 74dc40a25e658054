"""The icon in the desktop's tray: the engine's state at a glance, and what one wants while the window is away."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QAction, QColor, QIcon, QPainter, QPen, QPixmap
from PySide6.QtWidgets import QMenu, QSystemTrayIcon

from app.models.engine_state import EngineState, Phase
from app.theme import LIGHT
from app.widgets.icons import pixmap

EDGE = 64  # pixels
BADGE = 28


class Tray(QObject):
    """Shown while it is wanted and the desktop offers a tray.

    Signals:
        show_wanted(): the window is to come to the front.
        start_wanted(), stop_wanted(): of the engine.
        quit_wanted()
    """

    show_wanted = Signal()
    start_wanted = Signal()
    stop_wanted = Signal()
    quit_wanted = Signal()

    def __init__(self, offered: Callable[[], bool] = QSystemTrayIcon.isSystemTrayAvailable) -> None:
        """``offered``: whether the desktop has a tray; asked anew, since panels come and go."""
        super().__init__()
        self._offered = offered
        self._wanted = False
        self._icon = QSystemTrayIcon(self)
        self._icon.activated.connect(self._on_activated)
        self._icon.messageClicked.connect(self._on_message)
        self._run: Callable[[], object] | None = None
        self._menu = QMenu()
        self._menu.setObjectName("tray.menu")
        self._show = self._entry("tray.show", self.tr("Show the window"), self.show_wanted.emit)
        self._menu.addSeparator()
        self._state = self._entry("tray.state", "", None)
        self._start = self._entry("tray.start", self.tr("Start the engine"), self.start_wanted.emit)
        self._stop = self._entry("tray.stop", self.tr("Stop the engine"), self.stop_wanted.emit)
        self._menu.addSeparator()
        self._entry("tray.quit", self.tr("Quit"), self.quit_wanted.emit)
        self._icon.setContextMenu(self._menu)
        self.set_state(EngineState(), "")

    def want(self, wanted: bool) -> None:
        """Shows or takes away the icon; shown only where the desktop has a tray."""
        self._wanted = wanted
        self.look()

    def look(self) -> bool:
        """Looks for the tray anew: a panel may come after us. Whether a hidden window can be brought back from here."""
        usable = self._wanted and self._offered()
        if usable != self._icon.isVisible():
            self._icon.setVisible(usable)
        return usable

    def set_state(self, state: EngineState, words: str) -> None:
        """``words``: the state as a sentence; it is the tooltip, and a line of the menu."""
        self._icon.setIcon(QIcon(badged(state.phase)))
        self._icon.setToolTip(f"Diffusion Desk\n{words}".strip())
        self._state.setText(words.replace("&", "&&"))
        self._state.setVisible(bool(words))
        self.look()
        self._start.setEnabled(state.phase in ("stopped", "failed", "lost"))
        self._stop.setEnabled(state.phase in ("starting", "ready", "lost"))

    @property
    def tooltip(self) -> str:
        return self._icon.toolTip()

    @property
    def menu(self) -> QMenu:
        return self._menu

    def message(self, title: str, text: str, run: Callable[[], object]) -> None:
        """A message from the tray; a click on the last one runs ``run``."""
        self._run = run
        self._icon.showMessage(title, text, self._icon.icon())

    def close_down(self) -> None:
        self._icon.hide()
        self._menu.deleteLater()

    def _entry(self, name: str, text: str, run: Callable[[], object] | None) -> QAction:
        action = self._menu.addAction(text)
        action.setObjectName(name)
        if run is None:
            action.setEnabled(False)
        else:
            action.triggered.connect(lambda _checked=False: run())
        return action

    def _on_message(self) -> None:
        if self._run is not None:
            self._run()

    def _on_activated(self, reason: QSystemTrayIcon.ActivationReason) -> None:
        if reason in (QSystemTrayIcon.ActivationReason.Trigger, QSystemTrayIcon.ActivationReason.DoubleClick):
            self.show_wanted.emit()


def badged(phase: Phase) -> QPixmap:
    """The program's icon with the state in its corner: a disc, a ring or a cross, so that colour is not all it says."""
    image = pixmap("app", "#ffffff", EDGE).copy()
    if phase == "stopped":
        return image
    colors = {"ready": LIGHT.success, "failed": LIGHT.danger, "lost": LIGHT.danger}
    color = QColor(colors.get(phase, LIGHT.warning))
    painter = QPainter(image)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    corner = EDGE - BADGE
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor("#ffffff"))
    painter.drawEllipse(corner, corner, BADGE, BADGE)
    pen = QPen(color, 6)
    inner = 5
    if phase == "ready":
        painter.setBrush(color)
        painter.drawEllipse(corner + inner, corner + inner, BADGE - 2 * inner, BADGE - 2 * inner)
    elif phase in ("failed", "lost"):
        painter.setPen(pen)
        near, far = corner + 9, EDGE - 9
        painter.drawLine(near, near, far, far)
        painter.drawLine(near, far, far, near)
    else:
        painter.setPen(pen)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawEllipse(corner + 7, corner + 7, BADGE - 14, BADGE - 14)
    painter.end()
    return image
