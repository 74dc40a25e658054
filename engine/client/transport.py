"""Bytes to and from an engine: one connection pool, our errors, and repeats of reads that are safe to repeat."""

from __future__ import annotations

import asyncio
import contextlib
import math
import time
from collections.abc import AsyncIterator, Callable
from email.utils import parsedate_to_datetime

import aiohttp
import stamina
from pydantic import ValidationError
from yarl import URL

from engine.client.lost import why_lost
from engine.client.posts import Connection, PostPool
from engine.client.wire import ErrorBody, ErrorInfo
from engine.errors import EngineBusy, EngineRefused, EngineUnreachable, InputError

CONNECT_S = 10.0
CHAT_SILENCE_S = 300.0  # a first canvas waits for prefill and for the canvases of others; a dead engine resets at once
KEEPALIVE_S = 4.0  # below uvicorn's 5 s, so that we never post into a connection that the server is about to close
RETRY_STATUSES = frozenset({502, 503, 504, 529})  # a proxy, or an engine with a full queue: the same read works later
BUSY_STATUSES = frozenset({429, 503, 529})  # too many requests at once
RETRIES = 3
MAX_RETRY_AFTER_S = 3600.0
DETAIL_CHARS = 400

_REMEDIES = {
    401: "check the engine's API key",
    403: "start the server with --enable-scale-out, or read through the native wire",
    404: "check the engine's address; the server may be older than vLLM 0.32",
    501: "start the server with --logprobs-mode raw_logprobs and a model that reads decisions",
}


class Transport:
    """HTTP to one address.

    Args:
        base_url: ``http://host:port`` (a path prefix is kept) or ``unix:/path.sock``.
        api_key: sent as bearer token; never part of a message.
        timeout_s: for one whole request other than a chat stream.

    Attributes:
        patient: repeats what a busy engine turns away. False: that is an ``EngineBusy`` at once, for a caller that
            asks for less then.

    Raises:
        InputError: the address or the key cannot be used.
    """

    def __init__(self, base_url: str, *, api_key: str | None, timeout_s: float) -> None:
        self._socket_path, self._base = _split(base_url)
        self.address = base_url if self._socket_path else str(self._base.with_user(None))
        self._key = _checked_key(api_key)
        self._timeout_s = timeout_s
        self._timeout = aiohttp.ClientTimeout(total=timeout_s, sock_connect=CONNECT_S)
        self.patient = True
        self._posts: PostPool | None = None
        self._session: aiohttp.ClientSession | None = None
        self._urls: dict[str, URL] = {}

    async def close(self) -> None:
        """Closes every connection; may be called twice."""
        if self._posts is not None:
            self._posts.close()
        if self._session is not None:
            await self._session.close()
            self._session = None

    def many_posts(self) -> None:
        """From now on posts are so many that they go over connections of their own kind (``posts``)."""
        plain = self._socket_path is not None or (self._base.scheme == "http" and self._base.user is None)
        if plain and self._posts is None:
            key = "" if self._key is None else f"Authorization: Bearer {self._key}\r\n"
            headers = f"Host: {self._base.host_port_subcomponent}\r\nContent-Type: application/json\r\n{key}"
            self._posts = PostPool(self._connection, headers, connect_s=CONNECT_S, keepalive_s=KEEPALIVE_S)

    async def _connection(self, protocol: Callable[[], Connection]) -> Connection:
        loop = asyncio.get_running_loop()
        if self._socket_path is not None:
            return (await loop.create_unix_connection(protocol, self._socket_path))[1]
        assert self._base.host is not None
        return (await loop.create_connection(protocol, self._base.host, self._base.port or 80))[1]

    async def get(self, path: str) -> bytes:
        """The body of a GET, repeated when that helps."""
        return await self._repeated("GET", path, None)

    async def get_once(self, path: str, *, timeout_s: float) -> bytes:
        """The body of a GET that is not repeated: the caller polls."""
        return await self._once("GET", path, None, aiohttp.ClientTimeout(total=timeout_s))

    async def post(self, path: str, body: bytes) -> bytes:
        """The body of the answer to a read: a POST that changes nothing, repeated when that helps.

        Raises:
            EngineUnreachable: refused, reset, or silent for ``timeout_s``.
            EngineRefused: any status but 2xx.
            EngineBusy: 429, 503 or 529, when not ``patient``.
        """
        return await self._repeated("POST", path, body)

    @contextlib.asynccontextmanager
    async def stream(self, path: str, body: bytes) -> AsyncIterator[AsyncIterator[bytes]]:
        """Posts once and gives the body's bytes as they come; leaving the block closes the connection.

        Raises:
            EngineUnreachable, EngineRefused: as ``post``, also while the bytes are read.
        """
        timeout = aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_S, sock_read=CHAT_SILENCE_S)
        try:
            response = await self._opened().post(self._url(path), data=body, timeout=timeout, allow_redirects=False)
            try:
                if not response.ok or response.status >= 300:
                    raise self._refusal(path, response.status, await response.read())
                yield response.content.iter_any()
            finally:
                # Not released to the pool: an engine sees the end of a request only by its closed connection.
                response.close()
        except (aiohttp.ClientError, OSError) as exc:
            raise self._lost(path, exc) from None

    async def _repeated(self, method: str, path: str, body: bytes | None) -> bytes:
        # The first try stands outside stamina, whose set-up would cost as much as the request's own work.
        try:
            return await self._once(method, path, body, self._timeout)
        except (EngineUnreachable, EngineRefused) as exc:
            if not self.patient and isinstance(exc, EngineRefused) and exc.status in BUSY_STATUSES:
                raise _busy(exc) from exc
            if not _worth_another(exc):
                raise
        async for attempt in stamina.retry_context(
            on=_worth_another, attempts=RETRIES, timeout=10.0, wait_initial=0.1, wait_max=1.0, wait_jitter=0.1
        ):
            with attempt:
                return await self._once(method, path, body, self._timeout)
        raise AssertionError("stamina ends with a value or an exception")  # pragma: no cover

    async def _once(self, method: str, path: str, body: bytes | None, timeout: aiohttp.ClientTimeout) -> bytes:
        if body is not None and self._posts is not None:
            return await self._posted(self._posts, path, body)
        try:
            async with self._opened().request(
                method, self._url(path), data=body, timeout=timeout, allow_redirects=False
            ) as response:
                data = await response.read()
        except (aiohttp.ClientError, OSError) as exc:  # OSError holds TimeoutError
            raise self._lost(path, exc) from None
        if response.status >= 300:
            raise self._refusal(path, response.status, data, response.headers.get("Retry-After"))
        return data

    async def _posted(self, posts: PostPool, path: str, body: bytes) -> bytes:
        try:
            answer = await posts.post(self._url(path).raw_path, body, timeout_s=self._timeout_s)
        except (aiohttp.ClientError, OSError) as exc:
            raise self._lost(path, exc) from None
        if answer.status >= 300:
            raise self._refusal(path, answer.status, answer.body, answer.retry_after)
        return answer.body

    def _opened(self) -> aiohttp.ClientSession:
        if self._session is None:
            headers = {"Content-Type": "application/json"}
            if self._key is not None:
                headers["Authorization"] = f"Bearer {self._key}"
            self._session = aiohttp.ClientSession(
                connector=self._connector(), headers=headers, cookie_jar=aiohttp.DummyCookieJar(), trust_env=False
            )
        return self._session

    def _connector(self) -> aiohttp.BaseConnector:
        # No limit of our own: how many requests run at once is the caller's decision.
        if self._socket_path is not None:
            return aiohttp.UnixConnector(self._socket_path, limit=0, keepalive_timeout=KEEPALIVE_S)
        return aiohttp.TCPConnector(limit=0, keepalive_timeout=KEEPALIVE_S)

    def _url(self, path: str) -> URL:
        url = self._urls.get(path)
        if url is None:
            url = self._urls[path] = self._base / path.removeprefix("/")
        return url

    def _lost(self, path: str, error: aiohttp.ClientError | OSError) -> EngineUnreachable:
        """Ours for one of aiohttp's, whose text may hold request headers, so that only its meaning is kept."""
        if isinstance(error, TimeoutError):
            return EngineUnreachable(
                "engine.timeout",
                "the engine at {address} did not answer {path} in time",
                remedy="see whether it is busy or has stopped",
                address=self.address,
                path=path,
            )
        return EngineUnreachable(
            "engine.unreachable",
            "no engine answers at {address}: {why}",
            remedy="see whether it is running",
            address=self.address,
            why=why_lost(error),
        )

    def _refusal(self, path: str, status: int, body: bytes, retry_after: str | None = None) -> EngineRefused:
        detail = _detail(body)
        if self._key:
            detail = detail.replace(self._key, "***")
        return EngineRefused(
            "engine.refused",
            "the engine at {address} answered {path} with status {status}: {detail}",
            remedy=_REMEDIES.get(status, ""),
            status=status,
            address=self.address,
            path=path,
            detail=detail or "no reason given",
            retry_after=retry_after,
        )


def _worth_another(exc: Exception) -> bool:
    """Refused or broken connections and full queues; not a timeout, which has cost its time already."""
    if isinstance(exc, EngineUnreachable):
        return exc.code == "engine.unreachable"
    return isinstance(exc, EngineRefused) and exc.status in RETRY_STATUSES


def _busy(refusal: EngineRefused) -> EngineBusy:
    return EngineBusy("engine.busy", str(refusal), retry_after_s=_seconds(refusal.params["retry_after"]))


def _seconds(retry_after: str | None) -> float | None:
    """Retry-After as seconds (RFC 9110, 10.2.3: a number, or a date); None when it says nothing usable."""
    if retry_after is None:
        return None
    try:
        wait = float(retry_after)
    except ValueError:
        try:
            wait = parsedate_to_datetime(retry_after).timestamp() - time.time()
        except ValueError:
            return None
    return min(max(wait, 0.0), MAX_RETRY_AFTER_S) if math.isfinite(wait) else None


def _detail(body: bytes) -> str:
    try:
        error = ErrorBody.model_validate_json(body).error
    except ValidationError:
        return body[:DETAIL_CHARS].decode("utf-8", errors="replace").strip()
    return (error.message if isinstance(error, ErrorInfo) else error)[:DETAIL_CHARS]


def _split(base_url: str) -> tuple[str | None, URL]:
    scheme, _, rest = base_url.partition(":")
    if scheme == "unix" and rest.startswith("/"):
        return rest, URL("http://engine")
    try:
        url = URL(base_url)
    except ValueError as exc:
        raise _bad_address(base_url) from exc
    if url.scheme not in ("http", "https") or not url.host:
        raise _bad_address(base_url)
    return None, url


def _bad_address(base_url: str) -> InputError:
    return InputError(
        "engine.bad_address",
        "{address}: not an engine's address",
        remedy="write http://host:port or unix:/path.sock",
        address=base_url,
    )


def _checked_key(api_key: str | None) -> str | None:
    if api_key is not None and not (api_key.isascii() and api_key.isprintable() and api_key):
        raise InputError("engine.bad_key", "the engine's API key is empty or holds characters that no header can carry")
    return api_key
