"""The short way of a run's reads: every shape of an HTTP/1.1 answer, in every cut, and every way to break."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest
from aiohttp import web
from fakes.wire_server import Handler, WireServer, error

from engine.client.http import EngineClient
from engine.client.posts import Answer, Connection, PostPool
from engine.domain.chat import Message
from engine.errors import EngineBusy, EngineRefused, EngineUnreachable

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n"
DONE = Answer(200, None, b"ok")


class Server:
    """Answers each request with the next bytes of the script, cut into pieces; then closes where it is told to.

    Attributes:
        connections: how many were opened.
        requests: as they came.
    """

    def __init__(self, *script: bytes, cut: int = 1 << 20, close: bool = False) -> None:
        self.script, self.cut, self.close = list(script), cut, close
        self.connections = 0
        self.requests: list[bytes] = []
        self.asked, self.ended = asyncio.Event(), asyncio.Event()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                size = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
                self.requests.append(head + await reader.readexactly(size))
                self.asked.set()
                if not self.script:
                    await reader.read()  # silence, until the client goes
                    break
                answer = self.script.pop(0)
                for start in range(0, len(answer), self.cut):
                    writer.write(answer[start : start + self.cut])
                    await writer.drain()
                    await asyncio.sleep(0)
                if self.close:
                    break
        self.ended.set()
        writer.close()


@contextlib.asynccontextmanager
async def pool(server: Server, *, keepalive_s: float = 60.0) -> AsyncIterator[PostPool]:
    async with await asyncio.start_server(server.serve, "127.0.0.1") as listening:
        port = listening.sockets[0].getsockname()[1]

        async def connect(protocol: type[Connection]) -> Connection:
            return (await asyncio.get_running_loop().create_connection(protocol, "127.0.0.1", port))[1]

        made = PostPool(connect, "Host: here\r\n", connect_s=5.0, keepalive_s=keepalive_s)  # type: ignore[arg-type]
        yield made
        made.close()


async def answers(server: Server, count: int = 1) -> list[Answer]:
    async with pool(server) as posts:
        return [await posts.post("/read", b"{}", timeout_s=120.0) for _ in range(count)]


@pytest.mark.parametrize("cut", [1 << 20, 7, 1])
@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        (OK, DONE),
        (b"HTTP/1.1 200\r\ncontent-length:2 \r\n\r\nok", DONE),
        (b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hints\r\nLink: </x>\r\n\r\n" + OK, DONE),
        (CHUNKED + b"2\r\nok\r\n0\r\n\r\n", DONE),
        (CHUNKED + b"1;name=value\r\no\r\n01\r\nk\r\n0\r\nTrailer: x\r\nOther: y\r\n\r\n", DONE),
        (CHUNKED + b"A\r\n\r\n\r\n\r\n\r\n\r\n\r\n0\r\n\r\n", Answer(200, None, b"\r\n" * 5)),
        (CHUNKED + b"0\r\n\r\n", Answer(200, None, b"")),
        (b"HTTP/1.1 204 No Content\r\n\r\n", Answer(204, None, b"")),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", Answer(200, None, b"")),
        (b"HTTP/1.1 503 Busy\r\nRETRY-AFTER:  7 \r\nContent-Length: 4\r\n\r\nfull", Answer(503, "7", b"full")),
    ],
)
async def test_whole_answers_and_the_connection_is_kept(sent: bytes, expected: Answer, cut: int) -> None:
    server = Server(sent, OK, cut=cut)
    assert await answers(server, 2) == [expected, DONE]
    assert server.connections == 1
    assert server.requests[0] == b"POST /read HTTP/1.1\r\nHost: here\r\nContent-Length: 2\r\n\r\n{}"


@pytest.mark.parametrize(
    "sent",
    [
        b"HTTP/1.1 200 OK\r\nConnection: Close\r\nContent-Length: 2\r\n\r\nok",
        b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok",
        OK + b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nunasked",
    ],
)
async def test_a_connection_that_cannot_be_kept_is_not_used_again(sent: bytes) -> None:
    server = Server(sent, OK)
    assert await answers(server, 2) == [DONE, DONE]
    assert server.connections == 2


async def test_an_answer_without_a_length_ends_with_its_connection() -> None:
    server = Server(b"HTTP/1.1 200 OK\r\n\r\nok", close=True)
    assert await answers(server) == [DONE]


async def test_http_1_0_may_keep_alive() -> None:
    kept = b"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nok"
    server = Server(kept, kept)
    await answers(server, 2)
    assert server.connections == 1


@pytest.mark.parametrize(
    "sent",
    [
        OK[:-1],
        b"HTTP/1.1 200 O",
        CHUNKED + b"2\r\nok\r\n",
        CHUNKED + b"2\r\nokay\r\n0\r\n\r\n",
        CHUNKED + b"-2\r\nok\r\n0\r\n\r\n",
        CHUNKED + b"\r\n",
        b"SSH-2.0-OpenSSH_9.6\r\n\r\n",
        b"HTTP/2 200\r\n\r\n",
        b"\x16\x03\x01" * 30_000,
    ],
    ids=["body", "head", "chunks", "chunk's size", "negative size", "no size", "ssh", "http/2", "endless"],
)
async def test_broken_answers(sent: bytes) -> None:
    with pytest.raises(aiohttp.ClientPayloadError):
        await answers(Server(sent, close=True))


async def test_a_server_that_hangs_up_and_one_that_is_silent() -> None:
    with pytest.raises(ConnectionResetError):
        await answers(Server(b"", close=True))
    async with pool(Server()) as posts:
        with pytest.raises(TimeoutError):
            await posts.post("/read", b"{}", timeout_s=0.05)


async def test_a_cancelled_request_closes_its_connection() -> None:
    server = Server()
    async with pool(server) as posts:
        task = asyncio.get_running_loop().create_task(posts.post("/read", b"{}", timeout_s=240.0))
        await asyncio.wait_for(server.asked.wait(), 120.0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.wait_for(server.ended.wait(), 120.0)


async def test_what_was_idle_too_long_is_closed_instead_of_used() -> None:
    server = Server(OK, OK)
    async with pool(server, keepalive_s=-1.0) as posts:
        for _ in range(2):
            assert await posts.post("/read", b"{}", timeout_s=120.0) == DONE
    assert server.connections == 2


async def test_a_kept_connection_that_the_server_closed_is_replaced() -> None:
    server = Server(OK, OK, close=True)
    async with pool(server) as posts:
        assert await posts.post("/read", b"{}", timeout_s=120.0) == DONE
        await asyncio.wait_for(server.ended.wait(), 120.0)
        while posts._idle[0][1].reusable:  # noqa: ASYNC110 - the close is on its way to us
            await asyncio.sleep(0.01)
        assert await posts.post("/read", b"{}", timeout_s=120.0) == DONE
    assert server.connections == 2


# --- the client on it -------------------------------------------------------------------------------------------------


async def test_a_run_reads_the_same_on_both_ways() -> None:
    async with WireServer() as server, EngineClient(server.url, api_key="sk-secret") as client:
        messages = [Message("user", "hallo, wörld " * 2000)]
        before = await client.render(messages)
        client.leave_busy_to_caller()
        assert await client.render(messages) == before
        first, second = server.bodies("/v1/chat/completions/render")
        assert first == second


async def test_a_unix_socket(tmp_path: Path) -> None:
    served = Server(b'HTTP/1.1 200 OK\r\nContent-Length: 15\r\n\r\n{"tokens": [1]}')
    listening = await asyncio.start_unix_server(served.serve, str(tmp_path / "s"))
    async with listening, EngineClient(f"unix:{tmp_path / 's'}") as client:
        client.leave_busy_to_caller()
        assert await client.tokenize("a") == (1,)
    assert b"Host: engine\r\n" in served.requests[0]


async def test_refusals_and_losses_are_the_clients_own() -> None:
    async with WireServer() as server, EngineClient(server.url, api_key="sk-secret") as client:
        client.leave_busy_to_caller()
        server.handlers["/tokenize"] = _refusing(400, {})
        with pytest.raises(EngineRefused, match="status 400: no") as refused:
            await client.tokenize("a")
        assert "sk-secret" not in str(refused.value)
        server.handlers["/tokenize"] = _refusing(429, {"Retry-After": "3"})
        with pytest.raises(EngineBusy) as busy:
            await client.tokenize("a")
        assert busy.value.retry_after_s == 3.0
    for sent, why in ((b"", "hung up"), (OK[:-1], "broke off in the middle")):
        lost = Server(*[sent] * 9, close=True)
        listening = await asyncio.start_server(lost.serve, "127.0.0.1")
        url = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}"
        async with listening, EngineClient(url) as client:
            client.leave_busy_to_caller()
            with pytest.raises(EngineUnreachable, match=why):
                await client.tokenize("a")
        assert lost.connections > 1, "it was tried again"


def _refusing(status: int, headers: dict[str, str]) -> Handler:
    async def handle(request: web.Request) -> web.StreamResponse:
        answer = error(status, "no sk-secret")
        answer.headers.update(headers)
        return answer

    return handle
