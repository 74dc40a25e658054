"""HTTP of downloads: redirects followed by hand, so that the token never leaves the hub, and short queues.

The one place in ``engine/checkpoints`` that knows aiohttp.
"""

from __future__ import annotations

import contextlib
import ipaddress
import socket
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Self
from urllib.request import getproxies, proxy_bypass

import aiohttp
from yarl import URL

from engine.checkpoints.patience import Again, Patience
from engine.client.lost import why_lost
from engine.errors import InputError, UserError

AGENT = "diffusion-desk"
REDIRECTS = frozenset({301, 302, 303, 307, 308})
MOST_HOPS = 6

# What a kill loses are bytes on their way: in the kernel's receive queue, in aiohttp's buffer, in our hand. With four
# connections these two keep all of it below 8 MB, and four such queues still carry 100 MB/s over 30 ms. The kernel
# gives twice what is asked for (man 7 socket), if net.core.rmem_max allows it. Where it does not, a queue would be so
# short (208 KB on many machines) that far hubs were slow: there the kernel's own choice stays, whose queue is long only
# when bytes come faster than a disk takes them, as they do inside one machine. (TCP_WINDOW_CLAMP does not help: the
# kernel lifts it as the queue grows, seen on Linux 6.18.)
QUEUE_BYTES = 1 << 19
BUFFER_BYTES = 1 << 16  # aiohttp reads on up to twice this, and up to 256 KB in one go


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer after its redirects.

    Attributes:
        headers: of the last answer.
        hub_headers: of the first one; a hub names size and hash there and redirects to where the bytes are.
        hops: redirects followed.
        address: of the last answer, without its query (a signature is a secret for a while).
        with_token: the hub was asked with the token.
    """

    status: int
    headers: Mapping[str, str]
    hub_headers: Mapping[str, str]
    hops: int
    address: str
    with_token: bool
    _content: aiohttp.StreamReader

    async def chunks(self) -> AsyncIterator[bytes]:
        """The body as it comes. Raises Again when the connection breaks or falls silent."""
        with _lost(self.address):
            async for chunk in self._content.iter_any():
                yield chunk

    async def read(self, limit: int) -> bytes:
        """The whole body, which must be small.

        Raises:
            Again: the connection broke.
            UserError: it is longer than ``limit`` bytes.
        """
        data = bytearray()
        async for chunk in self.chunks():
            data += chunk
            if len(data) > limit:
                raise UserError(
                    "hub.too_long", "{url} answered with more than {limit} bytes", url=self.address, limit=limit
                )
        return bytes(data)


class Transport:
    """HTTP to one hub and to wherever it redirects. An async context manager.

    Args:
        endpoint: the hub's address, ``https://host`` with or without a path.
        token: asked once the hub wants one; gives None when there is none. Never part of a message.

    Raises:
        InputError: the address cannot be used.
    """

    def __init__(self, endpoint: str, patience: Patience, token: Callable[[], str | None]) -> None:
        self.endpoint = parse_endpoint(endpoint)
        self._patience = patience
        self._ask_token = token
        self._token: str | None = None
        self._session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Self:
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, socket_factory=_short_queue),
            # The bytes must be the file's own: nothing is unpacked on the way.
            headers={"User-Agent": AGENT, "Accept-Encoding": "identity"},
            auto_decompress=False,
            cookie_jar=aiohttp.DummyCookieJar(),
            read_bufsize=BUFFER_BYTES,
            # Proxies are taken from the environment by hand: aiohttp would read .netrc with them.
            trust_env=False,
            timeout=aiohttp.ClientTimeout(
                total=None, sock_connect=self._patience.connect_s, sock_read=self._patience.silence_s
            ),
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._session is not None:
            await self._session.close()

    def authorise(self, refusal: Answer) -> bool:
        """Sends the token from now on; False when there is none, or it was sent and did not help."""
        if refusal.with_token or not may_carry_token(self.endpoint):
            return False
        if self._token is None:
            self._token = self._ask_token()
        return self._token is not None

    @contextlib.asynccontextmanager
    async def open(
        self, path: str, *, method: str = "GET", headers: Mapping[str, str] | None = None, query: str = ""
    ) -> AsyncIterator[Answer]:
        """Asks the hub and follows its redirects; leaving the block closes the connection.

        Raises:
            Again: no connection, a broken or a silent one.
            UserError: a bad certificate, or redirects that go nowhere.
        """
        first = self.endpoint.joinpath(*path.split("/")).with_query(query)
        with_token = self._token is not None
        with _lost(str(first.with_query(None))):
            response, first_headers, hops = await self._follow(first, method, dict(headers or {}))
        try:
            address = str(response.url.with_query(None).with_user(None))
            yield Answer(response.status, response.headers, first_headers, hops, address, with_token, response.content)
        finally:
            response.close()

    async def _follow(
        self, url: URL, method: str, headers: dict[str, str]
    ) -> tuple[aiohttp.ClientResponse, Mapping[str, str], int]:
        assert self._session is not None, "Transport is used inside its context"
        first: Mapping[str, str] | None = None
        for hop in range(MOST_HOPS + 1):
            sent = headers
            if self._token is not None and url.origin() == self.endpoint.origin():
                sent = {**headers, "Authorization": f"Bearer {self._token}"}
            response = await self._session.request(
                method, url, headers=sent, allow_redirects=False, proxy=_proxy_for(url)
            )
            first = response.headers if first is None else first
            if response.status not in REDIRECTS:
                return response, first, hop
            response.close()
            url = _next(url, response.headers.get("Location", ""))
        raise UserError("hub.redirects", "{url} redirects without end", url=str(url.with_query(None)))


def parse_endpoint(endpoint: str) -> URL:
    """The address of a hub or mirror.

    Raises:
        InputError: not an http address, or one with a password or query in it.
    """
    try:
        url = URL(endpoint.rstrip("/"))
        usable = url.scheme in ("http", "https") and url.host and not url.user and not url.query_string
    except ValueError:
        usable = False
    if not usable:
        raise InputError(
            "hub.bad_address",
            "{address}: not the address of a hub",
            remedy="write https://host, without a password or a question mark in it",
            address=endpoint,
        )
    return url


def may_carry_token(url: URL) -> bool:
    """A token goes over TLS, or inside this machine."""
    if url.scheme == "https" or url.host == "localhost":
        return True
    try:
        return ipaddress.ip_address(url.host or "").is_loopback
    except ValueError:
        return False


def _next(url: URL, location: str) -> URL:
    try:
        # A signed address must stay as it was written, or its signature is wrong.
        target = url.join(URL(location, encoded=True))
    except ValueError:
        target = URL()
    if not location or target.scheme not in ("http", "https") or not target.host:
        raise UserError("hub.bad_redirect", "{url} redirects to no address", url=str(url.with_query(None)))
    return target


def _proxy_for(url: URL) -> str | None:
    """The proxy that the environment names for this address, as curl reads it."""
    host = url.host or ""
    proxies = getproxies()
    if not proxies or proxy_bypass(host, proxies):
        return None
    return proxies.get(url.scheme) or proxies.get("all")


def _short_queue(info: aiohttp.AddrInfoType) -> socket.socket:
    family, kind, protocol, _, _ = info
    made = socket.socket(family=family, type=kind, proto=protocol)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, QUEUE_BYTES)
    if made.getsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF) < 2 * QUEUE_BYTES:
        made.close()  # once set it cannot be given back
        made = socket.socket(family=family, type=kind, proto=protocol)
    return made


@contextlib.contextmanager
def _lost(address: str) -> Iterator[None]:
    """Turns aiohttp's errors into ours. Their texts may hold headers or signed addresses: only their kind is kept."""
    try:
        yield
    except aiohttp.ClientConnectorCertificateError:
        raise UserError(
            "hub.certificate",
            "{url} shows a certificate that this machine does not trust",
            remedy="a network that reads along needs its certificate installed; SSL_CERT_FILE names it",
            url=address,
        ) from None
    except TimeoutError:
        raise Again(UserError("hub.silent", "{url} does not answer", remedy=_LATER, url=address)) from None
    except aiohttp.ClientPayloadError:
        raise Again(UserError("hub.cut", "{url} broke off in the middle", remedy=_LATER, url=address)) from None
    except (aiohttp.ClientError, OSError) as error:
        raise Again(
            UserError(
                "hub.unreachable", "{url} cannot be reached ({why})", remedy=_LATER, url=address, why=why_lost(error)
            )
        ) from None


_LATER = "see whether the network works; everything fetched so far is kept, and the same command goes on"
