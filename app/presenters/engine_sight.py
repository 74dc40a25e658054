"""Whether the engine sees pictures: asked once after each start of it."""

from __future__ import annotations

import asyncio

from PySide6.QtCore import QObject, Signal

from app.models.engine_state import EngineState
from app.presenters.engine import EnginePresenter
from app.tasks import cancel_all, spawn
from engine.client.http import EngineClient
from engine.client.sight import BLIND_PLAN, BLIND_TOY, find_sight
from engine.domain.picture import Sight
from engine.errors import EngineError

NOT_YET = Sight("unknown")
ANSWER_S = 10.0


class EngineSight(QObject):
    """Signals: changed(Sight)."""

    changed = Signal(object)

    def __init__(self, engine: EnginePresenter, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.value = NOT_YET
        self._engine = engine
        self._asked: EngineClient | None = None
        self._asking: asyncio.Task[None] | None = None
        engine.state_changed.connect(self._on_state)
        self._on_state(engine.state)

    async def known(self) -> Sight:
        """What is known once the question that is on its way is answered; an engine that does not answer it is not
        waited for any longer."""
        if self._asking is not None:
            await asyncio.wait([self._asking], timeout=ANSWER_S)
        return self.value

    async def close_down(self) -> None:
        await cancel_all(self)

    def _on_state(self, state: EngineState) -> None:
        client = self._engine.client
        if not state.ready or client is None:
            self._asked = None
            self._set(NOT_YET)
        elif state.is_toy:
            self._set(Sight("no", BLIND_TOY))
        elif state.plan is not None and state.plan.text_only:
            self._set(Sight("no", BLIND_PLAN))
        elif client is not self._asked:
            self._asked = client
            self._asking = spawn(self, self._ask(client), "whether the engine sees")

    async def _ask(self, client: EngineClient) -> None:
        try:
            found = await find_sight(client)
        except EngineError as error:
            found = Sight("unknown", error.message)
        if client is self._asked:
            self._set(found)

    def _set(self, sight: Sight) -> None:
        if sight != self.value:
            self.value = sight
            self.changed.emit(sight)
