"""A server elsewhere, tested before it is used."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from app.presenters.setup_probe import look_at_server
from app.tasks import cancel_all, spawn
from engine.errors import EngineError


class Elsewhere(QObject):
    """Signals: tested(str, bool): what the server said, and whether it can be used."""

    tested = Signal(str, bool)

    def test(self, url: str, api_key: str) -> None:
        spawn(self, self.test_now(url, api_key), "setup test of a server")

    async def test_now(self, url: str, api_key: str) -> None:
        """Ask a server who it is."""
        try:
            said = await look_at_server(url, api_key)
        except EngineError as error:
            self.tested.emit(str(error), False)
        else:
            self.tested.emit(said, True)

    async def close_down(self) -> None:
        await cancel_all(self)
