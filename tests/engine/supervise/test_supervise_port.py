"""A port that is held for an engine that takes no open socket, and a stranger that answers on it all the same."""

from __future__ import annotations

import asyncio
import errno
import os
import signal
import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from aiohttp import web

from engine.client.http import EngineClient
from engine.errors import EngineRefused, InputError, UserError
from engine.supervise.ports import bind_port

sys.path.insert(0, str(Path(__file__).parents[2] / "fakes"))
import stand_in_window as window  # the folder is no package


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    window.hurry(lambda module, name, seconds: monkeypatch.setattr(module, name, seconds))


@pytest.fixture
def plain() -> Iterator[socket.socket]:
    """A socket of a program that does not say SO_REUSEADDR."""
    with socket.socket() as made:
        yield made


def test_a_held_port_is_given_to_nobody_but_to_who_is_named_it(plain: socket.socket) -> None:
    with bind_port(listen=False) as held:
        address = held.getsockname()
        with pytest.raises(OSError, match="in use") as caught:
            plain.bind(address)
        assert caught.value.errno == errno.EADDRINUSE
        with pytest.raises(ConnectionRefusedError):
            plain.connect(address)
        with socket.socket() as engine:  # as vLLM does it
            engine.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            engine.bind(address)
            engine.listen()
            with pytest.raises(InputError, match="in use"):
                bind_port("127.0.0.1", address[1])
            held.close()
            with socket.create_connection(address):
                pass


def test_a_port_that_somebody_listens_on_cannot_be_held() -> None:
    with bind_port() as taken, pytest.raises(InputError, match="in use"):
        bind_port("127.0.0.1", taken.getsockname()[1], listen=False)


async def test_the_port_is_held_until_the_engine_listens(tmp_path: Path, plain: socket.socket) -> None:
    engine = window.make_engine(window.Spec(str(tmp_path), "core", []))

    async def take(where: window.Reached) -> None:
        with pytest.raises(OSError, match="in use"):
            plain.bind(("127.0.0.1", engine._port))
        raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        await window.reached(engine, window.Spec(str(tmp_path), "core", []), take)
    plain.bind(("127.0.0.1", engine._port))  # and is free after a start that was given up


@pytest.mark.parametrize("status", [200, 404, 401])
async def test_a_stranger_on_the_port_is_no_engine_of_ours(tmp_path: Path, status: int) -> None:
    """It answers to any key, or to no path, or to another key than ours."""

    async def answer(request: web.Request) -> web.Response:
        if request.path == "/health":
            return web.Response()
        return web.json_response({"object": "list", "data": [{"id": window.MODEL}]}, status=status)

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", answer)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    engine = window.make_engine(window.Spec(str(tmp_path), "boot", []))
    loop = asyncio.get_running_loop()

    async def intrude() -> None:
        await web.TCPSite(runner, "127.0.0.1", engine._port, reuse_address=True).start()

    engine.on_progress = lambda progress: (
        tasks.append(loop.create_task(intrude())) if progress.number and not tasks else None
    )
    tasks: list[asyncio.Task[None]] = []
    try:
        with pytest.raises(EngineRefused) as caught:
            await engine.start(timeout_s=240)
    finally:
        await asyncio.gather(*tasks)
        await runner.cleanup()
    assert caught.value.code == "engine.other_server"
    assert engine.group is None
    assert engine.state.phase == "failed"


async def test_the_key_opens_the_engine_and_is_never_shown(tmp_path: Path) -> None:
    engine = window.make_engine(window.Spec(str(tmp_path), "ready", []))
    handle = await engine.start(timeout_s=240)
    async with EngineClient(handle.base_url, api_key="another") as stranger:
        with pytest.raises(EngineRefused):
            await stranger.models()
    with handle.log_path.open("a") as log:
        log.write(f"VLLM_API_KEY={handle.api_key} is in the environment\n")
    async with asyncio.TaskGroup() as tasks:
        watching = tasks.create_task(engine.watch())
        os.kill(handle.pid, signal.SIGKILL)
    reason = watching.result().reason
    assert "VLLM_API_KEY=[key] is in the environment" in reason
    assert handle.api_key not in reason
    await engine.stop()
    (tmp_path / "broken").touch()
    with pytest.raises(UserError) as caught:
        await engine.start(timeout_s=240)
    assert handle.api_key not in str(caught.value)
