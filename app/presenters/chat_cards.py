"""The cards' memory beside the chat's figures, while a vLLM of ours serves and somebody looks."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer, Signal

from app.presenters.engine import EnginePresenter
from app.presenters.engine_memory import Ours, look_at_memory
from app.tasks import cancel_all, spawn

EVERY_MS = 5000


class ChatCards(QObject):
    """Signals: changed(tuple[CardMemory]): empty where there is nothing to be said.

    Args:
        is_looked_at: whether anybody sees it; else no card is asked.
    """

    changed = Signal(tuple)

    def __init__(
        self, engine: EnginePresenter, is_looked_at: Callable[[], bool], parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._engine, self._is_looked_at = engine, is_looked_at
        self._looking = False
        self._timer = QTimer(self)
        self._timer.setInterval(EVERY_MS)
        self._timer.timeout.connect(self.look)
        engine.state_changed.connect(self._on_state)

    async def close_down(self) -> None:
        self._timer.stop()
        await cancel_all(self)

    def look(self) -> None:
        """Now, unless nobody sees it."""
        if self._is_looked_at() and not self._looking:
            self._looking = True
            spawn(self, self._look(), "cards of the chat")

    def _on_state(self) -> None:
        state = self._engine.state
        if state.kind == "vllm" and state.ready:
            if not self._timer.isActive():
                self._timer.start()
                self.look()
        elif self._timer.isActive():
            self._timer.stop()
            self.changed.emit(())

    async def _look(self) -> None:
        try:
            view = await look_at_memory(Ours())
        finally:
            self._looking = False
        if view.why_none:
            self._timer.stop()  # no card will come
        if self._timer.isActive() or not view.cards:
            used = tuple(card for card in view.cards if card.total)
            self.changed.emit(used)
