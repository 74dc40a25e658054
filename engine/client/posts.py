"""Many small reads over kept connections: HTTP/1.1, POST, whole answers, nothing else.

A run makes two such requests a row, and what aiohttp can do besides (sessions, redirects, cookies, proxies, tracing)
costs more of the processor there than everything else of a read together. So the requests of a run to an address
without TLS and without a user's name in it go this way; everything else is aiohttp's.
"""

from __future__ import annotations

import asyncio
import errno
import re
import time
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import aiohttp

MAX_HEAD = 1 << 16  # bytes of an answer's head
_HEAD_END = b"\r\n\r\n"
_STATUS = re.compile(rb"HTTP/1\.([01]) ([1-5]\d\d)[ \r]")
_LENGTH = re.compile(rb"\r\ncontent-length:[ \t]*(\d+)[ \t]*\r\n", re.IGNORECASE)
_CHUNKED = re.compile(rb"\r\ntransfer-encoding:[^\r]*chunked", re.IGNORECASE)
_CONNECTION = re.compile(rb"\r\nconnection:[ \t]*([\w-]+)", re.IGNORECASE)
_RETRY_AFTER = re.compile(rb"\r\nretry-after:[ \t]*([^\r]+)", re.IGNORECASE)
_CHUNK = re.compile(rb"([0-9a-fA-F]{1,15})[ \t]*(?:;[^\r\n]*)?\r\n")
_NO_BODY = frozenset({204, 304})


@dataclass(frozen=True, slots=True)
class Answer:
    """A whole answer."""

    status: int
    retry_after: str | None
    body: bytes


class PostPool:
    """Connections to one address.

    Args:
        connect: opens one for a protocol.
        headers: sent with every request, each ended by CR LF; ``Host`` among them.
        connect_s: how long opening one may take.
        keepalive_s: how long an idle one is used again.

    Every request raises:
        TimeoutError: no answer in time.
        OSError: nobody answers, or the connection broke.
        aiohttp.ClientPayloadError: it broke in the middle of an answer, or this is no HTTP.
    """

    def __init__(
        self,
        connect: Callable[[Callable[[], Connection]], Awaitable[Connection]],
        headers: str,
        *,
        connect_s: float,
        keepalive_s: float,
    ) -> None:
        self._connect, self._headers = connect, headers
        self._connect_s, self._keepalive_s = connect_s, keepalive_s
        self._heads: dict[str, bytes] = {}
        self._idle: deque[tuple[float, Connection]] = deque()  # (since, connection), the youngest last

    async def post(self, target: str, body: bytes, *, timeout_s: float) -> Answer:
        """The answer to a body of JSON. A cancelled or failed request closes its connection."""
        head = self._heads.get(target)
        if head is None:
            head = self._heads[target] = f"POST {target} HTTP/1.1\r\n{self._headers}Content-Length: ".encode("ascii")
        async with asyncio.timeout(timeout_s):
            connection = self._kept() or await self._opened()
            try:
                answer = await connection.ask(b"%b%d\r\n\r\n%b" % (head, len(body), body))
            except BaseException:
                connection.abort()
                raise
        if connection.reusable:
            self._idle.append((time.monotonic(), connection))
        else:
            connection.abort()
        return answer

    def close(self) -> None:
        """Closes every idle connection; may be called twice."""
        while self._idle:
            self._idle.pop()[1].abort()

    def _kept(self) -> Connection | None:
        now = time.monotonic()
        while self._idle and now - self._idle[0][0] > self._keepalive_s:
            self._idle.popleft()[1].abort()
        while self._idle:
            connection = self._idle.pop()[1]
            if connection.reusable:
                return connection
        return None

    async def _opened(self) -> Connection:
        async with asyncio.timeout(self._connect_s):
            return await self._connect(Connection)


class Connection(asyncio.Protocol):
    """One connection: a request, its answer, the next request.

    Attributes:
        reusable: whether another request may follow.
    """

    def __init__(self) -> None:
        self.reusable = False
        self._transport: asyncio.Transport | None = None
        self._asked: asyncio.Future[Answer] | None = None
        self._received = bytearray()
        self._head: bytes | None = None
        self._chunks: list[bytes] = []

    def ask(self, request: bytes) -> asyncio.Future[Answer]:
        """Send a request; the future ends with its answer."""
        assert self._transport is not None
        asked = self._asked = asyncio.get_running_loop().create_future()
        self.reusable, self._head, self._chunks = False, None, []
        self._transport.write(request)
        return asked

    def abort(self) -> None:
        """Close at once."""
        self.reusable, self._asked = False, None
        if self._transport is not None:
            self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        if self._asked is None:  # nothing was asked: an answer too many
            self.abort()
            return
        self._received += data
        try:
            body = self._body()
        except ValueError as error:
            self._fail(aiohttp.ClientPayloadError(str(error)))
        else:
            if body is not None:
                self._answer(body, keep=self._keeps())

    def connection_lost(self, exc: Exception | None) -> None:
        self.reusable = False
        if self._head is not None and self._until_closed() and exc is None:
            self._answer(bytes(self._received), keep=False)
        elif self._head is not None or self._received:
            self._fail(aiohttp.ClientPayloadError("closed in the middle of an answer"))
        else:
            self._fail(exc or ConnectionResetError(errno.ECONNRESET, "closed"))

    def _answer(self, body: bytes, *, keep: bool) -> None:
        head, asked = self._head, self._asked
        assert head is not None
        status, later = _STATUS.match(head), _RETRY_AFTER.search(head)
        assert status is not None
        self.reusable, self._asked, self._head = keep and not self._received, None, None
        if asked is not None and not asked.done():
            asked.set_result(Answer(int(status[2]), later[1].decode("latin-1").strip() if later else None, body))

    def _fail(self, error: Exception) -> None:
        asked, self._asked = self._asked, None
        if asked is not None and not asked.done():
            asked.set_exception(error)
        self.abort()

    def _body(self) -> bytes | None:
        """The whole body, taken off what was received; None while it is not whole.

        Raises:
            ValueError: this is no HTTP/1.1.
        """
        if self._head is None and not self._found_head():
            return None
        head, received = self._head, self._received
        assert head is not None
        if int(head[9:12]) in _NO_BODY:
            return b""
        if _CHUNKED.search(head):
            return self._dechunked()
        length = _LENGTH.search(head)
        if length is None or len(received) < (size := int(length[1])):
            return None
        body = bytes(received[:size])
        del received[:size]
        return body

    def _found_head(self) -> bool:
        """Take the head off what was received; those of interim answers (100 to 199) are dropped."""
        received = self._received
        while (end := received.find(_HEAD_END)) >= 0:
            head = bytes(received[: end + 2])
            del received[: end + len(_HEAD_END)]
            status = _STATUS.match(head)
            if status is None:
                raise ValueError("no HTTP/1.1")
            if not status[2].startswith(b"1"):
                self._head = head
                return True
        if len(received) > MAX_HEAD:
            raise ValueError("a head without end")
        return False

    def _dechunked(self) -> bytes | None:
        """RFC 9112, 7.1: chunks with their sizes, then trailers, which nobody needs."""
        received = self._received
        while (chunk := _CHUNK.match(received)) is not None:
            size = int(chunk[1], 16)
            if size == 0:
                # The zero chunk's own line end and an empty line, with trailers between them or not.
                end = received.find(_HEAD_END, chunk.end() - 2)
                if end < 0:
                    return None
                del received[: end + len(_HEAD_END)]
                return b"".join(self._chunks)
            end = chunk.end() + size
            if len(received) < end + 2:
                return None
            if received[end : end + 2] != b"\r\n":
                raise ValueError("a chunk of another size")
            self._chunks.append(bytes(received[chunk.end() : end]))
            del chunk, received[: end + 2]
        if b"\r\n" in received[:MAX_HEAD] or len(received) > MAX_HEAD:
            raise ValueError("no chunk")
        return None

    def _keeps(self) -> bool:
        """Whether the server keeps the connection (RFC 9112, 9.3)."""
        assert self._head is not None
        said = _CONNECTION.search(self._head)
        word = said[1].lower() if said else b""
        return word == b"keep-alive" if self._head[7:8] == b"0" else word != b"close"

    def _until_closed(self) -> bool:
        head = self._head
        return head is not None and not _CHUNKED.search(head) and not _LENGTH.search(head)
