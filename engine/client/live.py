"""The live channel: denoise frames that the engine sends beside the HTTP stream.

The engine, embedded or vLLM with our plugin, sends one JSON datagram per denoise step to the Unix datagram socket that
``DG_LIVE_SOCK`` names; :mod:`engine.vllm_plugin.protocol` makes them. Frames are a view, not a record: nobody
listening, a full buffer or a broken datagram costs a frame and nothing else.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import socket
import stat
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from engine.domain.chat import CanvasFrame
from engine.errors import InputError
from engine.vllm_plugin.protocol import VERSION

logger = logging.getLogger(__name__)

MAX_PATH_BYTES = 107  # man 7 unix: sun_path holds 108 bytes with its end
MAX_DATAGRAM = 256 * 1024  # a 256-slot frame with entropies is about 9 kB
MAX_AT_ONCE = 512  # datagrams handled before the event loop gets its turn again
MAX_WAITING = 256  # frames per subscriber; a view that lags this far does not want the old ones

FrameSink = Callable[[CanvasFrame], None]


class _Version(BaseModel):
    model_config = ConfigDict(extra="ignore")

    v: int = VERSION


class _Datagram(BaseModel):
    model_config = ConfigDict(extra="ignore")

    v: Literal[1] = VERSION
    id: str
    n: int
    step: int
    converged: bool
    argmax: tuple[int, ...]
    accepted: tuple[bool, ...]
    entropy: tuple[float, ...] | None = None

    def frame(self) -> CanvasFrame:
        return CanvasFrame(self.id, self.n, self.step, self.converged, self.argmax, self.accepted, self.entropy)


class LiveChannel:
    """Binds a Unix datagram socket and hands frames to whoever asked for their request.

    Args:
        path: where the socket is bound; at most 107 bytes. A leftover socket there is replaced, any other file is not.

    Attributes:
        path: to be given to the engine as ``DG_LIVE_SOCK`` before it starts.
        dropped: frames that were broken, unasked for, more than a subscriber could take, or of another version.
        other_version: of an engine whose frames cannot be read here; None while there is none. The first such frame is
            logged, with one line.
    """

    def __init__(self, path: Path) -> None:
        if len(os.fsencode(path)) > MAX_PATH_BYTES:
            raise InputError(
                "live.path_too_long",
                "{path}: a socket's path holds at most {limit} bytes, this one has {length}",
                remedy="choose a shorter data folder",
                path=path,
                limit=MAX_PATH_BYTES,
                length=len(os.fsencode(path)),
            )
        self.path = path
        self.dropped = 0
        self.other_version: int | None = None
        self._socket: socket.socket | None = None
        self._sinks: dict[str, list[FrameSink]] = {}
        self._subscriptions: list[Subscription] = []

    async def __aenter__(self) -> LiveChannel:
        """Binds the socket.

        Raises:
            InputError: the path is taken by something that is no socket, or its folder cannot be written.
        """
        channel = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK | socket.SOCK_CLOEXEC)
        try:
            self._remove_leftover()
            channel.bind(str(self.path))
            self.path.chmod(0o600)
        except OSError as exc:
            channel.close()
            raise InputError("live.cannot_bind", "{path}: {reason}", path=self.path, reason=exc.strerror) from exc
        self._socket = channel
        asyncio.get_running_loop().add_reader(channel.fileno(), self.drain)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Ends every subscription and removes the socket; may be called twice."""
        if self._socket is None:
            return
        asyncio.get_running_loop().remove_reader(self._socket.fileno())
        self._socket.close()
        self._socket = None
        self.path.unlink(missing_ok=True)
        for subscription in tuple(self._subscriptions):
            await subscription.aclose()

    def subscribe(self, request_id: str) -> Subscription:
        """Frames of one request from now on; ends with ``aclose`` or with the channel."""
        return Subscription(self, request_id)

    @contextlib.contextmanager
    def attached(self, request_id: str, sink: FrameSink) -> Iterator[None]:
        """Calls ``sink`` with each frame of the request, on the event loop, while the block runs."""
        self._sinks.setdefault(request_id, []).append(sink)
        try:
            yield
        finally:
            sinks = self._sinks[request_id]
            sinks.remove(sink)
            if not sinks:
                del self._sinks[request_id]

    def drain(self) -> None:
        """Hands out every frame that has arrived; called by the loop, and by a chat before it hands out a canvas.

        The second caller keeps the order: a frame that the engine sent before it committed a canvas is seen first.
        """
        for _ in range(MAX_AT_ONCE):
            if self._socket is None:
                return
            try:
                data = self._socket.recv(MAX_DATAGRAM)
            except (BlockingIOError, InterruptedError):
                return
            self._hand_out(data)

    def _hand_out(self, data: bytes) -> None:
        try:
            frame = _Datagram.model_validate_json(data).frame()
        except ValidationError:
            self.dropped += 1
            self._look_at_version(data)
            return
        sinks = self._sinks.get(frame.request, ())
        if not sinks:
            self.dropped += 1
        for sink in tuple(sinks):
            sink(frame)

    def _look_at_version(self, data: bytes) -> None:
        with contextlib.suppress(ValidationError):
            version = _Version.model_validate_json(data).v
            if version not in (VERSION, self.other_version):
                self.other_version = version
                logger.warning(
                    "the engine sends canvas frames of version %d, this program reads %d: start the engine again",
                    *(version, VERSION),
                )

    def _remove_leftover(self) -> None:
        with contextlib.suppress(FileNotFoundError):
            if stat.S_ISSOCK(self.path.lstat().st_mode):
                self.path.unlink()


class Subscription(AsyncIterator[CanvasFrame]):
    """The frames of one request. When more than ``MAX_WAITING`` wait, the oldest go and are counted as dropped."""

    def __init__(self, channel: LiveChannel, request_id: str) -> None:
        self._channel = channel
        self._waiting: deque[CanvasFrame] = deque()
        self._arrived = asyncio.Event()
        self._open = True
        self._attachment = contextlib.ExitStack()
        self._attachment.enter_context(channel.attached(request_id, self._take))
        channel._subscriptions.append(self)

    async def __anext__(self) -> CanvasFrame:
        while not self._waiting:
            if not self._open:
                raise StopAsyncIteration
            self._arrived.clear()
            await self._arrived.wait()
        return self._waiting.popleft()

    async def aclose(self) -> None:
        """Stops listening; frames that wait are still handed out."""
        if self._open:
            self._open = False
            self._attachment.close()
            self._channel._subscriptions.remove(self)
            self._arrived.set()

    def _take(self, frame: CanvasFrame) -> None:
        if len(self._waiting) >= MAX_WAITING:
            self._waiting.popleft()
            self._channel.dropped += 1
        self._waiting.append(frame)
        self._arrived.set()
