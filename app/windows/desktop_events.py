"""What is going in the window, and what of it is worth a message on the desktop when it ends."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from app.models.engine_state import EngineState
from engine.domain.conversation import StoredMessage

if TYPE_CHECKING:
    from app.windows.desk import Desk
    from app.windows.messages import DesktopMessages
    from app.windows.places import Places

LONG_S = 10.0  # an answer or a start that took less was waited for


class DesktopEvents(QObject):
    """Follows the chat, the runs and the engine."""

    def __init__(self, desk: Desk, messages: DesktopMessages, places: Places, parent: QObject | None = None) -> None:
        super().__init__(parent)
        assert desk.engine is not None
        assert desk.chat is not None
        self._desk, self._messages, self._places = desk, messages, places
        self._engine, self._chat = desk.engine, desk.chat
        self._runs = places.decisions().runs
        self._before = desk.engine.state
        self._began = time.monotonic()
        desk.chat.finished.connect(self._on_answer)
        self._runs.ended.connect(self._on_run)
        desk.engine.state_changed.connect(self._on_engine)

    def going(self) -> list[str]:
        """What closing would end, a sentence each. The toy starts in a second: it is none."""
        found = []
        setup, state = self._desk.setup, self._engine.state
        if self._runs.busy:
            found.append(self.tr("A run is going."))
        if self._chat.answering:
            found.append(self.tr("An answer is being written."))
        if setup is not None and (setup.steps["engine"].busy or setup.steps["checkpoint"].busy):
            found.append(self.tr("Files are being fetched."))
        if state.kind == "vllm" and state.phase in ("starting", "ready"):
            found.append(self.tr("The model is loaded; the next start takes minutes again."))
        return found

    def _show(self, topic: str, title: str, text: str, go: Callable[[], object]) -> None:
        def bring_up() -> None:
            go()
            self._desk.raise_window()

        self._messages.show(topic, title, text, bring_up)

    def _on_answer(self, message: StoredMessage) -> None:
        if message.state == "stopped" or message.figures.seconds < LONG_S:
            return
        info = self._chat.store.conversation_of(message.id).info
        title = self.tr("The answer is there") if message.state == "done" else self.tr("The answer broke off")
        text = info.title or self.tr("Untitled")
        self._show(f"answer-{info.id}", title, text, lambda: self._places.conversation(info.id))

    def _on_run(self, run_id: str, how: str) -> None:
        titles = {"finished": self.tr("The run is finished"), "failed": self.tr("The run stopped with an error")}
        if how not in titles:
            return
        info = self._runs.info(run_id)
        text = self.tr("{name}: {done} answers").format(name=info.name or run_id, done=info.done) if info else run_id
        self._show(f"run-{run_id}", titles[how], text, lambda: self._places.run(run_id))

    def _on_engine(self, state: EngineState) -> None:
        before, self._before = self._before, state
        if state.phase == before.phase:
            return
        if state.phase == "starting":
            self._began = time.monotonic()
        elif state.phase == "ready" and before.phase == "starting" and time.monotonic() - self._began >= LONG_S:
            self._show("engine", self.tr("The engine is ready"), state.model, lambda: self._places.page("chat"))
        elif state.phase == "failed":
            self._show("engine", self.tr("The engine did not start"), state.message, self._to_engine)
        elif state.phase == "lost":
            self._show("engine", self.tr("The engine stopped answering"), state.message, self._to_engine)

    def _to_engine(self) -> None:
        self._places.page("engine")
