"""The server as a process of its own: starts without torch, takes a bound socket, ends in order."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import aiohttp
import pytest

from engine.embedded.engine import EmbeddedEngine
from engine.embedded.server import run_server
from engine.errors import UserError

SCRIPT = """
import asyncio, socket, sys
from engine import paths
from engine.embedded.engine import EmbeddedEngine
from engine.embedded.server import run_server

def ready(address):
    heavy = sorted(name for name in ("torch", "transformers", "PySide6", "vllm") if name in sys.modules)
    print(address, *heavy, flush=True)

sock = socket.socket(fileno=int(sys.argv[1]))
asyncio.run(run_server(EmbeddedEngine.load(paths.demo_model_dir()), sock=sock, on_ready=ready))
print("ended")
"""


@pytest.fixture
def served(root: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        process = subprocess.Popen(
            [sys.executable, "-c", SCRIPT, str(listener.fileno())],
            pass_fds=[listener.fileno()],
            stdout=subprocess.PIPE,
            text=True,
            cwd=root,
            env={**os.environ, "PYTHONPATH": str(root)},
        )
        port = listener.getsockname()[1]
    assert process.stdout is not None
    words = process.stdout.readline().split()
    assert words == [f"http://127.0.0.1:{port}"], "no heavy module is loaded when the server is ready"
    yield process, words[0]
    process.kill()
    process.wait()
    process.stdout.close()


def test_a_bound_socket_is_taken_over_and_sigterm_ends_in_order(served: tuple[subprocess.Popen[str], str]) -> None:
    process, address = served
    with urllib.request.urlopen(f"{address}/health", timeout=240) as answer:
        assert answer.status == 200
    process.send_signal(signal.SIGTERM)
    rest, _ = process.communicate(timeout=240)
    assert (process.returncode, rest) == (0, "ended\n")


async def test_sigterm_ends_a_running_answer_with_an_error(served: tuple[subprocess.Popen[str], str]) -> None:
    process, address = served
    body = {"messages": [{"role": "user", "content": "hello"}], "stream": True, "max_tokens": 1900, "ignore_eos": True}
    async with aiohttp.ClientSession() as session, session.post(f"{address}/v1/chat/completions", json=body) as answer:
        assert answer.status == 200
        await answer.content.readuntil(b"\n\n")
        process.send_signal(signal.SIGTERM)
        rest = (await answer.content.read()).decode()
    messages = [line.removeprefix("data: ") for line in rest.split("\n\n") if line]
    assert messages[-1] == "[DONE]"
    assert json.loads(messages[-2])["error"]["code"] == 500
    process.communicate(timeout=240)
    assert process.returncode == 0


async def test_a_unix_socket(demo_engine: EmbeddedEngine, tmp_path: Path) -> None:
    path = str(tmp_path / "engine")
    address: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    async with asyncio.TaskGroup() as group:
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(path)
        server = group.create_task(run_server(demo_engine, sock=listener, on_ready=address.set_result))
        assert await address == f"unix:{path}"
        connector = aiohttp.UnixConnector(path)
        async with aiohttp.ClientSession(connector=connector) as session, session.get("http://engine/health") as answer:
            assert answer.status == 200
        server.cancel()


async def test_a_port_in_use_is_named(demo_engine: EmbeddedEngine) -> None:
    with socket.create_server(("127.0.0.1", 0)) as holder:
        port = holder.getsockname()[1]
        with pytest.raises(UserError, match=f"127.0.0.1:{port}.*in use"):
            await run_server(demo_engine, port=port)


def test_an_incomplete_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"tokenizer\.json"):
        EmbeddedEngine.load(tmp_path)


def test_a_broken_graph_is_named(tmp_path: Path, demo_folder: Path) -> None:
    for path in demo_folder.iterdir():
        target = tmp_path / path.name
        target.write_bytes(b"no graph" if path.name == "denoise.onnx" else path.read_bytes())
    with pytest.raises(UserError, match=r"denoise\.onnx"):
        EmbeddedEngine.load(tmp_path)
