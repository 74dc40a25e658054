"""A gate before a real engine: reads wait there until they are let through, so that nothing races with a run."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Coroutine
from typing import Any
from urllib.parse import urlsplit

READS = (b"POST /v1/systemone", b"POST /inference/v1/generate")
CHUNK = 1 << 20  # bytes; a request of ours is one write and far below


class EngineGate:
    """Passes bytes on, from a thread of its own; open at first. To be closed.

    Args:
        engine: its base URL; it may die and come back there.

    Attributes:
        url: where clients find the engine behind the gate.
    """

    def __init__(self, engine: str) -> None:
        self._engine = urlsplit(engine)
        self._left: int | None = None  # reads that may still pass; None: all
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="engine gate")
        self._thread.start()
        self.url = self._do(self._listen())

    def hold(self, after: int = 0) -> None:
        """Lets this many more reads through; whatever comes then waits."""
        self._do(self._set(after))

    def open(self) -> None:
        """Lets everything through, what waits too."""
        self._do(self._set(None))

    def close(self) -> None:
        """Ends every connection; may be called twice."""
        if self._thread.is_alive():
            self._do(self._end())
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()

    def _do[T](self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    async def _listen(self) -> str:
        self._changed = asyncio.Condition()
        self._tasks: set[asyncio.Task[None]] = set()
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        host, port = self._server.sockets[0].getsockname()
        return f"http://{host}:{port}"

    async def _set(self, left: int | None) -> None:
        async with self._changed:
            self._left = left
            self._changed.notify_all()

    async def _end(self) -> None:
        self._server.close()
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        with contextlib.suppress(OSError, asyncio.CancelledError):
            await self._join(reader, writer)
        writer.transport.abort()
        self._tasks.discard(task)

    async def _join(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Until one side leaves."""
        from_engine, to_engine = await asyncio.open_connection(self._engine.hostname, self._engine.port)
        ways = [
            asyncio.ensure_future(self._pass_on(reader, to_engine)),  # noqa: TID251  # awaited below
            asyncio.ensure_future(self._pass_on(from_engine, writer)),  # noqa: TID251  # awaited below
        ]
        try:
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for way in ways:
                way.cancel()
            await asyncio.gather(*ways, return_exceptions=True)
            to_engine.transport.abort()

    async def _pass_on(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        while data := await source.read(CHUNK):
            if data.startswith(READS) and not await self._turn(source):
                return
            sink.write(data)
            await sink.drain()

    async def _turn(self, client: asyncio.StreamReader) -> bool:
        """Waits until a read may pass; False when its client has left before."""

        def may() -> bool:
            return self._left != 0 or gone()

        def gone() -> bool:
            return client.at_eof() or client.exception() is not None

        async with self._changed:
            await self._changed.wait_for(may)
            if gone():
                return False
            if self._left is not None:
                self._left -= 1
            return True
