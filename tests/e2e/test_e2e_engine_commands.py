"""``chat`` and ``serve`` with the embedded engine, and other servers by their URL."""

from __future__ import annotations

import re
import signal
from typing import Any

import psutil
import pytest

from engine.client.http import EngineClient
from engine.errors import EngineRefused
from engine.supervise.lifecycle import KEY_VARIABLE
from engine.supervise.ports import bind_port


def test_chat_answers_and_leaves_nothing(desk: Any) -> None:
    ended = desk("chat", "Hello", "--max-tokens", 64)
    assert ended.code == 0, ended.err
    assert ended.out.strip()
    assert re.search(r"\d+ tokens in \d+\.\d+ s: \d+ tokens/s wall, \d+ canvases, [\d.]+ denoise steps", ended.err)
    assert not [child for child in psutil.Process().children(recursive=True) if "engine.cli" in child.cmdline()]


def test_chat_without_an_engine_ends_with_3(desk: Any) -> None:
    with bind_port() as unused:
        port = unused.getsockname()[1]
    ended = desk("chat", "Hello", "--engine", f"http://127.0.0.1:{port}")
    assert ended.code == 3
    assert f"no engine answers at http://127.0.0.1:{port}" in ended.err
    assert "Traceback" not in ended.err


async def test_serve_asks_for_its_key_and_stops_cleanly(desk: Any, desk_process: Any) -> None:
    process = desk_process("serve", "--api-key", "open sesame")
    assert process.stdout is not None
    address = re.search(r"http://\S+", process.stdout.readline())
    assert address
    async with EngineClient(address[0], api_key="open sesame") as client:
        assert await client.health()
        assert (await client.models())[0].id
    async with EngineClient(address[0]) as stranger:
        assert await stranger.health(), "/health needs no key"
        with pytest.raises(EngineRefused):
            await stranger.models()
    looked = desk("serve", "--engine", address[0], env={KEY_VARIABLE: "open sesame"})
    assert looked.code == 0
    assert "serves diffusion-desk-demo" in looked.out
    assert desk("chat", "Hello", "--engine", address[0], "--max-tokens", 8).code == 3, "no key, no answer"
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=240) == 0


def test_serve_keeps_a_random_key_out_of_pipes(desk_process: Any) -> None:
    process = desk_process("serve")
    assert process.stdout is not None
    process.stdout.readline()
    said = process.stdout.readline()
    assert "not written into a file or pipe" in said
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=240) == 0


def test_serve_names_the_holder_of_a_port(desk: Any) -> None:
    with bind_port() as taken:
        port = taken.getsockname()[1]
        ended = desk("serve", "--port", port)
    assert ended.code == 2
    assert f"port {port} on 127.0.0.1 is in use" in ended.err
    assert "pid" in ended.err
