"""A chat answer as typed events: the SSE chunks of the answer and the frames of the live channel, merged."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing

from pydantic import ValidationError

from engine.client.live import MAX_WAITING, LiveChannel
from engine.client.sse import SseError, SseParser
from engine.client.thoughts import ThoughtFilter
from engine.client.transport import Transport
from engine.client.wire import ChatChunk, ChatRequest, ErrorInfo
from engine.domain.chat import (
    CanvasCommitted,
    CanvasFrame,
    ChatEvent,
    Failed,
    Finished,
    FinishReason,
    ThoughtCommitted,
    Usage,
)
from engine.errors import EngineRefused, EngineUnreachable, UserError

PATH = "/v1/chat/completions"
_REASONS: dict[str, FinishReason] = {"stop": "stop", "tool_calls": "stop", "length": "length"}


async def chat_events(
    transport: Transport, request: ChatRequest, live: LiveChannel | None, live_id: str
) -> AsyncGenerator[ChatEvent]:
    """The events of one answer in order of arrival; the last one is ``Finished`` or ``Failed``.

    Closing the generator or cancelling its reader closes the connection, which ends the request in the engine.
    """
    answer = _answer(transport, request.body())
    if live is None:
        async with aclosing(answer) as events:
            async for event in events:
                yield event
        return
    queue: asyncio.Queue[ChatEvent | None] = asyncio.Queue()

    def take(frame: CanvasFrame) -> None:
        # Frames may be lost, canvases may not: only the former are bounded.
        if queue.qsize() < MAX_WAITING:
            queue.put_nowait(frame)
        else:
            live.dropped += 1

    with live.attached(live_id, take):
        async with asyncio.TaskGroup() as group:
            pump = group.create_task(_pump(answer, live, queue), name=f"chat {live_id}")
            try:
                while (merged := await queue.get()) is not None:
                    yield merged
            except GeneratorExit:
                # Swallowed, since a TaskGroup would wrap it into an exception group; the generator ends all the same.
                pump.cancel()


async def _pump(answer: AsyncGenerator[ChatEvent], live: LiveChannel, queue: asyncio.Queue[ChatEvent | None]) -> None:
    async with aclosing(answer) as events:
        async for event in events:
            live.drain()
            queue.put_nowait(event)
    queue.put_nowait(None)


async def _answer(transport: Transport, body: bytes) -> AsyncGenerator[ChatEvent]:
    """The events of the HTTP stream alone."""
    started = time.monotonic()
    reader = _AnswerReader()
    try:
        async with transport.stream(PATH, body) as chunks, aclosing(_messages(chunks)) as messages:
            async for data in messages:
                for event in reader.feed(data):
                    yield event
        for event in reader.close(time.monotonic() - started):
            yield event
    except UserError as exc:
        if rest := reader.rest():
            yield rest
        yield Failed(exc.code, str(exc))


async def _messages(chunks: AsyncIterator[bytes]) -> AsyncGenerator[str]:
    """The data of each SSE event up to ``[DONE]``."""
    parser = SseParser()
    async for chunk in chunks:
        try:
            events = parser.feed(chunk)
        except SseError as exc:
            raise _garbage(str(exc)) from exc
        for event in events:
            if event.data == "[DONE]":
                return
            yield event.data


class _AnswerReader:
    """Folds the chunks of one answer into events."""

    def __init__(self) -> None:
        self._filter = ThoughtFilter()
        self._canvases = 0
        self._finish: str | None = None

    def feed(self, data: str) -> list[ChatEvent]:
        """The events of one chunk.

        Raises:
            EngineRefused: the chunk reports an error of the engine, or is no chat chunk.
        """
        try:
            chunk = ChatChunk.model_validate_json(data)
        except ValidationError as exc:
            raise _garbage(f"{exc.error_count()} faults in {data[:80]!r}") from None
        if chunk.error is not None:
            raise _midway(chunk.error)
        events: list[ChatEvent] = []
        for choice in chunk.choices:
            content, thought = choice.delta.content or "", choice.delta.reasoning or ""
            if content or thought:
                text = self._filter.feed(content)
                if thought := thought + self._filter.take_thought():
                    events.append(ThoughtCommitted(thought, self._canvases))
                events.append(CanvasCommitted(text, self._canvases))
                self._canvases += 1
            self._finish = choice.finish_reason or self._finish
        # With continuous usage every chunk carries one; only the last chunk, which has no choices, is the whole.
        if chunk.usage is not None and not chunk.choices:
            events.append(Usage(chunk.usage.prompt_tokens, chunk.usage.completion_tokens))
        return events

    def rest(self) -> CanvasCommitted | None:
        """Text that was held back because it looked like the start of a thought tag."""
        text = self._filter.close()
        return CanvasCommitted(text, max(self._canvases - 1, 0)) if text else None

    def close(self, seconds: float) -> list[ChatEvent]:
        """The end of an answer whose stream ended in order.

        Raises:
            EngineUnreachable: the stream ended before the engine gave a reason for the end.
        """
        if self._finish is None:
            raise EngineUnreachable(
                "engine.stream_broken",
                "the answer broke off after {canvases} canvases",
                remedy="see whether the engine is still running",
                canvases=self._canvases,
            )
        if self._finish not in _REASONS:
            raise EngineRefused(
                "engine.stopped_answer", "the engine ended the answer: {reason}", status=200, reason=self._finish
            )
        rest = self.rest()
        finished = Finished(_REASONS[self._finish], seconds, self._canvases)
        return [rest, finished] if rest else [finished]


def _garbage(reason: str) -> EngineRefused:
    return EngineRefused(
        "engine.not_a_chat_stream", "the engine's answer is no chat stream: {reason}", status=200, reason=reason
    )


def _midway(error: ErrorInfo | str) -> EngineRefused:
    detail = error if isinstance(error, str) else error.message
    status = error.code if isinstance(error, ErrorInfo) and isinstance(error.code, int) else 500
    return EngineRefused("engine.failed_midway", "the engine failed: {detail}", status=status, detail=detail)
