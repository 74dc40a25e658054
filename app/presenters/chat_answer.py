"""One answer on its way: events of the engine become a text on disk and on the screen."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import aclosing

from app.models.canvas import CanvasSnapshot
from app.presenters.canvas import CanvasReader
from app.presenters.chat_open import log_failure
from engine.client.http import EngineClient
from engine.client.live import LiveChannel
from engine.client.vocabulary import Vocabulary
from engine.domain.chat import (
    CanvasCommitted,
    CanvasFrame,
    ChatEvent,
    Failed,
    Finished,
    Message,
    ThoughtCommitted,
    Usage,
)
from engine.domain.conversation import AnswerFigures, ChatOptions, Ending, MessageState, StoredMessage
from engine.errors import EngineError
from engine.store.chats import ChatStore

FLUSH_S = 1.0  # a streaming text is on disk at most so long after it arrived


class AnswerRun:
    """Streams one answer. The row of the answer is there before; whatever happens, it ends with a state.

    Args:
        row: the answer as it is stored; its text is what is gone on from.
        on_text, on_canvas: told of every committed canvas and of every picture of the canvas.

    Attributes:
        text, thought: so far.
        failed: why it broke off; empty else.
    """

    def __init__(
        self,
        store: ChatStore,
        row: StoredMessage,
        *,
        on_text: Callable[[AnswerRun], None],
        on_canvas: Callable[[AnswerRun, CanvasSnapshot], None],
    ) -> None:
        self.row = row
        self.text, self.thought = row.text, row.thought
        self.failed = self.remedy = ""
        self._store = store
        self._on_text, self._on_canvas = on_text, on_canvas
        self._began = time.monotonic()
        self._first_canvas_s: float | None = None
        self._canvases = 0
        self._steps: int | None = None
        self._usage: Usage | None = None
        self._finish: Ending = ""
        self._flushing: asyncio.TimerHandle | None = None

    async def stream(
        self,
        client: EngineClient,
        messages: Sequence[Message],
        options: ChatOptions,
        live: LiveChannel | None,
        vocabulary_of: Callable[[], Awaitable[Vocabulary | None]],
    ) -> None:
        """Asks and takes the answer; ends by itself, or with cancellation, and then what has arrived stays.

        Args:
            live: where frames of the canvas arrive.
            vocabulary_of: what their ids mean; asked where there are frames. It may take a while, and be stopped.
        """
        reader: CanvasReader | None = None
        before: int | None = None
        state: MessageState = "interrupted"
        try:
            vocabulary = await vocabulary_of() if live is not None else None
            reader = CanvasReader(vocabulary) if vocabulary is not None else None
            if reader is None:
                before = await _denoise_steps(client)
            self._began = time.monotonic()
            await self._take_all(client, messages, options, live, reader)
            state = "failed" if self.failed else "done"
        except asyncio.CancelledError:
            state = "stopped"
            raise
        except EngineError as error:
            state, self.failed, self.remedy = "failed", error.message, error.remedy
        finally:
            seconds = time.monotonic() - self._began
            self._steps = reader.steps or None if reader is not None else None
            if state == "done" and reader is None:
                self._steps = _gain(before, await _denoise_steps(client))
            self._store_end(state, seconds)

    async def _take_all(
        self,
        client: EngineClient,
        messages: Sequence[Message],
        options: ChatOptions,
        live: LiveChannel | None,
        reader: CanvasReader | None,
    ) -> None:
        events = client.chat(
            messages,
            max_tokens=options.max_tokens,
            live=live if reader is not None else None,
            thinking=options.thinking,
            continue_last=bool(self.row.text),
        )
        async with aclosing(events):
            async for event in events:
                self._take(event, reader)

    def _take(self, event: ChatEvent, reader: CanvasReader | None) -> None:
        match event:
            case CanvasFrame():
                self._show(reader.read(event) if reader is not None else ())
            case ThoughtCommitted(text=text):
                self.thought += text
            case CanvasCommitted(text=text):
                self.text += text
                self._canvases += 1
                if self._first_canvas_s is None:
                    self._first_canvas_s = time.monotonic() - self._began
                self._show(reader.committed(self._canvases) if reader is not None else ())
                self._flush_soon()
                self._on_text(self)
            case Usage():
                self._usage = event
            case Finished(reason=reason, canvases=canvases):
                self._canvases = canvases
                self._show(reader.committed(canvases) if reader is not None else ())
                self._finish = "length" if reason == "length" else "stop"
            case Failed(message=message):
                self.failed = message

    def _show(self, pictures: Iterable[CanvasSnapshot]) -> None:
        for picture in pictures:
            self._on_canvas(self, picture)

    def _flush_soon(self) -> None:
        if self._flushing is None:
            self._flushing = asyncio.get_running_loop().call_later(FLUSH_S, self._flush)

    def _flush(self) -> None:
        self._flushing = None
        self._store.save_text(self.row.id, self.text, self.thought).add_done_callback(log_failure)

    def _store_end(self, state: MessageState, seconds: float) -> None:
        if self._flushing is not None:
            self._flushing.cancel()
        usage = self._usage
        figures = AnswerFigures(
            seconds=seconds,
            first_canvas_s=self._first_canvas_s,
            canvases=self._canvases,
            denoise_steps=self._steps,
            prompt_tokens=usage.prompt_tokens if usage else None,
            completion_tokens=usage.completion_tokens if usage else None,
        )
        self._store.finish(
            self.row.id,
            self.text,
            state,
            self.row.figures.plus(figures) if self.row.text else figures,
            thought=self.thought,
            finish=self._finish if state == "done" else "",
            error=self.failed,
            remedy=self.remedy,
        )


async def _denoise_steps(client: EngineClient) -> int | None:
    """The server's counter, for an engine without live frames; None when it does not tell."""
    try:
        return (await client.metrics()).denoise_steps
    except EngineError:
        return None


def _gain(before: int | None, after: int | None) -> int | None:
    """What the counter has gained; None when it stood still: then the server has no such counter."""
    if before is None or after is None:
        return None
    return after - before or None
