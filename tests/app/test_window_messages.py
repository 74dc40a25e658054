"""Messages of the desktop on a real session bus: shown, clicked, and never waited for by the window."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from desk_driver import WAIT_S

from app.windows.bus import socket_path

CLIENT = """
import asyncio, json, os, sys
import qasync
from PySide6.QtWidgets import QApplication
from app.windows.messages import DesktopMessages
from app.windows.tray import Tray

def tell(what):
    print(json.dumps(what), flush=True)

async def main():
    answer_s = float(sys.argv[1])
    messages = DesktopMessages(Tray(lambda: False), "diffusion-desk", lambda: True, answer_s=answer_s)
    clicked, done = [], asyncio.Event()
    def click(word):
        clicked.append([word, os.environ.get("XDG_ACTIVATION_TOKEN", "")])
        if word == "first":
            messages.show("engine", "Second", "x", lambda: click("second"))
        else:
            done.set()
    title = "The engine\\0 stopped \\ud800"
    first = asyncio.create_task(messages.shown("engine", title, "a < b & c", lambda: click("first")))
    for _ in range(100):
        await asyncio.sleep(0)
    tell("going on")
    shown = await first
    tell(shown)
    if shown:
        await done.wait()
        tell(clicked)
    await messages.close_down()

app = QApplication([])
loop = qasync.QEventLoop(app)
with loop:
    loop.run_until_complete(main())
"""


@asynccontextmanager
async def a_bus(root: Path) -> AsyncIterator[dict[str, str]]:
    """The environment of programs on a session bus of their own."""
    if shutil.which("dbus-daemon") is None:
        pytest.skip("dbus-daemon is not installed")
    bus = await asyncio.create_subprocess_exec(
        "dbus-daemon", "--session", "--nofork", "--print-address", stdout=PIPE, stderr=DEVNULL
    )
    try:
        address = (await line(bus)).strip()
        yield {**os.environ, "DBUS_SESSION_BUS_ADDRESS": address, "PYTHONPATH": str(root)}
    finally:
        bus.terminate()
        await bus.wait()


@asynccontextmanager
async def service(root: Path, environment: dict[str, str], *arguments: str) -> AsyncIterator[Process]:
    fake = str(root / "tests" / "fakes" / "notification_service.py")
    found = await asyncio.create_subprocess_exec(
        sys.executable, fake, *arguments, stdin=PIPE, stdout=PIPE, env=environment
    )
    try:
        assert json.loads(await line(found)) == {"registered": True}
        yield found
    finally:
        found.terminate()
        await found.wait()


@asynccontextmanager
async def client(environment: dict[str, str], answer_s: float = 10 * WAIT_S) -> AsyncIterator[Process]:
    found = await asyncio.create_subprocess_exec(
        sys.executable, "-c", CLIENT, str(answer_s), stdout=PIPE, env=environment
    )
    try:
        yield found
        assert await asyncio.wait_for(found.wait(), WAIT_S) == 0
    finally:
        if found.returncode is None:
            found.kill()
            await found.wait()


async def line(process: Process) -> str:
    assert process.stdout is not None
    return (await asyncio.wait_for(process.stdout.readline(), WAIT_S)).decode()


async def test_a_message_is_shown_and_a_click_comes_back(root: Path) -> None:
    async with a_bus(root) as environment, service(root, environment) as asked, client(environment) as window:
        assert [json.loads(await line(window)) for _ in range(3)] == [
            "going on",
            True,
            [["first", "token-1"], ["second", "token-1"]],
        ]
        first, second = [json.loads(await line(asked)) for _ in range(2)]
    assert first["title"] == "The engine stopped ?"  # the bus takes no zero byte and no half character
    assert first["body"] == "a &lt; b &amp; c"
    assert first["icon"] == "diffusion-desk"
    assert first["actions"] == ["default", "Show"]
    assert first["hints"] == {"desktop-entry": "diffusion-desk"}
    assert second["replaces"] == first["number"]  # the newer one of a topic takes the older one's place


async def test_without_a_service_and_a_tray_nothing_is_shown(root: Path) -> None:
    async with a_bus(root) as environment, client(environment) as window:
        assert [json.loads(await line(window)) for _ in range(2)] == ["going on", False]


async def test_the_window_goes_on_while_the_service_hangs(root: Path) -> None:
    async with a_bus(root) as environment, service(root, environment, "held") as asked, client(environment) as window:
        assert json.loads(await line(window)) == "going on"  # who waited for the service would not come here
        assert asked.stdin is not None
        asked.stdin.write(b"answer now\n")
        assert json.loads(await line(window)) is True
        assert json.loads(await line(window))[0][0] == "first"


async def test_a_service_that_never_answers_is_taken_for_none(root: Path) -> None:
    async with a_bus(root) as environment, service(root, environment, "held"), client(environment, 0.2) as window:
        assert [json.loads(await line(window)) for _ in range(2)] == ["going on", False]


async def test_without_a_bus_nothing_is_shown(tmp_path: Path, root: Path) -> None:
    nowhere = {"DBUS_SESSION_BUS_ADDRESS": f"unix:path={tmp_path}/none", "PYTHONPATH": str(root)}
    async with client({**os.environ, **nowhere}) as window:
        assert [json.loads(await line(window)) for _ in range(2)] == ["going on", False]


@pytest.mark.parametrize(
    ("address", "path"),
    [
        ("unix:path=/run/user/1000/bus,guid=12ab", "/run/user/1000/bus"),
        ("unix:guid=1,path=/tmp/a%20b", "/tmp/a b"),
        ("unix:abstract=/tmp/dbus-x", "\0/tmp/dbus-x"),
        ("tcp:host=localhost,port=1;unix:path=/b", "/b"),
        ("autolaunch:", None),
        ("disabled:", None),
        ("", None),
    ],
)
def test_the_address_of_the_bus(address: str, path: str | None) -> None:
    assert socket_path({"DBUS_SESSION_BUS_ADDRESS": address}) == path


def test_the_bus_of_the_login_is_found_without_an_address(tmp_path: Path) -> None:
    assert socket_path({"XDG_RUNTIME_DIR": str(tmp_path)}) is None
    (tmp_path / "bus").touch()
    assert socket_path({"XDG_RUNTIME_DIR": str(tmp_path)}) == f"{tmp_path}/bus"


@pytest.mark.parametrize("said", [b"HTTP/1.1 400 Bad Request\r\n\r\n", b"l\4\0\1" + b"\xff\xff\xff\x7f" * 3, b""])
async def test_a_bus_that_says_nonsense_is_taken_for_none(said: bytes, tmp_path: Path, root: Path) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n")
        writer.write(b"OK 1234\r\n")
        await reader.readuntil(b"BEGIN\r\n")
        writer.write(said)
        if said:
            await reader.read()
        writer.close()  # with nothing to say it goes away at once

    nowhere = {"DBUS_SESSION_BUS_ADDRESS": f"unix:path={tmp_path}/bus", "PYTHONPATH": str(root)}
    server = await asyncio.start_unix_server(answer, tmp_path / "bus")
    async with server, client({**os.environ, **nowhere}, 2.0) as window:
        assert [json.loads(await line(window)) for _ in range(2)] == ["going on", False]
