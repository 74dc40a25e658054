"""A conversation with the engine: one answer at a time, streamed canvas by canvas, kept whatever happens."""

from __future__ import annotations

import asyncio
import time
from contextlib import aclosing
from dataclasses import dataclass
from typing import Literal

from PySide6.QtCore import QObject, Signal

from app.models.chat import AnswerStats
from app.presenters.canvas import CanvasReader
from app.presenters.engine import EnginePresenter
from app.tasks import cancel_all, spawn
from engine import paths
from engine.client.http import EngineClient
from engine.client.vocabulary import Vocabulary
from engine.domain.chat import CanvasCommitted, CanvasFrame, ChatEvent, Failed, Finished, Message, Usage
from engine.errors import EngineError

TurnState = Literal["answering", "done", "stopped", "failed"]


@dataclass(slots=True)
class Turn:
    """A question and what came of it."""

    question: str
    answer: str = ""
    state: TurnState = "answering"
    canvases: int = 0
    usage: Usage | None = None
    cut: bool = False


class ChatPresenter(QObject):
    """One conversation.

    Signals:
        asked(str): a question was taken; its answer begins.
        text_changed(str): the whole text of the answer so far.
        canvas_changed(CanvasSnapshot)
        finished(AnswerStats, bool): the answer ended; the flag says that the user stopped it.
        failed(str, str): it broke off: message and remedy; what had arrived stays.
        refused(str): the question was not taken, and why.
        cleared(): a new conversation.
        answering_changed(bool)
    """

    asked = Signal(str)
    text_changed = Signal(str)
    canvas_changed = Signal(object)
    finished = Signal(object, bool)
    failed = Signal(str, str)
    refused = Signal(str)
    cleared = Signal()
    answering_changed = Signal(bool)

    def __init__(self, engine: EnginePresenter, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.engine = engine
        self.turns: list[Turn] = []
        self.system_prompt = ""
        self._task: asyncio.Task[None] | None = None
        self._vocabulary: Vocabulary | None = None

    @property
    def answering(self) -> bool:
        return self._task is not None

    def send(self, text: str) -> bool:
        """Asks; False with ``refused`` when it cannot be asked now. The caller keeps the text then."""
        text = text.strip()
        if not text:
            return False
        if self.answering:
            self.refused.emit(self.tr("The answer is still arriving. Stop it with Esc, or wait for its end."))
            return False
        client = self.engine.client
        if client is None or not self.engine.state.ready:
            self.refused.emit(self.why_not())
            return False
        turn = Turn(text)
        self.turns.append(turn)
        self.asked.emit(text)
        self._task = spawn(self, self._answer(client, turn), "chat answer")
        self._task.add_done_callback(lambda task: self._on_ended(task, turn))
        self.answering_changed.emit(True)
        return True

    def retry(self) -> bool:
        """Asks the last question again, when its answer failed."""
        if self.answering or not self.turns or self.turns[-1].state != "failed":
            return False
        question = self.turns.pop().question
        if self.send(question):
            return True
        self.turns.append(Turn(question, state="failed"))
        return False

    def why_not(self) -> str:
        """Why no question can be asked while the engine is not ready."""
        match self.engine.state.phase:
            case "starting":
                return self.tr(
                    "The engine is still starting. Your message stays here; send it when the engine is ready."
                )
            case "stopping":
                return self.tr("The engine is stopping. Start it on the Engine page.")
            case "failed" | "lost":
                return self.tr("The engine does not answer. Restart it on the Engine page.")
            case _:
                return self.tr("The engine is stopped. Start it on the Engine page.")

    def stop(self) -> None:
        """Ends the answer; what has been committed stays."""
        if self._task is not None:
            self._task.cancel()

    async def new_conversation(self) -> None:
        """Stops a running answer and begins anew."""
        await cancel_all(self)
        self.turns.clear()
        self.cleared.emit()

    async def close_down(self) -> None:
        await cancel_all(self)

    def messages(self) -> list[Message]:
        """What the engine is sent: the turns that have an answer, and the question that waits for one."""
        found = [Message("system", self.system_prompt)] if self.system_prompt.strip() else []
        for turn in self.turns:
            if turn.answer:
                found += [Message("user", turn.question), Message("assistant", turn.answer)]
            elif turn.state == "answering":
                found.append(Message("user", turn.question))
        return found

    async def _answer(self, client: EngineClient, turn: Turn) -> None:
        started = time.monotonic()
        reader: CanvasReader | None = None
        steps_before: int | None = None
        try:
            live = self.engine.live
            if live is not None:
                reader = CanvasReader(await self._vocabulary_of())
            else:
                steps_before = await self._denoise_steps(client)
            async with aclosing(client.chat(self.messages(), live=live)) as events:
                async for event in events:
                    self._take(event, turn, reader)
            if turn.state == "failed":
                return
            turn.state = "done"
            steps = reader.steps if reader is not None else await self._steps_since(client, steps_before)
            self.finished.emit(self._stats(turn, time.monotonic() - started, steps), False)
        except asyncio.CancelledError:
            turn.state = "stopped"
            steps = reader.steps if reader is not None else None
            self.finished.emit(self._stats(turn, time.monotonic() - started, steps), True)
            raise
        except EngineError as error:
            turn.state = "failed"
            self.failed.emit(error.message, error.remedy)

    def _on_ended(self, task: asyncio.Task[None], turn: Turn) -> None:
        self._task = None
        if turn.state == "answering":  # cancelled before it could begin, or a fault of ours
            turn.state = "stopped" if task.cancelled() else "failed"
            if task.cancelled():
                self.finished.emit(self._stats(turn, 0.0, None), True)
            else:
                self.failed.emit(self.tr("The answer broke off inside the program."), "")
        self.answering_changed.emit(False)

    def _take(self, event: ChatEvent, turn: Turn, reader: CanvasReader | None) -> None:
        match event:
            case CanvasFrame():
                if reader is not None:
                    self.canvas_changed.emit(reader.read(event))
            case CanvasCommitted(text=text):
                turn.answer += text
                turn.canvases += 1
                self.text_changed.emit(turn.answer)
            case Usage():
                turn.usage = event
            case Finished(reason=reason, canvases=canvases):
                turn.canvases = canvases
                turn.cut = reason == "length"
            case Failed(message=message):
                turn.state = "failed"
                self.failed.emit(message, "")
                spawn(self.engine, self.engine.check_now(), "engine check")

    def _stats(self, turn: Turn, seconds: float, steps: int | None) -> AnswerStats:
        usage = turn.usage
        return AnswerStats(
            seconds=seconds,
            tokens=usage.completion_tokens if usage else None,
            canvases=turn.canvases,
            steps_per_canvas=steps / turn.canvases if steps and turn.canvases else None,
            context_used=usage.prompt_tokens + usage.completion_tokens if usage else None,
            context_total=self.engine.state.context,
            cut=turn.cut,
        )

    async def _vocabulary_of(self) -> Vocabulary:
        """The demo model's vocabulary, loaded once and off the GUI's thread."""
        if self._vocabulary is None:
            path = paths.demo_model_dir() / "tokenizer.json"
            self._vocabulary = await asyncio.to_thread(Vocabulary.from_file, path)
        return self._vocabulary

    async def _denoise_steps(self, client: EngineClient) -> int | None:
        """The server's counter, for an engine without live frames; None when it does not tell."""
        try:
            return (await client.metrics()).denoise_steps
        except EngineError:
            return None

    async def _steps_since(self, client: EngineClient, before: int | None) -> int | None:
        """What the counter has gained; None when it stood still: then the server has no such counter."""
        after = await self._denoise_steps(client)
        if after is None or before is None:
            return None
        return after - before or None
