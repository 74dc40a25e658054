"""A connection to the session bus (D-Bus) on the event loop: no call holds the window, whoever does not answer.

QtDBus cannot do this from Python: an asynchronous call takes its arguments as Python's, which never become the
``uint32`` that a notification needs, and a call through a proxy waits with the interpreter's lock held, so that not
even another thread helps (seen with PySide6 6.12: 25 s for a service that hangs).
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any
from urllib.parse import unquote

from jeepney import DBusAddress, HeaderFields, Message, MessageType, new_method_call
from jeepney.auth import BEGIN, Authenticator
from jeepney.io.asyncio import DBusConnection
from PySide6.QtCore import QObject

from app.tasks import cancel_all, spawn

log = logging.getLogger(__name__)

BUS = DBusAddress("/org/freedesktop/DBus", "org.freedesktop.DBus", "org.freedesktop.DBus")
ANSWER_S = 5.0  # a service that has to be started first needs a moment


class BusFault(Exception):
    """The bus or the service refused, did not answer in time, or went away."""


class SessionBus(QObject):
    """One connection, made with the first call and again when it has broken.

    Args:
        on_signal: gets every signal that ``listen`` asked for.
        answer_s: seconds that an answer is waited for.
    """

    def __init__(self, on_signal: Callable[[Message], None], answer_s: float, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._on_signal = on_signal
        self._answer_s = answer_s
        self._connection: DBusConnection | None = None
        self._waiting: dict[int, asyncio.Future[tuple[Any, ...]]] = {}
        self._serial = 0
        self._rules: list[str] = []
        self._making = asyncio.Lock()

    async def listen(self, rule: str) -> None:
        """Asks for the signals of a match rule, also after a connection has broken.

        Raises:
            BusFault: see there.
        """
        if rule not in self._rules:
            await self.call(BUS, "AddMatch", "s", [rule])
            self._rules.append(rule)

    async def call(self, target: DBusAddress, method: str, signature: str, arguments: Sequence[Any]) -> tuple[Any, ...]:
        """A method call; what it gives back. A variant among the arguments is a pair (signature, value).

        Raises:
            BusFault: see there.
        """
        try:
            async with asyncio.timeout(self._answer_s):
                async with self._making:
                    if self._connection is None:
                        await self._connect()
                return await self._answered(target, method, signature, arguments)
        except TimeoutError as error:
            raise BusFault(f"{target.bus_name} does not answer") from error
        except (OSError, EOFError, ValueError) as error:
            raise BusFault(str(error)) from error

    async def close(self) -> None:
        """May be called twice."""
        await cancel_all(self)
        self._lose()

    async def _connect(self) -> None:
        path = socket_path(os.environ)
        if path is None:
            raise BusFault("there is no session bus")
        reader, writer = await asyncio.open_unix_connection(path)
        connection = self._connection = DBusConnection(reader, writer)
        try:
            await _let_in(reader, writer)
            reading = self._read(connection)
            spawn(self, reading, "session bus", lambda error: log.warning("session bus: %s", error))
            await self._answered(BUS, "Hello", "", [])
            for rule in self._rules:
                await self._answered(BUS, "AddMatch", "s", [rule])
        except BaseException:
            self._lose()
            raise

    async def _answered(
        self, target: DBusAddress, method: str, signature: str, arguments: Sequence[Any]
    ) -> tuple[Any, ...]:
        if self._connection is None:
            raise BusFault("the session bus has gone")
        self._serial += 1
        serial = self._serial
        answer: asyncio.Future[tuple[Any, ...]] = asyncio.get_running_loop().create_future()
        self._waiting[serial] = answer
        try:
            call = new_method_call(target, method, signature or None, tuple(arguments))
            await self._connection.send(call, serial=serial)
            return await answer
        finally:
            self._waiting.pop(serial, None)

    async def _read(self, connection: DBusConnection) -> None:
        try:
            with suppress(OSError, EOFError):
                while True:
                    self._take(await connection.receive())
        finally:
            if self._connection is connection:
                self._lose()

    def _take(self, message: Message) -> None:
        kind, fields = message.header.message_type, message.header.fields
        answer = self._waiting.get(fields.get(HeaderFields.reply_serial, 0))
        if kind is MessageType.signal:
            self._on_signal(message)
        elif answer is None or answer.done():
            return  # it came too late
        elif kind is MessageType.method_return:
            answer.set_result(message.body)
        elif kind is MessageType.error:
            answer.set_exception(BusFault(" ".join(map(str, message.body))))

    def _lose(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.writer.close()
        for answer in self._waiting.values():
            if not answer.done():
                answer.set_exception(BusFault("the session bus has gone"))


async def _let_in(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Says who we are."""
    talk = Authenticator()
    for line in talk:
        writer.write(line)
        talk.feed(await reader.readuntil(b"\r\n"))
    writer.write(BEGIN)


def socket_path(environment: Mapping[str, str]) -> str | None:
    """Where the session bus listens; None where there is none, or not on a Unix socket.

    https://dbus.freedesktop.org/doc/dbus-specification.html#addresses
    """
    for address in environment.get("DBUS_SESSION_BUS_ADDRESS", "").split(";"):
        transport, _, rest = address.partition(":")
        values = dict(part.partition("=")[::2] for part in rest.split(","))
        if transport == "unix" and "path" in values:
            return unquote(values["path"])
        if transport == "unix" and "abstract" in values:
            return "\0" + unquote(values["abstract"])
    folder = environment.get("XDG_RUNTIME_DIR")
    if not environment.get("DBUS_SESSION_BUS_ADDRESS") and folder and os.path.exists(f"{folder}/bus"):
        return f"{folder}/bus"
    return None
