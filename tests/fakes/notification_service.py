"""A notification service on the session bus, as a process: prints each message as JSON and answers it with a click.

With ``held`` as its argument it has its name but reads nothing, until a line comes on its standard input.
"""

from __future__ import annotations

import json
import sys

from PySide6.QtCore import ClassInfo, QCoreApplication, QObject, QTimer, Slot
from PySide6.QtDBus import QDBusConnection, QDBusMessage

SERVICE = "org.freedesktop.Notifications"
PATH = "/org/freedesktop/Notifications"
TOKEN = "token-1"


def tell(what: dict[str, object]) -> None:
    sys.stdout.write(json.dumps(what) + "\n")
    sys.stdout.flush()


@ClassInfo({"D-Bus Interface": SERVICE})
class Service(QObject):
    """``Notify`` in the specification's types: a signed ``replaces_id`` is refused, as real services do."""

    def __init__(self, bus: QDBusConnection) -> None:
        super().__init__()
        self._bus = bus
        self._last = 6

    @Slot(str, "uint", str, str, str, "QStringList", "QVariantMap", int, result="uint")
    def Notify(
        self,
        name: str,
        replaces: int,
        icon: str,
        title: str,
        body: str,
        actions: list[str],
        hints: dict[str, object],
        timeout: int,
    ) -> int:
        number = replaces or self._last + 1
        self._last = number
        said = {"name": name, "replaces": replaces, "icon": icon, "title": title, "body": body, "actions": actions}
        tell({**said, "hints": hints, "timeout": timeout, "number": number})
        QTimer.singleShot(0, self, lambda: self._click(number))
        return number

    def _click(self, number: int) -> None:
        for member, arguments in (("ActivationToken", [number, TOKEN]), ("ActionInvoked", [number, "default"])):
            signal = QDBusMessage.createSignal(PATH, SERVICE, member)
            signal.setArguments(arguments)
            self._bus.send(signal)


def main() -> None:
    app = QCoreApplication([])
    bus = QDBusConnection.sessionBus()
    service = Service(bus)
    bus.registerObject(PATH, service, QDBusConnection.RegisterOption.ExportAllSlots)
    tell({"registered": bus.registerService(SERVICE)})
    if "held" in sys.argv:
        sys.stdin.readline()
    app.exec()


if __name__ == "__main__":
    main()
