"""Messages of the desktop (freedesktop's notification service over D-Bus), or of the tray where there is none.

Shown only while no window of ours is in front. A click brings up the place that the message is about. The service is
never waited for by the window.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from jeepney import DBusAddress, HeaderFields, Message
from PySide6.QtCore import QObject
from PySide6.QtGui import QGuiApplication

from app.tasks import cancel_all, spawn
from app.windows.bus import ANSWER_S, BusFault, SessionBus

if TYPE_CHECKING:
    from app.windows.tray import Tray

SERVICE = "org.freedesktop.Notifications"
PATH = "/org/freedesktop/Notifications"
NOTIFICATIONS = DBusAddress(PATH, SERVICE, SERVICE)
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
        self,
        tray: Tray,
        desktop_file: str,
        wanted: Callable[[], bool],
        parent: QObject | None = None,
        *,
        answer_s: float = ANSWER_S,
    ) -> None:
        """``answer_s``: seconds after which a service that does not answer is taken for none."""
        super().__init__(parent)
        self._tray = tray
        self._desktop_file = desktop_file
        self._wanted = wanted
        self._bus = SessionBus(self._on_signal, answer_s, self)
        self._in_turn = asyncio.Lock()  # the next message of a topic needs the number of the one before
        self._runs: dict[int, Run] = {}
        self._topics: dict[str, int] = {}
        self._early: list[Message] = []  # signals that overtook the number of their message

    def show(self, topic: str, title: str, text: str, run: Run) -> bool:
        """A message, unless the user looks at us or wants none; whether it is one.

        Args:
            topic: a new message of a topic takes the place of the one before.
            run: what a click does.
        """
        if not self._wanted() or in_front():
            return False
        spawn(self, self.shown(topic, title, text, run), "desktop message")
        return True

    async def shown(self, topic: str, title: str, text: str, run: Run) -> bool:
        """Shows a message by the service or by the tray; whether one of them took it."""
        async with self._in_turn:
            self._early.clear()
            number = await self._notify(self._topics.get(topic, 0), title, text)
            if number:
                self._topics[topic] = number
                self._runs[number] = run
                for old in list(self._runs)[:-KEPT]:
                    del self._runs[old]
        if number:
            early, self._early = self._early, []
            for message in early:
                self._on_signal(message)
            return True
        if self._tray.look():
            self._tray.message(title, text, run)
            return True
        return False

    async def close_down(self) -> None:
        await cancel_all(self)
        await self._bus.close()

    async def _notify(self, replaces: int, title: str, text: str) -> int:
        """The message's number; 0 where no service answers."""
        name, icon = "Diffusion Desk", self._desktop_file
        actions = ["default", self.tr("Show")]
        hints = {"desktop-entry": ("s", self._desktop_file)}
        values = [name, replaces, icon, _sendable(title), _plain(_sendable(text)), actions, hints, SERVERS_OWN_TIME]
        try:
            await self._bus.listen(f"type='signal',sender='{SERVICE}',interface='{SERVICE}',path='{PATH}'")
            (number,) = await self._bus.call(NOTIFICATIONS, "Notify", "susssasa{sv}i", values)
        except (BusFault, ValueError):  # ValueError: an answer of another shape
            return 0
        return number if isinstance(number, int) else 0

    def _on_signal(self, message: Message) -> None:
        number, fields = message.body[0] if message.body else 0, message.header.fields
        member = fields.get(HeaderFields.member)
        if fields.get(HeaderFields.interface) != SERVICE:
            return
        if number not in self._runs:
            if self._in_turn.locked():
                self._early.append(message)
        elif member == "ActivationToken" and len(message.body) > 1:
            os.environ["XDG_ACTIVATION_TOKEN"] = str(message.body[1])  # before the action: lets us take the focus
        elif member == "ActionInvoked":
            self._runs.pop(number)()


def _sendable(text: str) -> str:
    """What the bus takes: no zero byte, no half of a surrogate pair."""
    return text.replace("\0", "").encode(errors="replace").decode()


def _plain(text: str) -> str:
    """The service reads a body as markup."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
