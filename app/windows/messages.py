"""Messages of the desktop (freedesktop's notification service over D-Bus), or of the tray where there is none.

Shown only while no window of ours is in front. A click brings up the place that the message is about.

The service's ``Notify`` takes a ``uint32``, which Python's int does not become; the proxy's own meta-object, which Qt
makes from the service's introspection, has a method with that type, and is called with typed arguments.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import Q_ARG, Q_RETURN_ARG, SLOT, QMetaObject, QObject, Qt, Slot
from PySide6.QtDBus import QDBusConnection, QDBusInterface, QDBusMessage
from PySide6.QtGui import QGuiApplication

if TYPE_CHECKING:
    from app.windows.tray import Tray

SERVICE = "org.freedesktop.Notifications"
PATH = "/org/freedesktop/Notifications"
ANSWER_MS = 1000  # a service that is asleep is not waited for longer
SERVERS_OWN_TIME = -1
KEPT = 20  # messages whose clicks are waited for

Run = Callable[[], object]


def in_front() -> bool:
    """Whether a window of ours can be seen and has the keyboard."""
    focused = QGuiApplication.focusWindow()
    return focused is not None and focused.isVisible()


class DesktopMessages(QObject):
    """Shows messages; asks ``wanted`` each time, which is the user's setting."""

    def __init__(
        self, tray: Tray, desktop_file: str, wanted: Callable[[], bool], parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._tray = tray
        self._desktop_file = desktop_file
        self._wanted = wanted
        self._service: QDBusInterface | None = None
        self._runs: dict[int, Run] = {}
        self._topics: dict[str, int] = {}

    def show(self, topic: str, title: str, text: str, run: Run) -> bool:
        """A message, unless the user looks at us or wants none; whether it was shown.

        Args:
            topic: a new message of a topic takes the place of the one before.
            run: what a click does.
        """
        if not self._wanted() or in_front():
            return False
        number = self._notify(self._topics.get(topic, 0), title, text)
        if number:
            self._topics[topic] = number
            self._runs[number] = run
            for old in list(self._runs)[:-KEPT]:
                del self._runs[old]
            return True
        if self._tray.look():
            self._tray.message(title, text, run)
            return True
        return False

    def _notify(self, replaces: int, title: str, text: str) -> int:
        """The message's number; 0 where no service answers."""
        service = self._connected()
        if service is None:
            return 0
        number = QMetaObject.invokeMethod(
            service,
            "Notify",
            Qt.ConnectionType.DirectConnection,
            Q_RETURN_ARG("uint"),
            Q_ARG(str, "Diffusion Desk"),
            Q_ARG("uint", replaces),
            Q_ARG(str, self._desktop_file),
            Q_ARG(str, title),
            Q_ARG(str, _plain(text)),
            Q_ARG("QStringList", ["default", self.tr("Show")]),
            Q_ARG("QVariantMap", {"desktop-entry": self._desktop_file}),
            Q_ARG(int, SERVERS_OWN_TIME),
        )
        return number if isinstance(number, int) else 0

    def _connected(self) -> QDBusInterface | None:
        """The service, looked for anew while there is none."""
        if self._service is not None and self._service.isValid():
            return self._service
        bus = QDBusConnection.sessionBus()
        if not bus.isConnected():
            return None
        service = QDBusInterface(SERVICE, PATH, SERVICE, bus, self)
        if not service.isValid():
            service.deleteLater()
            return None
        service.setTimeout(ANSWER_MS)
        for member, slot in (
            ("ActionInvoked", SLOT("_on_action(QDBusMessage)")),
            ("ActivationToken", SLOT("_on_token(QDBusMessage)")),
        ):
            bus.connect(SERVICE, PATH, SERVICE, member, self, slot)  # type: ignore[call-overload] # not bytes at all
        self._service = service
        return service

    @Slot(QDBusMessage)
    def _on_action(self, message: QDBusMessage) -> None:
        number = message.arguments()[0]
        run = self._runs.pop(number, None)
        if run is not None:
            run()

    @Slot(QDBusMessage)
    def _on_token(self, message: QDBusMessage) -> None:
        """Comes before the action: with it Wayland lets us take the focus."""
        number, token = message.arguments()[:2]
        if number in self._runs:
            os.environ["XDG_ACTIVATION_TOKEN"] = token


def _plain(text: str) -> str:
    """The service reads a body as markup."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
