"""One window per data folder: a lock file, and a socket by which a second start raises the first window.

What a second start says is one line of JSON: ``{"version": 1, "files": [absolute paths], "token": activation token}``.
"""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QLockFile, QObject, Signal
from PySide6.QtNetwork import QLocalServer, QLocalSocket

CONNECT_MS = 1000
VERSION = 1
MOST_BYTES = 1_000_000  # of a line; who sends more is not one of us
TOKENS = ("XDG_ACTIVATION_TOKEN", "DESKTOP_STARTUP_ID")  # Wayland, X: what the desktop lets us take the focus by


class SingleInstance(QObject):
    """Signals: raise_requested(str, list[str]): another start asks for the window: its activation token, its files."""

    raise_requested = Signal(str, list)

    def __init__(self, folder: Path, parent: QObject | None = None) -> None:
        """``folder``: holds lock and socket; short, since a Unix socket's path holds 107 bytes at most."""
        super().__init__(parent)
        self._lock = QLockFile(str(folder / "window.lock"))
        self._lock.setStaleLockTime(0)  # stale only when its process is gone, never by age
        self._address = str(folder / "window.sock")
        self._server: QLocalServer | None = None

    def acquire(self) -> bool:
        """Whether we are the first; if so, we listen for later starts.

        Raises:
            PermissionError: the folder cannot be written.
        """
        if not self._lock.tryLock(0):
            if self._lock.error() == QLockFile.LockError.PermissionError:
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), self._lock.fileName())
            return False
        QLocalServer.removeServer(self._address)
        server = QLocalServer(self)
        server.setSocketOptions(QLocalServer.SocketOption.UserAccessOption)
        server.newConnection.connect(self._on_connection)
        if server.listen(self._address):
            self._server = server
        return True

    def raise_other(self, files: Sequence[str] = ()) -> bool:
        """Asks the running window to come to the front and to open files; whether it heard us."""
        socket = QLocalSocket()
        socket.connectToServer(self._address)
        if not socket.waitForConnected(CONNECT_MS):
            return False
        token = next((found for name in TOKENS if (found := os.environ.get(name))), "")
        said = {"version": VERSION, "files": [os.path.abspath(name) for name in files], "token": token}
        socket.write(json.dumps(said).encode() + b"\n")
        heard = socket.waitForBytesWritten(CONNECT_MS)
        socket.disconnectFromServer()
        return heard

    def release(self) -> None:
        if self._server is not None:
            self._server.close()
            self._server = None
        self._lock.unlock()

    def _on_connection(self) -> None:
        while self._server is not None and (socket := self._server.nextPendingConnection()) is not None:
            socket.disconnected.connect(socket.deleteLater)
            # Not a lambda that holds the socket: PySide crashes when the socket goes while it is called.
            socket.readyRead.connect(self._on_ready)
        self._on_ready()  # what came with the connection

    def _on_ready(self) -> None:
        if self._server is not None:
            for socket in self._server.findChildren(QLocalSocket):
                self._on_line(socket)

    def _on_line(self, socket: QLocalSocket) -> None:
        if not socket.canReadLine():
            if socket.bytesAvailable() > MOST_BYTES:
                socket.abort()
            return
        try:
            said = json.loads(bytes(socket.readLine(MOST_BYTES).data()))
            files, token = [str(name) for name in said["files"]], str(said["token"])
        except (ValueError, KeyError, TypeError):
            return  # of another version, or not from us
        self.raise_requested.emit(token, files)
