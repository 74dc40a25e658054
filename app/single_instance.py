"""One window per data folder: a lock file, and a socket by which a second start raises the first window."""

from __future__ import annotations

import errno
import os
from pathlib import Path

from PySide6.QtCore import QLockFile, QObject, Signal
from PySide6.QtNetwork import QLocalServer, QLocalSocket

CONNECT_MS = 1000
RAISE = b"raise 1\n"  # verb and version of this little protocol


class SingleInstance(QObject):
    """Signals: raise_requested(): another start asks for the window."""

    raise_requested = Signal()

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

    def raise_other(self) -> bool:
        """Asks the running window to come to the front; whether it heard us."""
        socket = QLocalSocket()
        socket.connectToServer(self._address)
        if not socket.waitForConnected(CONNECT_MS):
            return False
        socket.write(RAISE)
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
            self.raise_requested.emit()
